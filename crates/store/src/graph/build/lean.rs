//! Builds edges in little more memory than they take, range by range of their nodes.
//!
//! The parts, which lie in files, are read once for each range, and only the edges of its nodes are
//! kept, sorted and laid behind those of the ranges before; then the same is done the other way
//! round. So what is sorted at a time is a fraction of all, whatever the number of edges.

use super::edge_order::{Ordered, order_edges};
use super::node_lists::add_nodes;
use super::stored_form::edges_of;
use crate::graph::version::edges::{Direction, EdgeStore};
use crate::storage::Edges;
use hexgraph_base::types::Result;
use roaring::RoaringBitmap;
use std::ops::Range;

/// The number of ranges of nodes into which the edges are split.
const RANGES: u64 = 8;

/// The number of edges in a column.
const COLUMN_LEN: usize = 1 << 16;

/// Columns of nodes and targets.
type Columns = (Vec<u32>, Vec<u32>);

/// The edges of parts without facets, of a predicate that is a list, and the sources and targets of the first
/// `own` parts. `read` reads the part of a number below `count`, with final node ids.
///
/// # Errors
///
/// Those of `read`.
pub(in crate::graph) fn build_lean(
    read: &dyn Fn(usize) -> Result<Columns>,
    (own, count): (usize, usize),
    with_reverse: bool,
) -> Result<(EdgeStore, [RoaringBitmap; 2])> {
    let (mut sources, mut targets, mut len) = (RoaringBitmap::new(), RoaringBitmap::new(), 0);
    let mut named = [RoaringBitmap::new(), RoaringBitmap::new()];
    for part in 0..count {
        let (nodes, ends) = read(part)?;
        len += nodes.len();
        add_nodes(&[&nodes], &mut sources);
        add_nodes(&[&ends], &mut targets);
        if part + 1 == own {
            named = [sources.clone(), targets.clone()];
        }
    }
    assert!(u32::try_from(len).is_ok(), "a predicate has fewer than 2^32 edges");
    let mut forward = Merged::new(len);
    for range in ranges(&sources) {
        let mut columns = Vec::new();
        for part in 0..count {
            let (nodes, ends) = read(part)?;
            kept(nodes.iter().copied().zip(ends.iter().copied()), &range, &mut columns);
        }
        forward.push(order_edges(columns, false));
    }
    let forward = forward.finish();
    let mut reverse = None;
    if with_reverse {
        let mut merged = Merged::new(forward.targets.len());
        for range in ranges(&targets) {
            let mut columns = Vec::new();
            // All forward edges are read again for each range: dealt out at once they would take
            // as much memory as they do.
            let rows = forward.subjects.iter().enumerate();
            let edges = rows.flat_map(|(row, node)| {
                let targets = forward.targets.slice(forward.offsets.range(row));
                targets.iter().map(move |&target| (target, node))
            });
            kept(edges, &range, &mut columns);
            merged.push(order_edges(columns, false));
        }
        reverse = Some(Direction::new(merged.finish()));
    }
    Ok((EdgeStore { forward: Direction::new(forward), reverse }, named))
}

/// Ranges of nodes that have about as many members each.
fn ranges(nodes: &RoaringBitmap) -> Vec<Range<u64>> {
    let (count, mut start) = (nodes.len(), 0);
    let mut ranges = Vec::new();
    for place in 1..=RANGES {
        let last = (count * place / RANGES).checked_sub(1);
        let Some(last) = last.and_then(|rank| nodes.select(rank as u32)) else { continue };
        let end = u64::from(last) + 1;
        if start < end {
            ranges.push(start..end);
            start = end;
        }
    }
    ranges
}

/// Adds the edges from nodes of a range to columns.
fn kept(edges: impl Iterator<Item = (u32, u32)>, range: &Range<u64>, columns: &mut Vec<Columns>) {
    for (node, target) in edges.filter(|(node, _)| range.contains(&u64::from(*node))) {
        if columns.last().is_none_or(|(nodes, _)| nodes.len() == COLUMN_LEN) {
            columns.push((Vec::with_capacity(COLUMN_LEN), Vec::with_capacity(COLUMN_LEN)));
        }
        if let Some((nodes, targets)) = columns.last_mut() {
            nodes.push(node);
            targets.push(target);
        }
    }
}

/// Sorted edges of ranges, one behind the other.
struct Merged {
    runs: Vec<(u32, u32)>,
    targets: Vec<u32>,
}

impl Merged {
    fn new(len: usize) -> Merged {
        Merged { runs: Vec::new(), targets: Vec::with_capacity(len) }
    }

    fn push(&mut self, range: Ordered) {
        self.runs.extend_from_slice(&range.runs);
        self.targets.extend_from_slice(&range.targets);
    }

    fn finish(mut self) -> Edges {
        self.targets.shrink_to_fit();
        edges_of(&self.runs, self.targets, Vec::new())
    }
}
