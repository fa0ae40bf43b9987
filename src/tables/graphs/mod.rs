//! Graphs as files have them: nodes and edges at once, with types of their own.

pub(super) mod counted;
pub(super) mod graphml;
pub(super) mod batches;
pub(super) mod load;
