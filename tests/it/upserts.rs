//! Upserts read before their turn as writers: they hold up nobody, and never make two where one was
//! to be.

use crate::wait::check_wait;
use crate::wire::site::Site;
use hexgraph::answer::JsonSink;
use hexgraph::db::graphql::{Headers, Request};
use hexgraph::db::{Database, OpenOptions, QueryRequest, RequestContext};
use hexgraph::internals::exec::ExecOptions;
use hexgraph::internals::graph::{Bindings, MutationTexts, Stager, Statements, Version};
use hexgraph::internals::plan::{Query, Reads};
use hexgraph::internals::schema::Actor;
use hexgraph::internals::{dql, exec, graph};
use hexgraph::types::Error;
use hexgraph_server::http::{ServeOptions, Server};
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

const WRITERS: usize = 16;
const KEYS: usize = 3;

fn ask(db: &Database, text: &str) -> String {
    let request = QueryRequest { text: text.to_owned(), ..QueryRequest::default() };
    db.query_with(&request, &RequestContext::new()).unwrap().to_json().unwrap().0
}

/// Has sixteen writers make each key at once, and checks that each was made once.
fn race(db: &Database, predicate: &str, make: impl Fn(&str) + Sync) {
    let start = Barrier::new(WRITERS);
    thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| {
                for key in 0..KEYS {
                    start.wait();
                    make(&format!("key{key}"));
                }
            });
        }
    });
    for key in 0..KEYS {
        let result =
            ask(db, &format!("{{ q(func: eq({predicate}, \"key{key}\")) {{ count(uid) }} }}"));
        assert_eq!(result, r#"{"q":[{"count":1}]}"#, "key{key}");
    }
    // Nor is there a node that lost its key.
    let all = ask(
        db,
        &format!(
            "{{ q(func: has(made)) {{ count(uid) }} w(func: has({predicate})) {{ count(uid) }} }}"
        ),
    );
    assert_eq!(all, format!(r#"{{"q":[{{"count":{KEYS}}}],"w":[{{"count":{KEYS}}}]}}"#));
}

/// The ways to make a node where there is none: by a condition, and by a variable that may find
/// nothing.
fn texts(key: &str) -> [String; 2] {
    [
        format!(
            "upsert {{ query {{ v as var(func: eq(xid, \"{key}\")) }} mutation @if(eq(len(v), 0)) {{ set {{ _:n <xid> \"{key}\" .\n_:n <made> \"true\" . }} }} }}"
        ),
        format!(
            "upsert {{ query {{ v as var(func: eq(xid, \"{key}\")) }} mutation {{ set {{ uid(v) <xid> \"{key}\" .\nuid(v) <made> \"true\" . }} }} }}"
        ),
    ]
}

#[test]
fn two_never_make_two() {
    for directive in ["", "@upsert "] {
        for way in 0..2 {
            let db = Database::in_memory();
            db.alter(&format!("xid: string @index(exact) {directive}.\nmade: bool .")).unwrap();
            race(&db, "xid", |key| {
                drop(db.mutate_text_with(&texts(key)[way], &RequestContext::new()).unwrap())
            });
        }
    }
    // Of a predicate that nobody knows yet; in a directory, where a version is seen when it is
    // durable.
    let folder = tempfile::tempdir().unwrap();
    let db = Database::open(folder.path(), OpenOptions::default()).unwrap();
    let start = Barrier::new(WRITERS);
    thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| {
                start.wait();
                let text = "upsert { query { v as var(func: has(only)) } \
                    mutation @if(eq(len(v), 0)) { set { _:n <only> \"one\" . } } }";
                db.mutate_text_with(text, &RequestContext::new()).unwrap();
            });
        }
    });
    assert_eq!(ask(&db, "{ q(func: has(only)) { count(uid) } }"), r#"{"q":[{"count":1}]}"#);
}

