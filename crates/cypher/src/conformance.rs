//! The read-only scenarios of the openCypher TCK: which texts are parsed and analysed, and which errors are named as
//! there.

use super::parse;
use serde_json::Value;
use std::path::PathBuf;

pub(super) fn rows(file: &str) -> Option<Vec<Value>> {
    let shared = std::env::var("HEXGRAPH_SHARED").map_or_else(
        |_| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
        PathBuf::from,
    );
    let path = shared.join("conformance/cypher").join(file);
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: {} is missing", path.display());
        return None;
    };
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn query(row: &Value) -> &str {
    row["query"].as_str().unwrap()
}

#[test]
fn texts_with_rows_are_parsed() {
    let files = ["read.jsonl", "rewritten.jsonl", "call.jsonl"];
    let Some(rows) = files.iter().map(|file| rows(file)).collect::<Option<Vec<_>>>() else {
        return;
    };
    let mut wrong = Vec::new();
    let mut count = 0;
    for row in rows.iter().flatten().filter(|row| row["error"].is_null()) {
        count += 1;
        if let Err(error) = parse(query(row)) {
            wrong.push(format!("{}\n{}", row["id"], error.report(query(row))));
        }
    }
    println!("{count} texts, {} refused", wrong.len());
    assert!(wrong.is_empty(), "{} of {count} are refused:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_writes_is_refused_with_the_method_to_use() {
    let Some(rows) = rows("skipped.jsonl") else { return };
    let mut wrong = Vec::new();
    for row in rows.iter().filter(|row| row["reason"] == "writes") {
        match parse(query(row)) {
            Err(error) if error.code == super::Code::Writes => {}
            Err(error) => wrong.push(format!("{}\n{}", row["id"], error.report(query(row)))),
            Ok(_) => wrong.push(format!("{}\n{}", row["id"], query(row))),
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
