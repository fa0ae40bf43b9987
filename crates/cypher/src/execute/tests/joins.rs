//! Joins have the groups of the executor of rows, whatever the pattern, its constraints and the
//! keys.

use super::context;
use super::memory_graph::MemoryGraph;
use crate::execute::execute;
use crate::execute::plan::Stage;
use crate::execute::resolve::Resolver;
use crate::parse;
use hexgraph_scalar::Map;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

const TYPES: [&str; 2] = ["S", "T"];
const LABELS: [&str; 2] = ["A", "B"];

/// Properties with columns have names of an even length.
fn props(bits: u8, x: u64) -> Json {
    let name = ["ann", "Ann", "bob"][x as usize];
    let mut props = json!({"x": x, "i": x, "na": name});
    if bits != 3 {
        props["ag"] = json!(x);
    }
    if bits == 2 {
        props["na"] = json!(0.5);
    }
    props
}

/// The properties of a relationship.
fn weights(src: u64, dst: u64) -> Json {
    match (src + 2 * dst) % 4 {
        3 => json!({"w": dst}),
        weight => json!({"wt": weight, "w": src % 2}),
    }
}

fn graphs() -> impl Strategy<Value = Json> {
    (1..6_u64).prop_flat_map(|count| {
        let nodes = prop::collection::vec((0..4_u8, 0..3_u64), count as usize);
        let edges = prop::collection::btree_set((0..count, 0..count, 0..2_usize), 0..14);
        (nodes, edges).prop_map(|(nodes, edges)| {
            let labels = |bits: u8| (0..2).filter(move |bit| bits & 1 << bit != 0).map(|bit| LABELS[bit as usize]);
            let node = |(id, (bits, x)): (usize, &(u8, u64))| {
                json!({"id": id, "labels": labels(*bits).collect::<Vec<_>>(), "props": props(*bits, *x)})
            };
            let edge = |(src, dst, at): &(u64, u64, usize)| {
                json!({"src": src, "dst": dst, "type": TYPES[*at], "props": weights(*src, *dst)})
            };
            json!({
                "nodes": nodes.iter().enumerate().map(node).collect::<Vec<_>>(),
                "edges": edges.iter().map(edge).collect::<Vec<_>>(),
            })
        })
    })
}

/// `(v0)-[:S]->(v1)`.
fn hop() -> impl Strategy<Value = String> {
    let arrows = prop::sample::select(vec![("-", "->"), ("<-", "-"), ("-", "-")]);
    let types =
        prop::sample::select(vec!["", ":S", ":T", ":S|T", ":S*1..2", "*2", ":T*2", ":T*..2"]);
    (0..4_usize, 0..4_usize, arrows, types).prop_map(|(one, other, (left, right), name)| {
        match one == 3 {
            true => format!("(v{one})"),
            false => format!("(v{one}){left}[{name}]{right}(v{other})"),
        }
    })
}

/// A condition; what it names may be missing in the pattern.
fn condition() -> impl Strategy<Value = String> {
    let of_two = (
        0..4_usize,
        0..4_usize,
        prop::sample::select(vec![
            "v{a} <> v{b}",
            "NOT (v{a})-[:S]->(v{b})",
            "NOT (v{a})-[:S|T]-(v{b})",
            "(v{a})-[:T]-(v{b})",
            "v{a}.x < v{b}.x",
            "r{a}.wt > 0",
            "r{a}.w = v{b}.x OR r{a}.wt IS NULL",
            "r{a}.wt <= r{b}.wt",
            "type(r{a}) = 'S' AND id(v{b}) < 3",
        ]),
    );
    let of_one = (
        0..4_usize,
        Just(0),
        prop::sample::select(vec![
            "v{a}:A",
            "v{a}:A&B",
            "v{a}.i = 1",
            "v{a}.x > 0",
            "(v{a})-[:T]->()",
            "NOT (v{a})-[:S]-(:A)",
            "NOT EXISTS { (v{a})-->(:B)-->(w) WHERE w.x = 1 }",
            "1 / v{a}.x >= 0",
            "1 / v{a}.ag >= 0",
            "v{a}.ag IN [1, 2]",
            "v{a}.ag IS NULL",
            "CASE v{a}.na WHEN 'ann' THEN true ELSE v{a}.na = 'bob' END",
            "toString(v{a}.na) STARTS WITH 'A' OR v{a}.na = 'ann'",
            "v{a}.ag < v{a}.na",
        ]),
    );
    prop_oneof![of_two, of_one]
        .prop_map(|(a, b, text)| text.replace("{a}", &a.to_string()).replace("{b}", &b.to_string()))
}

