//! The tree that a text is read to, the tokens that it is made of, and its canonical text.

pub(crate) mod token;
pub mod ast;
pub(crate) mod build;
