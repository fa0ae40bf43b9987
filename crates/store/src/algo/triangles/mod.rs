//! Triangles, and how many of the pairs of a node's neighbours are neighbours themselves.

pub(super) mod clustering;
pub(super) mod counts;
pub(super) mod truss_numbers;
pub(super) mod directed;
