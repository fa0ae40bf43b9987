//! Computes values from other values: `math`, aggregates, and the variables that they set.

pub(super) mod variables;
pub(super) mod float_sums;
pub(super) mod sums;
pub(super) mod totals;
pub(in crate::exec) mod holistic;
mod node_numbers;
pub(super) mod aggregate;
pub(super) mod doubts;
pub(super) mod math_columns;
pub(in crate::exec) mod math_program;
mod column_vars;
pub(super) mod evaluate;
