//! From text to tree.

pub(super) mod lexer;
pub(super) mod document;
pub(super) mod parser;
pub(super) mod literals;
