//! Filters, orders and pages sets of nodes.

pub(super) mod read;
pub(super) mod numbers;
pub(super) mod filter;
pub(super) mod reach;
pub(super) mod order;
pub(super) mod page;
pub(super) mod facets;