#[test]
fn two_never_make_two_over_http() {
    let db = Database::in_memory();
    let options = ServeOptions { port: Some(0), ..ServeOptions::default() };
    let site = Site { server: Server::start(db.clone(), options).unwrap() };
    db.alter("xid: string @index(exact) .\nmade: bool .").unwrap();
    race(&db, "xid", |key| {
        let [text, _] = texts(key);
        let headers = ["Content-Type: application/rdf"];
        let answer = site.send("POST", "/mutate?commitNow=true", &headers, text.as_bytes());
        assert_eq!(answer.json()["data"]["code"], "Success", "{}", answer.text());
    });
}

#[test]
fn two_never_make_two_in_graphql() {
    for (upsert, may_fail) in [("", true), (", upsert: true", false)] {
        let db = Database::in_memory();
        db.set_graphql_schema("type Thing { code: String! @id @dgraph(pred: \"code\") made: Boolean @dgraph(pred: \"made\") }").unwrap();
        race(&db, "code", |key| {
            let text = format!(
                "mutation {{ addThing(input: [{{code: \"{key}\", made: true}}]{upsert}) {{ numUids }} }}"
            );
            let response =
                db.graphql_with(&Request::new(&text), &Headers::new(), &RequestContext::new());
            assert!(may_fail || response.errors.is_empty(), "{:?}", response.errors);
        });
    }
}

/// A graph whose query takes a while, and a text with so many blocks that it takes about as long as
/// `expected`.
fn long_upsert(db: &Database, expected: Duration) -> String {
    db.alter("name: string @index(exact) .\nknows: [uid] .\nnote: string .").unwrap();
    let mut lines = String::new();
    for one in 1..=60 {
        writeln!(lines, "<{one}> <name> \"node {one}\" .").unwrap();
        for other in 1..=60 {
            writeln!(lines, "<{one}> <knows> <{other}> .").unwrap();
        }
    }
    db.mutate(&lines, "").unwrap();
    let block = |number: usize| {
        format!(
            "b{number}(func: has(name)) {{ knows @filter(not eq(name, \"node {number}\")) {{ knows {{ uid }} }} }}\n"
        )
    };
    let blocks = |count: usize| (0..count).map(block).collect::<String>();
    let ten = format!("{{ {} }}", blocks(10));
    let took = (0..3).map(|_| {
        let started = Instant::now();
        ask(db, &ten);
        started.elapsed()
    });
    let each = took.min().unwrap_or_default() / 10;
    let count = (expected.as_secs_f64() / each.as_secs_f64()).ceil() as usize;
    let blocks = blocks(count.clamp(10, 2_000));
    format!(
        "upsert {{ query {{ v as var(func: eq(name, \"new\")) {blocks} }} mutation @if(eq(len(v), 0)) {{ set {{ _:n <name> \"new\" . }} }} }}"
    )
}