fn texts() -> impl Strategy<Value = String> {
    let clauses = prop::collection::vec(prop::collection::vec(hop(), 1..4), 1..3);
    let optional = prop::option::of((
        0..4_usize,
        prop::sample::select(vec![
            "OPTIONAL MATCH (v{a})-[:S]->(w)",
            "OPTIONAL MATCH (v{a})-[:T]-(:A)-[:S]-(w)",
            "OPTIONAL MATCH (v{a})<-[:S|T]-(w) WHERE w.x > 0",
        ]),
    ));
    let result = prop::sample::select(vec![
        "count(*)",
        "v0.x AS k, count(*)",
        "v0 AS k, count(v1)",
        "v0.x AS k, v1.x AS l, count(*)",
        "sum(v0.x), avg(v0.x), min(v1.x), round(1000 * stDev(v0.x))",
        "v1:A AS k, count(DISTINCT v0.x), size(collect(v0.x)), percentileCont(v0.x, 0.5)",
        "v0.x + 1 AS k, count(*) + sum(v1.x)",
        "v0.ag AS k, v1.na AS l, count(*), sum(v1.ag), min(v1.na), max(v0.na)",
        "toUpper(toString(v0.na)) AS k, count(DISTINCT v1.ag), avg(v1.ag * 2), count(v0.ag)",
        "v0.na AS k, v0.ag AS l, v0.x AS m, count(v1.ag), count(DISTINCT v1)",
        "'c' AS k, v1.ag AS l, count(*)",
        "'c' AS k, count(DISTINCT v0.na), size(collect(v1.ag)), percentileDisc(v1.ag, 0.5)",
        "v0.ag + v1.ag AS k, count(*)",
        "count(v0.ag), count(1), count(null), sum(2)",
        "v1 AS k, v0.na AS l, round(1000 * stDev(v0.ag))",
        "DISTINCT v0.na, v1.ag",
        "DISTINCT v0.x, v1",
        "DISTINCT v0 ORDER BY v0",
        "EXISTS { (v0)-[:S]-(v1) } AS k, sum(COUNT { (v0)--(v1) }), count(v0.ag + v1.ag)",
        "COUNT { (v0)-[:T]->(:B) } AS k, avg(COUNT { (v1)--() })",
        "v0.x AS k, sum(CASE WHEN EXISTS { (v0)<-[:S|T]-(v1) } THEN v0.ag ELSE v1.ag END)",
        "v0.x AS k, v1.na AS l",
        "v0.ag AS k, 'c' AS l, v1.x + v0.x AS m",
        "1 AS k",
        "v0, v1.ag + v0.x AS k",
        "v0.na AS n, v0 AS k ORDER BY v1.x, v0.ag DESC",
        "v1.x AS k, 10 / v0.x AS l ORDER BY k, l SKIP 1",
        "v0:A AS k, v0 = v1 AS l, id(v1) AS m",
        "r0.wt AS k, count(*), sum(r1.wt)",
        "v0.x AS k, r0.wt + v1.ag AS l, r0.w AS m",
        "r0 AS k, type(r1) AS l, r1.wt AS m",
        "count(r0), count(DISTINCT r1), max(r0.wt)",
        "v1.na AS k, id(v0) AS l ORDER BY r0.wt DESC, r1.w",
        "id(v0) % 2 AS k, avg(r0.wt * v1.x)",
        "DISTINCT r0.wt, id(v1)",
        "r0.wt AS k, v1.ag AS l ORDER BY k DESC, l LIMIT 3",
        "v0.ag AS k, v1.x AS l ORDER BY k, l DESC SKIP 1 LIMIT 2",
        "v1.na AS k ORDER BY k LIMIT 2",
        "v0.x + v1.ag AS k, id(v0) AS l ORDER BY v0.x + v1.ag NULLS FIRST, id(v0) LIMIT 4",
    ]);
    let projected = prop::sample::select(vec![
        "",
        "",
        "WITH v0, v1.ag + 1 AS w",
        "WITH v0.na AS n, v1 AS v0, v0.x * 2 AS w WHERE w < 4",
        "WITH v1, v0, CASE v0.na WHEN 'ann' THEN 1 ELSE v0.na END AS c WITH c, [c] AS w, v1 AS v0 MATCH (v0)-[:S]->(v1) WHERE v1.x = 1",
    ]);
    (clauses, prop::collection::vec(condition(), 0..3), optional, projected, result).prop_map(
        |(clauses, conditions, optional, projected, result)| {
            let matches: Vec<String> =
                clauses.iter().map(|hops| format!("MATCH {}", hops.join(", "))).collect();
            let mut text = String::new();
            for (at, part) in matches.join(" ").split('[').enumerate() {
                text += &if at == 0 { part.to_owned() } else { format!("[r{}{part}", at - 1) };
            }
            let has = |it: &str| {
                let is_there = |name: &str, of: &str| !it.contains(name) || text.contains(of);
                (0..4).all(|at| {
                    is_there(&format!("v{at}"), &format!("(v{at})"))
                        && is_there(&format!("r{at}"), &format!("[r{at}"))
                })
            };
            let conditions: Vec<&String> = conditions.iter().filter(|it| has(it)).collect();
            let conditions =
                conditions.iter().map(|it| it.as_str()).collect::<Vec<_>>().join(" AND ");
            let optional =
                optional.map(|(at, it)| it.replace("{a}", &at.to_string())).filter(|it| has(it));
            // Another column would be in no order: which rows have it is open.
            let projected = if result.contains("LIMIT") { "" } else { projected };
            let result = match (has(result), has(projected) && !projected.is_empty()) {
                (true, false) => result.to_owned(),
                (true, true) => format!("w AS w, {}", result.replace("v1", "v0"))
                    .replace("w AS w, DISTINCT", "DISTINCT w,"),
                (false, _) => "count(*)".to_owned(),
            };
            let projected = if has(projected) { projected } else { "" };
            if !conditions.is_empty() {
                text += &format!(" WHERE {conditions}");
            }
            format!("{text} {} {projected} RETURN {result}", optional.unwrap_or_default())
        },
    )
}

