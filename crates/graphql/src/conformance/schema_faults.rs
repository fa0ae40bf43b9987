//! The schemas that were recorded with Dgraph's verdicts, read where they are there.

use std::collections::HashMap;
use std::fs;

use serde_json::Value;

use crate::conformance::records::{folder, records, settings};
use crate::generate::Api;
use crate::request::Request;
use crate::sdl::{check_rules, read};
use crate::syntax::GraphqlError;

/// Cases that differ, each with its reason: `name # why`.
fn existing() -> HashMap<&'static str, &'static str> {
    let list = include_str!("../../../../tests/conformance/known_schema_validation.txt");
    let lines = list.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines.map(|line| line.split_once(" # ").expect("each case has a reason")).collect()
}

/// Message and positions of each fault, without order.
fn reported(faults: &[GraphqlError]) -> Vec<String> {
    let mut reported: Vec<String> = faults
        .iter()
        .map(|fault| {
            let positions: Vec<String> = fault
                .positions
                .iter()
                .map(|position| format!("{}:{}", position.line, position.column))
                .collect();
            format!("{} [{}]", fault.message, positions.join(" "))
        })
        .collect();
    reported.sort_unstable();
    reported
}

fn recorded(errors: &Value) -> Vec<String> {
    let number = |position: &Value, key: &str| position[key].as_u64().expect("a number");
    let mut reported: Vec<String> = errors
        .as_array()
        .into_iter()
        .flatten()
        .map(|error| {
            let positions = error["locations"].as_array().into_iter().flatten();
            let positions: Vec<String> = positions
                .map(|position| {
                    format!("{}:{}", number(position, "line"), number(position, "column"))
                })
                .collect();
            format!("{} [{}]", error["message"].as_str().expect("text"), positions.join(" "))
        })
        .collect();
    reported.sort_unstable();
    reported
}

/// How many schemas of `schema_validation.jsonl` are judged in exactly the recorded words, wherever
/// the positions are.
const SAME_WORDS_MIN: usize = 238;

/// A fault without its positions.
fn words(reported: &str) -> &str {
    reported.rsplit_once(" [").map_or(reported, |(words, _)| words)
}

/// All that is wrong with a schema, its rules included, as when it is set.
fn faults_of(schema: &str) -> Vec<GraphqlError> {
    let model = match read(schema, &settings()) {
        Ok(model) => model,
        Err(faults) => return faults,
    };
    let api = Api::new(&model).expect("a schema that is read has an API");
    check_rules(&model, |rule| Request::faults(&api, rule))
}

#[test]
fn verdicts_are_the_recorded_ones() {
    let existing = existing();
    let (mut wrong, mut same) = (Vec::new(), 0);
    let cases = records("schema_validation.jsonl");
    for case in &cases {
        let name = case["name"].as_str().expect("a name");
        let result = reported(&faults_of(case["schema"].as_str().expect("a schema")));
        let expected = recorded(&case["errors"]);
        let same_words = result
            .iter()
            .map(|reported| words(reported))
            .eq(expected.iter().map(|reported| words(reported)));
        same += usize::from(same_words);
        match (result == expected, existing.contains_key(name)) {
            (true, true) => wrong.push(format!("{name}: agrees by now, remove it from the list")),
            (false, false) => wrong.push(format!("{name}:\n  {result:#?}\n  not {expected:#?}")),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    let all = cases.len();
    assert!(all == 0 || SAME_WORDS_MIN <= same, "{same} of {all} in the same words");
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
            Err(faults) => wrong.push(format!("{name}: {:?}", reported(&faults))),
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
            wrong.push(format!("{}: {:#?}", file.display(), reported(&faults)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The schemas of requests that set one: the body of `/admin/schema`, the text variable of a
/// mutation.
fn schema_of(request: &Value) -> Option<String> {
    let path = request["path"].as_str()?;
    let body = request["body"].as_str()?;
    if path.starts_with("/admin/schema") {
        return Some(body.to_owned());
    }
    if path != "/admin" || !body.contains("updateGQLSchema") {
        return None;
    }
    let body: Value = serde_json::from_str(body).ok()?;
    body["variables"].as_object()?.values().find_map(|value| value.as_str().map(str::to_owned))
}

/// What Dgraph said of a schema, without requests without permission.
fn answer(request: &Value) -> Option<Vec<String>> {
    let errors = request["response"]["errors"].as_array().into_iter().flatten();
    let reported: Vec<String> =
        errors.filter_map(|error| error["message"].as_str().map(str::to_owned)).collect();
    let no_right = ["AuthToken", "PermissionDenied", "Unauthenticated"];
    if reported.iter().any(|reported| no_right.iter().any(|word| reported.contains(word))) {
        return None;
    }
    Some(reported.into_iter().filter(|reported| reported != "Schema is valid").collect())
}

#[test]
fn schemas_of_traces_are_judged_as_recorded() {
    let Some(folder) = folder() else { return };
    let mut wrong = Vec::new();
    let mut seen = 0;
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let name = entry.expect("an entry").file_name().into_string().expect("a plain name");
        if !name.ends_with(".jsonl") {
            continue;
        }
        for (index, request) in records(&name).iter().enumerate() {
            let Some((text, reported)) = schema_of(request).zip(answer(request)) else { continue };
            seen += 1;
            let faults = read(&text, &settings()).err().unwrap_or_default();
            let result: Vec<String> = faults.iter().map(GraphqlError::to_string).collect();
            if result != reported {
                wrong.push(format!("{name}:{}: {result:#?} not {reported:#?}", index + 1));
            }
        }
    }
    assert!(wrong.is_empty() && seen > 50, "{seen} seen\n{}", wrong.join("\n"));
}
