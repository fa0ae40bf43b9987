//! Accounting of memory: requests reserve bytes from a common budget before they allocate.

mod json_weight;
mod machine;
mod pool;

pub use json_weight::json_weight;
pub use machine::anonymous_memory;
pub use pool::{Budget, Held, Reservation};
