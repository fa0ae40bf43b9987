//! The values of one predicate in one language, with their facets.

use crate::storage::{FrozenBitmap, Offsets, Values};
use hexgraph_base::types::{Result, ValueRef};
use std::ops::Range;
use std::sync::OnceLock;

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
    /// The result of [`Column::min_max`], cached on first use.
    min_max: OnceLock<Option<(i64, i64)>>,
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
    /// Whether some value is a number below 0, cached on first use.
    has_negative: OnceLock<bool>,
}

impl Column {
    /// The column of the `values` that some nodes have.
    pub fn new(
        subjects: FrozenBitmap,
        rows: Option<Offsets>,
        values: Values,
        facets: Vec<FacetColumn>,
    ) -> Column {
        Column { subjects, rows, values, facets, min_max: OnceLock::new() }
    }

    /// The same values for as many other nodes.
    pub fn of_subjects(&self, subjects: FrozenBitmap) -> Column {
        Column { subjects, ..self.clone() }
    }

    /// The least and the greatest value as [`Values::min_max`] returns them. The first call reads
    /// all values, later ones cost O(1).
    pub(crate) fn min_max(&self) -> Option<(i64, i64)> {
        *self.min_max.get_or_init(|| self.values.min_max(0..self.values.len()))
    }

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
    /// The column of a facet whose `values` belong to `positions`, in this order.
    pub fn new(key: String, positions: FrozenBitmap, values: Values) -> FacetColumn {
        FacetColumn { key, positions, values, has_negative: OnceLock::new() }
    }

    /// True when some value is a number below 0, or no number at all as a float goes. The first
    /// call reads all values, a million between two calls of `check`; later ones cost O(1).
    ///
    /// # Errors
    ///
    /// Those of `check`.
    pub(crate) fn has_negative(&self, check: &dyn Fn() -> Result<()>) -> Result<bool> {
        const VALUES_A_CHECK: usize = 1 << 20;
        if let Some(&existing) = self.has_negative.get() {
            return Ok(existing);
        }
        let count = self.values.len();
        let mut result = false;
        for start in (0..count).step_by(VALUES_A_CHECK) {
            check()?;
            result |= self.values.has_negative(start..count.min(start + VALUES_A_CHECK));
        }
        Ok(*self.has_negative.get_or_init(|| result))
    }

    /// The number of values that [`FacetColumn::has_negative`] would read.
    pub(crate) fn unread(&self) -> usize {
        if self.has_negative.get().is_some() { 0 } else { self.values.len() }
    }

    /// The facet at a position.
    pub fn get(&self, position: usize) -> Option<ValueRef<'_>> {
        let row = self.positions.row_of(position as u32)?;
        Some(self.values.get(row))
    }
}

/// The bytes of facets.
pub(crate) fn facets_byte_len(facets: &[FacetColumn]) -> usize {
    facets.iter().map(|facet| facet.positions.byte_len() + facet.values.byte_len()).sum()
}
