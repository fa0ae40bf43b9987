//! Parts of a graph.

pub(super) mod numbered;
pub(super) mod weak;
pub(super) mod strong;
