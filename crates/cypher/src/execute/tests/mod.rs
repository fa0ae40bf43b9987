//! Tests of the executor over graphs in memory.

mod memory_graph;
