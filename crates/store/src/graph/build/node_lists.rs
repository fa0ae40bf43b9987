//! Makes sets of the nodes of long lists.

use crate::storage::SpanBits;
use rayon::prelude::*;
use roaring::RoaringBitmap;

/// Nodes are collected as bits when they span at most this many ids for each node of the lists.
const SPREAD_MAX: usize = 64;

/// Adds the nodes of some columns to a set.
pub(in crate::graph) fn add_nodes(columns: &[&[u32]], nodes: &mut RoaringBitmap) {
    let all = || columns.iter().flat_map(|column| column.iter().copied());
    let range_of = |column: &&[u32]| Some((*column.iter().min()?, *column.iter().max()?));
    let ranges: Vec<(u32, u32)> = columns.par_iter().filter_map(range_of).collect();
    let Some(least) = ranges.iter().map(|range| range.0).min() else { return };
    let greatest = ranges.iter().map(|range| range.1).max().unwrap_or(least);
    let span = (greatest - least) as usize + 1;
    let count: usize = columns.iter().map(|column| column.len()).sum();
    if SPREAD_MAX * count < span {
        nodes.extend(all());
        return;
    }
    // A bit each is cheaper than a position in a set, many times over.
    *nodes |= SpanBits::of(least, greatest, all()).to_bitmap();
}
