//! Parts of a graph.

pub(super) mod numbered;
pub(super) mod weak;
pub(super) mod strong;
pub(super) mod cuts;
pub(super) mod topological_order;
pub(super) mod spanning_forest;
