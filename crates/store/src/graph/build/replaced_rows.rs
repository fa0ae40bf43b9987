//! Counts what a load supersedes: values, edges and facets that later ones replace.
//!
//! The rows of a predicate under construction are the stored ones, then those of the load. Each
//! dropped row is superseded by another: the last of its node, or the last of equal values and
//! edges. O(superseded rows), and with facets the columns of those dropped.

use super::facet_columns::position_facets;
use super::parts::FacetPart;
use super::value_order::compare_values;
use crate::storage::FacetColumn;
use std::ops::AddAssign;

/// The numbers of what later data supersede.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Superseded {
    /// Stored values that values of the load replace, and edges of single-valued predicates.
    pub stored: u64,
    /// Those of the load itself that later ones of it replace.
    pub own: u64,
    /// The least node of the latter.
    pub first: Option<u32>,
    /// Values and edges that came again without some of their facets, or with other ones.
    pub facets: u64,
}

impl AddAssign for Superseded {
    fn add_assign(&mut self, more: Superseded) {
        self.stored += more.stored;
        self.own += more.own;
        self.first = match (self.first, more.first) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        self.facets += more.facets;
    }
}

/// A row that does not stay, and the final position of the one that supersedes it.
pub(super) struct Dropped {
    pub row: u32,
    pub position: u32,
}

/// Counts while a predicate is built.
pub(in crate::graph) struct SupersededCounter {
    /// The rows below this one are stored.
    stored_rows: u32,
    pub(in crate::graph) counts: Superseded,
}

impl SupersededCounter {
    /// Nothing yet. `stored_rows` of the rows come first, and are stored.
    pub(in crate::graph) fn new(stored_rows: usize) -> SupersededCounter {
        SupersededCounter { stored_rows: stored_rows as u32, counts: Superseded::default() }
    }

    /// Counts a row of a node whose value another one replaces.
    pub(super) fn note(&mut self, row: u32, node: u32) {
        match row < self.stored_rows {
            true => self.counts.stored += 1,
            false => {
                self.counts.own += 1;
                self.counts.first = Some(self.counts.first.map_or(node, |first| first.min(node)));
            }
        }
    }

    /// Counts rows superseded by equal ones that lose a facet. `parts` are the facets of all rows,
    /// and `columns` those of the retained rows.
    pub(super) fn note_facets(
        &mut self,
        parts: Vec<FacetPart>,
        dropped: &[Dropped],
        columns: &[FacetColumn],
    ) {
        let rows: Vec<u32> = dropped.iter().map(|it| it.row).collect();
        let gone = position_facets(parts, Some(&rows));
        let stays = |column: &FacetColumn, at: usize| {
            let Some(value) = column.get(at) else { return true };
            let position = dropped[at].position as usize;
            let mut same = columns.iter().filter(|other| other.key == column.key);
            same.any(|other| {
                other.get(position).is_some_and(|other| compare_values(other, value).is_eq())
            })
        };
        let lost = (0..dropped.len()).filter(|&at| !gone.iter().all(|column| stays(column, at)));
        self.counts.facets += lost.count() as u64;
    }
}
