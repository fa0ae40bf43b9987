//! Why a regular expression can't be used.

use crate::compat::go_regex_error::GoRegexError;
use crate::types::MissingFeature;

/// Why a regular expression can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// Go refuses the pattern, or there is no such modifier.
    #[error(transparent)]
    Syntax(#[from] GoRegexError),
    /// The pattern takes more memory to match than is granted to one.
    #[error("wrong regular expression: it is too large")]
    TooLarge,
    /// The build lacks regular expressions.
    #[error(transparent)]
    Missing(#[from] MissingFeature),
}
