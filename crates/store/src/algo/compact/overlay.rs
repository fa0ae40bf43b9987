//! Rows that replace others: a graph is patched after a commit, and shares all unchanged rows with
//! the previous one.

use super::weights::WeightSlice;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Some rows, by their nodes.
#[derive(Default, Clone)]
pub(super) struct RowOverlay {
    /// A bit for each node: whether it has a row here. Most have none, and this filters them out.
    bits: Vec<u64>,
    rows: FxHashMap<u32, Range<usize>>,
    targets: Vec<u32>,
    /// In the order of the targets; empty if each edge weighs 1.
    weights: Vec<f64>,
}

impl RowOverlay {
    /// Where the row of a node lies.
    #[inline]
    pub(super) fn row(&self, node: u32) -> Option<Range<usize>> {
        let word = self.bits.get(node as usize / 64)?;
        if word >> (node % 64) & 1 == 0 {
            return None;
        }
        self.rows.get(&node).cloned()
    }

    #[inline]
    pub(super) fn targets(&self, range: Range<usize>) -> &[u32] {
        &self.targets[range]
    }

    #[inline]
    pub(super) fn weights(&self, range: Range<usize>) -> WeightSlice<'_> {
        if self.weights.is_empty() {
            WeightSlice::Ones
        } else {
            WeightSlice::Wide(&self.weights[range])
        }
    }

    /// The number of edges that it holds, those of rows that were replaced again included.
    pub(super) fn edges(&self) -> usize {
        self.targets.len()
    }

    /// Sets the row of a node.
    pub(super) fn set(&mut self, node: u32, row: &[(u32, f64)], is_weighted: bool) {
        let start = self.targets.len();
        self.targets.extend(row.iter().map(|(to, _)| *to));
        if is_weighted {
            self.weights.extend(row.iter().map(|(_, weight)| *weight));
        }
        let word = node as usize / 64;
        if self.bits.len() <= word {
            self.bits.resize(word + 1, 0);
        }
        self.bits[word] |= 1 << (node % 64);
        self.rows.insert(node, start..self.targets.len());
    }

    /// The bytes that it takes, about.
    pub(super) fn byte_len(&self) -> usize {
        size_of_val(self.bits.as_slice())
            + self.rows.len() * (size_of::<u32>() + size_of::<Range<usize>>())
            + size_of_val(self.targets.as_slice())
            + size_of_val(self.weights.as_slice())
    }
}
