//! Groups nodes by the values of keys or by where edges lead, and aggregates over each group.

pub(super) mod partition;
pub(super) mod edge_groups;
pub(super) mod group_results;
pub(super) mod key_codes;
mod group_columns;
pub(in crate::exec) mod path_counts;
mod accumulators;
pub(super) mod column_groups;
mod dense;
mod dense_groups;
mod float_parts;
mod parts;
mod posting_groups;
pub(super) mod group_by;
