//! The nodes that a walk, or a reader of lists, has visited.

use crate::execute::run::rows::Reservation;
use hexgraph_base::types::Result;
use std::mem;

/// A bit for each node that was visited, by its number. To clear it costs as much as the visits.
#[derive(Default)]
pub(in crate::execute) struct VisitedNodes {
    words: Vec<u64>,
    nodes: Vec<u32>,
}

impl VisitedNodes {
    /// Adds a node; false where it was visited.
    #[inline]
    pub(in crate::execute) fn insert(&mut self, node: u32) -> bool {
        let (at, bit) = (node as usize / 64, 1_u64 << (node % 64));
        if self.words.len() <= at {
            self.words.resize(at + 1, 0);
        }
        let is_new = self.words[at] & bit == 0;
        if is_new {
            self.words[at] |= bit;
            self.nodes.push(node);
        }
        is_new
    }

    /// The nodes in the order of their visits.
    pub(in crate::execute) fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// Adds nodes.
    pub(in crate::execute) fn extend(&mut self, nodes: &[u32]) {
        for node in nodes {
            self.insert(*node);
        }
    }

    /// The nodes in ascending order.
    pub(in crate::execute) fn into_sorted(mut self) -> Vec<u32> {
        self.nodes.sort_unstable();
        self.nodes
    }

    /// Removes all nodes, and retains the memory.
    pub(in crate::execute::run) fn clear(&mut self) {
        for node in self.nodes.drain(..) {
            self.words[node as usize / 64] = 0;
        }
    }

    /// Reserves the memory that it has above so many bytes, and returns how many it has.
    pub(in crate::execute::run) fn reserve(
        &self,
        before: usize,
        reserved: &mut Reservation<'_>,
    ) -> Result<usize> {
        // The walk has a copy of those of a length.
        let bytes = mem::size_of_val(&self.words[..]) + 2 * mem::size_of_val(&self.nodes[..]);
        reserved.grow(bytes.saturating_sub(before))?;
        Ok(bytes.max(before))
    }
}
