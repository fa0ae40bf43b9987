//! Whether rules of `@auth` hide what they should: random schemas, data and requests, each answered
//! twice, by an engine with the rules and by one without rules that was never given the hidden
//! nodes. The two have to agree. What is hidden is decided here, by walking over the nodes one at a
//! time.

mod passwords;
mod requests;
mod rules;
mod subscribers;
mod world;

use hexgraph::db::graphql::{Headers, Request};
use hexgraph::db::{Database, LoadOptions, OpenOptions, QueryRequest, RequestContext, Source};
use jsonwebtoken::{EncodingKey, Header};
use rules::{Claims, Op, Rules};
use serde_json::{Value, json};
use world::{KINDS, Kind, World};

const SECRET: &str = "a secret of the test";

/// One schema with its data.
struct Case {
    rng: fastrand::Rng,
    rules: Rules,
    world: World,
    guarded: Database,
    /// So many nodes were there before any add.
    born: usize,
}

impl Case {
    /// `forgotten` is a type whose rules the engine is not told of.
    fn new(seed: u64, forgotten: &str) -> Case {
        let mut rng = fastrand::Rng::with_seed(seed);
        let rules = Rules::random(&mut rng);
        let world = World::random(&mut rng);
        let sdl = world::sdl(|kind| {
            if kind == forgotten { String::new() } else { rules.directive(kind, false) }
        });
        let guarded = database(&with_authorization(&sdl), &world);
        let born = world.nodes.len();
        Case { rng, rules, world, guarded, born }
    }

    fn ask(&self, text: &str, claims: &Claims) -> Value {
        answer(&self.guarded, text, headers(claims))
    }

    fn may(&self, op: Op, node: usize, claims: &Claims) -> bool {
        self.rules.permit(&self.world, op, node, claims)
    }

    /// The data as somebody may see it.
    fn seen(&self, claims: &Claims) -> Database {
        let visible = |node: usize| self.may(Op::Query, node, claims);
        database(&world::sdl(|_| String::new()), &self.world.only(visible))
    }

    fn check_queries(&mut self, count: usize) -> Result<(), String> {
        let claims = rules::random_claims(&mut self.rng);
        let seen = self.seen(&claims);
        for _ in 0..count {
            let text = requests::query(&mut self.rng, &self.world);
            let (one, other) = (self.ask(&text, &claims), answer(&seen, &text, Headers::new()));
            let (one, other) = (clean(one), clean(other));
            if one != other {
                return Err(format!(
                    "{text}\nas {claims:?}\nrules\n{}{one}\nshould be\n{other}",
                    self.rules.reported(Op::Query)
                ));
            }
        }
        Ok(())
    }

    fn check_update(&mut self) -> Result<(), String> {
        let claims = rules::random_claims(&mut self.rng);
        let kind = Kind::random(&mut self.rng);
        let (filter, matches) = requests::chosen(&mut self.rng, &self.world, self.born, kind);
        let (field, value) =
            if kind.name == "User" { ("age", json!(77)) } else { ("title", json!("zz")) };
        let changed: Vec<usize> =
            matches.into_iter().filter(|node| self.may(Op::Update, *node, &claims)).collect();
        for node in &changed {
            self.world.nodes[*node].values.insert(field, value.clone());
        }
        let list = kind.list();
        let text = format!(
            "mutation {{ m: update{0}(input: {{filter: {filter}, set: {{{field}: {value}}}}}) {{ numUids n: {list} {{ id }} }} }}",
            kind.name
        );
        let shown = changed.iter().filter(|node| self.may(Op::Query, **node, &claims));
        let shown: Vec<Value> = shown.map(|node| json!({"id": world::uid(*node)})).collect();
        let expected = json!({"data": {"m": {"numUids": changed.len(), "n": shown}}});
        self.compare(&text, &claims, expected)
    }

    fn check_delete(&mut self) -> Result<(), String> {
        let claims = rules::random_claims(&mut self.rng);
        let kind = Kind::random(&mut self.rng);
        let (filter, matches) = requests::chosen(&mut self.rng, &self.world, self.born, kind);
        let gone: Vec<usize> =
            matches.into_iter().filter(|node| self.may(Op::Delete, *node, &claims)).collect();
        let (name, list) = (kind.name, kind.list());
        let text = format!(
            "mutation {{ m: delete{name}(filter: {filter}) {{ numUids n: {list} {{ __typename }} }} }}"
        );
        let shown = gone.iter().filter(|node| self.may(Op::Query, **node, &claims));
        let shown: Vec<Value> =
            shown.map(|node| json!({"__typename": self.world.nodes[*node].kind.name})).collect();
        let expected = json!({"data": {"m": {"numUids": gone.len(), "n": shown}}});
        self.compare_answer(&text, &claims, &expected)?;
        self.world = self.world.only(|node| !gone.contains(&node));
        self.compare_store(&text, &claims)
    }

