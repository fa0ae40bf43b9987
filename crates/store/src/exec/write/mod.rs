//! From the finished tree to the answer.

pub(super) mod extent;
pub(super) mod keys;
pub(super) mod output;
pub(super) mod rdf;
pub(super) mod normalize;
