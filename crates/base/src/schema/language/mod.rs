//! The language of schema texts: reads them, and writes a schema as a text.

mod lexer;
pub(super) mod parser;
mod print;
