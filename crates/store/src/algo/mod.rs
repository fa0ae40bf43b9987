//! Algorithms on graphs: a compact graph is built from the edges of some predicates, and a kernel
//! computes on it.
//!
//! The path of a call: [`requested::Requested`] selects the edges and nodes; [`cache::GraphCache`]
//! has their compact graph, or `compact::make` builds it; `table` looks up the kernel of the
//! algorithm, which returns an [`Outcome`].
//!
//! Kernels are sequences of steps over fixed blocks of nodes, which run in parallel (`task`). The
//! computation of a block depends on nothing that another block writes in the same step, and sums
//! are added up in the order of the blocks. So the result has the same bits with any number of
//! threads.

mod task;
mod compact;
mod requested;
mod cache;
mod estimate;
mod call_graph;
mod run;
mod random;
mod bits;
mod lowered;
mod importance;
mod components;
mod communities;
mod distances;
mod similarity;
mod embedding;
mod triangles;
mod table;

pub use cache::{GraphCache, Lookup};
pub use call_graph::CallGraph;
pub use compact::arrays::EdgeArrays;
pub use compact::graph::Graph;
pub use compact::rows::Rows;
pub use estimate::{Estimate, estimate};
pub use requested::{EdgeSelection, Requested};
pub use run::{Outcome, Output, Paths, Report, Run, Vectors};
pub use table::{compute, has_kernel};
pub use task::{Alone, Cut, Task, Work};

#[cfg(test)]
mod tests;
