//! The grammar of GraphQL texts. A text is checked by our own grammar, which reports its first
//! fault in Dgraph's words, and then parsed into the tree of apollo-compiler.

mod position;
mod error;
mod lexer;
mod recognizer;
mod schema_grammar;
mod query_grammar;
mod parse;

pub use error::{GraphqlError, PathStep};
pub(crate) use lexer::{LexemeKind, Tokens};
pub(crate) use parse::parse_query;
pub use parse::parse_schema;
pub use position::{Position, Positions};
