//! Scans by columns: conditions and projections of one node are evaluated over chunks of nodes, on
//! all threads.
//!
//! An expression is compiled to operators over vectors: values of one type are contiguous, and an
//! operator is chosen once for all of a chunk. Values of several types are cells, values without
//! memory of their own. What cells do not decide, like an error, an ambiguous property or a kind
//! that has no cell, is left to the evaluation of rows: it gives the same values, and the errors.

mod vectors;
mod node_test;
mod compile;
mod batch;
mod chunk;
mod evaluate;
mod scan;
mod columns;
mod joined;
mod top;
mod groups;

pub(super) use batch::{CellExpression, Conditions};
pub(super) use columns::answer_row;
pub(super) use groups::CellGroups;
pub(super) use scan::{Rest, leading_filters};
pub use vectors::bits::{Bits, Truths};
pub use vectors::cell::Cell;
pub use vectors::vector::{TypedCells, Vector};
use vectors::{arithmetic, bits, cell, compare, set, vector};
