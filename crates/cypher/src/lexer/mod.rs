//! From a text to tokens, in three passes over it: fragments, pairs of brackets, and what each word
//! and bracket means where it is. Each is O(text).

mod fragment;
mod letters;
mod literals;
mod scan;
mod brackets;
mod patterns;
mod state;
mod words;
mod classify;

pub(crate) use classify::tokens;
pub(crate) use state::Spanned;
