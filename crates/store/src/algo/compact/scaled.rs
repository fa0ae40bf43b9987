//! Weights near the limits of floats: their sums, quotients and squares may overflow.
//!
//! An algorithm that depends only on relative weights may divide them by any number. It does so
//! only if necessary: others retain their bits.

use super::rows::{RowChunk, Rows};
use crate::algo::task::Task;
use hexgraph_base::types::Result;
use std::ops::RangeInclusive;

/// Sums of weights whose fractions are exact, whatever is divided.
const ORDINARY_SUMS: RangeInclusive<f64> = 1e-290..=1e290;

/// The greatest weights of graphs whose squares can be added up.
const ORDINARY_WEIGHTS: RangeInclusive<f64> = 1e-140..=1e140;

impl Rows {
    /// What a node's weights are to be divided by before they are added up, and their sum then:
    /// they are left as they are where they can be.
    #[inline]
    pub(in crate::algo) fn unit_and_sum(&self, node: u32) -> (f64, f64) {
        let sum = self.weight_of(node);
        if sum == 0.0 || ORDINARY_SUMS.contains(&sum) {
            return (1.0, sum);
        }
        self.unit_and_sum_by_greatest(node)
    }

    #[cold]
    fn unit_and_sum_by_greatest(&self, node: u32) -> (f64, f64) {
        let greatest = self.weighted(node).map(|(_, weight)| weight).fold(0.0, f64::max);
        (greatest, self.weighted(node).map(|(_, weight)| weight / greatest).sum())
    }

    /// The same edges whose weights are divided by the greatest of all; `None` where they can be
    /// added up and squared as they are.
    ///
    /// # Errors
    ///
    /// `Limit` when there is no memory for them, or the computation has to stop.
    pub(in crate::algo) fn scaled(&self, task: &Task<'_>) -> Result<Option<Rows>> {
        match self.weight_range().map(|range| range.most) {
            Some(most) if most != 0.0 && !ORDINARY_WEIGHTS.contains(&most) => {
                self.divided(task, |_| most).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The same edges with weights divided by `unit` of their targets.
    ///
    /// # Errors
    ///
    /// `Limit` without enough memory, or if the computation is cancelled.
    pub(in crate::algo) fn divided(
        &self,
        task: &Task<'_>,
        unit: impl Fn(u32) -> f64 + Sync,
    ) -> Result<Rows> {
        let _capacity = task.capacity(self.edges(), 2 * (size_of::<u32>() + size_of::<f64>()))?;
        let chunks = task.blocks(self.blocks().len(), |number| {
            let mut chunk = RowChunk::default();
            for node in self.block(number) {
                chunk.lens.push(self.degree(node));
                chunk.targets.extend(self.of(node));
                chunk.weights.extend(self.weighted(node).map(|(to, weight)| weight / unit(to)));
            }
            Ok(chunk)
        })?;
        Rows::join(task, chunks, true)
    }
}
