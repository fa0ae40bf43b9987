//! The lexer. DQL has several sublanguages (fields, arguments, filters, math, raw RDF), so which
//! token a character begins depends on the innermost open bracket.

mod cursor;
pub(crate) mod graphql_words;
pub(crate) mod operator_words;
mod other_languages;
mod scope;
mod modes;
mod words;
mod directives;
mod operators;
mod rdf;

pub(crate) use cursor::Cursor;
pub use directives::GROUPS_UNFILTERED;
pub(crate) use directives::directives;
pub(crate) use modes::Lexer;
pub(crate) use words::{field_functions, operations};
