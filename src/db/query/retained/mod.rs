//! Answers that are retained without the version that they were read from.

pub(in crate::db) mod algorithm_table;
pub(in crate::db) mod copied;
pub(super) mod copy_out;
