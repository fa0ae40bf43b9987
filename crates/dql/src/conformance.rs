//! Texts with the verdict of Dgraph: accepted or refused.

use super::{ParameterValue, parse, parse_mutation};
use hexgraph_base::types::Result;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Cases that the parser of Dgraph accepts and that every request refuses: Dgraph
/// finds the fault while it builds its tree, we do while planning.
const REFUSED_LATER: [(&str, &[u32]); 3] = [
    ("unknown function", &[123, 128, 129, 131, 133, 134, 135, 136, 442, 457]),
    ("stands twice in one selection", &[41, 42, 114, 115, 451, 475]),
    ("can't be the function of a block", &[365, 366, 367, 368]),
];

fn rows(file: &str) -> Option<Vec<Value>> {
    let shared = std::env::var("HEXGRAPH_SHARED").map_or_else(
        |_| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
        PathBuf::from,
    );
    let path = shared.join("conformance/dql").join(file);
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: {} is missing", path.display());
        return None;
    };
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn variables(row: &Value) -> BTreeMap<String, ParameterValue> {
    let pairs = row["vars"].as_object().into_iter().flatten();
    pairs.map(|(name, value)| (name.clone(), value.as_str().unwrap().into())).collect()
}

fn plan(row: &Value) -> Result<()> {
    parse(row["query"].as_str().unwrap())?.plan(&variables(row)).map(|_| ())
}

#[test]
fn verdicts_of_the_parser_agree() {
    let Some(rows) = rows("parser.jsonl") else { return };
    let mut wrong = Vec::new();
    for row in &rows {
        let text = row["query"].as_str().unwrap();
        let outcome = match row["kind"].as_str().unwrap() {
            "query" => plan(row),
            "request" => parse_mutation(text).map(|_| ()),
            _ => parse_mutation(text).map(|_| ()),
        };
        let id = row["id"].as_str().unwrap();
        let number: u32 = id.trim_start_matches("parser-").parse().unwrap();
        let reason = REFUSED_LATER.iter().find(|(_, ids)| ids.contains(&number));
        let agrees = match (&outcome, reason) {
            (Err(error), Some((reason, _))) => error.to_string().contains(reason),
            _ => outcome.is_ok() == row["ok"].as_bool().unwrap() && reason.is_none(),
        };
        if !agrees {
            wrong.push(format!("{id}: {outcome:?}\n{text}\n{}", row["error"]));
        }
    }
    assert!(wrong.is_empty(), "{} cases disagree:\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn answered_queries_are_planned() {
    let files = ["suite.jsonl", "suite_systest.jsonl", "suite_vector.jsonl"];
    for row in files.iter().filter_map(|file| rows(file)).flatten() {
        if row["op"] == "query" && row["error"].is_null() {
            let outcome = plan(&row);
            assert!(outcome.is_ok(), "{}: {outcome:?}\n{}", row["id"], row["query"]);
        }
    }
}
