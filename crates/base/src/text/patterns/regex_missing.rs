//! Represents regular expressions in a build without the feature `text`.

use super::pattern_error::PatternError;
use super::trigram::TrigramQuery;
use crate::types::Feature;
use std::convert::Infallible;

/// A compiled regular expression, which this build lacks.
#[derive(Debug, Clone)]
pub struct Regex(Infallible);

impl Regex {
    /// Would say whether a text matches.
    pub fn is_match(&self, _: &str) -> bool {
        match self.0 {}
    }
}

/// Refuses a pattern.
///
/// # Errors
///
/// [`PatternError::Missing`], always.
pub fn compile(_: &str, _: &str) -> Result<Regex, PatternError> {
    Err(missing())
}

/// Refuses a pattern.
///
/// # Errors
///
/// [`PatternError::Missing`], always.
pub fn compile_plain(_: &str) -> Result<Regex, PatternError> {
    Err(missing())
}

/// Refuses a pattern.
///
/// # Errors
///
/// [`PatternError::Missing`], always.
pub fn trigram_query(_: &str, _: &str) -> Result<TrigramQuery, PatternError> {
    Err(missing())
}

/// Has no trigrams of a pattern.
pub fn unicode_trigram_query(_: &str) -> Option<TrigramQuery> {
    None
}

fn missing() -> PatternError {
    Feature::Text.missing("a regular expression").into()
}
