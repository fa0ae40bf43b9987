//! Importance of nodes.

pub(super) mod betweenness;
pub(super) mod degree;
pub(super) mod harmonic;
pub(super) mod hits;
pub(super) mod pagerank;
pub(super) mod eigenvector;
pub(super) mod katz;
pub(super) mod personal;
pub(super) mod push;
