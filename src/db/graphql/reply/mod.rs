//! What was found as the answer that the schema's types allow.

pub(super) mod leaf;
pub(super) mod geometry;
pub(super) mod numbers;
pub(super) mod found;
pub(super) mod nulls;
pub(super) mod answer;
pub(super) mod coerced;
pub(super) mod complete;
pub(super) mod span;
