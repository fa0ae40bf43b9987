//! Rows of tables of nodes whose id an earlier row of the load has.
//!
//! A bit for each number that the load gives, and a set of the stored nodes that are named: rows are looked at one after the other, in
//! the order of the tables, so that the first such row does not depend on threads. O(rows).

use super::batch::FOREIGN;
use roaring::RoaringBitmap;

/// The number of rows whose id an earlier one has, and the first of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Duplicates {
    /// The number of rows.
    pub rows: u64,
    /// The first of them: its table with its row, from 1, and its id.
    pub first: Option<(String, String)>,
}

/// The nodes of the rows so far.
#[derive(Default)]
pub(super) struct RowNodes {
    /// The bits of the numbers from [`FOREIGN`] on.
    numbered: Vec<u64>,
    stored: RoaringBitmap,
    pub(super) duplicates: u64,
    /// The first row whose node another row has, counted through all tables, and the node.
    pub(super) first: Option<(u64, u32)>,
}

impl RowNodes {
    /// Adds the nodes of rows, 0 for a row without one.
    pub(super) fn add(&mut self, first_row: u64, nodes: &[u32]) {
        for (row, &node) in (first_row..).zip(nodes).filter(|(_, node)| **node != 0) {
            if self.insert(node) {
                continue;
            }
            self.duplicates += 1;
            self.first.get_or_insert((row, node));
        }
    }

    /// Adds a node. False where it is there.
    fn insert(&mut self, node: u32) -> bool {
        let Some(number) = node.checked_sub(FOREIGN) else { return self.stored.insert(node) };
        let (word, bit) = ((number / 64) as usize, 1 << (number % 64));
        if self.numbered.len() <= word {
            self.numbered.resize(word + 1, 0);
        }
        let is_new = self.numbered[word] & bit == 0;
        self.numbered[word] |= bit;
        is_new
    }
}
