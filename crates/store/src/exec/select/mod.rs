//! Filters, orders and pages sets of nodes.

pub(super) mod filter;
pub(super) mod targets;
pub(super) mod semi_join;
pub(super) mod top;
pub(super) mod column_numbers;
pub(super) mod by_index;
mod ranked_rows;
pub(super) mod order;
pub(super) mod passing;
pub(super) mod page;
pub(super) mod facets;
