//! Tests of the executor over graphs in memory.

mod memory_graph;
mod encoding;
mod scenarios;
mod constructs;
mod limits;
mod twin;
mod cycles;
mod cells;
mod joins;
mod forms;
mod plans;
mod index_seeks;
mod algorithms;
mod sorted;

use hexgraph_scalar::Context;
use jiff::{Timestamp, tz::TimeZone};

/// The context of a query that began in November 2023.
fn context() -> Context {
    let now = Timestamp::from_second(1_700_000_000).unwrap().to_zoned(TimeZone::UTC);
    Context::new(now, 1)
}
