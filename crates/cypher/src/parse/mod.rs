//! From a text to its tree.

mod refusals;
mod diagnose;
mod parser;

pub use parser::{Parsed, parse};
