//! The requests that were recorded with Dgraph's answers: those that it refused before
//! carrying them out are refused in the same words, all others are resolved, and introspection
//! answers the same.

use serde_json::{Map, Value as Json, json};
use std::fs;

use crate::conformance::records::{folder, records, settings};
use crate::generate::Api;
use crate::request::{GraphqlError, Operation, PathStep, Request, RequestLimits, introspect};
use crate::sdl::{check_rules, read};

fn api(schema: &str) -> Api {
    let model = read(schema, &settings()).unwrap_or_else(|faults| panic!("{faults:?}"));
    Api::new(&model).unwrap()
}

/// The schema that a record sets, when it succeeded.
fn schema_set(record: &Json) -> Option<String> {
    let body = record["body"].as_str()?;
    match record["path"].as_str()? {
        "/admin/schema" => {
            (record["response"]["data"]["code"] == "Success").then(|| body.to_owned())
        }
        "/admin" if body.contains("updateGQLSchema(") => {
            if record["response"]["data"]["updateGQLSchema"].is_null() {
                return None;
            }
            let body: Json = serde_json::from_str(body).ok()?;
            let variables = body["variables"].as_object()?;
            variables.values().find_map(Json::as_str).map(str::to_owned)
        }
        _ => None,
    }
}

/// The request that a record sends to be answered from the schema.
fn request_of(record: &Json) -> Option<Json> {
    if record["path"] != "/graphql" || record["method"] != "POST" {
        return None;
    }
    let body: Json = serde_json::from_str(record["body"].as_str()?).ok()?;
    body["query"].as_str().filter(|query| !query.is_empty())?;
    body["extensions"].is_null().then_some(body)
}

fn run(api: &Api, request: &Json) -> Result<Operation, Vec<GraphqlError>> {
    let parsed =
        Request::parse(api, request["query"].as_str().unwrap(), &RequestLimits::default())?;
    let none = Map::new();
    let variables = request["variables"].as_object().unwrap_or(&none);
    parsed.resolve(api, request["operationName"].as_str(), variables)
}

/// Message, positions and path. Of what is proposed only the first name is compared: names that are
/// equally near come in any order.
fn reported(error: &Json) -> String {
    let message = error["message"].as_str().unwrap();
    let message = match message.split_once("Did you mean ") {
        Some((before, near)) => {
            format!("{before}Did you mean {}", near.split([',', ' ', '?']).next().unwrap())
        }
        None => message.to_owned(),
    };
    // Recorded positions in lists are floats.
    let path = error["path"].as_array().into_iter().flatten();
    let path: Vec<String> = path
        .map(|step| step.as_str().map_or_else(|| step.as_f64().unwrap().to_string(), str::to_owned))
        .collect();
    format!("{message} {} {}", error["locations"], path.join("/"))
}

fn fault_json(fault: &GraphqlError) -> Json {
    let mut error = json!({ "message": fault.message });
    if !fault.positions.is_empty() {
        let positions = fault.positions.iter();
        let positions = positions.map(|at| json!({ "line": at.line, "column": at.column }));
        error["locations"] = positions.collect();
    }
    if !fault.path.is_empty() {
        let steps = fault.path.iter().map(|step| match step {
            PathStep::Key(key) => json!(key),
            PathStep::Index(index) => json!(index),
        });
        error["path"] = steps.collect();
    }
    error
}

/// How many requests of `request_validation.jsonl` are refused in exactly the recorded words,
/// proposals and their order included: all of them.
const SAME_WORDS_MIN: usize = 28;

/// Compares the faults of a request with the recorded errors.
fn compare(name: &str, faults: &[GraphqlError], errors: &Json, report: &mut Vec<String>) {
    let ours: Vec<String> = faults.iter().map(|fault| reported(&fault_json(fault))).collect();
    let theirs: Vec<String> = errors.as_array().into_iter().flatten().map(reported).collect();
    if ours != theirs {
        report.push(format!("{name}\n  recorded {theirs:#?}\n  ours     {ours:#?}"));
    }
}

