//! Graphs that are drawn by rules, of any size: the same for the same numbers on every machine.
//!
//! Each edge is computed from its place alone, so the tables are made batch by batch while they are loaded.

mod draws;
mod batches;
mod kinds;
mod load;

pub use load::Generated;
