//! Warnings: valid queries that were likely meant otherwise.
//!
//! Names that the schema does not have and what is ignored are read off the plan and the schema
//! when somebody requests warnings; what depends on the data is noted while the query is executed.

mod warning;
mod functions;
mod unknown;
mod ignored;
mod doubts;

pub(super) use doubts::doubtful;
pub(in crate::db) use doubts::not_converged;
pub(super) use ignored::ignored;
pub(super) use unknown::unknown_names;
pub use warning::{Warning, WarningKind};
