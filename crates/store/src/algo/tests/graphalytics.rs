//! A public graph of 62,586 nodes and the results of LDBC Graphalytics' kernels on it, if its files
//! are next to the project.

use super::case::{call, floats, ints, loaded, nodes, simply};
use crate::algo::{Alone, EdgeSelection, Graph, GraphCache, Output, Requested, Task};
use hexgraph_base::plan::{ArgumentValue, Direction};
use hexgraph_base::types::Uid;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// The graph's file of a name, unpacked by the system's gzip; `None` where it is not there.
fn read(name: &str) -> Option<String> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/graphs/p2p31"));
    let path = folder.join(name);
    if !path.exists() {
        return None;
    }
    let unpacked = Command::new("gzip").arg("-dc").arg(path).output().ok()?;
    String::from_utf8(unpacked.stdout).ok()
}

/// The results of a file by vertex.
fn expected(name: &str) -> BTreeMap<u64, f64> {
    let text = read(&format!("p2p-31-{name}.gz")).expect("the file is next to the graph");
    let line = |line: &str| {
        let (vertex, value) = line.split_once(' ').expect("a vertex and a value");
        let value = if value.contains("inf") {
            f64::INFINITY
        } else {
            value.trim().parse().expect("a number")
        };
        (vertex.parse().expect("a vertex"), value)
    };
    text.lines().map(line).collect()
}

/// The graph in a direction. Vertex n has the uid n + 1, since no node has the uid 0.
fn graph(direction: Direction, is_weighted: bool) -> Option<Arc<Graph>> {
    let (vertices, edges) = (read("p2p-31.v.gz")?, read("p2p-31.e.gz")?);
    let uid_of = |text: &str| text.parse::<u64>().expect("a vertex") + 1;
    let quad = |line: &str| {
        let mut parts = line.split(' ');
        let (from, to, weight) = (parts.next()?, parts.next()?, parts.next()?);
        Some(format!("<{}> <e> <{}> (w={weight}) .\n", uid_of(from), uid_of(to)))
    };
    let version = loaded(edges.lines().filter_map(quad).collect());
    let mut all: Vec<u32> = vertices
        .lines()
        .map(|line| uid_of(line.split(' ').next().unwrap_or_default()) as u32)
        .collect();
    all.sort_unstable();
    let predicate = version.predicate("e").expect("it is in the schema");
    let weight = is_weighted.then_some("w");
    let parts = vec![EdgeSelection { predicate, reverse: false, weight, far: None }];
    let uid = |node| Uid(u64::from(node));
    let expected = Requested { parts, nodes: Some(all), direction, uid: &uid };
    Some(GraphCache::get(None, &expected, &Task::new(&Alone, None)).expect("a graph").0)
}

/// The values in the order of the graph's nodes.
fn in_order(graph: &Graph, name: &str) -> Vec<f64> {
    let expected = expected(name);
    graph.nodes().iter().map(|node| expected[&(u64::from(*node) - 1)]).collect()
}

fn assert_within(result: &[f64], expected: &[f64], what: &str) {
    for (one, other) in result.iter().zip(expected) {
        let is_same = one == other
            || one.is_nan() && (other.is_infinite() || *other > 1e18)
            || (one - other).abs() <= 1e-4 * other.abs();
        assert!(is_same, "{what}: {one}, not {other}");
    }
}

/// Whether two lists of labels give the same partition of the nodes.
fn assert_same_parts(result: &[i64], expected: &[f64], what: &str) {
    let mut there = BTreeMap::new();
    let mut back = BTreeMap::new();
    for (one, other) in result.iter().zip(expected) {
        let other = *other as i64;
        assert_eq!(*there.entry(*one).or_insert(other), other, "{what}: a part is in two");
        assert_eq!(*back.entry(other).or_insert(*one), *one, "{what}: two parts are in one");
    }
}

#[test]
fn the_results_are_those_of_graphalytics() {
    let Some(undirected) = graph(Direction::Both, true) else {
        println!("skipped: ../shared/graphs/p2p31 is not there");
        return;
    };
    let directed = graph(Direction::Out, true).expect("as before");
    for (graph, suffix) in [(&undirected, ""), (&directed, "-directed")] {
        let source = nodes(&[graph.number(7).expect("vertex 6 is there") as usize]);
        let levels = ints(simply(graph, &call("bfs", &[("source", source.clone())])));
        let levels: Vec<f64> = levels
            .iter()
            .map(|level| if Output::is_missing(*level) { f64::NAN } else { *level as f64 })
            .collect();
        assert_within(&levels, &in_order(graph, &format!("BFS{suffix}")), "bfs");
        let distances = floats(simply(graph, &call("distances", &[("source", source)])));
        assert_within(&distances, &in_order(graph, &format!("SSSP{suffix}")), "sssp");
    }
    let unweighted = graph(Direction::Both, false).expect("as before");
    let rounds = [
        ("iterations", ArgumentValue::Int(10)),
        ("tolerance", ArgumentValue::Float(0.0)),
        ("damping", ArgumentValue::Float(0.85)),
    ];
    let ranks = floats(simply(&unweighted, &call("pagerank", &rounds)));
    // The directed file differs from the definition: nodes without edges retain their rank in it.
    assert_within(&ranks, &in_order(&unweighted, "PR"), "pagerank");
    let ten = [("iterations", ArgumentValue::Int(10))];
    let labels = ints(simply(&unweighted, &call("label_propagation", &ten)));
    assert_same_parts(&labels, &in_order(&unweighted, "CDLP"), "cdlp");
    let clustering = floats(simply(&unweighted, &call("clustering", &[])));
    assert_within(&clustering, &in_order(&unweighted, "LCC"), "lcc");
    let parts = ints(simply(&directed, &call("components", &[])));
    assert_same_parts(&parts, &in_order(&directed, "WCC"), "wcc");
}
