//! Hops that comparisons restrict to a range give the same rows, in the same order, as those that
//! test each relationship.

use super::{MemoryGraph, context};
use crate::execute::{execute, explain};
use crate::parse;
use hexgraph_scalar::Map;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

/// Values of all classes, those that equal others, and those without an order.
fn values() -> Vec<Json> {
    vec![
        Json::Null,
        json!(1),
        json!(2),
        json!(1.0),
        json!(1.5),
        json!({"float": "NaN"}),
        json!({"float": "Infinity"}),
        json!("a"),
        json!("b"),
        json!(true),
        json!({"date": "2024-01-01"}),
        json!({"datetime": "2024-01-01T00:00:00Z"}),
        json!({"datetime": "2024-01-01T01:00:00+01:00"}),
        json!({"datetime": "2024-01-02T00:00:00Z"}),
        json!({"localdatetime": "2024-01-01T00:00:00"}),
        json!({"duration": "PT1H"}),
        json!([1, 2]),
        json!([1]),
    ]
}

type Edge = (u64, u64, usize);

/// Two kinds of values at most, so that many pairs are in the range.
fn graphs() -> impl Strategy<Value = MemoryGraph> {
    let count = values().len();
    let edges = prop::collection::btree_map((0..5_u64, 0..5_u64), 0..count, 0..20);
    let nodes = prop::collection::vec(prop::sample::select((0..count).collect::<Vec<_>>()), 5);
    (nodes, edges).prop_map(|(nodes, edges)| {
        let of = |at: usize| {
            let value = values().swap_remove(at);
            if value.is_null() { json!({}) } else { json!({"x": value, "y": at % 3}) }
        };
        let node = |(id, at): (usize, &usize)| json!({"id": id, "labels": [], "props": of(*at)});
        let edge = |(src, dst, at): Edge| json!({"src": src, "dst": dst, "type": "T", "props": of(at)});
        MemoryGraph::new(&json!({
            "nodes": nodes.iter().enumerate().map(node).collect::<Vec<_>>(),
            "edges": edges.iter().map(|((src, dst), at)| edge((*src, *dst, *at))).collect::<Vec<_>>(),
        }))
    })
}

/// The rows of a text in their order, or its error.
fn run(text: &str, graph: &MemoryGraph) -> Result<Vec<String>, String> {
    let params = Map::new(Vec::new()).unwrap();
    let table = execute(&parse(text).unwrap(), &params, graph, &context());
    let table = table.map_err(|it| it.to_string())?;
    Ok(table.rows.iter().map(|row| format!("{row:?}")).collect())
}

/// The details of the hops of a plan that have a range.
fn ranges(text: &str, graph: &MemoryGraph) -> Vec<String> {
    let params = Map::new(Vec::new()).unwrap();
    let plan = explain(&parse(text).unwrap(), &params, graph, &context()).unwrap();
    let details = plan.rows.iter().map(|row| row[1].to_string());
    details.filter(|it| it.contains(" where ")).collect()
}

/// Texts with a condition `{}`, and the two sides of the comparison in it.
const FORMS: [(&str, [&str; 2]); 9] = [
    ("MATCH (a)-->(b)<--(c) WHERE {} RETURN id(a), id(b), id(c)", ["a.x", "c.x"]),
    (
        "MATCH (a)-->(b)<--(c)-->(d) WITH a, c, d WHERE {} RETURN id(a), id(c), id(d)",
        ["a.x", "c.x"],
    ),
    ("MATCH (a)-[r]->(b)-[s]->(c) WHERE {} RETURN id(a), id(b), id(c)", ["r.x", "s.x"]),
    (
        "MATCH (a)-->(b)-->(c) WITH a.x AS one, c.x AS other, c UNWIND [1, 2] AS i WITH *, i + c.y AS z \
         WHERE {} RETURN one, other, z",
        ["one", "other"],
    ),
    (
        "MATCH (a) OPTIONAL MATCH (a)-->(b)-->(c) WHERE {} RETURN id(a), id(b), id(c)",
        ["a.x", "c.x"],
    ),
    (
        "MATCH (a) OPTIONAL MATCH (a)--(b)--(c) WITH a, b, c WHERE {} RETURN id(a), id(c)",
        ["a.x", "c.x"],
    ),
    (
        "MATCH (a)--(b) MATCH (b)--(c) MATCH (c)--(d) WHERE {} RETURN id(a), id(c), id(d)",
        ["a.x", "c.x"],
    ),
    (
        "MATCH (a) RETURN id(a), COUNT { MATCH (a)-->(b)<--(c) WHERE {} } AS n, \
         EXISTS { MATCH (a)-->()<--(c) WHERE c.y + 0 = 1 AND {} } AS m",
        ["a.x", "c.x"],
    ),
    (
        "MATCH (a)-->(b)<--(c) WITH DISTINCT a, c ORDER BY c.y WHERE {} RETURN id(a), id(c)",
        ["c.x", "a.x"],
    ),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_range_leaves_out_what_its_condition_does(
        graph in graphs(),
        form in 0..FORMS.len(),
        op in prop::sample::select(vec!["<", "<=", ">", ">=", "="]),
        chained in any::<bool>(),
    ) {
        let (text, [one, other]) = FORMS[form];
        let mut condition = format!("{one} {op} {other}");
        if chained {
            condition = format!("1 <= {condition} <= 1.5");
        }
        let ranged = text.replace("{}", &condition);
        let tested = text.replace("{}", &format!("({condition}) = true"));
        let has_range = !ranges(&ranged, &graph).is_empty();
        prop_assert!(has_range || ranged.contains("COUNT {"), "{}", ranged);
        prop_assert_eq!(ranges(&tested, &graph), Vec::<String>::new());
        prop_assert_eq!(run(&ranged, &graph), run(&tested, &graph), "{}", ranged);
    }
}

