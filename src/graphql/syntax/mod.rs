//! GraphQL text: places in it, and the first fault of its grammar in the reference's words.

mod place;
mod lexer;
mod recognizer;
mod schema_grammar;
mod query_grammar;

pub use place::{Fault, Place, Places};
pub use query_grammar::check_query;
pub use schema_grammar::check_schema;
