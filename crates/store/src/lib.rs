//! The store and the executor: columns and sets of nodes, indexes over them, the graph as versions of them, their
//! durability, and plans carried out on a version.
//!
//! One crate, so that the executor's inner loops are compiled together with the columns that they read.

pub mod storage;
pub mod index;
pub mod graph;
pub mod durability;
pub mod algo;
pub mod exec;
