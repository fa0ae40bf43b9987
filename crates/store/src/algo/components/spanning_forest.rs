//! Edges that join what edges can join at the least weight: a tree for each part of the graph.
//! Edges are tried from the lightest on, of equal ones those of the lesser nodes first.

use super::weak::Trees;
use crate::algo::run::{Outcome, Output, Run};
use hexgraph_base::types::Result;

/// The bytes of an edge while all are sorted: each is in the rows twice, and here once.
const BYTES_AN_EDGE: usize = size_of::<(u32, u32, f64)>() / 2;

/// The bytes for each node: its parent, and an edge of the forest.
const BYTES_A_NODE: usize = size_of::<u32>() + size_of::<(u32, u32, f64)>();

/// The edges between two looks at the clock.
const EDGES_A_CHECK: usize = 1 << 16;

pub(in crate::algo) fn spanning_forest(run: &Run<'_>) -> Result<Outcome> {
    let rows = run.graph.outgoing();
    let _nodes = run.capacity_per_node(BYTES_A_NODE)?;
    let _edges = run.task.capacity(rows.edges(), 2 * BYTES_AN_EDGE)?;
    let sorted = run.task.blocks(rows.blocks().len(), |number| {
        let of = |node| rows.weighted(node).map(move |(to, weight)| (node, to, weight));
        let edges = rows.block(number).flat_map(of).filter(|(from, to, _)| from < to);
        Ok(edges.collect::<Vec<(u32, u32, f64)>>())
    })?;
    let mut edges = sorted.concat();
    run.task.check()?;
    // Stable: of equal weights the order of nodes stays.
    edges.sort_by(|one, other| one.2.total_cmp(&other.2));
    let trees = Trees::new(run.graph.len() as u32);
    let mut forest = Vec::new();
    for (tried, (from, to, weight)) in edges.into_iter().enumerate() {
        if tried.is_multiple_of(EDGES_A_CHECK) {
            run.task.check()?;
        }
        let root = trees.find(from);
        if root != trees.find(to) {
            trees.join(root, to);
            forest.push((from, to, weight));
        }
    }
    forest.sort_unstable_by_key(|(from, to, _)| (*from, *to));
    Ok(Outcome::once(Output::Pairs(forest), rows.edges()))
}
