//! Cases of our own: what the model says, and that no text panics. What the checks refuse is in
//! `tests/golden/graphql`.

use apollo_compiler::{ExecutableDocument, Schema};
use proptest::prelude::*;

use crate::model::{
    AuthRules, Custom, DefaultValue, Inverse, Language, Mode, Model, RbacTest, Rule,
};
use crate::sdl::{Settings, check_rules, read};
use hexgraph_base::schema::parse_schema;

fn valid(text: &str) -> Model {
    read(text, &Settings::default()).unwrap_or_else(|faults| panic!("{text}\n{faults:#?}"))
}

/// The faults of a schema, each with its first position.
fn faults(text: &str) -> Vec<String> {
    let reported = read(text, &Settings::default()).expect_err(text);
    reported
        .iter()
        .map(|fault| match fault.positions.first() {
            Some(position) => format!("{}:{} {}", position.line, position.column, fault.message),
            None => fault.message.clone(),
        })
        .collect()
}

const FILMS: &str = r#"
"A thing with a name"
interface Named @secret(field: "pin") @auth(query: {rule: "{$ROLE: {eq: \"fan\"}}"}) {
  id: ID!
  "What it is called"
  name: String! @search(by: [term, exact])
}
type Director implements Named @auth(query: {not: {rule: "query($N: String!) { queryDirector(filter: {name: {eq: $N}}) { id } }"}}) {
  films: [Film!]! @hasInverse(field: director)
  born: DateTime @default(add: {value: "$now"})
}
type Film implements Named @dgraph(type: "film") @generate(mutation: {delete: false}, subscription: true) {
  director: Director
  isbn: Int! @id
  nameHi: String @dgraph(pred: "Named.name@hi")
  stars: Float @default(update: {value: "2.5"}) @deprecated(reason: "unfair")
  seenBy: [Viewer] @dgraph(pred: "~seen")
  tags: [Tag]
}
type Viewer { seen: [Film] @dgraph(pred: "seen") mail: String! @id @search(by: [regexp]) }
union Any = Film | Director
enum Tag { OLD @deprecated NEW }
type Query {
  best(n: Int = 3): [Film] @custom(dql: "query q($n: int) { best(func: type(film), first: $n) { id: uid } }") @withSubscription
}
"#;

#[test]
fn the_model_says_what_was_declared() {
    let model = valid(FILMS);
    let named = model.get("Named").expect("declared");
    assert_eq!(named.description, "A thing with a name");
    assert_eq!(named.implementors, ["Director", "Film"]);
    let film = model.get("Film").expect("declared");
    let names: Vec<&str> = film.fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["id", "name", "director", "isbn", "nameHi", "stars", "seenBy", "tags"]);
    let name = film.field("name").expect("inherited");
    assert_eq!(name.inherited_from.as_deref(), Some("Named"));
    assert_eq!(name.predicate.as_ref().map(|result| result.name.as_str()), Some("Named.name"));
    let words: Vec<&str> = name.search.iter().map(|index| index.word.as_str()).collect();
    assert_eq!(words, ["exact", "term"]);
    let inverse = Inverse { type_name: "Director".into(), field: "films".into() };
    assert_eq!(film.field("director").and_then(|field| field.inverse.clone()), Some(inverse));
    let hindi = film.field("nameHi").and_then(|field| field.predicate.clone()).expect("stored");
    assert_eq!(hindi.language, Language::Tagged("hi".into()));
    assert!(film.field("seenBy").expect("declared").is_reverse());
    assert_eq!(film.dgraph_type, "film");
    assert_eq!(film.secret.as_ref().map(|result| result.predicate.as_str()), Some("Named.pin"));
    assert!(film.generate.subscription && !film.generate.delete && film.generate.add);
    let stars = film.field("stars").expect("declared");
    assert_eq!(stars.deprecated.as_deref(), Some("unfair"));
    assert_eq!(stars.default_update, Some(DefaultValue::Text("2.5".into())));
    let born = model.get("Director").and_then(|def| def.field("born")).expect("declared");
    assert_eq!(born.default_add, Some(DefaultValue::Now));
    let tags = model.get("Tag").expect("declared");
    assert_eq!(tags.values[0].deprecated.as_deref(), Some("No longer supported"));
    assert!(model.queries[0].subscription);
    assert!(matches!(model.queries[0].custom, Some(Custom::Dql(_))));
    assert_eq!(model.queries[0].arguments[0].ty.to_string(), "Int");
}

