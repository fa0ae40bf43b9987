//! Procedures that `CALL` runs: the graph algorithms of one table, which has their options and
//! columns too.

mod options;
mod request;
mod rows;
mod signature;

pub(crate) use options::{OptionFault, OptionKind, literal};
pub(crate) use request::names_of;
pub use request::{AlgorithmRequest, NodeGroups};
pub use rows::{AlgorithmColumn, AlgorithmRows};
pub(crate) use signature::{Signature, named};
