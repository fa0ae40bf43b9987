//! How values are compared: `=` and `<` of Cypher, which may be null, and equivalence and order of
//! rows, which are total.

mod numbers;
mod operators;
mod prefix;
mod rows;

pub(crate) use numbers::order_floats;
pub use operators::{Comparison, compare, equals};
pub use prefix::order_prefix;
