//! From a text to its words, and from a word to the form in the index.

pub(super) mod segment;
pub(super) mod cjk;
pub(super) mod case_fold;
pub(super) mod language;
pub(super) mod stop_words;
pub(super) mod stem;
pub(super) mod distinct;
