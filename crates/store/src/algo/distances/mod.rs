//! Distances from some nodes to all others.

pub(super) mod bfs;
pub(super) mod weighted;
pub(super) mod among;
pub(super) mod diameter;
pub(super) mod k_shortest;
