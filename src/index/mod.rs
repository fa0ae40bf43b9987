//! From tokens of values to the nodes that have them.

mod interner;
mod build;
mod geo;
mod token_index;

pub use build::{IndexKind, build_index, index_kinds, ngram_query, tokens_of};
pub use geo::check_geometry;
pub use token_index::{TokenIndex, TokenKey};
