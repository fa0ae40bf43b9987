//! Forms of GQL that the TCK does not have: each text with its rows, or with a part of its error.

use super::context;
use super::memory_graph::MemoryGraph;
use crate::execute::execute;
use crate::{analyse, parse};
use hexgraph_scalar::{Map, Value};
use serde_json::json;

fn outcome(text: &str) -> String {
    let node = |id: u64, label: &str| json!({"id": id, "labels": [label], "props": {"n": id}});
    let edge = |src: u64, dst: u64| json!({"src": src, "dst": dst, "type": "T", "props": {}});
    let graph = MemoryGraph::new(&json!({
        "nodes": [node(1, "A"), node(2, "B"), node(3, "B")],
        "edges": [edge(1, 2), edge(2, 3), edge(1, 3)],
    }));
    let parsed = parse(text).unwrap_or_else(|error| panic!("{}", error.report(text)));
    if let Err(error) = analyse(&parsed) {
        return error.message;
    }
    match execute(&parsed, &Map::new(Vec::new()).unwrap(), &graph, &context()) {
        Err(error) => error.to_string(),
        Ok(table) => {
            let row =
                |row: &Vec<Value>| row.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
            table.rows.iter().map(row).collect::<Vec<_>>().join("; ")
        }
    }
}

#[test]
fn forms_have_their_rows() {
    let cases = [
        ("RETURN 'a' || 'b' || 'c', [1] || [2, 'x'], null || 'a'", "abc, [1, 2, 'x'], null"),
        ("WITH [1, 'a'] AS l RETURN l[0] || l[1]", "`||` joins two strings or two lists"),
        ("RETURN 'a' || 1", "`||` needs a string or a list, not an integer"),
        ("RETURN null IS :: INTEGER, null IS :: INTEGER NOT NULL", "true, false"),
        ("RETURN 1 IS :: INTEGER NOT NULL, 1 IS NOT :: STRING NOT NULL", "true, true"),
        ("RETURN [1, null] IS :: LIST<INTEGER NOT NULL>", "false"),
        ("RETURN [1, null] IS :: LIST<INTEGER> NOT NULL", "true"),
        ("MATCH (a IS A)-[r IS T]->(b IS B) RETURN b.n ORDER BY b.n", "2; 3"),
        ("MATCH (n) WHERE n IS LABELED A RETURN n.n", "1"),
        ("MATCH p = ANY (a:A)-[:T]->*(b {n: 3}) RETURN length(p)", "1"),
        ("MATCH p = ANY SHORTEST PATH (a:A)-[:T]->+(b {n: 3}) RETURN length(p)", "1"),
        ("MATCH p = SHORTEST 2 PATHS (a:A)-[:T]->+(b {n: 3}) RETURN length(p)", "1; 2"),
        ("MATCH p = SHORTEST 2 PATH GROUPS (a:A)-[:T]->+(b {n: 3}) RETURN length(p)", "1; 2"),
        ("RETURN any(x IN [1, 2] WHERE x = 2)", "true"),
    ];
    for (text, expected) in cases {
        let actual = outcome(text);
        let is_error = expected.starts_with('`');
        let agrees = if is_error { actual.contains(expected) } else { actual == expected };
        assert!(agrees, "{text}\n{actual}\n{expected}");
    }
}
