//! Algorithms on graphs: a compact graph is made of the edges of some predicates, and a kernel
//! computes on it.
//!
//! The life of a call: [`wanted::Requested`] says which edges of which nodes; [`cache::GraphCache`]
//! has the compact graph of them, or `compact::make` makes it; `table` finds the kernel of the
//! algorithm, which gives a [`Outcome`].
//!
//! Kernels are sequences of steps over fixed blocks of nodes, which threads share (`task`). What a
//! step computes of a block depends on nothing that another block writes in the same step, and sums
//! are added up in the order of the blocks. So a result is the same bits with any number of
//! threads.

mod task;
mod compact;
mod requested;
mod cache;
mod estimate;
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
