//! Mutations: their inputs are read, the nodes that they name are looked up by one query, and then
//! statements and links are made of them.

mod mutation_fault;
mod inputs;
mod outcome;
mod lookups;
mod names;
mod values;
mod writer;
mod update;
mod reading;

pub use lookups::LookupResult;
pub use mutation_fault::MutationFault;
pub(crate) use outcome::NewNode;
pub use outcome::{Back, Link, MATCHED, Outcome, Unlink};
pub use reading::Reading;
