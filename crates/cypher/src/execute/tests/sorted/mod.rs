//! What is sorted: relationships of a node for conditions that are ranges, and rows.

mod ranges;
mod rows;

use super::context;
use super::memory_graph::MemoryGraph;
