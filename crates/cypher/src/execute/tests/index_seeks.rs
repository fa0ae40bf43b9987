//! Conditions on the property `i`, which has an index, give what they give on `x`, which has the
//! same values and none.

use super::context;
use super::memory_graph::MemoryGraph;
use crate::execute::{execute, explain};
use crate::parse;
use hexgraph_scalar::Map;
use serde_json::{Value as Json, json};

/// Nodes with a value each, and one without. Each has a relationship to the next one.
fn graph() -> MemoryGraph {
    let values: [Json; 12] = [
        json!(1),
        json!(2),
        json!(2.5),
        json!(-7),
        json!(7.0),
        json!("abc"),
        json!("abd"),
        json!("b"),
        json!(""),
        json!(true),
        json!([1, 2]),
        Json::Null,
    ];
    let node = |(id, value): (usize, &Json)| json!({"id": id, "labels": ["N"], "props": {"i": value, "x": value, "key": id}});
    let edge = |id: usize| json!({"src": id, "dst": (id + 1) % 12, "type": "T", "props": {}});
    let nodes: Vec<Json> = values.iter().enumerate().map(node).collect();
    MemoryGraph::new(&json!({"nodes": nodes, "edges": (0..12).map(edge).collect::<Vec<_>>()}))
        .with_lists(u64::MAX, 64 << 20)
}

const CONDITIONS: [&str; 34] = [
    "n.i = 2",
    "2.0 = n.i",
    "n.i = null",
    "n.i IN [1, 2.5, null, 'abc']",
    "n.i IN []",
    "n.i IN null",
    "n.i IN [[1, 2]]",
    "n.i IN 5",
    "n.i > 2",
    "n.i >= 2.0",
    "1.5 < n.i < 7.5",
    "1 < n.i <= 2.5 AND n.i <> 2",
    "n.i < 2 AND n.i > 2",
    "n.i > 'ab'",
    "'ab' <= n.i < 'b'",
    "n.i < true",
    "n.i <= true",
    "n.i > null",
    "n.i > [1]",
    "n.i < 0.0 / 0.0",
    "n.i > 1 / 0",
    "n.i > toInteger('1') + size([1, 2, 3])",
    "n.i > rand() * 0 + 1",
    "n.i STARTS WITH 'ab'",
    "n.i STARTS WITH ''",
    "n.i ENDS WITH 'd'",
    "n.i CONTAINS 'b'",
    "n.i CONTAINS 2",
    "n.i STARTS WITH null",
    "n.i =~ 'ab.'",
    "n.i =~ '('",
    "n.i = n.i",
    "n.i > n.key",
    "point.distance(n.i, point({x: 0, y: 0})) < 5",
];

#[test]
fn an_index_has_the_rows_of_a_scan() {
    let (graph, params, mut rows) = (graph(), Map::new(Vec::new()).unwrap(), 0);
    let answer = |text: &str| {
        let table = execute(&parse(text).unwrap(), &params, &graph, &context());
        // An error says where it is, and the names are as long as each other.
        table.map(|it| it.rows).map_err(|error| error.to_string())
    };
    for condition in CONDITIONS {
        for text in [
            format!("MATCH (n) WHERE {condition} RETURN n.key"),
            format!("MATCH (n:N) WHERE {condition} AND n.key >= 0 RETURN n.key"),
            format!("MATCH (n:N)-[:T]->(m) WHERE {condition} RETURN m.key, count(*)"),
            format!("MATCH (m:N) MATCH (n:N) WHERE {condition} AND n.i > m.i RETURN n.key, m.key"),
            format!("MATCH (m:N) MATCH (n {{i: m.i}}) WHERE {condition} RETURN n.key, m.key"),
        ] {
            let plain = text.replace(".i ", ".x ").replace(".i)", ".x)").replace(".i,", ".x,");
            let plain = plain.replace("{i:", "{x:").replace("m.i}", "m.x}");
            assert!(!plain.contains(".i"), "{plain}");
            let (actual, expected) = (answer(&text), answer(&plain));
            assert_eq!(actual, expected, "{text}");
            rows += expected.map_or(0, |it| it.len());
        }
    }
    assert!(200 < rows, "{rows}");
}

/// The first operator of a query.
fn first_operator(condition: &str) -> String {
    let text = format!("UNWIND [1] AS one MATCH (n:N) WHERE {condition} RETURN n.key");
    let params = Map::new(Vec::new()).unwrap();
    let table = explain(&parse(&text).unwrap(), &params, &graph(), &context()).unwrap();
    table.rows[1][0].to_string()
}

#[test]
fn a_condition_chooses_its_index_by_its_size() {
    for (condition, operator) in [
        ("n.i = 2", "IndexSeek"),
        ("n.i IN [1, 2]", "IndexSeek"),
        ("n.i > 2", "IndexRangeScan"),
        ("n.i > one", "IndexRangeScan"),
        ("n.i STARTS WITH 'a'", "IndexRangeScan"),
        ("n.i CONTAINS 'a'", "TrigramSeek"),
        ("n.i CONTAINS 'a' AND n.i = 'abc'", "IndexSeek"),
        // Values are numbers or texts: no order has them all, and most are in none.
        ("n.i <> 2", "TypeScan"),
        ("n.i > rand()", "TypeScan"),
        ("n.i > n.key", "TypeScan"),
        ("n.i IN [1, 2, 2.5, -7, 7, 'abc', 'abd']", "TypeScan"),
        ("n.x = 2", "TypeScan"),
    ] {
        assert_eq!(first_operator(condition), operator, "{condition}");
    }
}
