//! Groups of nodes that have more edges among each other than to the rest.

pub(super) mod core_numbers;
mod grouped;
pub(super) mod label_propagation;
pub(super) mod leiden;
pub(super) mod louvain;
pub(super) mod modularity;
mod moves;
pub(super) mod network;
mod refine;
mod sums;
