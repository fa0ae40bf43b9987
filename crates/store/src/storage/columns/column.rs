//! The values of one predicate in one language, and the facets beside them.

use crate::storage::{FrozenBitmap, Offsets, Values};
use hexgraph_base::types::ValueRef;
use std::ops::Range;

/// Values by node: the rank of a node among the subjects is its row; a row of a list predicate
/// is a range of positions, any other row is one position.
#[derive(Clone)]
pub struct Column {
    /// The nodes that have a value.
    pub subjects: FrozenBitmap,
    /// For a predicate that is a list, the position at which each row starts.
    pub rows: Option<Offsets>,
    /// The values by position; within a row ascending.
    pub values: Values,
    /// Facets by position, sorted by key.
    pub facets: Vec<FacetColumn>,
}

/// One facet of values or edges. A key with values of several types has several columns.
#[derive(Clone)]
pub struct FacetColumn {
    /// The facet's name.
    pub key: String,
    /// The positions that have it.
    pub positions: FrozenBitmap,
    /// The facet's values, by rank of the position.
    pub values: Values,
}

impl Column {
    /// The positions of a node's values, `None` when it has none.
    pub fn positions(&self, node: u32) -> Option<Range<usize>> {
        let row = self.subjects.row_of(node)?;
        Some(self.row_positions(row))
    }

    /// The positions of a row.
    pub fn row_positions(&self, row: usize) -> Range<usize> {
        match &self.rows {
            Some(rows) => rows.range(row),
            None => row..row + 1,
        }
    }

    /// The first value of a node.
    pub fn first(&self, node: u32) -> Option<ValueRef<'_>> {
        self.positions(node).map(|positions| self.values.get(positions.start))
    }

    /// The bytes that the column takes.
    pub fn byte_len(&self) -> usize {
        let rows = self.rows.as_ref().map_or(0, Offsets::byte_len);
        self.subjects.byte_len() + rows + self.values.byte_len() + facets_byte_len(&self.facets)
    }
}

impl FacetColumn {
    /// The facet at a position.
    pub fn get(&self, position: usize) -> Option<ValueRef<'_>> {
        let row = self.positions.row_of(position as u32)?;
        Some(self.values.get(row))
    }
}

/// The bytes that facets take.
pub(crate) fn facets_byte_len(facets: &[FacetColumn]) -> usize {
    facets.iter().map(|facet| facet.positions.byte_len() + facet.values.byte_len()).sum()
}