#[test]
fn rules_of_interfaces_hold_too() {
    let model = valid(FILMS);
    let claim = Rule::Claim { claim: "ROLE".into(), test: RbacTest::Eq("fan".into()) };
    let film = model.get("Film").expect("declared");
    assert_eq!(film.auth, AuthRules { query: Some(claim.clone()), ..AuthRules::default() });
    let director = model.get("Director").expect("declared");
    let Some(Rule::And(rules)) = &director.auth.query else { panic!("{:?}", director.auth) };
    let Rule::Not(own) = &rules[0] else { panic!("{rules:?}") };
    let Rule::Traversal { type_name, variables, .. } = &**own else { panic!("{rules:?}") };
    assert_eq!((type_name.as_str(), &variables[..]), ("Director", &["N".to_owned()][..]));
    assert_eq!(rules[1], claim);
    let reported = check_rules(&model, |_| vec!["no".to_owned()]);
    let messages: Vec<&str> = reported.iter().map(|fault| fault.message.as_str()).collect();
    assert_eq!(messages, ["Type Director: @auth: failed to validate GraphQL rule [reason : no]"]);
}

#[test]
fn rules_are_checked_against_an_api() {
    let model = valid("type A @auth(query: {rule: \"query { queryA { f nope } }\"}) { f: Int }");
    let api = Schema::parse_and_validate("type Query { queryA: [A] } type A { f: Int }", "api");
    let api = api.expect("it is valid");
    let reported = check_rules(&model, |text| {
        match ExecutableDocument::parse_and_validate(&api, text, "rule") {
            Ok(_) => Vec::new(),
            Err(faults) => faults.errors.iter().map(|result| result.error.to_string()).collect(),
        }
    });
    assert_eq!(reported.len(), 1);
    assert!(reported[0].message.contains("`nope`"), "{reported:?}");
}

#[test]
fn the_store_declares_all_predicates() {
    let text = valid(FILMS).to_dql_schema();
    assert_eq!(
        text,
        "type Named {\n  Named.name\n  Named.pin\n}\n\
         Named.name: string @index(exact, term) @lang .\nNamed.pin: password .\n\
         type Director {\n  Named.name\n  Director.films\n  Director.born\n  Named.pin\n}\n\
         Director.films: [uid] .\nDirector.born: dateTime .\n\
         type film {\n  Named.name\n  film.director\n  film.isbn\n  film.stars\n  film.tags\n  \
         Named.pin\n}\n\
         film.director: uid .\nfilm.isbn: int @index(int) @upsert .\nfilm.stars: float .\n\
         film.tags: [string] @index(hash) .\n\
         type Viewer {\n  seen\n  Viewer.mail\n}\n\
         seen: [uid] @reverse .\nViewer.mail: string @index(hash, trigram) @upsert .\n"
    );
    parse_schema(&text).expect("it is schema text");
}

#[test]
fn names_with_other_letters_are_in_brackets() {
    let model = valid("type A { f: String @dgraph(pred: \"<http://x/y>\") g: Int }");
    assert!(model.to_dql_schema().contains("\n<http://x/y>: string .\n"));
    parse_schema(&model.to_dql_schema()).expect("it is schema text");
}

#[test]
fn custom_requests_are_stored() {
    let text = r#"type A { id: ID! n: Int r: String @custom(http: {
        url: "http://x/a", method: POST, mode: BATCH, body: "{id: $id}",
        forwardHeaders: ["Out:In", "Same"] }) }
        # Dgraph.Secret key "value"
        "#;
    let model = valid(text);
    let field = model.get("A").and_then(|def| def.field("r")).expect("declared");
    let Some(Custom::Http(http)) = &field.custom else { panic!("{field:?}") };
    assert_eq!(http.mode, Mode::Batch);
    let pair = |out: &str, inward: &str| (out.to_owned(), inward.to_owned());
    assert_eq!(http.forward_headers, [pair("Out", "In"), pair("Same", "Same")]);
    assert!(field.predicate.is_none());
    assert_eq!(model.secrets, [pair("key", "value")]);
}

#[test]
fn nothing_to_generate_is_refused() {
    assert_eq!(faults("# nothing"), ["No query or mutation found in the generated schema"]);
    assert_eq!(faults(""), ["No schema specified"]);
}

#[test]
fn inverses_apply_to_types_of_an_interface() {
    let model = valid(
        "interface I { a: B } type T implements I { n: Int } type B { is: [I] @hasInverse(field: a) }",
    );
    for name in ["I", "T"] {
        let field = model.get(name).and_then(|def| def.field("a")).expect("declared");
        assert_eq!(field.inverse.as_ref().map(|inverse| inverse.field.as_str()), Some("is"));
        assert!(field.directives.has("hasInverse"));
    }
}

