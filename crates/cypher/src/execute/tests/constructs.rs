//! Constructs that the scenarios of the TCK do not have, each with its rows.

use super::context;
use super::memory_graph::MemoryGraph;
use crate::execute::execute;
use crate::{analyse, parse};
use hexgraph_scalar::Map;
use serde_json::json;

/// ```text
/// ann:Person -KNOWS-> bob:Person:Admin -KNOWS-> cid:Person -KNOWS-> ann
/// ann -LIKES-> tea:Drink {strength: 2}, bob -LIKES-> tea, ann -KNOWS-> cid
/// ```
fn graph() -> MemoryGraph {
    let node = |id: u64, labels: &[&str], name: &str, age: u64| json!({"id": id, "labels": labels, "props": {"name": name, "age": age, "iname": name}});
    let edge = |src: u64, name: &str, dst: u64, since: u64| json!({"src": src, "dst": dst, "type": name, "props": {"since": since}});
    MemoryGraph::new(&json!({
        "nodes": [
            node(1, &["Person"], "ann", 30),
            node(2, &["Admin", "Person"], "bob", 40),
            node(3, &["Person"], "cid", 50),
            node(4, &["Drink"], "tea", 2),
        ],
        "edges": [
            edge(1, "KNOWS", 2, 2001),
            edge(2, "KNOWS", 3, 2002),
            edge(3, "KNOWS", 1, 2003),
            edge(1, "KNOWS", 3, 2004),
            edge(1, "LIKES", 4, 2005),
            edge(2, "LIKES", 4, 2006),
        ],
    }))
}

/// The rows of a query, joined by `; `, or its error.
fn run(text: &str) -> String {
    let run = || {
        let parsed = parse(text).map_err(|it| it.to_string())?;
        analyse(&parsed).map_err(|it| it.to_string())?;
        let params = Map::new(vec![("name".into(), "bob".into())]).unwrap();
        execute(&parsed, &params, &graph(), &context()).map_err(|it| it.to_string())
    };
    match run() {
        Err(error) => error,
        Ok(table) => {
            let row = |row: &Vec<hexgraph_scalar::Value>| {
                row.iter().map(|it| it.to_string()).collect::<Vec<_>>().join(" ")
            };
            table.rows.iter().map(row).collect::<Vec<_>>().join("; ")
        }
    }
}

