//! The store and the executor. `storage` has columns and sets of nodes; `graph` has the graph as a
//! sequence of immutable versions made of them, with indexes. `durability` has the log and the
//! snapshots on the disk; `exec` executes plans on a version, `planner` says how
//! it would, and `algo` has the graph algorithms.
//! Readers never block: a commit publishes the next version and leaves theirs intact.
//!
//! It is one crate so that the executor's inner loops are compiled together with the columns that
//! they read.

pub mod storage;
pub mod index;
pub mod graph;
pub mod durability;
pub mod algo;
pub mod exec;
pub mod planner;
