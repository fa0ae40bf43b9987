//! The recorded mutations with what Dgraph knew of the data: the same are refused in the
//! same words, and the others create as many nodes.

use serde_json::{Map, Value as Json};
use std::fs;

use crate::conformance::records::folder;
use crate::generate::Api;
use crate::model::Model;
use crate::mutate::{LookupResult, MutationFault, Reading};
use crate::request::{Request, RequestLimits};
use crate::sdl::{Settings, read};
use hexgraph_base::types::{Uid, Value};

const LIMITS: RequestLimits = RequestLimits { depth: 100, tokens: 100_000, fields: 10_000 };

/// The result of Dgraph's query, for the variables of ours: its blocks request one value
/// each, in the same order but for those of interfaces, which come after the type's.
fn result(reading: &Reading<'_>, record: &Json) -> LookupResult {
    let query = record["dgquery"].as_str().unwrap_or_default();
    let existing: Json = record["qnametouid"]
        .as_str()
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default();
    let blocks: Vec<(&str, &str)> =
        query.lines().filter_map(|line| line.trim().split_once("(func: ")).collect();
    let mut result = LookupResult::default();
    for lookup in reading.lookups() {
        let (mut uids, mut values) = (Vec::new(), Vec::new());
        for text in &lookup.texts {
            let requested = match lookup.predicate.is_empty() {
                true => format!("uid({text})) {{"),
                false => format!("eq({}, \"{text}\")) {{", lookup.predicate),
            };
            let requested = blocks.iter().filter(|(_, function)| *function == requested);
            let requested: Vec<_> = requested.collect();
            let block = if lookup.is_interface { requested.last() } else { requested.first() };
            let uid = block.and_then(|(name, _)| existing[*name].as_str()).and_then(Uid::parse);
            uids.extend(uid);
            values.extend(uid.map(|uid| (uid, Value::String(text.clone()))));
        }
        match lookup.predicate.is_empty() {
            true => result.add_uids(&lookup.variable, uids),
            false => result.add_values(&lookup.variable, values),
        }
    }
    result
}

/// The number of new nodes, or what is wrong.
fn outcome(model: &Model, api: &Api, record: &Json) -> Result<usize, Vec<MutationFault>> {
    let none = Map::new();
    let variables: Option<Json> = record["variables"]
        .as_str()
        .map(|text| serde_json::from_str(text).expect("variables are JSON"));
    let variables = variables.as_ref().unwrap_or(&record["variables"]);
    let variables = variables.as_object().unwrap_or(&none);
    let text = record["gqlquery"].as_str().unwrap();
    let request = Request::parse(api, text, &LIMITS).unwrap();
    let operation = request.resolve(api, None, variables).unwrap();
    let field = &operation.fields[0];
    let root = field.shape.root.as_ref().unwrap();
    let reading = Reading::new(model, root, &field.arguments)?;
    let result = result(&reading, record);
    Ok(reading.outcome(result, "2000-01-01T00:00:00Z")?.new.len())
}

#[test]
fn recorded_mutations_are_refused_or_create_as_many_nodes() {
    let Some(folder) = folder() else { return };
    let schema = fs::read_to_string(folder.join("resolve/resolve_schema.graphql")).unwrap();
    let schema = schema.replace("operation: \"batch\",", "").replace("operation: \"single\",", "");
    let model = read(&schema, &Settings::default()).unwrap();
    let api = Api::new(&model).unwrap();
    let mut wrong = Vec::new();
    for name in ["resolve_add_mutation.jsonl", "resolve_update_mutation.jsonl"] {
        for line in fs::read_to_string(folder.join("resolve").join(name)).unwrap().lines() {
            let record: Json = serde_json::from_str(line).unwrap();
            let name = record["name"].as_str().unwrap();
            let error = [&record["error"], &record["error2"]].into_iter();
            let error = error.filter_map(|error| error["message"].as_str()).next();
            let sets = record["dgmutations"].as_array().into_iter().flatten();
            let sets = sets.filter_map(|set| set["setjson"].as_str());
            let new: usize = sets.map(|set| set.matches("\"dgraph.type\"").count()).sum();
            let reported = |faults: Vec<MutationFault>| {
                let prefix = "failed to rewrite mutation payload because ";
                let faults = faults.iter().map(|fault| format!("{prefix}{fault}"));
                faults.collect::<Vec<_>>().join("\n")
            };
            let want = error.map_or(Ok(new), |error| Err(error.to_owned()));
            let have = outcome(&model, &api, &record).map_err(reported);
            if have != want {
                wrong.push(format!("{name}: {have:?} and not {want:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