/// Rules of `@auth` are valid requests, and the schema that is shown is the recorded one but for
/// `after` and our wording.
fn compare_generated(
    trace: &str,
    line: usize,
    schema: &str,
    record: &Json,
    report: &mut Vec<String>,
) -> Api {
    let model = read(schema, &settings()).unwrap();
    let api = Api::new(&model).unwrap();
    let rules = check_rules(&model, |rule| Request::faults(&api, rule));
    report.extend(rules.iter().map(|fault| format!("{trace}:{}: {}", line + 1, fault.message)));
    let shown = &record["response"]["data"]["updateGQLSchema"]["gqlSchema"]["generatedSchema"];
    if let Some(shown) = shown.as_str() {
        let lines = |text: &str| -> Vec<String> {
            let text = text.replace(", after: ID", "").replace("Range{", "Range {");
            let lines = text.lines().map(str::trim_end);
            lines
                .filter(|line| line.starts_with('\t') || line.starts_with("type "))
                .map(str::to_owned)
                .collect()
        };
        let (ours, theirs) = (lines(&api.sdl), lines(shown));
        let lacking = theirs.iter().filter(|line| {
            !ours.contains(line)
                && !line.contains("AuthRule")
                && !line.contains("Params")
                && !line.contains("subscription: Boolean")
        });
        report.extend(lacking.map(|missing| format!("{trace}:{}: lacks {missing}", line + 1)));
    }
    api
}

/// Faults of executing: the request itself was fine.
fn is_later(record: &Json) -> bool {
    let message = record["response"]["errors"][0]["message"].as_str().unwrap_or("");
    !record["response"]["data"].is_null()
        || record["response"]["errors"].is_null()
        || message.starts_with("invalid Bearer")
        || message.starts_with("couldn't rewrite")
        || message.starts_with("Internal error")
        || message.contains("failed because")
}

#[test]
fn traces_are_resolved_or_refused_as_recorded() {
    let mut report = Vec::new();
    let (mut resolved, mut refused) = (0, 0);
    let traces = [
        "normal",
        "directives",
        "auth",
        "auth_closed_by_default",
        "auth_debug_off",
        "schema",
        "subscription",
        "multi_tenancy",
    ];
    for trace in traces {
        let mut current: Option<Api> = None;
        for (line, record) in records(&format!("{trace}.jsonl")).iter().enumerate() {
            if let Some(schema) = schema_set(record) {
                current = Some(compare_generated(trace, line, &schema, record, &mut report));
            }
            let (Some(api), Some(request)) = (&current, request_of(record)) else { continue };
            let answer = record["response"].to_string();
            if answer.contains("There's no GraphQL schema")
                || answer.contains("Unable to parse gzip")
            {
                continue;
            }
            let name = format!("{trace}:{} {}", line + 1, record["test"]);
            match run(api, &request) {
                Ok(operation) if is_later(record) => {
                    resolved += 1;
                    compare_introspection(&name, api, &operation, &record["response"], &mut report);
                }
                Ok(_) => report.push(format!("{name}: not refused: {}", record["response"])),
                Err(faults) if is_later(record) => {
                    report.push(format!("{name}: refused: {faults:?}"));
                }
                Err(faults) => {
                    refused += 1;
                    compare(&name, &faults, &record["response"]["errors"], &mut report);
                }
            }
        }
    }
    assert!(
        report.is_empty(),
        "{}\n{resolved} resolved, {refused} refused as recorded, {} not",
        report.join("\n"),
        report.len()
    );
}

