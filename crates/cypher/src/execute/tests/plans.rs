//! The plans of the texts of `golden/plans`, explained and profiled. `HEXGRAPH_UPDATE=1` writes the
//! file anew.

use super::context;
use super::memory_graph::MemoryGraph;
use crate::execute::{execute, explain, profile};
use crate::{analyse, parse};
use hexgraph_scalar::{Map, Value};
use serde_json::json;
use std::fs;

/// Twelve people with a number each; those with even numbers are old. Each knows the next two, and
/// likes the first.
fn graph() -> MemoryGraph {
    let node = |id: u64| {
        let labels: &[&str] = if id.is_multiple_of(2) { &["Old", "Person"] } else { &["Person"] };
        json!({"id": id, "labels": labels, "props": {"id": id, "x": id % 3, "iname": format!("n{id}")}})
    };
    let knows = (0..12_u64).flat_map(|id| [1, 2].map(|step| (id, (id + step) % 12, "KNOWS")));
    let likes = (1..12_u64).map(|id| (id, 0, "LIKES"));
    let edge = |(src, dst, name)| json!({"src": src, "dst": dst, "type": name, "props": {}});
    let edges: Vec<_> = knows.chain(likes).map(edge).collect();
    let nodes: Vec<_> = (0..12).map(node).collect();
    MemoryGraph::new(&json!({"nodes": nodes, "edges": edges})).with_lists(u64::MAX, 64 << 20)
}

/// The lines of a profile without the times, and the number of rows that the query has.
fn rendered(text: &str) -> String {
    let (parsed, params, graph) = (parse(text).unwrap(), Map::new(Vec::new()).unwrap(), graph());
    analyse(&parsed).unwrap();
    let explained = explain(&parsed, &params, &graph, &context()).unwrap();
    let profiled = profile(&parsed, &params, &graph, &context()).unwrap();
    let operators = |rows: &[Vec<Value>]| -> Vec<String> {
        rows.iter().map(|row| format!("{}", row[0])).collect()
    };
    assert_eq!(operators(&explained.rows), operators(&profiled.rows), "{text}");
    let cell = |value: &Value| if value.is_null() { "-".to_owned() } else { value.to_string() };
    let line = |row: &Vec<Value>| {
        let step = format!("{} {}", cell(&row[0]), cell(&row[1]));
        format!("{:<72} {:>8} {:>8}", step.trim_end(), cell(&row[2]), cell(&row[3]))
            .trim_end()
            .to_owned()
    };
    let lines: Vec<String> = profiled.rows.iter().map(line).collect();
    let rows = execute(&parsed, &params, &graph, &context()).unwrap().rows.len();
    let last = profiled.rows.iter().rev().find(|row| !cell(&row[0]).starts_with(' '));
    if !text.contains("UNION") {
        let last = last.map(|row| row[3].to_string());
        assert_eq!(last, Some(rows.to_string()), "{text}: the last operator gives the rows");
    }
    let measured = profiled.rows.iter().filter(|row| !row[3].is_null());
    assert!(measured.clone().all(|row| matches!(row[4], Value::Float(ms) if 0.0 <= ms)), "{text}");
    format!("{}\n", lines.join("\n"))
}

#[test]
fn plans_are_those_of_the_golden_file() {
    let path = format!("{}/golden/plans", env!("CARGO_MANIFEST_DIR"));
    let golden = fs::read_to_string(&path).unwrap();
    let mut actual = String::new();
    for text in golden.lines().filter_map(|line| line.strip_prefix("> ")) {
        actual.push_str(&format!("> {text}\n{}\n", rendered(text)));
    }
    if std::env::var_os("HEXGRAPH_UPDATE").is_some() {
        fs::write(&path, &actual).unwrap();
    }
    assert_eq!(actual, golden, "{path}");
    assert!(10 < golden.matches("> ").count());
}
