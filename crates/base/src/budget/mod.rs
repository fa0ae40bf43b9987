//! Accounting of memory: requests reserve bytes from a common budget before they allocate.

mod machine;
mod pool;

pub use pool::{Budget, Held, Share};
