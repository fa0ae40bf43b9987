//! Values and functions of expressions: what a row of a Cypher query holds, and what the operators
//! and functions of openCypher 9 do to it. Nothing here knows a syntax tree or a graph; the
//! executor passes values in and gets values.
//!
//! ```
//! use hexgraph_scalar::{Value, equals};
//!
//! let one = Value::Int(1);
//! assert_eq!(equals(&one, &Value::Float(1.0)), Some(true));
//! assert_eq!(equals(&one, &Value::Null), None);
//! assert_eq!(Value::list(vec![one, Value::from("a")])?.to_string(), "[1, 'a']");
//! # Ok::<(), Box<hexgraph_scalar::ScalarError>>(())
//! ```

mod error;
mod values;
mod compare;
mod context;
mod temporal;
mod operators;
mod functions;
mod aggregates;

pub use aggregates::{AGGREGATES, Accumulator, Aggregate, aggregate};
pub use compare::{Comparison, compare, equals, order_prefix};
pub use context::{Context, Reserve};
pub use error::{Fault, Result, ScalarError};
pub use functions::{Call, Evaluation, FUNCTIONS, Function, function};
pub use operators::{
    Arithmetic, TextTest, and, arithmetic, contains, matches, negate, or, property, slice,
    subscript, text_test, truth, xor,
};
pub use temporal::{instant_component, instant_value};
pub use values::{
    Duration, Kind, List, Map, NESTING_MAX, OffsetTime, Path, Point, Relationship, Srid, Value,
};
#[cfg(test)]
mod tests;