    fn check_add(&mut self) -> Result<(), String> {
        let claims = rules::random_claims(&mut self.rng);
        let kind = Kind::of(["User", "Group", "Doc", "Pic"][self.rng.usize(..4)]).unwrap();
        let before = self.world.clone();
        let (input, new) = requests::input(&mut self.rng, &mut self.world, self.born, kind);
        let text = format!(
            "mutation {{ m: add{}(input: [{input}]) {{ numUids n: {} {{ __typename }} }} }}",
            kind.name,
            kind.list()
        );
        let ends = new.iter().flat_map(|node| self.world.nodes[*node].edges.values().flatten());
        let mut linked = ends.copied().filter(|end| *end < before.nodes.len());
        if linked.any(|end| !self.may_link(&before, end, &claims)) {
            self.world = before;
            let result = self.ask(&text, &claims);
            if result["data"] != json!({"m": null}) || !result.to_string().contains("isn't a") {
                return Err(format!("{text}\nas {claims:?}\nlinks what is hidden\n{result}"));
            }
            return self.compare_store(&text, &claims);
        }
        let expected = if new.iter().all(|node| self.may(Op::Add, *node, &claims)) {
            let shown =
                self.may(Op::Query, new[0], &claims).then(|| json!({"__typename": kind.name}));
            let shown: Vec<Value> = shown.into_iter().collect();
            json!({"data": {"m": {"numUids": new.len(), "n": shown}}})
        } else {
            self.world = before;
            json!({"data": {"m": null}})
        };
        self.compare(&text, &claims, expected)
    }

    /// Whether a node of a world can be named below a field: it may be seen, or rules say that it
    /// may be changed.
    fn may_link(&self, world: &World, node: usize, claims: &Claims) -> bool {
        let kind = world.nodes[node].kind;
        let is_permitted = |op| self.rules.permit(world, op, node, claims);
        is_permitted(Op::Query) || self.rules.has(Op::Update, kind) && is_permitted(Op::Update)
    }

    /// Adds a node with the code of another: whether that one may be seen or not, nothing is told
    /// of it.
    fn check_conflict(&mut self) -> Result<(), String> {
        let claims = rules::random_claims(&mut self.rng);
        let user = Kind::of("User").unwrap();
        let coded = |node: &usize| self.world.nodes[*node].values.contains_key("code");
        let users: Vec<usize> = self.world.of(user).into_iter().filter(coded).collect();
        let Some(node) = self.rng.choice(&users).copied() else { return Ok(()) };
        let code = self.world.nodes[node].values["code"].clone();
        let upsert = if self.rng.bool() { ", upsert: true" } else { "" };
        let text = format!(
            "mutation {{ m: addUser(input: [{{code: {code}, title: \"zz\"}}]{upsert}) {{ numUids n: user {{ title }} }} }}"
        );
        if upsert.is_empty() {
            let result = self.ask(&text, &claims);
            let is_reported = result.get("errors").is_some();
            if result["data"] != json!({"m": null})
                || is_reported == self.rules.has(Op::Query, user)
            {
                return Err(format!("{text}\nas {claims:?}\nshould not have answered\n{result}"));
            }
            return self.compare_store(&text, &claims);
        }
        let expected = match self.may(Op::Update, node, &claims) {
            false => json!({"numUids": 0, "n": []}),
            true => {
                self.world.nodes[node].values.insert("title", json!("zz"));
                let is_shown = self.may(Op::Query, node, &claims);
                let shown: Vec<Value> =
                    is_shown.then(|| json!({"title": "zz"})).into_iter().collect();
                json!({"numUids": 0, "n": shown})
            }
        };
        self.compare(&text, &claims, json!({"data": {"m": expected}}))
    }

    fn compare(&self, text: &str, claims: &Claims, expected: Value) -> Result<(), String> {
        self.compare_answer(text, claims, &expected)?;
        self.compare_store(text, claims)
    }

    fn compare_answer(&self, text: &str, claims: &Claims, expected: &Value) -> Result<(), String> {
        let result = self.ask(text, claims);
        match result == *expected {
            true => Ok(()),
            false => Err(format!(
                "{text}\nas {claims:?}\nrules\n{}{result}\nshould be\n{expected}",
                Op::ALL.map(|op| self.rules.reported(op)).concat()
            )),
        }
    }

    /// Whether the store holds the nodes of the world with their values, however they are numbered.
    fn compare_store(&self, text: &str, claims: &Claims) -> Result<(), String> {
        let (one, other) = (dump(&self.guarded), self.world.dump());
        match one == other {
            true => Ok(()),
            false => Err(format!("{text}\nas {claims:?}\nleaves {one:?}\nand not {other:?}")),
        }
    }
}

/// The schema, with what tokens are checked by.
fn with_authorization(sdl: &str) -> String {
    let line = json!({"Header": "X-Auth", "Namespace": "claims", "Algo": "HS256", "VerificationKey": SECRET});
    format!("{sdl}# Dgraph.Authorization {line}\n")
}

fn database(sdl: &str, world: &World) -> Database {
    let database = Database::in_memory();
    database.set_graphql_schema(sdl).unwrap_or_else(|error| panic!("{error}\n{sdl}"));
    database.mutate(&world.nquads(), "").unwrap();
    database
}

