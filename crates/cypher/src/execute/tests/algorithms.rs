//! Calls of algorithms: their rows, how often they run, and what stops them.

use super::context;
use super::memory_graph::MemoryGraph;
use crate::execute::execute;
use crate::{analyse, parse};
use hexgraph_scalar::{Map, Value};
use serde_json::json;

/// Nodes 1 to 4 with edges of `A` from 1 to the others, and of `B` from 4 to 1; node 5 has none.
fn graph() -> MemoryGraph {
    let node = |id: u64| json!({"id": id, "labels": ["N"], "props": {"n": id}});
    let edge =
        |src: u64, dst: u64, name: &str| json!({"src": src, "dst": dst, "type": name, "props": {}});
    let edges = [edge(1, 2, "A"), edge(1, 3, "A"), edge(1, 4, "A"), edge(4, 1, "B")];
    MemoryGraph::new(&json!({"nodes": (1..6).map(node).collect::<Vec<_>>(), "edges": edges}))
}

/// The rows of a text, or its error; and how many algorithms ran.
fn outcome(text: &str, params: &Map) -> (String, usize) {
    let graph = graph();
    let parsed = parse(text).unwrap_or_else(|error| panic!("{}", error.report(text)));
    analyse(&parsed).unwrap_or_else(|error| panic!("{}", error.report(text)));
    let result = match execute(&parsed, params, &graph, &context()) {
        Err(error) => error.to_string(),
        Ok(table) => {
            let row =
                |row: &Vec<Value>| row.iter().map(Value::to_string).collect::<Vec<_>>().join(" ");
            let rows = table.rows.iter().map(row).collect::<Vec<_>>().join("; ");
            format!("{}: {rows}", table.columns.join(" "))
        }
    };
    assert_eq!(graph.bytes_left.get(), 64 << 20, "{text}");
    (result, graph.runs.get())
}

fn assert_outcomes(cases: &[(&str, &str, usize)], params: &Map) {
    for (text, expected, runs) in cases {
        assert_eq!(outcome(text, params), ((*expected).to_owned(), *runs), "{text}");
    }
}

#[test]
fn rows_are_those_of_the_algorithm() {
    let none = Map::new(Vec::new()).unwrap();
    assert_outcomes(
        &[
            (
                "CALL algo.degree('A') YIELD degree, node RETURN node.n, degree",
                "node.n degree: 1 3.0; 2 0.0; 3 0.0; 4 0.0",
                1,
            ),
            ("CALL algo.degree('A') YIELD degree", "degree: 3.0; 0.0; 0.0; 0.0", 1),
            (
                "CALL algo.degree(['B', 'A', 'B']) YIELD node AS n, degree AS d WHERE d > 0 RETURN n.n, d",
                "n.n d: 1 3.0; 4 1.0",
                1,
            ),
            ("CALL algo.degree('A') YIELD node, degree RETURN sum(degree)", "sum(degree): 3.0", 1),
            (
                "CALL algo.degree('A') YIELD node MATCH (node)-[:B]->(m) RETURN node.n, m.n",
                "node.n m.n: 4 1",
                1,
            ),
            (
                "CALL algo.degree('A') YIELD node, degree RETURN node.n ORDER BY degree DESC LIMIT 1",
                "node.n: 1",
                1,
            ),
            (
                "CALL algo.degree('A') YIELD node AS a, node AS b RETURN a = b LIMIT 1",
                "a = b: true",
                1,
            ),
            (
                "CALL { CALL algo.degree('B') } RETURN node.n, degree",
                "node.n degree: 1 0.0; 4 1.0",
                1,
            ),
            (
                "CALL algo.degree('B') YIELD degree RETURN degree UNION CALL algo.degree('A') YIELD degree RETURN degree",
                "degree: 0.0; 1.0; 3.0",
                2,
            ),
            (
                "MATCH (n) WHERE EXISTS { CALL algo.degree('B') YIELD node WHERE node = n } RETURN n.n",
                "n.n: 1; 4",
                1,
            ),
            ("CALL algo.degree('none') YIELD node RETURN count(*)", "count(*): 0", 0),
        ],
        &none,
    );
}

#[test]
fn names_are_listed() {
    let none = Map::new(Vec::new()).unwrap();
    assert_outcomes(
        &[
            ("CALL db.labels()", "label: N", 0),
            ("CALL db.relationshipTypes", "relationshipType: A; B", 0),
            ("CALL db.propertyKeys() YIELD *", "propertyKey: n", 0),
            (
                "CALL db.relationshipTypes() YIELD relationshipType AS a, relationshipType AS b WHERE a > 'A' RETURN a, b",
                "a b: B B",
                0,
            ),
            (
                "UNWIND [1, 2] AS x CALL db.relationshipTypes() YIELD relationshipType AS t RETURN x, collect(t)",
                "x collect(t): 1 ['A', 'B']; 2 ['A', 'B']",
                0,
            ),
            (
                "CALL db.relationshipTypes() YIELD relationshipType AS t RETURN t, COUNT { ()-[r]->() WHERE type(r) = t } AS n",
                "t n: A 3; B 1",
                0,
            ),
        ],
        &none,
    );
}