/// Nodes 1 to 8 point to node 0, and each has its number.
fn star() -> MemoryGraph {
    let node = |id: u64| json!({"id": id, "labels": [], "props": {"x": id}});
    let edge = |id: u64| json!({"src": id, "dst": 0, "type": "T", "props": {"x": id}});
    let (nodes, edges): (Vec<_>, Vec<_>) = ((0..9).map(node).collect(), (1..9).map(edge).collect());
    MemoryGraph::new(&json!({"nodes": nodes, "edges": edges}))
}

#[test]
fn a_range_is_of_conditions_that_each_row_has_to_meet() {
    let plan = |text: &str| ranges(text, &star()).join("; ");
    let cases = [
        ("MATCH (a)-->(b)<--(c) WHERE a.x < c.x RETURN c", "(b)<-[]-(c) where c.x > a.x"),
        (
            "MATCH (a)-->(b)<--(c) WHERE 2 < c.x <= a.x + 1 RETURN c",
            "(b)<-[]-(c) where c.x > 2 AND c.x <= a.x + 1",
        ),
        (
            "MATCH (a)-->(b)<--(c) WITH a.x * 2 AS y, c WHERE c.x = y RETURN c",
            "(b)<-[]-(c) where c.x = a.x * 2",
        ),
        // The value of a later hop, a node that comes once, an alternative, a group, a limit, the
        // condition of an optional match, and random values.
        ("MATCH (a)-->(b)<--(c)-->(d) WHERE c.x < d.x RETURN c", "(c)-[]->(d) where d.x > c.x"),
        ("MATCH (a)-->(b) WHERE a.x < b.x RETURN b", ""),
        ("MATCH (a)-->(b)<--(c) WHERE a.x < c.x OR a.x = 1 RETURN c", ""),
        ("MATCH (a)-->(b)<--(c) WITH a, c, count(*) AS n WHERE a.x < c.x RETURN c", ""),
        ("MATCH (a)-->(b)<--(c) WITH a, c LIMIT 2 WHERE a.x < c.x RETURN c", ""),
        ("MATCH (a)-->(b)<--(c) OPTIONAL MATCH (c)-->(d) WHERE a.x < c.x RETURN d", ""),
        ("MATCH (a)-->(b)<--(c) WHERE c.x < rand() RETURN c", ""),
        ("MATCH (a)-->(b)<--(c) WITH c, rand() AS y WHERE c.x < y RETURN c", ""),
    ];
    for (text, expected) in cases {
        assert_eq!(plan(text), expected, "{text}");
    }
}

/// The condition fails where it is tested.
#[test]
fn errors_of_bounds_are_those_of_the_condition() {
    let graph = star();
    let text = "MATCH (a)-->(b)<--(c) WHERE c.x < 1 / (a.x - 3) RETURN c.x";
    assert!(!ranges(text, &graph).is_empty());
    let error = run(text, &graph).unwrap_err();
    let tested = run(&text.replace("c.x < ", "c.x + 0 < "), &graph).unwrap_err();
    let message = |it: &str| it.split_once(": ").unwrap().1.to_owned();
    assert_eq!(message(&error), message(&tested));
    assert!(error.contains("zero"), "{error}");
}

/// Without memory for sorted relationships each is tested, and nothing stays reserved.
#[test]
fn ranges_need_no_memory() {
    let graph = star();
    let text = "MATCH (a)-->(b)<--(c) WHERE a.x < c.x RETURN a.x * 10 + c.x AS y";
    let expected = run(text, &graph).unwrap();
    assert_eq!(expected.len(), 28);
    let most = graph.bytes_left.get();
    for bytes in (0..16_000).step_by(100) {
        graph.bytes_left.set(bytes);
        let result = run(text, &graph);
        assert!(
            result.as_ref().is_ok_and(|it| *it == expected)
                || result.is_err_and(|it| it.contains("query_memory"))
        );
        assert_eq!(graph.bytes_left.get(), bytes);
    }
    assert!(16_000 < most);
}

/// Projections that multiply what they read end before it is large.
#[test]
fn a_chain_of_projections_is_not_multiplied() {
    let mut text = "MATCH (a)-->(b)<--(c) WITH c, a.x AS x ".to_owned();
    text += &"WITH c, x + x + x + x AS x ".repeat(60);
    text += "WHERE c.x < x RETURN count(*)";
    assert!(ranges(&text, &star()).is_empty());
}
