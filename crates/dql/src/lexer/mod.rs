//! From letters to words: what a letter means depends on the brackets that are open around it.

mod cursor;
mod scope;
mod modes;
mod names;
mod directives;
mod math;
mod rdf;

pub(crate) use cursor::Cursor;
pub(crate) use modes::Lexer;
