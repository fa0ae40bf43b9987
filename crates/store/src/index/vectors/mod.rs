//! The index of vectors: a hierarchical navigable small world (HNSW) graph, searched from neighbour
//! to neighbour.

mod points;
mod links;
mod search;
mod builder;
mod regrow;
mod tune;
mod column_vectors;
mod vector_index;

#[cfg(test)]
mod tests;

pub use column_vectors::as_vector;
pub use links::Links;
pub(crate) use links::NearGraph;
pub use points::{Query, measure};
pub use vector_index::VectorThresholds;
pub(crate) use vector_index::{VectorIndex, vector_options};