fn check(cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .map(|(text, rows)| (text, rows, run(text)))
        .filter(|(_, rows, came)| **rows != came)
        .map(|(text, rows, came)| format!("{text}\n  {came}\n  instead of\n  {rows}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn patterns() {
    check(&[
        ("MATCH (n:Person&!Admin) RETURN n.name AS x ORDER BY x", "ann; cid"),
        ("MATCH (n:Admin|Drink) RETURN n.name AS x ORDER BY x", "bob; tea"),
        ("MATCH (n:%) RETURN count(*)", "4"),
        ("MATCH (n WHERE n.age > 35) RETURN n.name AS x ORDER BY x", "bob; cid"),
        (
            "MATCH (a)-[r:KNOWS WHERE r.since > 2002]->(b) RETURN a.name, b.name ORDER BY r.since",
            "cid ann; ann cid",
        ),
        ("MATCH (a {name: 'ann'})-[:!KNOWS]->(b) RETURN b.name", "tea"),
        (
            "MATCH (a {name: 'ann'})-[r:KNOWS*1..2 {since: 2004}]->(b) RETURN b.name, size(r)",
            "cid 1",
        ),
        ("MATCH (a {name: 'ann'})-[:KNOWS]->{2}(b) RETURN b.name AS x ORDER BY x", "ann; cid"),
        (
            "MATCH (a {name: 'tea'})-[:LIKES]-{0,1}(b) RETURN b.name AS x ORDER BY x",
            "ann; bob; tea",
        ),
        ("MATCH (n {iname: $name}) RETURN n.age", "40"),
        (
            "MATCH (a:Person), (b:Person) WHERE a.iname = b.name AND a.age > 30 RETURN b.name AS x ORDER BY x",
            "bob; cid",
        ),
        ("MATCH (a)-->(b)-->(a) RETURN a.name AS x ORDER BY x", "ann; cid"),
        (
            "MATCH p = (a {name: 'ann'})-[:LIKES]->(d)<-[:LIKES]-(b) RETURN length(p), [n IN nodes(p) | n.name]",
            "2 ['ann', 'tea', 'bob']",
        ),
        (
            "MATCH (a {name: 'ann'}) OPTIONAL MATCH (a)-[:LIKES]->(d)-->(e) RETURN a.name, d, e",
            "ann null null",
        ),
    ]);
}

#[test]
fn shortest_paths() {
    check(&[
        (
            "MATCH p = shortestPath((a {name: 'ann'})-[:KNOWS*]->(b {name: 'cid'})) RETURN length(p)",
            "1",
        ),
        (
            "MATCH p = ANY SHORTEST (a {name: 'bob'})-[:KNOWS]->+(b {name: 'ann'}) RETURN [n IN nodes(p) | n.name]",
            "['bob', 'cid', 'ann']",
        ),
        (
            "MATCH p = SHORTEST 2 (a {name: 'ann'})-[:KNOWS]->+(b {name: 'cid'}) RETURN length(p) AS x ORDER BY x",
            "1; 2",
        ),
        ("MATCH p = ALL SHORTEST (a {name: 'ann'})--+(b {name: 'bob'}) RETURN length(p)", "1"),
        (
            "MATCH p = ALL SHORTEST (a {name: 'cid'})-[:KNOWS]-(m)-[:LIKES]->(b {name: 'tea'}) RETURN m.name AS x ORDER BY x",
            "ann; ann; bob",
        ),
        (
            "MATCH p = SHORTEST 1 (a {name: 'cid'})-[:KNOWS]->(m)-[:LIKES]->(b) RETURN [n IN nodes(p) | n.name]",
            "['cid', 'ann', 'tea']",
        ),
        (
            "MATCH p = allShortestPaths((a {name: 'ann'})-[*2..3]->(b {name: 'cid'})) RETURN [n IN nodes(p) | n.name]",
            "['ann', 'bob', 'cid']",
        ),
    ]);
}

#[test]
fn subqueries() {
    check(&[
        (
            "MATCH (n:Person) RETURN n.name AS x, COUNT { (n)-[:KNOWS]->() } AS c ORDER BY x",
            "ann 2; bob 1; cid 1",
        ),
        ("MATCH (n) WHERE COUNT { (n)-->(m) WHERE m.age > 30 } = 2 RETURN n.name", "ann"),
        (
            "MATCH (n {name: 'ann'}) RETURN COLLECT { MATCH (n)-->(m) RETURN m.name ORDER BY m.age DESC LIMIT 2 } AS x",
            "['cid', 'bob']",
        ),
        (
            "MATCH (n) WHERE NOT EXISTS { MATCH (n)-[:KNOWS]->(m) WHERE m.age > n.age RETURN m } RETURN n.name AS x ORDER BY x",
            "cid; tea",
        ),
        (
            "MATCH (n:Person) CALL (n) { MATCH (n)-[:KNOWS]->(m) RETURN max(m.age) AS oldest } RETURN n.name AS x, oldest ORDER BY x",
            "ann 50; bob 50; cid 30",
        ),
        ("UNWIND [1, 2] AS x WITH (x) RETURN x + 1 AS y", "2; 3"),
        (
            "UNWIND [1, 2] AS x CALL { WITH x RETURN x * 10 AS y UNION ALL WITH x RETURN x * 100 AS y } RETURN x, y",
            "1 10; 1 100; 2 20; 2 200",
        ),
        (
            "UNWIND [1, 2, 3] AS x CALL { MATCH (n:Admin) RETURN n.name AS y LIMIT 1 } RETURN y, sum(x) AS s",
            "bob 6",
        ),
        (
            "UNWIND [3, 1, 2] AS x CALL (*) { UNWIND range(1, x) AS y WITH y ORDER BY y DESC LIMIT 1 RETURN y } RETURN x, y",
            "3 3; 1 1; 2 2",
        ),
    ]);
}

#[test]
fn projections() {
    check(&[
        ("MATCH (n:Admin) RETURN n {.name, old: n.age > 35} AS x", "{name: 'bob', old: true}"),
        ("MATCH (n:Admin) RETURN n {.*, age: null} AS x", "{age: null, iname: 'bob', name: 'bob'}"),
        ("UNWIND [1, 1.0, null, null, 2] AS x RETURN x, count(*) AS c", "1 2; null 2; 2 1"),
        ("UNWIND [2, null, 1] AS x RETURN x ORDER BY x DESC", "null; 2; 1"),
        ("UNWIND [2, null, 1] AS x RETURN x ORDER BY x", "1; 2; null"),
        (
            "MATCH (n:Person) RETURN n.age / 20 AS decade, count(*) AS c, collect(n.name) AS names ORDER BY c DESC, decade",
            "2 2 ['bob', 'cid']; 1 1 ['ann']",
        ),
        (
            "MATCH (n:Person) WITH n.age % 20 AS rest, max(n.age) AS most WHERE most > 30 RETURN rest, most + rest AS x ORDER BY rest",
            "0 40; 10 60",
        ),
        (
            "UNWIND range(1, 9) AS x WITH x ORDER BY x DESC SKIP 2 LIMIT 4 WHERE x % 2 = 0 RETURN x",
            "6; 4",
        ),
        ("UNWIND [3, 1, 2] AS x RETURN x ORDER BY -x OFFSET 1 LIMIT 1", "2"),
        (
            "UNWIND [1, 2, 3, 4] AS x RETURN stDev(x) > 1.29, stDevP(x) < 1.12, percentileCont(x, 0.5), percentileDisc(x, 0.5), avg(x), sum(DISTINCT x % 2)",
            "true true 2.5 2 2.5 1",
        ),
        (
            "RETURN 1 IS :: INTEGER AS a, [1, 'a'] IS :: LIST<INTEGER> AS b, null IS :: STRING AS c",
            "true false true",
        ),
        (
            "MATCH (n:Drink) RETURN elementId(n), id(n), labels(n), keys(n), exists { (n)<--() } AS e",
            "0x4 4 ['Drink'] ['age', 'iname', 'name'] true",
        ),
        (
            "MATCH ()-[r:LIKES]->() RETURN elementId(r), type(r), startNode(r).name, endNode(r).name ORDER BY r.since LIMIT 1",
            "0x1-LIKES-0x4 LIKES ann tea",
        ),
    ]);
}

/// What comes after the value that decides is not evaluated: `1 / 0` has no value.
#[test]
fn choices_stop_at_the_first_value() {
    check(&[
        ("RETURN coalesce(1, 1 / 0), coalesce(null, 'a', 1 / 0), coalesce(null, null)", "1 a null"),
        ("MATCH (n) RETURN coalesce(n.name, 1 / 0) AS x ORDER BY x", "ann; bob; cid; tea"),
        ("RETURN CASE WHEN true THEN 1 WHEN 1 / 0 = 1 THEN 2 ELSE 1 / 0 END", "1"),
        ("RETURN CASE 1 WHEN 1 THEN 2 WHEN 1 / 0 THEN 3 END", "2"),
        ("RETURN false AND 1 / 0 = 1, true OR 1 / 0 = 1", "false true"),
    ]);
    let error = run("RETURN coalesce(null, 1 / 0)");
    assert!(error.contains("zero"), "{error}");
}

#[test]
fn nodes_by_their_uids() {
    check(&[
        ("MATCH (n) WHERE id(n) = 2 RETURN n.name", "bob"),
        (
            "MATCH (n:Person) WHERE id(n) IN [4, 3, 3, 99, -1, null, 'x', 1.0] RETURN n.name",
            "ann; cid",
        ),
        ("MATCH (n) WHERE elementId(n) IN ['0x2', '0x02', 'x', 3] RETURN n.name", "bob"),
        ("MATCH (n) WHERE id(n) = null OR id(n) IN null RETURN n.name", ""),
        ("MATCH (n) WHERE id(n) = '2' OR elementId(n) = 2 RETURN n.name", ""),
        ("UNWIND [3, 1, 9] AS u MATCH (n) WHERE id(n) = u RETURN n.name", "cid; ann"),
        (
            "MATCH (a) WHERE id(a) = 1 MATCH (a)-[:LIKES]->(d), (b) WHERE elementId(b) = '0x3' RETURN d.name, b.name",
            "tea cid",
        ),
    ]);
    let error = run("MATCH (n) WHERE id(n) IN 5 RETURN n");
    assert!(error.contains("LIST") || error.contains("list"), "{error}");
}

#[test]
fn errors_have_their_positions() {
    for (text, at) in [
        ("RETURN 1 + \n 2 / 0", "line 2 column 6: "),
        ("RETURN $missing", "line 1 column 8: parameter `$missing` has no value"),
        ("UNWIND [1] AS x RETURN x LIMIT toInteger('-1')", "line 1 column 32: LIMIT is -1"),
    ] {
        assert!(run(text).starts_with(at), "{text}: {}", run(text));
    }
}

#[test]
fn statements_of_gql_are_clauses() {
    check(&[
        (
            "MATCH (n:Person) FILTER n.age > 30 LET d = n.age / 10, m = n.name RETURN m, d",
            "bob 4; cid 5",
        ),
        ("MATCH (n:Person) FILTER WHERE n.age = 30 RETURN n.name", "ann"),
        ("LET x = 1 LET y = x + 1 RETURN x, y", "1 2"),
        ("FOR x IN [1, 2] FOR y IN [x, 3] FILTER x < y RETURN x, y", "1 3; 2 3"),
        ("MATCH (n:Person) LET a = n.age RETURN a % 20 AS k, count(*) ORDER BY k", "0 1; 10 2"),
        (
            "MATCH (n:Person) RETURN COUNT { MATCH (n)-[:KNOWS]->(m) FILTER m.age > 40 RETURN m } AS c ORDER BY n.name",
            "1; 1; 0",
        ),
        ("CALL { LET y = 1 RETURN y } RETURN y", "1"),
        // The words are names elsewhere.
        (
            "WITH 1 AS filter, 2 AS let, 3 AS for, 4 AS nulls RETURN filter, let + 1, for ORDER BY nulls",
            "1 3 3",
        ),
        ("FOR for IN [1] LET let = for FILTER let = 1 RETURN let", "1"),
        ("MATCH (filter:Person {name: 'ann'}) RETURN filter.name AS nulls", "ann"),
    ]);
}

#[test]
fn nulls_are_where_the_order_has_them() {
    let rows = "UNWIND [2, null, 1] AS x RETURN x ORDER BY x";
    let many =
        "UNWIND range(1, 20) AS i WITH CASE WHEN i % 3 > 0 THEN i END AS x RETURN x ORDER BY x";
    check(&[
        (&format!("{rows} NULLS FIRST"), "null; 1; 2"),
        (&format!("{rows} ASC NULLS LAST"), "1; 2; null"),
        (&format!("{rows} DESC NULLS LAST"), "2; 1; null"),
        (&format!("{rows} DESC NULLS FIRST"), "null; 2; 1"),
        (&format!("{rows} NULLS FIRST LIMIT 1"), "null"),
        (&format!("{many} DESC NULLS LAST SKIP 1 LIMIT 2"), "19; 17"),
        (&format!("{many} DESC LIMIT 7"), "null; null; null; null; null; null; 20"),
        (
            "UNWIND [[1, 2], [null, 1], [1, null], [null, 2]] AS p WITH p[0] AS a, p[1] AS b RETURN a, b ORDER BY a NULLS FIRST, b DESC NULLS LAST",
            "null 2; null 1; 1 2; 1 null",
        ),
    ]);
}

/// Rows in a row with equal values have one group, but for values that equal another one.
#[test]
fn groups_of_rows_in_a_row() {
    check(&[
        ("UNWIND [1, 1.0, 1, 2, 2, 1] AS x RETURN x + 0.5 AS y, count(*) AS n", "1.5 4; 2.5 2"),
        ("UNWIND [1, 1.0, 1, 1.0] AS x RETURN size(toString(x)) AS y, count(*) AS n", "1 2; 3 2"),
        ("UNWIND [null, null, 1, null] AS x RETURN x, count(*) AS n", "null 3; 1 1"),
        ("UNWIND [1, 2] AS x RETURN 7 AS y, sum(x) AS n", "7 3"),
        (
            "UNWIND range(1, 99) AS x WITH rand() AS y, count(*) AS n RETURN count(y) > 50 AS z",
            "true",
        ),
        (
            "MATCH (a:Person)-[r]->(b) RETURN a.age AS x, count(DISTINCT b) AS n, count(r) AS m",
            "30 3 3; 40 2 2; 50 1 1",
        ),
    ]);
}
