//! Parses requests: tokens, the tree of a document, and the values in it.

pub(super) mod tokens;
pub(super) mod document;
pub(super) mod parser;
pub(super) mod literals;
