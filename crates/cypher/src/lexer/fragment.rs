//! What the first pass makes of a text.

use crate::span::Span;
use crate::syntax::token::Sign;

/// A fragment of the text, before its meaning is decided.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fragment {
    /// A word; its text is the slice.
    Word,
    /// A name in backticks.
    Quoted(Box<str>),
    Integer(u64),
    Float(f64),
    String(Box<str>),
    Parameter(Box<str>),
    Sign(Sign),
}

/// A fragment and where it is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Located {
    pub kind: Fragment,
    pub span: Span,
}
