//! Reads entire columns a batch of nodes at a time, with what changed since they were built.
//!
//! The nodes of a batch ascend, and so do the batches. Their rows are mostly one range of the
//! column, which is then read as a slice, in loops that the compiler turns into vector
//! instructions. The changes are read from the version once, as an ascending list, and merged into
//! the batches.

mod rows;
mod overlay;
mod edges;

pub(crate) use crate::exec::cost::BATCH;
pub(crate) use edges::EdgeCounts;
pub use edges::EdgeTargets;
pub(crate) use overlay::Overlay;
pub(crate) use rows::{Members, RowFinder, Rows, rows_between};
