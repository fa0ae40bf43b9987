//! The inputs of mutations → what has to be looked up, and then what is to be written.

mod fault;
mod inputs;
mod outcome;
mod lookups;
mod names;
mod values;
mod writer;
mod update;
mod read;

pub use fault::MutationFault;
pub use lookups::Found;
pub(crate) use outcome::NewNode;
pub use outcome::{Back, Link, MATCHED, Outcome, Unlink};
pub use read::Reading;

#[cfg(test)]
mod conformance;
