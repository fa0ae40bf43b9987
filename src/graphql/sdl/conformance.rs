//! The schemas that were recorded with the reference's verdicts, read where they are there.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::graphql::sdl::Settings;
use crate::graphql::sdl::read;
use crate::graphql::syntax::Fault;

/// The folder of GraphQL records; nothing, and a word about it, where there is none.
fn folder() -> Option<PathBuf> {
    let shared = std::env::var("HEXGRAPH_SHARED").unwrap_or_else(|_| "../shared".to_owned());
    let folder = PathBuf::from(shared).join("conformance/graphql");
    if !folder.is_dir() {
        println!("skipped: {} is not there", folder.display());
        return None;
    }
    Some(folder)
}

fn records(name: &str) -> Vec<Value> {
    let Some(folder) = folder() else { return Vec::new() };
    let text = fs::read_to_string(folder.join(name)).expect("the records are text");
    text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

/// A server that carries lambdas out, as the one that was recorded.
fn settings() -> Settings {
    Settings { lambda_url: Some("http://localhost:8086/graphql-worker".to_owned()) }
}

/// Cases that differ, each with its reason: `name # why`.
fn known() -> HashMap<&'static str, &'static str> {
    let list = include_str!("../../../tests/conformance/known_schema_validation.txt");
    let lines = list.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines.map(|line| line.split_once(" # ").expect("each case has a reason")).collect()
}

/// Message and places of each fault, without order.
fn told(faults: &[Fault]) -> Vec<String> {
    let mut told: Vec<String> = faults
        .iter()
        .map(|fault| {
            let places: Vec<String> = fault
                .places
                .iter()
                .map(|place| format!("{}:{}", place.line, place.column))
                .collect();
            format!("{} [{}]", fault.message, places.join(" "))
        })
        .collect();
    told.sort_unstable();
    told
}

fn recorded(errors: &Value) -> Vec<String> {
    let number = |place: &Value, key: &str| place[key].as_u64().expect("a number");
    let mut told: Vec<String> = errors
        .as_array()
        .into_iter()
        .flatten()
        .map(|error| {
            let places = error["locations"].as_array().into_iter().flatten();
            let places: Vec<String> = places
                .map(|place| format!("{}:{}", number(place, "line"), number(place, "column")))
                .collect();
            format!("{} [{}]", error["message"].as_str().expect("text"), places.join(" "))
        })
        .collect();
    told.sort_unstable();
    told
}

#[test]
fn verdicts_are_the_recorded_ones() {
    let known = known();
    let mut wrong = Vec::new();
    let cases = records("schema_validation.jsonl");
    for case in &cases {
        let name = case["name"].as_str().expect("a name");
        let verdict = read(case["schema"].as_str().expect("a schema"), &settings());
        let found = told(&verdict.err().unwrap_or_default());
        let expected = recorded(&case["errors"]);
        match (found == expected, known.contains_key(name)) {
            (true, true) => wrong.push(format!("{name}: agrees by now, take it off the list")),
            (false, false) => wrong.push(format!("{name}:\n  {found:#?}\n  not {expected:#?}")),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn predicates_are_the_recorded_ones() {
    let mut wrong = Vec::new();
    for case in records("dgraph_schema.jsonl") {
        let name = &case["name"];
        let text = case["graphql_schema"].as_str().expect("a schema");
        let expected = case["dgraph_schema"].as_str().expect("a schema").trim_end();
        match read(text, &settings()) {
            Ok(model) if model.to_dql_schema().trim_end() == expected => {}
            Ok(model) => wrong.push(format!("{name}:\n{}", model.to_dql_schema())),
            Err(faults) => wrong.push(format!("{name}: {:?}", told(&faults))),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn recorded_schemas_load() {
    let Some(folder) = folder() else { return };
    let mut files = vec![folder.join("resolve/resolve_schema.graphql")];
    files.push(folder.join("resolve/auth_schema.graphql"));
    for inputs in ["schemagen/input", "apolloservice/input"] {
        let entries = fs::read_dir(folder.join(inputs)).expect("the folder is there");
        files.extend(entries.map(|entry| entry.expect("an entry").path()));
    }
    let mut wrong = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("schemas are text");
        if let Err(faults) = read(&text, &settings()) {
            wrong.push(format!("{}: {:#?}", file.display(), told(&faults)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
