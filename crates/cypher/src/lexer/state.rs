//! Where the third pass is.

use super::patterns::Patterns;
use crate::syntax::token::Token;

/// A token between its offsets.
pub(crate) type Spanned = (usize, Token, usize);

/// What the brackets around a fragment are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    /// Round or square brackets of any other kind.
    Brackets,
    /// The brackets of a relationship.
    Relationship,
    /// The names after `CALL`.
    Imports,
    /// The braces of a map, a map projection or a quantifier.
    Map,
    /// The braces of a subquery.
    Subquery,
    /// From `CASE` to `END`.
    Case,
}

/// The position in the text, and what was read before it.
pub(super) struct State<'a> {
    pub(super) patterns: Patterns<'a>,
    /// The index of the next fragment.
    pub(super) index: usize,
    pub(super) result: Vec<Spanned>,
    pub(super) contexts: Vec<Context>,
    /// Whether the last token completes an operand.
    pub(super) is_operand: bool,
}

impl State<'_> {
    /// The last token.
    pub(super) fn last(&self) -> Option<&Token> {
        self.result.last().map(|(_, token, _)| token)
    }
}
