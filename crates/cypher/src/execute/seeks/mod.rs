//! Conditions that name the candidates of a node: its uids, or values that an index of a property
//! may have; and which of them a row chooses.

mod index_test;
mod uid_seek;
mod index_seek;
mod cheapest;

pub(super) use cheapest::Candidacy;
pub(super) use index_seek::{add_seek, index_seeks_of, property_read};
pub use index_test::{IndexAccess, IndexEstimate, IndexTest};
pub(super) use uid_seek::seeks_of;
