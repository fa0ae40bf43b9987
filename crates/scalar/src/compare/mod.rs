//! How values are compared: `=` and `<` of Cypher, which may be null, and equivalence and order of
//! rows, which are total.

mod numbers;
mod operators;
mod rows;

pub use operators::{Comparison, compare, equals};
