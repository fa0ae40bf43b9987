//! GraphQL text: places in it, and the first fault of its grammar in the reference's words.

mod place;
mod fault;
mod lexer;
mod recognizer;
mod schema_grammar;
mod query_grammar;
mod parse;

pub use fault::{Fault, PathStep};
pub(crate) use lexer::{Kind, Tokens};
pub(crate) use parse::parse_query;
pub use parse::parse_schema;
pub use place::{Place, Places};