pub(super) fn answer(text: &str, graph: &MemoryGraph) -> Result<Vec<String>, String> {
    let params = Map::new(Vec::new()).unwrap();
    let parsed = parse(text).map_err(|it| it.to_string())?;
    let table = execute(&parsed, &params, graph, &context()).map_err(|it| it.to_string())?;
    let text = |row: &Vec<hexgraph_scalar::Value>| {
        row.iter().map(|it| it.to_string()).collect::<Vec<_>>().join(" ")
    };
    let mut rows: Vec<String> = table.rows.iter().map(text).collect();
    rows.sort();
    Ok(rows)
}

/// Whether a query is executed as a join.
fn is_join(text: &str, graph: &MemoryGraph) -> bool {
    let (parsed, params) = (parse(text).unwrap(), Map::new(Vec::new()).unwrap());
    let context = context();
    let mut resolver = Resolver::new(graph, parsed.text(), &params, &context);
    let (plan, _) = resolver.statement(&parsed.statement().query).unwrap();
    matches!(plan.branches[0].stages[0], Stage::Join(_))
}

pub(super) const CHECKS: u64 = 1 << 20;
pub(super) const BYTES: usize = 64 << 20;

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn joins_have_the_groups_of_rows(graph in graphs(), text in texts()) {
        let rows = answer(&text, &MemoryGraph::new(&graph));
        let joined = answer(&text, &MemoryGraph::new(&graph).with_lists(CHECKS, BYTES));
        // A condition may fail for a node that the join does not visit: then it has an answer where
        // rows have none.
        if rows.is_ok() {
            prop_assert_eq!(joined, rows, "{}", text);
        }
    }
}

