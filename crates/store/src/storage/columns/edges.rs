//! The edges of one predicate in one direction: compressed sparse rows.

use super::column::facets_byte_len;
use crate::storage::{Array, FacetColumn, FrozenBitmap, Offsets};
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

    /// The position of one edge.
    pub fn position_of(&self, node: u32, target: u32) -> Option<usize> {
        let positions = self.positions(node);
        let found = self.targets.partition_point(positions.clone(), |other| other < target);
        (found < positions.end && self.targets.get(found) == target).then_some(found)
    }

    /// The bytes that the edges take.
    pub fn byte_len(&self) -> usize {
        self.subjects.byte_len()
            + self.offsets.byte_len()
            + self.targets.byte_len()
            + facets_byte_len(&self.facets)
    }
}
