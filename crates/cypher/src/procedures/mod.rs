//! Procedures that `CALL` runs: the graph algorithms of one table, which has their options and
//! columns too, and lists of names.

mod catalog;
mod options;
mod request;
mod rows;
mod signature;

pub use catalog::NameList;
pub use options::NodeGroups;
pub(crate) use options::{OptionFault, OptionKind, literal, names_of};
pub use request::AlgorithmRequest;
pub use rows::{AlgorithmColumn, AlgorithmRows};
pub(crate) use signature::{NamedProcedure, Procedure, named};
