//! The query language DQL. A lexer and a grammar turn a text into a syntax tree; lowering resolves its names, checks the
//! rules of the language and produces a plan. No step reads data.

mod source;
mod unquote;
mod token;
mod given;
mod ast;
mod lexer;
mod parse;
mod diagnose;
mod lower;
mod upsert;
mod document;
mod mutation;
mod passwords;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod language_tests;

pub use document::Document;
pub use given::Given;
pub use mutation::{Mutation, MutationRequest, parse_mutation};
pub use parse::{parse, parse_condition};
pub use passwords::{BLANKED, without_passwords};
pub use upsert::Condition;
