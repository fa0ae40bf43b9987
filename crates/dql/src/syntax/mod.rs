//! The syntax of DQL: positions in a text, tokens, the syntax tree, and the grammar that builds it
//! (`grammar.lalrpop`).

pub(crate) mod source;
pub(crate) mod token;
pub(crate) mod keyword_kind;
pub(crate) mod ast;
