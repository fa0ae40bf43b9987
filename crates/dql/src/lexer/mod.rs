//! From letters to words: what a letter means depends on the brackets that are open around it.

mod cursor;
mod scope;
mod modes;
mod names;
mod directives;
mod math;
mod rdf;

pub use cursor::Cursor;
pub use modes::Lexer;
