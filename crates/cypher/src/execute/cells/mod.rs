//! Scans by columns: conditions and projections of one node are evaluated over batches of cells,
//! values without memory of their own, on all threads.
//!
//! An expression is compiled to operators over cells. What cells do not decide, like an error, an
//! ambiguous property or a kind that has no cell, is left to the evaluation of rows: it gives the
//! same values, and the errors.

mod cell;
mod set;
mod compile;
mod evaluate;
mod batch;
mod scan;
mod top;
mod groups;

pub(super) use batch::{CellExpression, Conditions};
pub use cell::Cell;
pub(super) use groups::CellGroups;
pub(super) use scan::{Rest, leading_filters};