/// Walks whose nodes are visited once each, with conditions and other steps after them.
fn walks() -> impl Strategy<Value = String> {
    let walk = || {
        let arrows = prop::sample::select(vec![("-", "->"), ("<-", "-")]);
        let bounds = prop::sample::select(vec!["*", "*0..", "*..2", "*0..1", "*1..3"]);
        let types = prop::sample::select(vec![":S", ":T", ":S|T"]);
        (arrows, types, bounds)
            .prop_map(|((left, right), name, bounds)| format!("{left}[{name}{bounds}]{right}"))
    };
    let condition = prop::sample::select(vec![
        "true",
        "a <> b",
        "b:A",
        "b.ag > a.x",
        "b.x < 2 AND a.na = b.na",
        "b <> c",
        "c:B",
        "c.ag = 1",
        "b.x / a.x > 0",
        "EXISTS { (b)-[:T]->(a) }",
        "NOT EXISTS { (b)<-[:S]-(a) }",
        "COUNT { (b)-[:T]-() } > 1",
        "COUNT { (b)--(:A) } <> 2 AND b:B",
        "COUNT { (b)-[:S]-(b) } = 1",
        "COUNT { (b)<-[:S|T]-() } < 2 OR COUNT { (b)--(a) } = 2",
        "COUNT { (b)-[:S]->(:A&B) } = 0",
    ]);
    let end = prop::sample::select(vec![
        "RETURN a.x AS k, count(DISTINCT b), count(DISTINCT c.na)",
        "RETURN DISTINCT a, b.x",
        "RETURN a, min(b.x), max(c.ag)",
        "WITH DISTINCT b, c RETURN b.x, count(*)",
        "RETURN count(DISTINCT b), count(DISTINCT c)",
    ]);
    let label = prop::sample::select(vec!["", ":A"]);
    (walk(), walk(), condition, end, label, any::<bool>()).prop_map(
        |(one, other, condition, end, label, apart)| {
            let second = match apart {
                true => format!("MATCH (b){other}(c{label})"),
                false => format!("MATCH (c{label})"),
            };
            format!("MATCH (a){one}(b{label}) {second} WHERE {condition} {end}")
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]
    #[test]
    fn walks_over_lists_have_the_groups_of_rows(graph in graphs(), text in walks()) {
        let rows = answer(&text, &MemoryGraph::new(&graph));
        let visited = answer(&text, &MemoryGraph::new(&graph).with_lists(CHECKS, BYTES));
        if rows.is_ok() {
            prop_assert_eq!(visited, rows, "{}", text);
        }
    }
}

/// A graph where each node has each type of relationship to the next three.
fn ring(count: u64) -> Json {
    let nodes: Vec<Json> = (0..count)
        .map(|id| json!({"id": id, "labels": ["A"], "props": {"x": id % 7, "i": id}}))
        .collect();
    let edges: Vec<Json> = (0..count)
        .flat_map(|id| (1..4).map(move |step| (id, (id + step) % count)))
        .flat_map(|(src, dst)| {
            let props = || weights(src, dst);
            TYPES.map(|name| json!({"src": src, "dst": dst, "type": name, "props": props()}))
        })
        .collect();
    json!({"nodes": nodes, "edges": edges})
}

#[test]
fn patterns_that_are_counted() {
    let graph = MemoryGraph::new(&ring(40)).with_lists(CHECKS, BYTES);
    let plain = MemoryGraph::new(&ring(40));
    let texts = [
        ("MATCH (a:A)-[:S]->(b)-[:T]->(c) RETURN count(*)", true),
        ("MATCH (a)-[:S]-(b)-[:S]-(c)-[:S]-(a) RETURN count(*)", true),
        ("MATCH (a)-[:S]-(b)-[:S]-(c) WHERE a <> c AND NOT (a)-[:S]-(c) RETURN count(*)", true),
        ("MATCH (a)-[:S]->(b) OPTIONAL MATCH (b)-[:T]->(c {x: 3}) RETURN a.x, count(*)", true),
        ("MATCH (a)-[:S]->(b) WHERE a.x < b.x RETURN b.x, sum(a.x)", true),
        ("MATCH (a), (b) RETURN count(*)", true),
        ("MATCH (a:A) WHERE a.i > 3 RETURN a.x, sum(a.i)", true),
        ("MATCH (a)-[:S]->(b) WITH a, b MATCH (b)-[:T]->(c) RETURN a.x, count(c)", true),
        ("MATCH (a)-[:S]->()-[:T]->(c) RETURN DISTINCT a, c.x", true),
        ("MATCH (a) RETURN count(a)", true),
        ("MATCH (a)-[r:S]->(b) RETURN count(r)", true),
        ("MATCH (a)-[r]-(b) RETURN count(r)", true),
        ("MATCH (a)-[r:S]->(b) WHERE r.wt > 0 RETURN a.x, r.wt, type(r)", true),
        ("MATCH (a)-[r:S]->(b)<-[s:T]-(c) WHERE r.wt < s.wt RETURN a.x, sum(s.wt), count(*)", true),
        ("MATCH (a)-[r:S]-(b) RETURN r.wt", false),
        ("MATCH (a)-[r:S|T]->(b) RETURN r.wt", false),
        ("MATCH (a)-[:S]->(b) RETURN a, b", true),
        ("MATCH (a)-[:S]->(b) RETURN a.x, b.x + a.i ORDER BY b.i DESC LIMIT 3", true),
        ("MATCH (a)-[:S]->(b) RETURN a.x LIMIT 3", false),
        ("MATCH (a)-[:S]->(b) RETURN a.x SKIP 1", false),
        ("MATCH (a)-[r:S]->(b) RETURN a, r", true),
        ("MATCH (a)-[:S]->(b)-[:S]->(c)<-[:S]-(d) WHERE a <> d RETURN a.x, d.x, c.i", true),
        ("MATCH (a)-[:S*2]->(b)-[:S]->(c) RETURN a.x, c.x", true),
        ("MATCH (a)-[:S*1..2]->(b) RETURN count(*)", true),
        ("MATCH (a)-[:S*2..3]-(b)-[:T*..2]->(c)-[:S]->() RETURN a.x, count(DISTINCT c.x)", true),
        ("MATCH (a)-[r:S*1..2]->(b) RETURN count(r)", false),
        ("MATCH (a)-[:S*0..1]->(b) RETURN count(*)", false),
        ("MATCH (a)-[:S*1..17]->(b {i: -1}) RETURN count(*)", false),
        ("MATCH (a {i: -1})-[:S*]->(b) RETURN count(*)", false),
        ("MATCH (a)-[:S]->(b) WHERE rand() < 2 RETURN count(*)", false),
        ("MATCH (a)-[:S]->(b) OPTIONAL MATCH (b)-[:T]->(c) RETURN count(c)", false),
    ];
    for (text, joined) in texts {
        assert_eq!(is_join(text, &graph), joined, "{text}");
        assert_eq!(answer(text, &graph), answer(text, &plain), "{text}");
    }
}

/// The nine patterns of a public benchmark of subgraphs are joins.
/// A value from outside of a pattern may be null, the variables of the pattern are not.
#[test]
fn a_subquery_tests_that_an_outer_value_is_there() {
    let pattern = "MATCH (a)-[:S]->(b) WHERE EXISTS { (a)-[:T]->(b) WHERE c IS NOT NULL }";
    let text = format!(
        "UNWIND [null, 1] AS c CALL {{ WITH c {pattern} RETURN count(*) AS n }} RETURN c, n"
    );
    let expected = ["1 120", "null 0"].map(str::to_owned);
    let plain = MemoryGraph::new(&ring(40));
    assert_eq!(answer(&text, &plain).unwrap(), expected);
    assert_eq!(answer(&text, &plain.with_lists(CHECKS, BYTES)).unwrap(), expected);
}

#[test]
fn the_work_of_trees_is_that_of_their_edges() {
    // A million matches; the limit on checks allows a hundred times less.
    let graph = MemoryGraph::new(&ring(64)).with_lists(4_000, BYTES);
    let hops: String = (1..12).map(|at| format!("-[:S]->(v{at})")).collect();
    // Relationships of one clause differ, which 64 terms do not cover: each has a clause of its
    // own.
    let clauses: String = (1..12).map(|at| format!("MATCH (v{})-[:S]->(v{at}) ", at - 1)).collect();
    let text = format!("{clauses} RETURN count(*)");
    assert_eq!(answer(&text, &graph), Ok(vec![(64 * 3_u64.pow(11)).to_string()]), "{hops}");
}

/// Behind an index with few nodes rows cost less: the limit on checks allows no pass over the
/// graph.
#[test]
fn selective_matches_are_followed() {
    let text = "MATCH (a:A)-[:S]->(b)-[:S]->(c:A) WHERE a.i = 7 AND c.x > 0 RETURN b.x, count(*)";
    let graph = MemoryGraph::new(&ring(2_000)).with_lists(1, BYTES);
    assert!(is_join(text, &graph));
    assert_eq!(answer(text, &graph), answer(text, &MemoryGraph::new(&ring(2_000))));
    let many = text.replace("a.i = 7", "a.x = 3");
    assert!(answer(&many, &graph).unwrap_err().contains("timeout"));
}

/// A long text is matched row by row: constraints between thousands of edges are not made.
#[test]
fn long_patterns_are_no_joins() {
    let graph = MemoryGraph::new(&ring(5)).with_lists(CHECKS, BYTES);
    for hops in [63, 64, 5_000] {
        let path: String = (0..hops).map(|_| "-[:S]->()").collect();
        let text = format!("MATCH (){path} RETURN count(*)");
        assert_eq!(is_join(&text, &graph), hops < 64, "{hops}");
        let several: String = (0..hops).map(|_| "MATCH (a)-[:S]->() ").collect();
        let text = format!("{several} RETURN a, count(*)");
        assert_eq!(is_join(&text, &graph), hops < 64, "{hops}");
    }
    let all: Vec<String> = (0..40).map(|at| format!("v{at}")).collect();
    let hops: String = (1..40).map(|at| format!("MATCH (v{})-[:S]->(v{at}) ", at - 1)).collect();
    let text = format!("{hops} WHERE v39.i < 0 RETURN {}, count(*)", all.join(", "));
    assert_eq!(answer(&text, &graph), Ok(Vec::new()));
}

/// Diamonds in a row have two to the power of their number walks from end to end.
#[test]
fn walks_before_distinct_rows_visit_each_node_once() {
    let count = 60;
    let edge = |src: u64, dst: u64| json!({"src": src, "dst": dst, "type": "S", "props": {}});
    let diamond = |at: u64| {
        [(0, 1), (0, 2), (1, 3), (2, 3)].map(|(one, other)| edge(3 * at + one, 3 * at + other))
    };
    let node = |id: u64| json!({"id": id, "labels": [], "props": {"i": id, "x": id % 2}});
    let nodes: Vec<Json> = (0..=3 * count).map(node).collect();
    let mut edges: Vec<Json> = (0..count).flat_map(diamond).collect();
    edges.push(edge(3 * count, 0));
    let graph = json!({"nodes": nodes, "edges": edges});
    let with_lists = MemoryGraph::new(&graph).with_lists(CHECKS, BYTES);
    let all = (3 * count + 1).to_string();
    for (text, result) in [
        ("MATCH (a {i: 0})-[:S*]->(b) RETURN count(DISTINCT b)", &*all),
        ("MATCH (a {i: 0})-[:S*0..]->(b) RETURN count(DISTINCT b)", &*all),
        ("MATCH (a {i: 0})-[:S*..3]->(b) RETURN count(DISTINCT b)", "5"),
        ("MATCH (a {i: 0})-[:S*]->(b) WITH DISTINCT b.x AS x RETURN count(x)", "2"),
        ("MATCH (a {i: 0})-[:S*]->(b) RETURN max(b.i)", "180"),
        ("MATCH (a {i: 0})-[:S*]->(b) WITH min(b.i) AS i, max(b.x) AS x RETURN i + x", "1"),
        ("MATCH (a {i: 0})-[:S*]->(a) RETURN count(DISTINCT a)", "1"),
        ("MATCH (b {i: 9})<-[:S*]-(a) WITH DISTINCT a WITH a ORDER BY a.i LIMIT 1 RETURN a.i", "0"),
    ] {
        for graph in [&MemoryGraph::new(&graph), &with_lists] {
            assert_eq!(answer(text, graph), Ok(vec![result.to_owned()]), "{text}");
        }
    }
}

/// A subquery is executed once for each pair that it depends on: the limit on checks allows no
/// more.
#[test]
fn results_of_subqueries_are_used_again() {
    let text = "UNWIND range(1, 2000) AS i MATCH (a {i: 1})-[:S]->(b {i: 2}) \
                RETURN sum(COUNT { (a)-[:S]->()-[:S]->()-[:S]->()-[:S]->(x) WHERE x <> b }), \
                sum(CASE WHEN EXISTS { (b)-[:S]->()-[:T]->()-[:S]->(y {i: i - 2000}) } THEN 1 ELSE 0 END)";
    let graph = MemoryGraph::new(&ring(40));
    graph.checks_left.set(4_000);
    assert_eq!(answer(text, &graph), Ok(vec![format!("{} 0", 2_000 * 81)]));
    let each = text.replace("x <> b", "x.i <> i");
    assert!(answer(&each, &graph).unwrap_err().contains("timeout"));
}

/// A limit without an order stops a match early: the limit on checks allows no pass over all nodes.
#[test]
fn distinct_rows_up_to_a_limit_are_streamed() {
    let graph = MemoryGraph::new(&ring(4_000)).with_lists(3, BYTES);
    graph.checks_left.set(40);
    let text = "MATCH (a:A) RETURN DISTINCT a.x LIMIT 3";
    assert_eq!(answer(text, &graph).map(|rows| rows.len()), Ok(3));
    let all = answer(&text.replace("LIMIT 3", "ORDER BY a.x LIMIT 3"), &graph);
    assert!(all.unwrap_err().contains("timeout"));
}

/// Without a match nothing has a value.
#[test]
fn constants_are_evaluated_for_matches_only() {
    let graph = MemoryGraph::new(&ring(5)).with_lists(CHECKS, BYTES);
    for (text, rows) in [
        ("MATCH (n:Nope) RETURN sum(1 / 0)", vec!["0"]),
        ("MATCH (n:Nope) RETURN 1 / 0 AS k, count(*)", vec![]),
        ("MATCH (n:Nope) RETURN DISTINCT 1 / 0", vec![]),
    ] {
        let rows: Vec<String> = rows.into_iter().map(str::to_owned).collect();
        assert_eq!(answer(text, &graph), Ok(rows), "{text}");
        assert!(answer(&text.replace("Nope", "A"), &graph).is_err(), "{text}");
    }
}

#[test]
fn limits_stop_a_join() {
    let cross = "MATCH (a)-[:S]-(b)-[:S]-(c)-[:S]-(d)-[:S]-(a) MATCH (e), (f), (g) RETURN a, e, f, g, count(*)";
    let graph = MemoryGraph::new(&ring(40)).with_lists(500, BYTES);
    assert!(answer(cross, &graph).unwrap_err().contains("timeout"));
    let graph = MemoryGraph::new(&ring(40)).with_lists(CHECKS, 20_000);
    assert!(answer(cross, &graph).unwrap_err().contains("query_memory"));
    let many: String = (0..14).map(|at| format!("MATCH (v{at}:A) MATCH (w{at}) ")).collect();
    let graph = MemoryGraph::new(&ring(40)).with_lists(CHECKS, BYTES);
    let refused = answer(&format!("{many} RETURN count(*)"), &graph).unwrap_err();
    assert!(refused.contains("64 bits"), "{refused}");
}

/// Values of all kinds, some missing, for conditions between two nodes without a common edge.
fn valued_graphs() -> impl Strategy<Value = Json> {
    let value = prop::sample::select(vec![
        json!(1),
        json!(2),
        json!(2.0),
        json!(-0.5),
        json!("a"),
        json!("b"),
        json!(true),
        json!(false),
        json!({"float": "NaN"}),
        Json::Null,
        json!([1]),
    ]);
    let is_plain = prop::bool::weighted(0.8);
    (prop::collection::vec(value, 1..7), is_plain).prop_map(|(values, is_plain)| {
        let node = |(id, value): (usize, &Json)| {
            let mut props = json!({"x": id % 2});
            let is_listed = value.is_array() || value.is_object();
            if !(value.is_null() || is_plain && is_listed) {
                props["va"] = value.clone();
            }
            json!({"id": id, "labels": [LABELS[id % 2]], "props": props})
        };
        let edge = |at: usize| {
            let dst = (at * 2 + 1) % values.len();
            json!({"src": at, "dst": dst, "type": "S", "props": {}})
        };
        json!({
            "nodes": values.iter().enumerate().map(node).collect::<Vec<_>>(),
            "edges": (0..values.len()).map(edge).collect::<Vec<_>>(),
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn compared_parts_have_the_pairs_of_rows(
        graph in valued_graphs(),
        op in prop::sample::select(vec!["<", "<=", ">", ">=", "=", "<>"]),
        sides in prop::sample::select(vec![
            ("a.va", "b.va"), ("b.va", "a.va"), ("a.va + 1", "b.va"), ("a.x", "2 * b.x - 1"), ("c.va", "b.va"),
        ]),
        matched in prop::sample::select(vec![
            "(a), (b)", "(a:A), (b:B)", "(a)-[:S]->(c), (b)", "(a:A)-[:S]->(c), (b)-[:S]->(d) WHERE d.x = 1 AND true",
        ]),
        result in prop::sample::select(vec![
            "count(*)", "a.x AS k, count(*)", "b, count(a)", "sum(a.x)", "a.x AS k, count(b.va)",
        ]),
    ) {
        let sides = if matched.contains("(c)") { sides } else { (sides.0.replace('c', "a").leak() as &str, sides.1) };
        let clause = if matched.contains("WHERE") { "AND" } else { "WHERE" };
        let text = format!("MATCH {matched} {clause} {} {op} {} RETURN {result}", sides.0, sides.1);
        let rows = answer(&text, &MemoryGraph::new(&graph));
        let joined = answer(&text, &MemoryGraph::new(&graph).with_lists(CHECKS, BYTES));
        if rows.is_ok() {
            prop_assert_eq!(joined, rows, "{}", text);
        }
    }
}

/// Two thousand nodes have four million pairs, which the limit on checks does not allow to try.
#[test]
fn values_of_two_parts_are_sorted() {
    let graph = MemoryGraph::new(&ring(2_000)).with_lists(100, BYTES);
    let pairs = || (0..2_000_u64).flat_map(|a| (0..2_000_u64).map(move |b| (a % 7, b % 7)));
    for (condition, expected) in [
        ("a.x < b.x", pairs().filter(|(a, b)| a < b).count()),
        ("a.x >= b.x", pairs().filter(|(a, b)| a >= b).count()),
        ("a.x = b.x", pairs().filter(|(a, b)| a == b).count()),
    ] {
        graph.checks_left.set(10_000);
        let text = format!("MATCH (a:A), (b:A) WHERE {condition} RETURN count(*)");
        assert_eq!(answer(&text, &graph), Ok(vec![expected.to_string()]), "{text}");
    }
}

/// What reads the day of an instant alone is evaluated once for each day, whatever the offset.
#[test]
fn components_of_instants() {
    let node = |id: u64| {
        let (day, hour) = (1 + id % 3, 7 * id % 24);
        let offset = ["Z", "+05:30", "-11:00"][(id % 5 % 3) as usize];
        let da = json!({"datetime": format!("2024-03-{:02}T{hour:02}:30:00{offset}", day + 27)});
        json!({"id": id, "labels": ["A"], "props": if id == 9 { json!({}) } else { json!({"da": da}) }})
    };
    let graph = json!({"nodes": (0..80).map(node).collect::<Vec<_>>(), "edges": []});
    let (plain, graph) =
        (MemoryGraph::new(&graph), MemoryGraph::new(&graph).with_lists(CHECKS, BYTES));
    for text in [
        "MATCH (n:A) RETURN n.da.month AS k, n.da.dayOfWeek AS l, count(*)",
        "MATCH (n:A) WHERE n.da.day = 29 RETURN n.da.hour AS k, count(*)",
        "MATCH (n:A) RETURN n.da AS k, count(*)",
        "MATCH (n:A) RETURN n.da.day * 100 + n.da.hour AS k, count(*)",
        "MATCH (n:A) RETURN sum(n.da.ordinalDay + n.da.day), max(n.da.day), max(n.da)",
    ] {
        assert!(is_join(text, &graph), "{text}");
        assert_eq!(answer(text, &graph), answer(text, &plain), "{text}");
    }
}
