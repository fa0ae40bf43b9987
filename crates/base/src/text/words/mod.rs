//! From a text to its words, and from a word to the form by which it is found.

pub(super) mod segment;
pub(super) mod cjk;
pub(super) mod fold;
pub(super) mod language;
pub(super) mod stop_words;
pub(super) mod stem;
pub(super) mod distinct;
