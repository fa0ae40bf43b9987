//! The read-only scenarios of the openCypher TCK: which texts are parsed and analysed, and which
//! errors are named as there.

use crate::{Analysed, Result, analyse, parse};
use serde_json::Value;
use std::path::PathBuf;

fn shared() -> PathBuf {
    std::env::var("HEXGRAPH_SHARED").map_or_else(
        |_| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
        PathBuf::from,
    )
}

pub(super) fn rows(file: &str) -> Option<Vec<Value>> {
    let path = shared().join("conformance/cypher").join(file);
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

fn analysed(text: &str) -> Result<Analysed> {
    parse(text).and_then(|it| analyse(&it))
}

#[test]
fn texts_with_rows_are_analysed_to_their_columns() {
    let files = ["read.jsonl", "rewritten.jsonl"];
    let Some(rows) = files.iter().map(|file| rows(file)).collect::<Option<Vec<_>>>() else {
        return;
    };
    let mut wrong = Vec::new();
    for row in rows.iter().flatten().filter(|row| row["error"].is_null()) {
        match analysed(query(row)) {
            Err(error) => wrong.push(format!("{}\n{}", row["id"], error.report(query(row)))),
            Ok(analysed) => {
                let names = analysed.columns().iter().map(|column| &*column.name);
                let names: Value = names.collect::<Vec<_>>().into();
                if !row["columns"].is_null() && row["columns"] != names {
                    wrong.push(format!("{}\n{}\n{names}", row["id"], query(row)));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn queries_of_the_shared_graphs_are_analysed() {
    for file in ["lsqb", "follows"] {
        let path = shared().join("graphs").join(file).join("queries.cypher");
        let Ok(text) = std::fs::read_to_string(&path) else {
            println!("skipped: {} is missing", path.display());
            continue;
        };
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("//")).collect();
        let text = lines.join("\n");
        let queries: Vec<&str> =
            text.split_terminator(';').filter(|it| it.contains("MATCH")).collect();
        assert_eq!(queries.len(), 9, "{file}");
        for query in queries {
            analysed(query).unwrap_or_else(|error| panic!("{}", error.report(query)));
        }
    }
}

/// How many errors of the TCK that a text shows are refused under another name.
const COMPILE_RENAMED_MAX: usize = 12;

#[test]
fn errors_that_a_text_shows_are_refused() {
    let Some(rows) = rows("read.jsonl") else { return };
    let (mut count, mut missed, mut renamed) = (0, Vec::new(), Vec::new());
    let mut other = [0, 0];
    for row in rows.iter().filter(|row| !row["error"].is_null()) {
        let (text, error) = (query(row), &row["error"]);
        let result = analysed(text);
        if error["phase"] != "compile" {
            other[usize::from(result.is_err())] += 1;
            continue;
        }
        count += 1;
        match result {
            Ok(_) => missed.push(format!("{} {}\n{text}", row["id"], error["detail"])),
            Err(it) if format!("{:?}", it.code) != *error["detail"].as_str().unwrap() => {
                renamed.push(format!("{} {}\n{}", row["id"], error["detail"], it.report(text)));
            }
            Err(_) => {}
        }
    }
    println!(
        "{count} errors of a text: {} missed, {} under another name; of {} errors of values {} are seen before",
        missed.len(),
        renamed.len(),
        other[0] + other[1],
        other[1],
    );
    assert!(missed.is_empty(), "{}:\n{}", missed.len(), missed.join("\n"));
    assert!(renamed.len() <= COMPILE_RENAMED_MAX, "{}:\n{}", renamed.len(), renamed.join("\n"));
}

#[test]
fn what_writes_is_refused_with_the_method_to_use() {
    let Some(rows) = rows("skipped.jsonl") else { return };
    let mut wrong = Vec::new();
    for row in rows.iter().filter(|row| row["reason"] == "writes") {
        match parse(query(row)) {
            Err(error) if error.code == crate::Code::Writes => {}
            Err(error) => wrong.push(format!("{}\n{}", row["id"], error.report(query(row)))),
            Ok(_) => wrong.push(format!("{}\n{}", row["id"], query(row))),
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
