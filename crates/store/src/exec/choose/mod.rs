//! Selects nodes by their values and edges: from an index, or by a test of each node.

pub(super) mod needed_index;
pub(super) mod compare;
mod asked_set;
mod column_rows;
pub(super) mod column_test;
mod passing_bits;
pub(super) mod tester;
pub(super) mod function;
pub(super) mod text_function;
pub(super) mod geo_function;
pub(super) mod similar;
pub(super) mod root;
mod trigrams;
pub(super) mod look_up;
