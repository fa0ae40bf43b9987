//! The schemas that were recorded with the reference's verdicts, read where they are there.

use std::collections::HashMap;
use std::fs;

use serde_json::Value;

use crate::conformance::records::{folder, records, settings};
use crate::generate::Api;
use crate::request::Request;
use crate::sdl::{check_rules, read};
use crate::syntax::Fault;

/// Cases that differ, each with its reason: `name # why`.
fn known() -> HashMap<&'static str, &'static str> {
    let list = include_str!("../../../../tests/conformance/known_schema_validation.txt");
    let lines = list.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines.map(|line| line.split_once(" # ").expect("each case has a reason")).collect()
}

/// Message and positions of each fault, without order.
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

/// How many schemas of `schema_validation.jsonl` are judged in exactly the recorded words, wherever
/// the positions are.
const SAME_WORDS_MIN: usize = 238;

/// A fault without its positions.
fn words(told: &str) -> &str {
    told.rsplit_once(" [").map_or(told, |(words, _)| words)
}

/// All that is wrong with a schema, its rules included, as when it is set.
fn faults_of(schema: &str) -> Vec<Fault> {
    let model = match read(schema, &settings()) {
        Ok(model) => model,
        Err(faults) => return faults,
    };
    let api = Api::new(&model).expect("a schema that is read has an API");
    check_rules(&model, |rule| Request::faults(&api, rule))
}

#[test]
fn verdicts_are_the_recorded_ones() {
    let known = known();
    let (mut wrong, mut same) = (Vec::new(), 0);
    let cases = records("schema_validation.jsonl");
    for case in &cases {
        let name = case["name"].as_str().expect("a name");
        let found = told(&faults_of(case["schema"].as_str().expect("a schema")));
        let expected = recorded(&case["errors"]);
        let same_words =
            found.iter().map(|told| words(told)).eq(expected.iter().map(|told| words(told)));
        same += usize::from(same_words);
        match (found == expected, known.contains_key(name)) {
            (true, true) => wrong.push(format!("{name}: agrees by now, take it off the list")),
            (false, false) => wrong.push(format!("{name}:\n  {found:#?}\n  not {expected:#?}")),
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

/// What the reference said of a schema, without requests that had no right to ask.
fn answer(request: &Value) -> Option<Vec<String>> {
    let errors = request["response"]["errors"].as_array().into_iter().flatten();
    let told: Vec<String> =
        errors.filter_map(|error| error["message"].as_str().map(str::to_owned)).collect();
    let no_right = ["AuthToken", "PermissionDenied", "Unauthenticated"];
    if told.iter().any(|told| no_right.iter().any(|word| told.contains(word))) {
        return None;
    }
    Some(told.into_iter().filter(|told| told != "Schema is valid").collect())
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
            let Some((text, told)) = schema_of(request).zip(answer(request)) else { continue };
            seen += 1;
            let faults = read(&text, &settings()).err().unwrap_or_default();
            let found: Vec<String> = faults.iter().map(Fault::to_string).collect();
            if found != told {
                wrong.push(format!("{name}:{}: {found:#?} not {told:#?}", index + 1));
            }
        }
    }
    assert!(wrong.is_empty() && seen > 50, "{seen} seen\n{}", wrong.join("\n"));
}
