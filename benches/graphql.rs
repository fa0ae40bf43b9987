//! What does GraphQL cost above the same question in DQL, and is a page by `after` flat there too?
//!
//! Films with directors: pages with nested fields by both languages, at several depths; single
//! nodes; and what it takes to read, check and plan a text that came before. `HEXGRAPH_BENCH_FILMS`
//! sets another size.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use hexgraph::db::graphql::{Headers, Request};
use hexgraph::db::{Database, RequestContext};
use hexgraph::internals::graphql::auth::{Claims, Rulebook};
use hexgraph::internals::graphql::generate::Api;
use hexgraph::internals::graphql::lower::{Caller, SimilarTo, lower};
use hexgraph::internals::graphql::request::{RequestLimits, Requests};
use hexgraph::internals::graphql::sdl::{Settings, read};
use hexgraph_benches::{ask, load_lines};
use serde_json::{Map, json};
use std::hint::black_box;

const SDL: &str = "
type Film {
  id: ID!
  title: String! @search(by: [term])
  year: Int @search
  directors: [Director] @hasInverse(field: films)
}
type Director { id: ID! name: String! @search(by: [exact]) films: [Film] }
";

const PAGE: &str = "query($after: ID) { queryFilm(first: 100, after: $after) { id title year directors { id name } } }";

const FILTERED: &str = "query($after: ID) { queryFilm(filter: {year: {eq: 1950}}, first: 100, after: $after) { id title year directors { id name } } }";

const ONE: &str =
    "query($after: ID!) { getFilm(id: $after) { id title year directors { id name } } }";

/// Uids of films begin after this one, those of directors after the films.
const FIRST: u64 = 0x10;

fn films() -> u64 {
    let size = std::env::var("HEXGRAPH_BENCH_FILMS").ok().and_then(|text| text.parse().ok());
    size.unwrap_or(500_000)
}

fn build(dir: &std::path::Path) -> Database {
    let db = Database::in_memory();
    db.set_graphql_schema(SDL).expect("the schema is valid");
    load_lines(&db, dir, |out| {
        let films = films();
        for film in 1..=films {
            let uid = FIRST + film;
            writeln!(out, "<{uid}> <dgraph.type> \"Film\" .").expect("room");
            writeln!(out, "<{uid}> <Film.title> \"The title of film {film}\" .").expect("room");
            writeln!(out, "<{uid}> <Film.year> \"{}\" .", 1900 + film % 100).expect("room");
            for which in [film * 7, film * 11] {
                let director = FIRST + films + 1 + which % (films / 10);
                writeln!(out, "<{uid}> <Film.directors> <{director}> .").expect("room");
                writeln!(out, "<{director}> <Director.films> <{uid}> .").expect("room");
            }
        }
        for director in 0..films / 10 {
            let uid = FIRST + films + 1 + director;
            writeln!(out, "<{uid}> <dgraph.type> \"Director\" .").expect("room");
            writeln!(out, "<{uid}> <Director.name> \"Director {director}\" .").expect("room");
        }
    });
    db
}

fn variables(depth: u64) -> Map<String, serde_json::Value> {
    let variables = json!({ "after": format!("{:#x}", FIRST + depth) });
    variables.as_object().expect("it is an object").clone()
}

fn graphql(db: &Database, request: &Request) -> Vec<u8> {
    let response = db.graphql_with(request, &Headers::new(), &RequestContext::new());
    assert!(response.errors.is_empty(), "{:?}", response.errors);
    response.to_json("")
}

fn dql(function: &str, filter: &str, depth: u64) -> String {
    let after = FIRST + depth;
    format!(
        "{{ q(func: {function}, first: 100, after: {after:#x}) {filter} {{ uid Film.title Film.year Film.directors {{ uid Director.name }} }} }}"
    )
}

fn pages(c: &mut Criterion) {
    let dir = tempfile::tempdir().expect("a directory for temporary files");
    let db = build(dir.path());
    let depths = [0, films() / 100, films() / 100 * 98];
    for depth in depths {
        for (name, text, filter) in
            [("page", PAGE, ""), ("filtered", FILTERED, "@filter(eq(Film.year, 1950))")]
        {
            let mut group = c.benchmark_group(name);
            let request = Request { variables: variables(depth), ..Request::new(text) };
            group.bench_function(BenchmarkId::new("graphql", depth), |b| {
                b.iter(|| black_box(graphql(&db, &request)));
            });
            let text = dql("type(Film)", filter, depth);
            group.bench_function(BenchmarkId::new("dql", depth), |b| {
                b.iter(|| black_box(ask(&db, &text)));
            });
        }
    }
    let request = Request { variables: variables(1000), ..Request::new(ONE) };
    let mut group = c.benchmark_group("one");
    group.bench_function("graphql", |b| b.iter(|| black_box(graphql(&db, &request))));
    let text = format!(
        "{{ q(func: uid({:#x})) @filter(type(Film)) {{ uid Film.title Film.year Film.directors {{ uid Director.name }} }} }}",
        FIRST + 1000
    );
    group.bench_function("dql", |b| b.iter(|| black_box(ask(&db, &text))));
}

fn plans(c: &mut Criterion) {
    let model = read(SDL, &Settings::default()).expect("the schema is valid");
    let api = Api::new(&model).expect("the schema is valid");
    let requests = Requests::default();
    let (rules, claims) = (Rulebook::new(&model), Claims::default());
    let caller =
        Caller { model: &model, api: &api, requests: &requests, rules: &rules, claims: &claims };
    let (limits, given) = (RequestLimits::default(), variables(1000));
    c.bench_function("plan/cached", |b| {
        b.iter(|| {
            let request = requests.get(&api, FILTERED, &limits).expect("the text is valid");
            let operation = request.resolve(&api, None, &given).expect("the variables are valid");
            black_box(
                lower(caller, &operation.fields[0], SimilarTo::OfRequest)
                    .expect("it has a plan")
                    .query,
            )
        });
    });
}

criterion_group!(benches, plans, pages);
criterion_main!(benches);
