//! Indexes: from the tokens of values to the nodes that have them.

mod interner;
mod source;
mod build_index;
mod geo;
mod long_lists;
mod token_index;
mod vectors;

pub(crate) use build_index::{IndexKind, build_index, index_kinds, ngram_query, tokens_of};
pub use geo::GeoIndexError;
pub(crate) use geo::check_geometry;
pub(crate) use token_index::{TokenIndex, TokenKey};
pub use vectors::{Links, Query, VectorThresholds, as_vector, measure};
pub(crate) use vectors::{NearGraph, VectorIndex, vector_options};
