//! The first few of many nodes in the order of one number: one pass over the numbers, without a
//! copy of them.

mod first;
mod ranks;
mod scan;

pub(in crate::exec) use scan::Scan;
pub(super) use scan::{by_column_var, by_variable};
