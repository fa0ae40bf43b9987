//! The first few of many nodes in the order of one number: one pass over the numbers, without a copy of them.

mod first;
mod ranks;
mod scan;

pub(super) use scan::{Scan, by_column_var, by_variable};
