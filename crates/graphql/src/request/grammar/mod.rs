//! From text to tree.

pub(super) mod tokens;
pub(super) mod document;
pub(super) mod parser;
pub(super) mod literals;