#[test]
fn equal_arguments_run_once() {
    let types = Value::list(vec!["A".into(), "B".into()]).unwrap();
    let options = Value::map(vec![("seed".into(), Value::Int(1))]).unwrap();
    let params = Map::new(vec![("types".into(), types), ("options".into(), options)]).unwrap();
    assert_outcomes(
        &[
            (
                "UNWIND range(1, 50) AS x CALL algo.degree('A') YIELD node RETURN count(*)",
                "count(*): 200",
                1,
            ),
            (
                "UNWIND range(1, 50) AS x CALL algo.degree($types, $options) YIELD node RETURN count(*)",
                "count(*): 200",
                1,
            ),
            (
                "UNWIND range(1, 50) AS x CALL algo.degree('A', {seed: x % 3}) YIELD node RETURN count(*)",
                "count(*): 200",
                3,
            ),
            (
                "UNWIND ['A', 'B', 'A', 'none'] AS x CALL algo.degree(x) YIELD node RETURN x, count(*)",
                "x count(*): A 8; B 2",
                2,
            ),
            (
                "UNWIND [1, 2] AS x CALL algo.degree('A', {seed: toInteger(rand() * 0.5)}) YIELD node RETURN count(*)",
                "count(*): 8",
                2,
            ),
            (
                "UNWIND [1, 2] AS x CALL (x) { CALL algo.degree('A') YIELD node RETURN count(*) AS c } RETURN x, c",
                "x c: 1 4; 2 4",
                1,
            ),
            ("UNWIND [] AS x CALL algo.degree('A') YIELD node RETURN count(*)", "count(*): 0", 0),
        ],
        &params,
    );
    // More distinct arguments than are cached.
    let text = "UNWIND range(1, 3000) AS x CALL algo.degree('B', {seed: x % 1500}) YIELD node RETURN count(*)";
    assert_eq!(outcome(text, &params), ("count(*): 6000".to_owned(), 3000));
}

#[test]
fn arguments_that_are_computed_are_checked() {
    let options = |entries: Vec<(&str, Value)>| {
        Value::map(entries.into_iter().map(|(name, value)| (name.into(), value)).collect()).unwrap()
    };
    let cases = [
        (
            "CALL algo.degree('A', $o)",
            options(vec![("normalised", Value::Bool(true))]),
            "line 1 column 23: `algo.degree` has no option `normalised` (did you mean `normalized`? it has normalized, nodes, direction, threads, seed, labels, weight)",
        ),
        (
            "CALL algo.degree('A', {seed: $o})",
            Value::Int(-1),
            "line 1 column 30: `seed` can't be -1 (expected an integer from 0 on)",
        ),
        (
            "CALL algo.degree('A', {nodes: $o})",
            Value::from("ada"),
            "line 1 column 31: `nodes` can't be 'ada' (expected a node, its id, or a list of them)",
        ),
        (
            "CALL algo.degree('A', {labels: $o})",
            Value::Float(0.5),
            "line 1 column 32: `labels` can't be 0.5 (expected a label, or a list of labels)",
        ),
        (
            "CALL algo.degree('A', $o)",
            Value::Int(1),
            "line 1 column 23: the second argument is no map (write `{option: value}`)",
        ),
        (
            "CALL algo.degree($o)",
            Value::Null,
            "line 1 column 18: the first argument names no type of relationships (write a string, or a list of strings)",
        ),
        (
            "CALL algo.bfs('A', $o)",
            options(vec![]),
            "line 1 column 6: `algo.bfs` needs the option `source` (write `{source: node}` with a variable of `MATCH`, or an id)",
        ),
        (
            "CALL algo.sample('A', {source: 1, fanouts: $o})",
            Value::list(vec![]).unwrap(),
            "line 1 column 44: `fanouts` can't be [] (expected 1 to 64 integers from 1 to 1000000, such as [2, 1])",
        ),
        (
            "CALL algo.modularity('A', {groups: $o})",
            Value::list(vec![Value::Int(1)]).unwrap(),
            "line 1 column 36: `groups` can't be [1] (expected the name of a property, or a list of [node, value], a value for each node)",
        ),
        (
            "CALL algo.degree('A', {nodes: $o})",
            Value::list(vec![Value::Bool(true); 9]).unwrap(),
            "line 1 column 31: `nodes` can't be a list of 9 values (expected a node, its id, or a list of them)",
        ),
        (
            "CALL algo.louvain('A', {direction: $o})",
            Value::from("in"),
            "line 1 column 36: `direction` can't be 'in' for this algorithm (possible are 'both')",
        ),
    ];
    for (text, value, expected) in cases {
        let params = Map::new(vec![("o".into(), value)]).unwrap();
        assert_eq!(outcome(text, &params), (expected.to_owned(), 0), "{text}");
    }
    let params = Map::new(vec![("o".into(), options(vec![("normalized", Value::Null)]))]).unwrap();
    assert_eq!(outcome("CALL algo.degree('B', $o) YIELD degree", &params).0, "degree: 0.0; 1.0");
}

#[test]
fn rows_of_a_call_are_stopped_by_limits() {
    let text = "UNWIND range(1, 100000) AS x UNWIND range(1, 100000) AS y CALL algo.degree('A') YIELD node RETURN count(*)";
    let (graph, params) = (graph(), Map::new(Vec::new()).unwrap());
    let parsed = parse(text).unwrap();
    graph.checks_left.set(1000);
    let error = execute(&parsed, &params, &graph, &context()).unwrap_err();
    assert!(error.to_string().contains("timeout"), "{error}");
    graph.checks_left.set(u64::MAX);
    graph.bytes_left.set(100);
    let error = execute(&parsed, &params, &graph, &context()).unwrap_err();
    assert!(error.to_string().contains("query_memory"), "{error}");
    assert_eq!(graph.bytes_left.get(), 100);
}
