//! Regular expressions, and the trigrams that a text must have to match one.

mod pattern_error;
#[cfg(feature = "text")]
mod regex_query;
#[cfg(not(feature = "text"))]
#[path = "regex_missing.rs"]
mod regex_query;
mod trigram;

pub use pattern_error::PatternError;
pub use regex_query::{Regex, compile, compile_plain, trigram_query, unicode_trigram_query};
pub use trigram::{TrigramQuery, trigrams};
