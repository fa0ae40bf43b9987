//! Requests to a schema of our own: how they resolve. What is refused is in `tests/golden/graphql`.

use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};
use std::sync::LazyLock;

use crate::generate::{Api, RootKind};
use crate::request::{
    Field, GraphqlError, Operation, OperationKind, Request, RequestLimits, Requests, Value,
};
use crate::sdl::{Settings, read};

const SCHEMA: &str = r#"
"Something that moves."
interface Vehicle { id: ID!  plate: String! @id(interface: true)  owner: Owner @hasInverse(field: vehicles) }
type Car implements Vehicle { doors: Int @search  old: String @deprecated(reason: "gone") }
type Boat implements Vehicle { length: Float @search  sisters: [Boat!] }
type Owner { id: ID!  name: String! @search(by: [hash]) @id  born: DateTime  weight: Int64 @search  mood: Mood @search
  vehicles: [Vehicle!]  pets: [Pet]  flags: Boolean @search }
type Dog { name: String  tail: Int }
type Fish { name: String }
union Pet = Dog | Fish
enum Mood { GOOD BAD @deprecated }
"#;

fn api() -> &'static Api {
    static API: LazyLock<Api> =
        LazyLock::new(|| Api::new(&read(SCHEMA, &Settings::default()).unwrap()).unwrap());
    &API
}

fn run_with(text: &str, variables: Json) -> Result<Operation, Vec<GraphqlError>> {
    let api = api();
    let request = Request::parse(api, text, &RequestLimits::default())?;
    request.resolve(api, None, variables.as_object().unwrap_or(&Map::new()))
}

fn run(text: &str) -> Operation {
    run_with(text, Json::Null).unwrap_or_else(|faults| panic!("{faults:?}"))
}

fn faults(text: &str, variables: Json) -> Vec<String> {
    run_with(text, variables).unwrap_err().iter().map(GraphqlError::to_string).collect()
}

/// `key(arguments){...}` for each concrete type.
fn shown(fields: &[Field]) -> String {
    let field = |field: &Field| {
        let arguments: Vec<String> =
            field.arguments.iter().map(|(name, value)| format!("{name}:{value:?}")).collect();
        let mut text = field.shape.key.to_string();
        if !arguments.is_empty() {
            text += &format!("({})", arguments.join(" "));
        }
        if let Some(cascade) = &field.cascade {
            text += &format!("@{}", cascade.fields.join("+"));
        }
        for branch in &field.selection.branches {
            text += &format!(" {}{{{}}}", branch.types.join("|"), shown(&branch.fields));
        }
        text
    };
    fields.iter().map(field).collect::<Vec<_>>().join(" ")
}

#[test]
fn fragments_are_written_out_for_each_type() {
    let operation =
        run("{ queryVehicle(first: 2) { ...F plate ... on Boat { length } __typename } }
         fragment F on Vehicle { id ... on Car { doors } }");
    assert_eq!(operation.kind, OperationKind::Query);
    let root = operation.fields[0].shape.root.as_ref().unwrap();
    assert_eq!((root.kind, root.type_name.as_str()), (RootKind::Query, "Vehicle"));
    assert_eq!(
        shown(&operation.fields),
        "queryVehicle(first:Int(2)) Car{id doors plate __typename} Boat{id plate length __typename}"
    );
    let fields = &operation.fields[0];
    assert_eq!(fields.selection.of("Boat").len(), 4);
    assert!(fields.selection.only().is_none());
}

#[test]
fn fields_of_one_key_become_one() {
    let operation = run("{ a: getOwner(name: \"x\") { name pets { ... on Dog { name } } pets { ... on Dog { tail } } }
           a: getOwner(name: \"x\") { born } }");
    assert_eq!(
        shown(&operation.fields),
        "a(name:String(\"x\")) Owner{name pets Dog{name tail} Fish{} born}"
    );
}

#[test]
fn conditions_decide() {
    let text = "query($yes: Boolean!, $no: Boolean = false) { queryCar { id @skip(if: true) plate @include(if: $yes)
        ... @include(if: $no) { doors } ...F @skip(if: $yes) } } fragment F on Car { old }";
    let shape = |variables| shown(&run_with(text, variables).unwrap().fields);
    assert_eq!(shape(json!({"yes": true})), "queryCar Car{plate}");
    assert_eq!(shape(json!({"yes": false, "no": true})), "queryCar Car{doors old}");
}