#[test]
fn a_long_query_holds_up_nobody() {
    let db = Database::in_memory();
    let text = long_upsert(&db, Duration::from_millis(800));
    check_wait(&db, 3, "an upsert", || {
        drop(db.mutate_text_with(&text, &RequestContext::new()).unwrap())
    });
    assert_eq!(ask(&db, "{ q(func: eq(name, \"new\")) { count(uid) } }"), r#"{"q":[{"count":1}]}"#);
}

/// Ends a loop of another thread, whatever becomes of this one.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_long_query_ends_at_its_deadline_whatever_others_do() {
    let db = Database::in_memory();
    let text = long_upsert(&db, Duration::from_millis(400));
    let started = Instant::now();
    db.mutate_text_with(&text, &RequestContext::new()).unwrap();
    let (alone, is_done) = (started.elapsed(), AtomicBool::new(false));
    thread::scope(|scope| {
        let _ending = Ending(&is_done);
        // Changes what is read, so that it is read again, in the turn at last.
        scope.spawn(|| {
            let mut number = 0;
            while !is_done.load(Ordering::Relaxed) {
                number += 1;
                db.mutate(&format!("<0xfff> <name> \"{number}\" ."), "").unwrap();
                thread::sleep(Duration::from_millis(1));
            }
        });
        let started = Instant::now();
        let control = RequestContext::new().with_timeout(alone / 4);
        let error = db.mutate_text_with(&text, &control).map(drop).unwrap_err();
        assert!(
            matches!(&error, Error::Limit { message } if message.contains("timeout")),
            "{error}"
        );
        assert!(started.elapsed() < 4 * alone, "{:?}, alone {alone:?}", started.elapsed());
        db.mutate_text_with(&text, &RequestContext::new()).unwrap();
    });
    assert_eq!(ask(&db, "{ q(func: eq(name, \"new\")) { count(uid) } }"), r#"{"q":[{"count":1}]}"#);
}

const SCHEMA: &str = "name: string @index(exact, term, trigram, fulltext) @lang .\nage: int @index(int) .\nborn: datetime @index(year) .\n\
    city: string @index(hash) .\nfriend: [uid] @reverse @count .\nboss: uid @reverse .\nplace: geo @index(geo) .\nsecret: password .\n\
    v: float32vector @index(hnsw(metric: \"euclidean\")) .\nother: string .\ntype Person {\n name\n age\n}\n";

/// One query of each kind.
const QUERIES: &[&str] = &[
    "{ q(func: has(name)) { name name@en age } }",
    "{ q(func: eq(name, \"Ada\")) @filter(ge(age, 30) and not has(city)) { uid } }",
    "{ q(func: eq(name@en, \"Adah\")) { uid } }",
    "{ q(func: between(age, 20, 50), orderasc: born, first: 2) { uid } }",
    "{ q(func: anyofterms(name, \"ada bob\")) { uid } }",
    "{ q(func: alloftext(name, \"ada\")) { uid } }",
    "{ q(func: regexp(name, /^A/)) { uid } }",
    "{ q(func: match(name, \"Adr\", 2)) { uid } }",
    "{ q(func: type(Person)) { uid } }",
    "{ q(func: uid(1, 2)) @filter(type(Person)) { age } }",
    "{ q(func: uid(1)) { friend @filter(eq(city, \"x\")) (orderdesc: age) { uid } } }",
    "{ q(func: uid(2)) { ~friend { uid } } }",
    "{ q(func: uid(1, 2, 3)) { count(friend) } }",
    "{ q(func: uid(1, 2, 3)) { count(~boss) } }",
    "{ q(func: gt(count(friend), 1)) { uid } }",
    "{ q(func: uid(1, 2, 3)) @filter(uid_in(boss, 2)) { uid } }",
    "{ q(func: uid(1, 2, 3)) @filter(uid_in(~boss, 1)) { uid } }",
    "{ q(func: uid(1, 2, 3)) @cascade { uid age friend { city } } }",
    "{ q(func: uid(1, 2, 3)) @cascade(age) { uid age city } }",
    "{ q(func: uid(1, 2, 3)) @groupby(city) { count(uid) } }",
    "{ q(func: uid(1, 2, 3)) @groupby(city) { count(uid) a: avg(age) } }",
    "{ q(func: uid(1, 2, 3)) { friend @groupby(age) { count(uid) } } }",
    "{ q(func: uid(1)) @recurse(depth: 3) { uid friend boss } }",
    "{ p as shortest(from: 1, to: 3) { friend boss } q(func: uid(p)) { uid } }",
    "{ p as shortest(from: 1, to: 3) { friend @facets(w) } q(func: uid(p)) { uid } }",
    "{ var(func: uid(1, 2, 3)) { a as age } q(func: uid(a), orderasc: val(a)) { val(a) } }",
    "{ var(func: uid(1, 2, 3)) { a as age m as math(a * 2) } q() { sum(val(m)) } }",
    "{ var(func: uid(1)) { friend { a as count(friend) } } q(func: uid(a)) @filter(gt(val(a), 0)) { uid } }",
    "{ q(func: uid(1)) { expand(_all_) } }",
    "{ q(func: uid(1)) { expand(Person) } }",
    "{ q(func: near(place, [1.0, 1.0], 100000)) { uid } }",
    "{ q(func: similar_to(v, 2, \"[1.0, 0.0]\")) { uid } }",
    "{ q(func: similar_to(v, 2, 0x1)) { uid } }",
    "{ q(func: uid(1)) { friend @facets(eq(w, 1)) { uid } } }",
    "{ q(func: uid(1)) { friend @facets(orderasc: w) { uid } } }",
    "{ q(func: uid(1)) { checkpwd(secret, \"testing\") } }",
    "{ q(func: uid(1)) @normalize { n: name friend { m: name } } }",
    "{ q(func: uid(1, 2, 3), orderasc: age, orderdesc: city) { uid } }",
    "{ q(func: has(friend)) @filter(has(~boss) or eq(count(friend), 1)) { uid } }",
    "schema {}",
];

/// A version with some of everything.
fn data() -> Version {
    let version = graph::alter(&Version::empty(), SCHEMA).unwrap();
    let lines = r#"<1> <name> "Ada" .
<1> <name> "Adah"@en .
<2> <name> "Bob" .
<3> <name> "Cy" .
<1> <age> "36" .
<2> <age> "20" .
<3> <age> "50" .
<1> <born> "1815-12-10" .
<2> <born> "1915-12-10" .
<3> <born> "1715-12-10" .
<2> <city> "x" .
<3> <city> "y" .
<1> <friend> <2> (w=1) .
<1> <friend> <3> (w=2) .
<2> <friend> <3> (w=1) .
<1> <boss> <2> .
<2> <boss> <3> .
<1> <place> "{'type':'Point','coordinates':[1.0,1.0]}"^^<geo:geojson> .
<1> <secret> "$2a$10$L47fLSO7ARF8N1GzmCIXfeNty3BP4spgVME2gBvbYgPOxYGaBXNSC"^^<xs:password> .
<1> <v> "[1.0, 0.0]" .
<2> <v> "[0.0, 1.0]" .
<1> <other> "o" .
<1> <dgraph.type> "Person" .
<2> <dgraph.type> "Person" .
"#;
    changed(&version, lines, "")
}

fn changed(version: &Version, set: &str, delete: &str) -> Version {
    let tree = MutationTexts::new(&[Statements::NQuads(set)], &[Statements::NQuads(delete)]);
    let statements = vec![tree.statements(&mut 0, &()).unwrap()];
    let control = RequestContext::new();
    let stager = Stager { actor: Actor::Client, passwords: &control, charge: &|_| Ok(()) };
    let (changes, _) = graph::stage(version, statements, &Bindings::default(), stager).unwrap();
    changes.apply(version).unwrap()
}

fn answer(version: &Version, plan: &Query) -> String {
    let done = exec::execute(
        Arc::new(version.clone()),
        Arc::new(plan.clone()),
        ExecOptions::default(),
        &RequestContext::new(),
    );
    let written = done.and_then(|answer| {
        let mut sink = JsonSink::new();
        answer.write(&mut sink)?;
        Ok(String::from_utf8(sink.into_bytes()).unwrap())
    });
    written.unwrap_or_else(|error| error.to_string())
}

#[test]
fn what_a_query_reads_is_all_that_its_answer_hangs_on() {
    let version = data();
    let mut used = 0;
    for text in QUERIES {
        let plan = dql::parse(text).unwrap().plan(&Default::default()).unwrap();
        let mut reads = Reads::default();
        reads.add_query(&plan);
        let Some(names) = reads.names() else { continue };
        let before = answer(&version, &plan);
        let predicates: Vec<Arc<str>> =
            version.predicates().map(|(name, _)| Arc::clone(name)).collect();
        for name in predicates {
            let without = match &*name {
                "dgraph.type" => changed(
                    &version,
                    "<3> <dgraph.type> \"Person\" .",
                    "<1> <dgraph.type> * .\n<2> <dgraph.type> * .",
                ),
                name if name.starts_with("dgraph.") => continue,
                name => graph::drop_attr(&version, name).unwrap(),
            };
            let is_other = answer(&without, &plan) != before;
            used += usize::from(is_other);
            assert!(!is_other || names.contains(&*name), "{text} hangs on {name}, reads {names:?}");
        }
        assert!(!names.contains("other"), "{text}");
    }
    assert!(40 < used, "{used}");
}
