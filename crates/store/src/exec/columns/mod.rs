//! Reads values of columns: of one node, of a list of nodes, and batch by batch, with the changes
//! since a column was built.

pub(super) mod read;
pub(super) mod rank;
pub(super) mod batches;
pub(super) mod numbers;
pub(super) mod number_columns;
