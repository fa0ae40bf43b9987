//! Aggregates, in one table, and their accumulators, which can be merged.

mod sums;
mod moments;
mod percentiles;
mod accumulator;
mod table;

pub use accumulator::{Accumulator, Aggregate};
pub use table::{AGGREGATES, aggregate};
