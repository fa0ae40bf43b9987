//! Queries: the answer is what the recorded DQL finds.

use super::answers::{Reader, gathered};
use super::pools::Pools;
use super::record::{Record, ask, dql, schema};
use super::shape::{renamed, renaming};
use super::world::World;
use hexgraph::db::graphql::{Fetch, Incoming, Outgoing, Unanswered};
use serde_json::Value;
use std::sync::Arc;

/// How often operations about nodes that are named are asked.
const ROUNDS: usize = 4;

/// Why the DQL of a record is no measure.
const DEFECTS: [(&str, &str); 3] = [
    ("Query with Same Alias", "fields that conflict are refused before there is any DQL"),
    ("query union field - memberTypes is empty list", "an empty list is told, not nothing at all"),
    (
        "Type with password query should apply Interface's password rules and along with its own auth rules",
        "a password that comes from an interface is stored where checks of the interface look",
    ),
];

/// What differs, if anything.
fn difference(world: &World, record: &Record) -> Option<String> {
    let name = record.text("name");
    let text = record.text("dgquery");
    let answer = ask(&world.db, &record.request(), &record.headers());
    let result = match dql(&world.db, text, &record.json("dgvars")) {
        Ok(result) => result,
        Err(error) => return Some(format!("{name}: DQL {error}\n{text}")),
    };
    let reader = Reader::new(world, text, record.text("gqlquery"));
    let data = answer["data"].as_object().and_then(|data| data.values().next());
    let is_aggregate = text.trim_start_matches("query {").trim_start().starts_with("aggregate");
    let blocks = result.as_object().unwrap();
    let block = blocks.iter().find(|(name, _)| *name != "checkPwd").map(|(_, block)| block);
    let block = block.unwrap_or(&Value::Null);
    let (have, want) = (
        reader.graphql(data.unwrap_or(&Value::Null)),
        match is_aggregate && block.as_array().is_some_and(|parts| !parts.is_empty()) {
            true => reader.dql(&gathered(block)),
            false => reader.dql(block),
        },
    );
    let have =
        if record.text("gqlquery").contains("_entities") { without_nulls(have) } else { have };
    let hits = want.as_array().map_or(0, Vec::len);
    println!("{name}: {hits}");
    let none = Vec::new();
    let errors = answer["errors"].as_array().unwrap_or(&none);
    let custom = |error: &Value| error["message"].as_str().unwrap().contains("no network");
    let same = have == want && errors.iter().all(custom);
    (!same).then(|| {
        let request = record.text("gqlquery");
        format!("# {name}\n{request}\n{answer}\n{text}\n{result}\nhave {have}\nwant {want}\n")
    })
}

/// The entities that are there. The recorded DQL finds these alone, and the answer has the places
/// of the others, too.
fn without_nulls(result: Value) -> Value {
    match result {
        // Nothing found is read as null, as of the recorded DQL.
        Value::Array(items) if items.iter().all(Value::is_null) => Value::Null,
        Value::Array(items) => items.into_iter().filter(|item| !item.is_null()).collect(),
        other => other,
    }
}

fn check(world: &World, records: &[Record]) {
    let mut wrong = Vec::new();
    for record in records {
        if DEFECTS.iter().any(|(name, _)| *name == record.text("name")) {
            continue;
        }
        let rounds = if record.dql().contains("uid(0x") { ROUNDS } else { 1 };
        let rounds = (0..rounds).map(|round| renamed(record, &renaming(world, record, round)));
        wrong.extend(rounds.filter_map(|record| difference(world, &record)).take(1));
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Knows no other server.
struct Nobody;

impl Fetch for Nobody {
    fn fetch(&self, _: &Outgoing) -> Result<Incoming, Unanswered> {
        Err(Unanswered::new("no network"))
    }
}

fn check_file(file: &str, name: &str) {
    let (Some(schema), Some(records)) = (schema(file, false), Record::all(name)) else { return };
    let world = World::new(&schema, &Pools::of(&records), 16);
    world.db.set_graphql_client(Arc::new(Nobody));
    check(&world, &records);
}

#[test]
fn queries_find_the_same() {
    check_file("resolve_schema.graphql", "resolve_query.jsonl");
}

#[test]
fn queries_with_rules_find_the_same() {
    check_file("auth_schema.graphql", "resolve_auth_query.jsonl");
}
