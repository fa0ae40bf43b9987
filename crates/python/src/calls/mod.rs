//! Calls that a database and a transaction have alike.

pub(super) mod deleting;
pub(super) mod cypher;
