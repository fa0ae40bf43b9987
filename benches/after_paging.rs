//! Does a page by `after` cost the same at any depth?
//!
//! A predicate with ten million subjects, an indexed filter that keeps a tenth of them, a node with
//! ten million edges, by DQL and by GraphQL, and all of it again on a snapshot just mapped. Then
//! the pages inside a selection: the edges of that node, and of one that leads to every third node,
//! filtered and ordered, before and after a commit that touches them. `HEXGRAPH_BENCH_NODES` sets
//! another size.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use hexgraph::db::graphql::{Headers, Request};
use hexgraph::db::{Database, OpenOptions, RequestContext};
use hexgraph_benches::{ask, load_lines};
use std::hint::black_box;
use std::time::Instant;

const SCHEMA: &str = r#"type Item {
    id: ID!
    serial: Int @dgraph(pred: "serial")
    bucket: Int @dgraph(pred: "bucket") @search
    link: [Item] @dgraph(pred: "link")
}"#;

/// The uid before the first node; the one with all the edges.
const HUB: u64 = 0x10;

/// The one with edges to every third node.
const THIRDS: u64 = 0x8;

fn nodes() -> u64 {
    let size = std::env::var("HEXGRAPH_BENCH_NODES").ok().and_then(|text| text.parse().ok());
    size.unwrap_or(10_000_000)
}

fn depths() -> Vec<u64> {
    let fixed = [0, 1_000, 100_000, 1_000_000, nodes() / 100 * 99];
    fixed.into_iter().filter(|depth| depth + 100 < nodes()).collect()
}

fn build(dir: &std::path::Path) -> Database {
    let db = Database::in_memory();
    db.set_graphql_schema(SCHEMA).expect("the schema is valid");
    db.alter("rank: int @index(int) .\nsome: [uid] .").expect("the schema is valid");
    load_lines(&db, dir, |out| {
        for number in 1..=nodes() {
            let uid = HUB + number;
            writeln!(out, "<{uid}> <dgraph.type> \"Item\" .").expect("room");
            writeln!(out, "<{uid}> <serial> \"{number}\"^^<xs:int> .").expect("room");
            writeln!(out, "<{uid}> <bucket> \"{}\"^^<xs:int> .", number % 10).expect("room");
            writeln!(out, "<{HUB}> <link> <{uid}> .").expect("room");
            writeln!(out, "<{uid}> <rank> \"{}\"^^<xs:int> .", number * 7_919 % nodes())
                .expect("room");
            if number % 3 == 0 {
                writeln!(out, "<{THIRDS}> <some> <{uid}> .").expect("room");
            }
        }
        writeln!(out, "<{HUB}> <dgraph.type> \"Item\" .").expect("room");
    });
    db
}

fn root(args: String) -> String {
    format!("{{ q(func: has(serial), {args}) {{ serial }} }}")
}

fn filtered(args: String) -> String {
    format!("{{ q(func: has(serial), {args}) @filter(eq(bucket, 3)) {{ serial }} }}")
}

fn edges(args: String) -> String {
    format!("{{ q(func: uid({HUB})) {{ link ({args}) {{ serial }} }} }}")
}

fn graphql_root(after: u64) -> String {
    format!("{{ queryItem(first: 100, after: \"{after:#x}\") {{ serial }} }}")
}

fn graphql_filtered(after: u64) -> String {
    format!(
        "{{ queryItem(filter: {{bucket: {{eq: 3}}}}, first: 100, after: \"{after:#x}\") {{ serial }} }}"
    )
}

fn graphql_edges(after: u64) -> String {
    format!(
        "{{ getItem(id: \"{HUB:#x}\") {{ link(first: 100, after: \"{after:#x}\") {{ serial }} }} }}"
    )
}

