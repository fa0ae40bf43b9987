//! The schema: what it says of predicates and types, its text, and which changes it allows.

mod definition;
mod tokenizer;
mod lexer;
mod text;
mod change;
mod print;

pub use change::Change;
pub use definition::{PredicateDef, Schema, TypeDef, is_reserved};
pub use text::{SchemaText, parse_schema};
pub use tokenizer::{HnswOptions, Metric, Tokenizer};
