//! Errors of a query while it runs, with their positions.

use crate::error::shortened;
use crate::span::Span;
use hexgraph_base::types::{Error, Position};
use hexgraph_scalar::ScalarError;

/// An error of the query at a position of its text.
pub(super) fn failure(text: &str, span: Span, message: impl Into<String>, hint: &str) -> Error {
    let at = Some(Position::of(text, span.start as usize));
    Error::Query { message: shortened(message.into()), at, hint: shortened(hint.to_owned()) }
}

/// An error of an operator or function, at the position of its expression.
pub(super) fn located(text: &str, span: Span, error: Box<ScalarError>) -> Error {
    match Error::from(error) {
        Error::Query { message, hint, .. } => failure(text, span, message, &hint),
        other => other,
    }
}