/// Sorts what Dgraph lists in any order, and takes away what only one of the two has:
/// `after`, `between` of an enum, own wording, and what newer editions of GraphQL added.
fn normal(mut value: Json) -> Json {
    match &mut value {
        Json::Object(fields) => {
            for (key, field) in fields.iter_mut() {
                *field = normal(field.take());
                if let Some(items) = field.as_array_mut() {
                    items.retain(|item| item["name"] != "after" && item["name"] != "between");
                    if matches!(key.as_str(), "types" | "directives" | "possibleTypes") {
                        items.retain(|item| {
                            !item["name"]
                                .as_str()
                                .is_some_and(|name| name.starts_with("__") || name == "specifiedBy")
                        });
                        items.sort_by_key(|item| item["name"].as_str().map(str::to_owned));
                    }
                }
            }
        }
        Json::Array(items) => items.iter_mut().for_each(|item| *item = normal(item.take())),
        _ => {}
    }
    value
}

fn compare_introspection(
    name: &str,
    api: &Api,
    operation: &Operation,
    response: &Json,
    report: &mut Vec<String>,
) {
    for field in
        operation.fields.iter().filter(|field| matches!(&*field.shape.name, "__schema" | "__type"))
    {
        let mut text = String::new();
        introspect(api, field, &mut text).unwrap();
        let ours = normal(serde_json::from_str(&text).unwrap());
        let theirs = normal(response["data"][field.shape.key.as_str()].clone());
        differences(name, &ours, &theirs, report);
    }
}

fn differences(position: &str, ours: &Json, theirs: &Json, report: &mut Vec<String>) {
    match (ours, theirs) {
        (Json::Object(left), Json::Object(right)) if left.len() == right.len() => {
            for (key, value) in left {
                differences(
                    &format!("{position}.{key}"),
                    value,
                    &right.get(key).cloned().unwrap_or_default(),
                    report,
                );
            }
        }
        (Json::Array(left), Json::Array(right)) if left.len() == right.len() => {
            for (at, (left, right)) in left.iter().zip(right).enumerate() {
                differences(&format!("{position}[{at}]"), left, right, report);
            }
        }
        _ if ours != theirs => {
            report.push(format!("{position}: ours {ours:.200} recorded {theirs:.200}"))
        }
        _ => {}
    }
}

#[test]
fn faulty_requests_are_refused_as_recorded() {
    let Some(folder) = folder() else { return };
    let end_to_end =
        records("normal.jsonl").iter().find_map(schema_set).expect("the trace sets a schema");
    let resolve = fs::read_to_string(folder.join("resolve/resolve_schema.graphql")).unwrap();
    let apis = [api(&end_to_end), api(&resolve)];
    let (mut report, mut same, mut other) = (Vec::new(), 0, Vec::new());
    for record in records("request_validation.jsonl") {
        let api = &apis[usize::from(record["schema"] == "resolve_schema.graphql")];
        let name = record["name"].as_str().unwrap();
        match run(api, &record) {
            Ok(_) => report.push(format!("{name}: not refused")),
            Err(faults) if record["source"] == "resolve/validate_mutation_test.yaml" => {
                // Recorded as the one text of all faults.
                let one = faults.len() == 1;
                let lines = faults
                    .iter()
                    .map(|fault| if one { fault.to_string() } else { format!("{fault}\n") });
                let text: String = lines.collect();
                if record["errors"][0]["message"] != text {
                    report.push(format!("{name}: {text} instead of {}", record["errors"]));
                }
                same += 1;
            }
            Err(faults) => {
                compare(name, &faults, &record["errors"], &mut report);
                let ours: Vec<Json> = faults.iter().map(|fault| json!(fault.message)).collect();
                let theirs = record["errors"].as_array().into_iter().flatten();
                let theirs: Vec<Json> = theirs.map(|error| error["message"].clone()).collect();
                match ours == theirs {
                    true => same += 1,
                    false => other.push(format!("{name}: {ours:?} for {theirs:?}")),
                }
            }
        }
    }
    assert!(report.is_empty(), "{}", report.join("\n"));
    assert!(SAME_WORDS_MIN <= same, "{same} in the same words, not:\n{}", other.join("\n"));
}
