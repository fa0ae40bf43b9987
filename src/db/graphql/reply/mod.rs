//! Writes the result as an answer that obeys the schema's types.

pub(super) mod leaf;
pub(super) mod geometry;
pub(super) mod numbers;
pub(super) mod remote_results;
pub(super) mod nulls;
pub(super) mod answer;
pub(super) mod coerced;
pub(super) mod complete;
pub(super) mod span;
