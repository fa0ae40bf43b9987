//! The memory that all work in a process may take together: who has drawn how much of it.

mod machine;
mod pool;

pub use pool::{Budget, Held, Share};