#[test]
fn values_have_the_types_of_the_schema() {
    let text = "query($f: OwnerFilter, $n: [String], $c: [String], $x: Float) {
        queryOwner(filter: $f, order: {desc: born, then: {asc: name}}) @cascade(fields: $c) {
          name vehicles(filter: {plate: {in: $n}, has: owner}) @cascade { id } }
        queryBoat(filter: {length: {gt: $x}}) { id } b: queryBoat(filter: {length: {lt: 5}, id: 7}) { id } }";
    let variables = json!({"f": {"weight": {"eq": "5"}, "and": {"mood": {"eq": "GOOD"}}}, "n": "a", "c": ["name"], "x": 3});
    let operation = run_with(text, variables).unwrap();
    let filter = operation.fields[0].arguments.get("filter").unwrap();
    assert_eq!(filter.get("weight").unwrap().get("eq"), Some(&Value::Int(5)));
    let and = filter.get("and").unwrap().as_list().unwrap();
    assert_eq!(and[0].get("mood").unwrap().get("eq").unwrap().as_str(), Some("GOOD"));
    let root = &operation.fields[0];
    assert_eq!(root.cascade.as_ref().unwrap().fields[..], [apollo_compiler::name!("name")]);
    let vehicles = &root.selection.only().unwrap()[1];
    assert!(vehicles.cascade.as_ref().unwrap().fields.is_empty());
    let inner = vehicles.arguments.given("filter").unwrap();
    assert_eq!(inner.get("plate").unwrap().get("in").unwrap().as_list().unwrap().len(), 1);
    assert_eq!(inner.get("has").unwrap().as_list().unwrap()[0].as_str(), Some("owner"));
    let length = |at: usize, key: &str| {
        let filter = operation.fields[at].arguments.get("filter").unwrap();
        filter.get("length").unwrap().get(key).cloned()
    };
    assert_eq!(length(1, "gt"), Some(Value::Float(3.0)));
    assert_eq!(length(2, "lt"), Some(Value::Float(5.0)));
    let id = operation.fields[2].arguments.get("filter").unwrap().get("id").unwrap();
    assert_eq!(id.as_list().unwrap()[0].as_str(), Some("7"));
}

#[test]
fn an_absent_variable_is_null() {
    let operation = run_with("query($n: Int) { queryCar(first: $n) { id } }", Json::Null).unwrap();
    assert_eq!(operation.fields[0].arguments.get("first"), Some(&Value::Null));
    assert_eq!(operation.fields[0].arguments.given("first"), None);
}

#[test]
fn operations_are_chosen_by_name() {
    let api = api();
    let text = "query A @cacheControl(maxAge: 9) { queryCar { id } } mutation B { deleteCar(filter: {}) { msg } }";
    let request = Request::parse(api, text, &RequestLimits::default()).unwrap();
    let resolve = |name| request.resolve(api, name, &Map::new());
    assert_eq!(resolve(Some("A")).unwrap().max_age, Some(9));
    let mutation = resolve(Some("B")).unwrap();
    assert_eq!((mutation.kind, mutation.name.as_deref()), (OperationKind::Mutation, Some("B")));
    assert_eq!(mutation.fields[0].shape.root.as_ref().unwrap().kind, RootKind::Delete);
    assert!(resolve(None).unwrap_err()[0].message.starts_with("Operation name must by supplied"));
    assert_eq!(
        resolve(Some("C")).unwrap_err()[0].message,
        "Supplied operation name C isn't present in the request."
    );
    assert_eq!(
        faults("subscription { queryCar { id } }", Json::Null),
        [
            "input: Not resolving subscription because schema doesn't have any fields defined for subscription operation."
        ]
    );
}

#[test]
fn what_grows_is_refused() {
    let api = api();
    let refused = |text: &str, word: &str| {
        let outcome = Request::parse(api, text, &RequestLimits::default())
            .and_then(|request| request.resolve(api, None, &Map::new()));
        let faults = outcome.unwrap_err();
        assert!(faults[0].message.contains(word), "{faults:?}");
    };
    // Doubles with each fragment.
    let mut text = "{ queryBoat { ...F0 } }".to_owned();
    for level in 0..60 {
        let next = level + 1;
        text += &format!(
            " fragment F{level} on Boat {{ a: sisters {{ ...F{next} }} b: sisters {{ ...F{next} }} }}"
        );
    }
    text += " fragment F60 on Boat { id }";
    refused(&text, "more than 100000 fields");
    let mut text = "{ queryBoat { ...F0 } }".to_owned();
    for level in 0..300 {
        text += &format!(" fragment F{level} on Boat {{ sisters {{ ...F{} }} }}", level + 1);
    }
    text += " fragment F300 on Boat { id }";
    refused(&text, "nested deeper");
    let text = format!("{{ queryBoat {{ {} }} }}", "id ".repeat(200_000));
    assert_eq!(shown(&run(&text).fields), "queryBoat Boat{id}");
}