#[test]
fn the_last_interface_comes_first() {
    let model = valid(
        "interface A { id: ID! a: Int } interface B { id: ID! b: Int b2: Int } type T implements A & B { b2: Int c: Int }",
    );
    let fields = &model.get("T").expect("declared").fields;
    let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["b", "id", "a", "b2", "c"]);
    assert_eq!(fields[3].inherited_from.as_deref(), Some("B"));
}

#[test]
fn external_fields_are_not_stored() {
    let model = valid(
        "extend type P @key(fields: \"id\") { id: ID! @external price: Int @external name: String }\
         type R { p: P @provides(fields: \"name\") }",
    );
    assert!(model.federated);
    let def = model.get("P").expect("declared");
    assert!(def.extended && def.field("price").expect("declared").stored_elsewhere);
    assert_eq!(
        model.to_dql_schema(),
        "type R {\n  R.p\n}\nR.p: uid .\ntype P {\n  P.id\n  P.name\n}\n\
         P.id: string @index(hash) @upsert .\nP.name: string .\n"
    );
}

/// Fragments that schemas are made of, so that random ones get far.
const CHUNKS: &[&str] = &[
    "type",
    "interface",
    "union",
    "enum",
    "input",
    "extend",
    "A",
    "B",
    "C",
    "f",
    "g",
    "id",
    "{",
    "}",
    "{",
    "}",
    "(",
    ")",
    ":",
    ":",
    "[",
    "]",
    "!",
    "=",
    "|",
    "&",
    "@",
    "implements",
    "Int",
    "String",
    "ID",
    "A",
    "[A]",
    "f: Int",
    "id: ID!",
    "g: [B] @hasInverse(field: f)",
    "f: A @hasInverse(field: \"g\")",
    "@search",
    "@search(by: [term])",
    "@search(by: [\"hnsw(metric: x)\"])",
    "@embedding",
    "@dgraph(pred: \"~p\")",
    "@dgraph(pred: \"p@en\")",
    "@id",
    "@dgraph(type: \"t\")",
    "@secret(field: \"p\")",
    "@key(fields: \"id\")",
    "@external",
    "@remote",
    "@generate()",
    "@custom(http: {url: \"http://a/$f\", method: GET, body: \"{a: $f}\"})",
    "@custom(dql: \"\"\"q\"\"\")",
    "@custom(http: {url: \"/\", method: POST, graphql: \"query($f: Int) { ...a }\"})",
    "@lambda",
    "@auth(query: {rule: \"{$A: {eq: 1}}\"})",
    "@auth(add: {or: [{rule: \"query { queryA { f } }\"}, null]})",
    "@default(add: {value: \"1\"})",
    "@provides(fields: \"f g\")",
    "@requires(fields: \"f\")",
    "\"d\"",
    "\"\"\"d\"\"\"",
    "type A { f: A g: [A] }",
    "interface B { f: Int id: ID! }",
    "type C implements B { g: A }",
    "#",
    "\n",
    "# Dgraph.Authorization {\"Header\": \"X\"}\n",
    "# Dgraph.Secret a \"b\"\n",
    "extend type A @key(fields: \"f\") {",
    "type Query {",
    "type Mutation {",
    "union U = A | C",
    "enum E { X Y }",
    "directive @x(a: Int) on OBJECT",
    "schema { query: A }",
    "\u{feff}",
    "é",
    "\\",
    "\"",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_text_panics(text in "\\PC*") {
        let _ = read(&text, &Settings::default());
    }

    #[test]
    fn no_chunks_panic(
        chunks in proptest::collection::vec(proptest::sample::select(CHUNKS), 0..40),
        lambda in any::<bool>(),
    ) {
        let settings = Settings { lambda_url: lambda.then(|| "http://l".to_owned()), ..Settings::default() };
        if let Ok(model) = read(&chunks.join(" "), &settings) {
            let text = model.to_dql_schema();
            prop_assert!(!text.is_empty() || model.stored_types().next().is_none());
        }
    }

    #[test]
    fn valid_types_with_odd_parts_do_not_panic(
        fields in proptest::collection::vec(proptest::sample::select(CHUNKS), 0..8),
        at_type in proptest::sample::select(CHUNKS),
    ) {
        let fields = fields.join(" ");
        let text = format!("type A {at_type} {{ f: Int {fields} }} type B {{ g: [A] id: ID! }}");
        let _ = read(&text, &Settings::default()).map(|model| model.to_dql_schema());
    }
}
