//! Cycles have the matches of the executor of rows, whichever variables are left out and whichever
//! triangles are visited once.

use super::joins::{BYTES, CHECKS, answer};
use super::memory_graph::MemoryGraph;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

const LABELS: [&str; 2] = ["A", "B"];

fn edge(src: u64, dst: u64, name: &str) -> Json {
    json!({"src": src, "dst": dst, "type": name, "props": {}})
}

/// Nodes with any relationships `S` and `T`, and with at most one `F` and one `G` each.
fn graphs() -> impl Strategy<Value = Json> {
    (2..7_u64, any::<bool>()).prop_flat_map(|(count, has_loops)| {
        let nodes = prop::collection::vec((0..4_u8, 0..2_u64), count as usize);
        let edges = prop::collection::btree_set((0..count, 0..count, 0..2_usize), 0..24);
        let only = prop::collection::vec((0..count + 1, 0..count + 1), count as usize);
        (nodes, edges, only).prop_map(move |(nodes, edges, only)| {
            let labels = |bits: u8| (0..2).filter(move |bit| bits & 1 << bit != 0).map(|bit| LABELS[bit as usize]);
            let node = |(id, (bits, x)): (usize, &(u8, u64))| {
                json!({"id": id, "labels": labels(*bits).collect::<Vec<_>>(), "props": {"x": x}})
            };
            let several = edges
                .iter()
                .filter(|(src, dst, _)| has_loops || src != dst)
                .map(|(src, dst, at)| edge(*src, *dst, ["S", "T"][*at]));
            let functions = (0..).zip(&only).flat_map(|(src, (f, g))| {
                let both = [(f, "F"), (g, "G")].into_iter();
                both.filter(|(dst, _)| **dst < count).map(move |(dst, name)| edge(src, *dst, name))
            });
            json!({
                "nodes": nodes.iter().enumerate().map(node).collect::<Vec<_>>(),
                "edges": several.chain(functions).collect::<Vec<_>>(),
            })
        })
    })
}

/// A cycle of three to five relationships, with further clauses.
fn texts() -> impl Strategy<Value = String> {
    let arrows = prop::sample::select(vec![("-", "->"), ("<-", "-"), ("-", "-"), ("-", "-")]);
    let types = prop::sample::select(vec!["S", "T", "S|T", "F", "G", "F"]);
    let hops = prop::collection::vec((arrows, types), 3..6);
    let triangle =
        prop::sample::select(vec!["S", "T", "S|T"]).prop_map(|name| vec![(("-", "-"), name); 3]);
    let more = prop::sample::select(vec![
        "",
        "MATCH (v0)-[:F]->(k) MATCH (v1)-[:F]->(k) MATCH (v2)-[:F]->(k)",
        "MATCH (v0)-[:F]->()-[:G]->(k) MATCH (v1)-[:F]->()-[:G]->(k) MATCH (v2)-[:F]->()-[:G]->(k)",
        "MATCH (v0)-[:F]->(k)<-[:G]-(v1) MATCH (v2)-[:G]->(k)",
        "MATCH (v0)-[:F]->(k:A)-[:T]->() MATCH (v1)-[:F]->(k)",
        "MATCH (v2)-[:T]->() MATCH (v1)-[:S]->(:B)",
        "MATCH (v0)<-[:F]-(c)-[:G]->(v1)",
    ]);
    let labels = prop::collection::vec(prop::sample::select(vec!["", "", ":A", ":B"]), 5);
    let without = prop::sample::select(vec!["", "", " AND NOT (v0)-[:S]-(v2)", " AND v0 <> v2"]);
    let result =
        prop::sample::select(vec!["count(*)", "count(*)", "v0.x AS k, count(*)", "v1, count(*)"]);
    let cycle = prop_oneof![hops, triangle];
    (cycle, more, labels, without, result, any::<bool>()).prop_map(
        |(hops, more, labels, without, result, is_apart)| {
            let between = if is_apart { " MATCH " } else { ", " };
            let count = hops.len();
            let hop = |(at, ((left, right), name)): (usize, &((&str, &str), &str))| {
                format!("(v{at}){left}[:{name}]{right}(v{})", (at + 1) % count)
            };
            let hops: Vec<String> = hops.iter().enumerate().map(hop).collect();
            let labels = labels.iter().enumerate().take(count);
            let labels: String = labels
                .filter(|it| !it.1.is_empty())
                .map(|(at, it)| format!(" AND v{at}{it}"))
                .collect();
            format!(
                "MATCH {} {more} WHERE true{labels}{without} RETURN {result}",
                hops.join(between)
            )
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cycles_have_the_matches_of_rows(graph in graphs(), text in texts()) {
        let rows = answer(&text, &MemoryGraph::new(&graph));
        let joined = answer(&text, &MemoryGraph::new(&graph).with_lists(CHECKS, BYTES));
        prop_assert_eq!(joined, rows, "{}", text);
    }
}

fn graph_of(count: u64, edges: impl Iterator<Item = Json>) -> Json {
    let node = |id: u64| json!({"id": id, "labels": ["A"], "props": {"x": id % 7}});
    json!({"nodes": (0..count).map(node).collect::<Vec<_>>(), "edges": edges.collect::<Vec<_>>()})
}

/// A hub has two thousand neighbours, each the next one, too. To try all pairs of neighbours of the
/// hub needs four million steps, which the limit on checks does not allow.
#[test]
fn triangles_of_a_hub_are_visited_once() {
    let count = 2_000;
    let edges = (1..=count).map(|it| edge(0, it, "S"));
    let next = (1..count).map(|it| edge(it, it + 1, "S"));
    let graph = MemoryGraph::new(&graph_of(count + 1, edges.chain(next))).with_lists(3_000, BYTES);
    let text = "MATCH (a)-[:S]-(b)-[:S]-(c)-[:S]-(a) RETURN count(*)";
    assert_eq!(answer(text, &graph), Ok(vec![(6 * (count - 1)).to_string()]));
}

/// Each of two hundred nodes has one home, all of them the same one: the pairs of those with one
/// home are forty thousand.
#[test]
fn functions_are_followed_from_their_nodes() {
    let count = 200;
    let homes = (1..count).map(|it| edge(it, 0, "F"));
    let next = (1..count - 1).map(|it| edge(it, it + 1, "S"));
    let graph = graph_of(count, homes.chain(next));
    let graph = MemoryGraph::new(&graph).with_lists(1_500, BYTES);
    let text = "MATCH (a)-[:S]-(b), (a)-[:F]->(k)<-[:F]-(b) RETURN count(*)";
    assert_eq!(answer(text, &graph), Ok(vec![(2 * (count - 2)).to_string()]));
}
