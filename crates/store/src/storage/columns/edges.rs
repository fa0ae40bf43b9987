//! The edges of one predicate in one direction: compressed sparse rows.

use super::column::facets_byte_len;
use crate::storage::{Array, FacetColumn, FrozenBitmap, NO_ROW, Offsets};
use std::hint::black_box;
use std::ops::Range;

/// Targets by subject. The rank of a node among the subjects is its row.
#[derive(Clone)]
pub struct Edges {
    /// The nodes that have an edge.
    pub subjects: FrozenBitmap,
    /// The position among the targets at which each row starts.
    pub offsets: Offsets,
    /// The targets, ascending within a row.
    pub targets: Array<u32>,
    /// Facets by position among the targets, sorted by key; forward edges only.
    pub facets: Vec<FacetColumn>,
}

impl Edges {
    /// The number of lists that are prefetched before the first of them is read. A processor can
    /// wait for about as many addresses at the same time, and the nearest cache holds what they
    /// load.
    pub(crate) const PREFETCH: usize = 16;

    /// The edges of a predicate that has none.
    pub fn empty() -> Edges {
        Edges {
            subjects: FrozenBitmap::empty(),
            offsets: Offsets::from_vec(vec![0]),
            targets: Array::empty(),
            facets: Vec::new(),
        }
    }

    /// The positions of a node's edges; empty when it has none.
    pub fn positions(&self, node: u32) -> Range<usize> {
        self.subjects.row_of(node).map_or(0..0, |row| self.offsets.range(row))
    }

    /// Calls `visit` with the index of each row in `rows` and its targets; [`NO_ROW`] has none.
    /// Rows may be anywhere: first the starts of a batch of rows are read, then the first target of
    /// each, and then they are visited. So the processor waits for many cache misses at once
    /// instead of one at a time.
    pub(crate) fn for_each_row(&self, rows: &[u32], mut visit: impl FnMut(usize, &[u32])) {
        let mut positions = [const { 0..0 }; Edges::PREFETCH];
        for (part, rows) in rows.chunks(Edges::PREFETCH).enumerate() {
            for (slot, &row) in positions.iter_mut().zip(rows) {
                *slot = if row == NO_ROW { 0..0 } else { self.offsets.range(row as usize) };
            }
            let positions = &positions[..rows.len()];
            self.touch_lists(positions);
            for (position, (positions, row)) in positions.iter().zip(rows).enumerate() {
                if *row != NO_ROW {
                    visit(part * Edges::PREFETCH + position, self.targets.slice(positions.clone()));
                }
            }
        }
    }

    /// Prefetches the first targets of some nodes before they are read one by one: see
    /// [`Edges::for_each_row`]. O(nodes).
    pub(crate) fn touch(&self, nodes: &[u32]) {
        let mut positions = [const { 0..0 }; Edges::PREFETCH];
        for nodes in nodes.chunks(Edges::PREFETCH) {
            let slots = positions.iter_mut().zip(nodes);
            slots.for_each(|(slot, node)| *slot = self.positions(*node));
            self.touch_lists(&positions[..nodes.len()]);
        }
    }

    /// Reads the first target at each of some positions. None of the reads waits for another.
    fn touch_lists(&self, positions: &[Range<usize>]) {
        let first = |positions: &Range<usize>| match positions.is_empty() {
            true => 0,
            false => self.targets.get(positions.start),
        };
        black_box(positions.iter().fold(0, |all, positions| all ^ first(positions)));
    }

    /// The position of one edge.
    pub fn position_of(&self, node: u32, target: u32) -> Option<usize> {
        let positions = self.positions(node);
        let result = self.targets.partition_point(positions.clone(), |other| other < target);
        (result < positions.end && self.targets.get(result) == target).then_some(result)
    }

    /// The bytes of the edges.
    pub fn byte_len(&self) -> usize {
        self.subjects.byte_len()
            + self.offsets.byte_len()
            + self.targets.byte_len()
            + facets_byte_len(&self.facets)
    }
}
