//! Regular expressions, and the trigrams that a text must have to match one.

pub(super) mod pattern_error;
pub(super) mod trigram;
pub(super) mod go_regex;
pub(super) mod regex_query;