/// Each would need minutes if its cost grew with the square of its length.
#[test]
fn the_cost_of_long_requests_is_linear() {
    const COUNT: usize = 30_000;
    let many = |chunk: &dyn Fn(usize) -> String| (0..COUNT).map(chunk).collect::<String>();
    let texts = [
        format!("{{ queryCar({}) {{ id }} }}", many(&|n| format!("a{n}: 1 "))),
        format!("{{ queryCar(filter: {{{}}}) {{ id }} }}", many(&|n| format!("a{n}: 1 "))),
        format!("{{ queryCar {{ {} }} }}", many(&|n| format!("a{n} "))),
        format!("{{ queryCar {{ {} }} }}", many(&|n| format!("a{n}: id "))),
        format!("{{ queryCar {{ {} }} }}", many(&|n| format!("a{} @skip(if: false) ", n % 7))),
        format!("{{ queryCar {{ {} }} }} fragment F on Car {{ id }}", "...F ".repeat(COUNT)),
        many(&|n| format!("query Q{n} {{ queryCar {{ ...F }} }} "))
            + "fragment F on Car { id plate }",
        format!("query({}) {{ queryCar {{ id }} }}", many(&|n| format!("$v{n}: Int "))),
        "{ queryCar { ...F0 } } ".to_owned()
            + &many(&|n| format!("fragment F{n} on Car {{ ...F{} }} ", n + 1)),
        format!(
            "{{ queryOwner(filter: {{name: {{in: [{}]}}}}) {{ id }} }}",
            "\"x\" ".repeat(COUNT)
        ),
        format!(
            "{{ queryVehicle {{ {} }} }}",
            "... on Car { owner { id } } ... on Boat { owner { id } } ".repeat(COUNT / 10)
        ),
    ];
    let api = api();
    for text in &texts {
        let start = std::time::Instant::now();
        if let Ok(request) = Request::parse(api, text, &RequestLimits::default()) {
            let _ = request.resolve(
                api,
                Some("Q1").filter(|_| text.starts_with("query Q")),
                &Map::new(),
            );
        }
        let seconds = start.elapsed().as_secs();
        assert!(seconds < 20, "{seconds} s for {:.60}", text);
    }
}

#[test]
fn a_repeated_text_is_not_read_again() {
    let (api, requests) = (api(), Requests::default());
    let get = || requests.get(api, "{ queryCar { id } }", &RequestLimits::default()).unwrap();
    get();
    let first = get();
    for number in 0..3000 {
        // What comes once is not cached.
        let text = format!("{{ x{number}: queryCar {{ id }} }}");
        for _ in 0..2 {
            requests.get(api, &text, &RequestLimits::default()).unwrap();
        }
        if number % 100 == 0 {
            assert!(std::sync::Arc::ptr_eq(&first, &get()));
        }
    }
}

/// Fragments of requests in any order: most are faulty, some are not.
fn chunks() -> impl Strategy<Value = String> {
    let words = [
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        ":",
        "$",
        "@",
        "...",
        "on",
        "query",
        "mutation",
        "fragment",
        "F",
        "queryCar",
        "queryVehicle",
        "getOwner",
        "id",
        "name",
        "owner",
        "filter",
        "doors",
        "first",
        "1",
        "-2.5e3",
        "\"x\"",
        "null",
        "true",
        "Car",
        "Vehicle",
        "skip",
        "include",
        "cascade",
        "fields",
        "if",
        "=",
        "!",
        "\"\"\"b\"\"\"",
        "__typename",
        "#c\n",
        "é",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..40)
        .prop_map(|words| words.join(" "))
}

/// Valid requests with a shape of their own.
fn selections() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(
        &["id", "plate", "__typename", "x: id", "...F", "id @skip(if: $b)"][..],
    );
    leaf.prop_map(str::to_owned).prop_recursive(4, 40, 5, |inner| {
        let wrap = prop::sample::select(&["... on Car", "... on Vehicle", "owner { vehicles", "...", "... @include(if: $b)"][..]);
        (wrap, prop::collection::vec(inner, 1..4)).prop_map(|(wrap, inner)| {
            let close = if wrap.contains('{') { "} }" } else { "}" };
            format!("{wrap} {{ {} {close}", inner.join(" "))
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_text_panics(text in chunks(), noise in "\\PC{0,40}") {
        let api = api();
        for text in [&text, &noise] {
            if let Ok(request) = Request::parse(api, text, &RequestLimits::default()) {
                let _ = request.resolve(api, None, &Map::new());
            }
        }
    }

    /// The slow twin: what is accepted here is valid to apollo-compiler, and vice versa.
    #[test]
    fn verdicts_are_those_of_apollo_compiler(body in selections(), b in any::<bool>()) {
        let api = api();
        let text = format!("query($b: Boolean!) {{ queryVehicle {{ {body} ...F }} c: queryCar @skip(if: $b) {{ id }} }} \
            fragment F on Vehicle {{ id owner {{ id }} }}");
        let theirs = apollo_compiler::ExecutableDocument::parse_and_validate(&api.schema, &text, "request");
        let ours = Request::parse(api, &text, &RequestLimits::default());
        prop_assert_eq!(theirs.is_ok(), ours.is_ok(), "{}\n{:?}\n{:?}", text, theirs.err().map(|fault| fault.errors.to_string()), ours.err());
        if let Ok(request) = Request::parse(api, &text, &RequestLimits::default()) {
            let variables = json!({ "b": b });
            let variables = variables.as_object().unwrap();
            prop_assert!(request.resolve(api, None, variables).is_ok());
        }
    }
}
