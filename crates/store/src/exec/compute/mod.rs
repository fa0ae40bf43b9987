//! Computes values from other values: aggregates, groups, math, variables.

pub(super) mod variables;
pub(super) mod sums;
pub(super) mod totals;
pub(super) mod aggregate;
pub(super) mod math_columns;
pub(in crate::exec) mod math_program;
pub(super) mod math;
pub(super) mod partition;
pub(super) mod edge_groups;
pub(super) mod group_results;
pub(super) mod key_codes;
pub(super) mod column_groups;
pub(super) mod group_by;
