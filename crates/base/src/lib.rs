//! The types common to all crates of hexgraph, and the formats of text that they read and write.
//!
//! - [`types`]: values, their types and conversions, errors and positions in texts.
//! - [`schema`]: predicates and types, and the language that declares them.
//! - [`plan`]: queries as the executor takes them, whatever language they were written in.
//! - [`answer`]: the forms in which results are written.
//! - [`formats`]: the formats that data comes in, N-Quads and JSON, and compressed files.
//! - [`budget`]: accounting of the memory of all requests.
//! - [`text`] and [`geo`]: the tokens and cells that indexes make of texts and geometries.
//! - [`compat`]: notations of Go that Dgraph and its clients use.
//!
//! Nothing here knows how data is stored, or a query language: the crates that do depend on this
//! one.

pub mod compat;
pub mod types;
pub mod budget;
pub mod text;
pub mod geo;
pub mod schema;
pub mod formats;
pub mod answer;
pub mod plan;
