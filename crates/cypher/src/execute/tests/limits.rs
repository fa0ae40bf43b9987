//! What stops a query: each limit by its name, and no overflow of a stack.

use super::context;
use super::memory_graph::MemoryGraph;
use crate::execute::execute;
use crate::parse;
use hexgraph_scalar::Map;
use serde_json::json;
use std::thread;

/// A graph in which each of `count` nodes has a relationship to each other one.
fn dense(count: u64) -> MemoryGraph {
    let nodes: Vec<_> =
        (0..count).map(|id| json!({"id": id, "labels": ["A"], "props": {"x": id}})).collect();
    let pairs = (0..count).flat_map(|src| (0..count).map(move |dst| (src, dst)));
    let edges: Vec<_> =
        pairs.map(|(src, dst)| json!({"src": src, "dst": dst, "type": "T", "props": {}})).collect();
    MemoryGraph::new(&json!({"nodes": nodes, "edges": edges}))
}

fn run(text: &str, graph: &MemoryGraph) -> Result<Vec<String>, String> {
    let params = Map::new(Vec::new()).unwrap();
    let parsed = parse(text).map_err(|it| it.to_string())?;
    let table = execute(&parsed, &params, graph, &context()).map_err(|it| it.to_string())?;
    Ok(table
        .rows
        .iter()
        .map(|row| row.iter().map(|it| it.to_string()).collect::<Vec<_>>().join(" "))
        .collect())
}

#[test]
fn a_limit_stops_what_has_no_end() {
    let graph = dense(12);
    let refused = [
        ("UNWIND range(0, 1000000000000) AS x RETURN count(x)", "value_bytes_max"),
        ("UNWIND range(0, 99999) AS x UNWIND range(0, 99999) AS y RETURN count(*)", "timeout"),
        ("UNWIND range(0, 99999) AS x UNWIND range(0, 99999) AS y RETURN x, y", "query_memory"),
        (
            "UNWIND range(0, 99999) AS x UNWIND range(0, 99999) AS y RETURN collect(x + y)",
            "query_memory",
        ),
        (
            "UNWIND range(0, 99999) AS x UNWIND range(0, 99999) AS y RETURN DISTINCT x * 100000 + y AS z",
            "query_memory",
        ),
        (
            "UNWIND range(0, 99999) AS x UNWIND range(0, 99999) AS y RETURN x ORDER BY y",
            "query_memory",
        ),
        ("MATCH (a), (b), (c), (d), (e), (f), (g), (h), (i) RETURN count(*)", "timeout"),
        ("MATCH p = (a)-[*]->(b) RETURN count(p)", "timeout"),
        (
            "MATCH p = SHORTEST 100000000 (a {x: 1})-[:T*]->(b {x: 2}) RETURN count(p)",
            "query_memory",
        ),
        ("RETURN [x IN range(0, 100000) | range(0, 1000)]", "query_memory"),
    ];
    for (text, limit) in refused {
        graph.checks_left.set(20_000);
        graph.bytes_left.set(4 << 20);
        let error = run(text, &graph).expect_err(text);
        assert!(error.contains(limit), "{text}: {error}");
        assert_eq!(graph.bytes_left.get(), 4 << 20, "{text}");
    }
}

#[test]
fn a_limit_of_rows_stops_the_work() {
    let graph = dense(12);
    for text in [
        "UNWIND range(0, 99999) AS x UNWIND range(0, 99999) AS y RETURN x, y LIMIT 3",
        "MATCH (a), (b), (c), (d), (e), (f), (g), (h), (i) RETURN a LIMIT 3",
        "MATCH p = (a)-[*]->(b) RETURN length(p) LIMIT 3",
        "MATCH (a) WHERE EXISTS { (a)-[*]->(), () } RETURN a LIMIT 3",
        "UNWIND range(0, 99999) AS x CALL (x) { UNWIND range(0, 99999) AS y RETURN y LIMIT 1 } RETURN x, y LIMIT 3",
    ] {
        graph.checks_left.set(100);
        assert_eq!(run(text, &graph).expect(text).len(), 3, "{text}");
    }
    graph.checks_left.set(1000);
    assert_eq!(run("MATCH (a) RETURN a LIMIT 0", &graph).unwrap().len(), 0);
}

/// An order with a limit retains few rows.
#[test]
fn an_order_with_a_limit_retains_few_rows() {
    let graph = dense(1);
    graph.bytes_left.set(8 << 20);
    let rows = run("UNWIND range(0, 99999) AS x RETURN x ORDER BY x DESC SKIP 1 LIMIT 2", &graph);
    assert_eq!(rows.unwrap(), ["99998", "99997"]);
}

#[test]
fn deep_and_long_texts_do_not_overflow_a_stack() {
    let deep = |before: &str, inside: &str, after: &str, times: usize| {
        format!("RETURN {}{inside}{} AS x", before.repeat(times), after.repeat(times))
    };
    let mut texts = vec![
        deep("[", "1", "]", 60),
        deep("[x IN [1] | ", "1", "]", 60),
        deep("EXISTS { MATCH (n) WHERE ", "true", " }", 40),
        deep("CASE WHEN true THEN ", "1", " END", 60),
        format!("RETURN {}1 AS x", "1 + ".repeat(20_000)),
        format!("RETURN {}true AS x", "NOT NOT ".repeat(20_000)),
        format!("WITH 1 AS x {}RETURN x", "WITH x ".repeat(20_000)),
        format!("{}RETURN 1 AS x", "MATCH (a) ".repeat(2_000)),
        format!("{}RETURN 1 AS x", "RETURN 1 AS x UNION ALL ".repeat(5_000)),
        format!("MATCH {}() RETURN 1 AS x", "()--".repeat(2_000)),
        format!("MATCH (n:{}A) RETURN 1 AS x", "!".repeat(10_000)),
    ];
    texts.push(format!("RETURN size([{}1]) AS x", "1, ".repeat(50_000)));
    for kib in [256, 8192] {
        for text in &texts {
            let text = text.clone();
            let work = move || {
                let result = run(&text, &dense(1));
                let is_limit = |it: &String| it.contains("nested too deeply");
                assert!(result.as_ref().err().is_none_or(is_limit), "{}: {result:?}", &text[..40]);
            };
            thread::Builder::new().stack_size(kib << 10).spawn(work).unwrap().join().unwrap();
        }
    }
}
