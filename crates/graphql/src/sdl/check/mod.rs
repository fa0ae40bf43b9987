//! The checks of a schema, in the order in which they are made. Each stage returns all of its
//! faults.

pub(super) mod reserved_names;
pub(super) mod standard;
pub(super) mod subject;
pub(super) mod meaning;
pub(super) mod types;
pub(super) mod declared_fields;
pub(super) mod search;
pub(super) mod inverse;
pub(super) mod sharing;
pub(super) mod dgraph;
pub(super) mod federation;
