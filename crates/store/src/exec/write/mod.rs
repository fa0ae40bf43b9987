//! Writes the finished tree as an answer.

pub(super) mod extent;
pub(super) mod algorithm_rows;
pub(super) mod answer_keys;
pub(super) mod answer_shape;
pub(super) mod answer_writer;
mod groups;
mod flat_rows;
mod normalize;
mod objects;
mod fields;
pub(super) mod columns;
pub(super) mod output;
pub(super) mod pieces;
pub(super) mod rdf;
