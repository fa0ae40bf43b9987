//! Which nodes: filters of the caller, and rules of the schema.

pub(super) mod filter_value;
pub(super) mod geo;
pub(super) mod filter;
pub(super) mod rules;
pub(super) mod permit;
