//! Importance of nodes.

pub(super) mod pagerank;
