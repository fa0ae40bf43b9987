//! The schema: what it says of predicates and types, its text, and which changes it allows.

mod definition;
mod rights;
mod declared;
mod tokenizer;
mod language;
mod change;
mod overlay;
mod report;
mod encoding;
mod build;

pub use change::Change;
pub use declared::{Declared, Origin};
pub(crate) use declared::{DeclaredFields, Options};
pub(crate) use definition::has_letter_or_digit;
pub use definition::{PredicateDef, Schema, TypeDef, is_reserved};
pub use language::parser::{PREDICATE_DIRECTIVES, SchemaText, parse_schema, schema_weight};
pub use report::{SchemaItem, SchemaReport};
pub use rights::{Actor, NODE_TYPE, RightsError};
pub use tokenizer::{HnswOptions, Metric, Tokenizer};
