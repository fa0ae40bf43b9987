//! From tokens of values to the nodes that have them.

mod interner;
mod build;
mod geo;
mod token_index;
mod vectors;

pub use build::{IndexKind, build_index, index_kinds, ngram_query, tokens_of};
pub use geo::check_geometry;
pub use token_index::{TokenIndex, TokenKey};
pub use vectors::{Links, Near, NearGraph, Query, VectorIndex, as_vector, measure, vector_options};
