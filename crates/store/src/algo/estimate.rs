//! Estimates the memory of an algorithm, for the error of a call that was refused memory.

use super::compact::graph::Graph;
use super::requested::{EdgeSelection, Requested};
use hexgraph_base::plan::Direction;

/// The peak of a kernel, in bytes. `tests/memory.rs` measures it.
struct Peak {
    name: &'static str,
    /// For each node, without weights and with them.
    node: [usize; 2],
    /// For each stored edge.
    edge: usize,
    /// Whether it needs the incoming edges, without weights and with them. A directed graph builds
    /// them.
    needs_incoming: [bool; 2],
}

const fn peak(
    name: &'static str,
    node: [usize; 2],
    edge: usize,
    needs_incoming: [bool; 2],
) -> Peak {
    Peak { name, node, edge, needs_incoming }
}

const NO: [bool; 2] = [false, false];
const YES: [bool; 2] = [true, true];

/// The kernels whose peak depends on the graph alone, not on other arguments or on threads.
const PEAKS: &[Peak] = &[
    peak("pagerank", [32, 32], 0, YES),
    peak("components", [20, 20], 0, NO),
    peak("strong_components", [32, 32], 0, NO),
    peak("bfs", [20, 20], 0, YES),
    peak("distances", [20, 48], 0, [true, false]),
    peak("degree", [8, 8], 0, NO),
    peak("hits", [24, 24], 0, YES),
    peak("label_propagation", [20, 20], 0, YES),
    peak("louvain", [96, 96], 48, NO),
    peak("leiden", [192, 192], 48, NO),
    peak("core_numbers", [20, 20], 0, NO),
    peak("eigenvector", [16, 16], 0, YES),
    peak("katz", [16, 16], 0, YES),
    peak("articulation_points", [37, 37], 0, NO),
    peak("bridges", [37, 37], 0, NO),
    peak("spanning_forest", [20, 20], 32, NO),
    peak("topological_order", [16, 16], 0, NO),
    peak("truss_numbers", [16, 16], 80, NO),
];

/// What a call takes.
pub struct Estimate {
    /// The nodes of the graph.
    pub nodes: u64,
    /// The stored edges that it is made of.
    pub edges: u64,
    /// The bytes of the call.
    pub bytes: u64,
}

/// The memory that an algorithm takes on a graph: O(predicates). Before the graph is made, its
/// nodes are counted by a bound. `None` where other arguments or the threads decide.
pub fn estimate(name: &str, expected: &Requested<'_>, graph: Option<&Graph>) -> Option<Estimate> {
    let peak = PEAKS.iter().find(|peak| peak.name == name)?;
    let forward = expected.parts.iter().filter_map(|part| part.predicate.direction(false));
    let edges = forward.map(|forward| forward.total()).sum();
    let nodes = match (graph, &expected.nodes) {
        (Some(graph), _) => graph.len() as u64,
        (None, Some(nodes)) => nodes.len() as u64,
        (None, None) => nodes_max(expected).min(2 * edges),
    };
    let is_weighted = expected.parts.iter().any(|part| part.weight.is_some());
    let make = match (expected.direction == Direction::Out, is_weighted) {
        (true, false) => 8 * edges,
        (true, true) => 24 * edges,
        (false, false) => 16 * edges + 4 * nodes,
        (false, true) => 36 * edges + 4 * nodes,
    };
    let is_both = expected.direction == Direction::Both;
    let incoming = match (peak.needs_incoming[usize::from(is_weighted)] && !is_both, is_weighted) {
        (false, _) => 0,
        (true, false) => 12 * (edges + nodes),
        (true, true) => 20 * edges + 12 * nodes,
    };
    let node = peak.node[usize::from(is_weighted)] as u64;
    let kernel = node * nodes + peak.edge as u64 * edges + incoming;
    Some(Estimate { nodes, edges, bytes: make.max(kernel) })
}

/// A bound of the nodes that the edges join: those that have an edge in either direction.
fn nodes_max(expected: &Requested<'_>) -> u64 {
    let of_part = |part: &EdgeSelection<'_>| {
        let count = |reverse| Some(part.predicate.direction(reverse)?.subjects_max() as u64);
        let sources = count(false).unwrap_or_default();
        // Targets are counted where edges are stored in both directions.
        sources + count(true).unwrap_or(sources)
    };
    expected.parts.iter().map(of_part).sum()
}