/// The headers of somebody.
fn headers(claims: &Claims) -> Headers {
    signed(json!({ "claims": claims }))
}

fn signed(payload: Value) -> Headers {
    let key = EncodingKey::from_secret(SECRET.as_bytes());
    let token = crate::tokens::sign(&Header::default(), &payload, &key);
    Headers::from_iter([("X-Auth", token)])
}

fn answer(database: &Database, text: &str, headers: Headers) -> Value {
    let response = database.graphql_with(&Request::new(text), &headers, &RequestContext::new());
    serde_json::from_slice(&response.to_json("")).unwrap()
}

/// The stored nodes: type and values, sorted.
fn dump(database: &Database) -> Vec<String> {
    let names = world::predicates().join(" ");
    let text = format!("{{ q(func: has(dgraph.type)) {{ dgraph.type {names} }} }}");
    let request = QueryRequest { text, ..QueryRequest::default() };
    let result =
        database.query_with(&request, &RequestContext::new()).unwrap().to_json().unwrap().0;
    let result: Value = serde_json::from_str(&result).unwrap();
    let nodes = result["q"].as_array().unwrap().iter().map(world::line);
    let mut lines: Vec<String> = nodes.filter(|line| !line.starts_with("dgraph")).collect();
    lines.sort();
    lines
}

/// Aggregates of nothing are told in two ways: null where nothing may be seen, zero where nothing
/// is.
fn clean(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(clean).collect(),
        Value::Object(members) => match members.get("count") {
            Some(Value::Null) => Value::Null,
            Some(count) if *count == 0 => Value::Null,
            _ => members.into_iter().map(|(key, value)| (key, clean(value))).collect(),
        },
        other => other,
    }
}

fn check(seed: u64, forgotten: &str) -> Result<(), String> {
    let mut case = Case::new(seed, forgotten);
    for _ in 0..3 {
        case.check_queries(8)?;
    }
    for _ in 0..3 {
        case.check_update()?;
    }
    for _ in 0..3 {
        case.check_add()?;
        case.check_conflict()?;
    }
    // Links to what is deleted may dangle, so nothing is asked after it.
    case.check_delete()
}

#[test]
fn rules_hide_what_they_should() {
    let cases = std::env::var("HEXGRAPH_CASES").ok().and_then(|count| count.parse().ok());
    for seed in 0..cases.unwrap_or(40) {
        if let Err(reported) = check(seed, "") {
            panic!("seed {seed}: {reported}");
        }
    }
}

#[test]
fn a_forgotten_rule_is_noticed() {
    for kind in &KINDS {
        assert!((0..40).any(|seed| check(seed, kind.name).is_err()), "{}", kind.name);
    }
}

/// A database whose requests may note so few bytes that a walk over all documents fails.
fn many_documents() -> Database {
    let mut options = OpenOptions::default();
    options.limits.set("memory", "64KiB").unwrap();
    let database = Database::in_memory_with(options);
    // No index answers an `or`, so the owners are looked at.
    let rule = "query { queryDoc { owner(filter: {or: [{active: true}, {active: true}]}) { __typename } } }";
    let sdl = format!(
        "type Doc @auth(query: {{ rule: \"{rule}\" }}) {{ id: ID! title: String owner: User }}
         type User {{ id: ID! name: String active: Boolean @search }}"
    );
    database.set_graphql_schema(&sdl).unwrap();
    let mut lines = String::new();
    for user in 0..10_000 {
        let (user, is_active) = (format!("{:#x}", 0x1000 + user), user % 3 == 0);
        lines += &format!("<{user}> <dgraph.type> \"User\" .\n<{user}> <User.name> \"u\" .\n");
        lines += &format!("<{user}> <User.active> \"{is_active}\" .\n");
    }
    for doc in 0..30_000 {
        let (owner, doc) =
            (format!("{:#x}", 0x1000 + doc % 10_000), format!("{:#x}", 0x10000 + doc));
        lines += &format!("<{doc}> <dgraph.type> \"Doc\" .\n<{doc}> <Doc.owner> <{owner}> .\n");
    }
    // Statements of a mutation would count.
    let source = Source::Bytes(lines.into_bytes().into());
    database.load_with(source, None, LoadOptions::default(), &RequestContext::new()).unwrap();
    database
}

#[test]
fn a_page_costs_its_length() {
    let database = many_documents();
    let mut after = "0x0".to_owned();
    for _ in 0..20 {
        let text =
            format!("{{ queryDoc(first: 10, after: \"{after}\") {{ id owner {{ name }} }} }}");
        let result = answer(&database, &text, Headers::new());
        let page = result["data"]["queryDoc"].as_array().unwrap();
        assert_eq!(page.len(), 10, "{result}");
        after = page[9]["id"].as_str().unwrap().to_owned();
    }
    let all = answer(&database, "{ aggregateDoc { count } }", Headers::new());
    let reported = all["errors"][0]["message"].as_str().unwrap_or_default();
    assert!(reported.contains("`memory`"), "{all}");
}