/// A question by name, and its query for the arguments of a page.
type Question = (&'static str, fn(String) -> String);

const QUESTIONS: [Question; 3] = [("root", root), ("filtered", filtered), ("edges", edges)];

/// The same in GraphQL, for the uid before a page.
const IN_GRAPHQL: [(&str, fn(u64) -> String); 3] =
    [("root", graphql_root), ("filtered", graphql_filtered), ("edges", graphql_edges)];

fn graphql(db: &Database, request: &Request) -> Vec<u8> {
    let response = db.graphql_with(request, &Headers::new(), &RequestContext::new());
    assert!(response.errors.is_empty(), "{:?}", response.errors);
    response.to_json("")
}

fn measure(c: &mut Criterion, db: &Database, position: &str) {
    for (name, query) in QUESTIONS {
        let mut group = c.benchmark_group(format!("{position}/{name}/after"));
        for depth in depths() {
            let text = query(format!("first: 100, after: {:#x}", HUB + depth));
            group.bench_function(BenchmarkId::from_parameter(depth), |b| {
                b.iter(|| black_box(ask(db, &text)));
            });
        }
        group.finish();
    }
    for (name, query) in IN_GRAPHQL {
        let mut group = c.benchmark_group(format!("{position}/{name}/graphql"));
        for depth in depths() {
            let request = Request::new(query(HUB + depth));
            group.bench_function(BenchmarkId::from_parameter(depth), |b| {
                b.iter(|| black_box(graphql(db, &request)));
            });
        }
        group.finish();
    }
    let mut group = c.benchmark_group(format!("{position}/root/offset"));
    for depth in depths() {
        let text = root(format!("first: 100, offset: {depth}"));
        group.bench_function(BenchmarkId::from_parameter(depth), |b| {
            b.iter(|| black_box(ask(db, &text)));
        });
    }
    group.finish();
}

/// Pages inside a selection; `HUB` and `PRED` stand for a node and its edges, `AFTER` for the uid
/// before the page.
const NESTED: [(&str, &str); 6] = [
    (
        "filtered",
        "{ q(func: uid(HUB)) { PRED (first: 100, after: AFTER) @filter(eq(bucket, 3)) { serial } } }",
    ),
    (
        "filtered by a scan",
        "{ q(func: uid(HUB)) { PRED (first: 100, after: AFTER) @filter(ge(serial, 7)) { serial } } }",
    ),
    (
        "ordered",
        "{ q(func: uid(HUB)) { PRED (first: 10, after: AFTER, orderdesc: rank) { serial } } }",
    ),
    (
        "filtered, ordered",
        "{ q(func: uid(HUB)) { PRED (first: 10, after: AFTER, orderdesc: rank) @filter(eq(bucket, 3)) { serial } } }",
    ),
    ("counted", "{ q(func: uid(HUB)) { count(PRED @filter(eq(bucket, 3))) } }"),
    ("counted, few", "{ q(func: uid(HUB)) { count(PRED @filter(between(rank, 500, 900))) } }"),
];

fn nested(c: &mut Criterion, db: &Database, position: &str) {
    for (hub, predicate) in [(HUB, "link"), (THIRDS, "some")] {
        for (name, query) in NESTED {
            let mut group = c.benchmark_group(format!("{position}/nested/{predicate}/{name}"));
            for depth in depths() {
                let text = query.replace("HUB", &format!("{hub:#x}")).replace("PRED", predicate);
                let text = text.replace("AFTER", &format!("{:#x}", HUB + depth));
                group.bench_function(BenchmarkId::from_parameter(depth), |b| {
                    b.iter(|| black_box(ask(db, &text)));
                });
            }
            group.finish();
        }
    }
}

/// A commit that touches the edges, the filter's token and the order of the nested pages.
fn touch(db: &Database) {
    let uid = HUB + nodes() / 2;
    let set = format!(
        "<{HUB}> <link> <{HUB}> .\n<{THIRDS}> <some> <{}> .\n<{uid}> <bucket> \"3\"^^<xs:int> .\n<{uid}> <rank> \"12345678\"^^<xs:int> .",
        uid + 1
    );
    db.mutate(&set, &format!("<{THIRDS}> <some> <{}> .", HUB + 3)).expect("the values are ints");
}

fn pages(c: &mut Criterion) {
    let dir = tempfile::tempdir().expect("a directory for temporary files");
    let db = build(dir.path());
    measure(c, &db, "memory");
    nested(c, &db, "memory");
    let path = dir.path().join("saved");
    db.save(&path).expect("the disk has room");
    touch(&db);
    nested(c, &db, "changed");
    drop(db);
    let options = OpenOptions { read_only: true, ..OpenOptions::default() };
    let mapped = Database::open(&path, options).expect("the snapshot was just written");
    for (name, query) in QUESTIONS {
        let deepest = HUB + depths().pop().unwrap_or(0);
        let started = Instant::now();
        ask(&mapped, &query(format!("first: 100, after: {deepest:#x}")));
        println!("mapped/{name}: first touch of its blocks {:?}", started.elapsed());
    }
    measure(c, &mapped, "mapped");
}

criterion_group!(benches, pages);
criterion_main!(benches);
