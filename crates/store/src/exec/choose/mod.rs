//! Nodes by what they have: from an index, or by a test of each.

pub(super) mod needed_index;
pub(super) mod compare;
pub(super) mod tester;
pub(super) mod function;
pub(super) mod geo_function;
pub(super) mod similar;
pub(super) mod root;
