//! Rows of node tables that repeat the id of an earlier row.
//!
//! A bit for each number of the load, and a set of the stored nodes that are named. Rows are
//! checked in the order of the tables, so that the first duplicate does not depend on threads.
//! O(rows).

use super::batch::EXTERNAL;
use hexgraph_base::budget::{Budget, Reservation};
use hexgraph_base::types::Result;
use roaring::RoaringBitmap;

/// The number of rows whose id an earlier one has, and the first of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Duplicates {
    /// The number of rows.
    pub rows: u64,
    /// The first of them: its table with its row, from 1, and its id.
    pub first: Option<(String, String)>,
}

/// The bytes of a node in a bitmap, at most, with what its containers have to spare.
const STORED_BYTES: u64 = 4;

/// The nodes of the rows so far.
pub(super) struct RowNodes {
    /// The bits of the numbers from [`EXTERNAL`] on.
    numbered: Vec<u64>,
    stored: RoaringBitmap,
    /// The memory of both.
    reserved: Reservation,
    pub(super) duplicates: u64,
    /// The first row whose node another row has, counted through all tables, and the node.
    pub(super) first: Option<(u64, u32)>,
}

impl RowNodes {
    /// No rows yet. Memory is reserved in `budget`.
    pub(super) fn new(budget: &Budget) -> RowNodes {
        RowNodes {
            numbered: Vec::new(),
            stored: RoaringBitmap::new(),
            reserved: budget.reservation(),
            duplicates: 0,
            first: None,
        }
    }

    /// Adds the nodes of rows, 0 for a row without one.
    ///
    /// # Errors
    ///
    /// [`hexgraph_base::types::Error::Limit`] when there is no memory for them.
    pub(super) fn add(&mut self, first_row: u64, nodes: &[u32]) -> Result<()> {
        self.reserve(nodes)?;
        for (row, &node) in (first_row..).zip(nodes).filter(|(_, node)| **node != 0) {
            if self.insert(node) {
                continue;
            }
            self.duplicates += 1;
            self.first.get_or_insert((row, node));
        }
        Ok(())
    }

    /// Reserves memory for nodes.
    fn reserve(&mut self, nodes: &[u32]) -> Result<()> {
        let numbers = || nodes.iter().filter_map(|&node| number_of(node));
        let stored = nodes.len() - numbers().count();
        self.reserved.reserve(stored as u64 * STORED_BYTES)?;
        let words = numbers().max().map_or(0, |number| (number / 64) as usize + 1);
        let before = self.numbered.len();
        if before < words {
            let len = words.max(2 * before);
            self.reserved.reserve(len as u64 * 8)?;
            self.numbered.reserve_exact(len - before);
            self.numbered.resize(len, 0);
            self.reserved.give_back(before as u64 * 8);
        }
        // A node that comes again costs nothing.
        let limit = self.stored.len() * STORED_BYTES + self.numbered.len() as u64 * 8;
        let spare = self.reserved.used().saturating_sub(limit + stored as u64 * STORED_BYTES);
        self.reserved.give_back(spare);
        Ok(())
    }

    /// Adds a node. False where it is there.
    fn insert(&mut self, node: u32) -> bool {
        let Some(number) = number_of(node) else { return self.stored.insert(node) };
        let (word, bit) = ((number / 64) as usize, 1 << (number % 64));
        let is_new = self.numbered[word] & bit == 0;
        self.numbered[word] |= bit;
        is_new
    }
}

/// The number that the load has given a node; `None` for one that is stored.
fn number_of(node: u32) -> Option<u32> {
    node.checked_sub(EXTERNAL)
}
