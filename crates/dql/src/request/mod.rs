//! Complete requests: the parser with its messages, and what a caller holds of a text: queries,
//! mutations and upserts.

mod absent_functions;
pub(crate) mod diagnose;
pub(crate) mod kind;
pub(crate) mod document;
pub(crate) mod parse;
pub(crate) mod mutation;
pub(crate) mod passwords;
