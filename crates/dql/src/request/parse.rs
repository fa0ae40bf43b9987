//! The parser: runs the LR(1) grammar over the tokens of the lexer. The length of the text is
//! checked before, and how deep its brackets are nested by the lexer.

use crate::lexer::Lexer;
use crate::lower::upsert::UpsertCondition;
use crate::request::diagnose::diagnose;
use crate::request::document::Document;
use crate::syntax::ast::Operation;
use crate::syntax::source::Source;
use hexgraph_base::types::{Error, Position, Result, without_mark};
use std::sync::Arc;

lalrpop_util::lalrpop_mod!(
    #[allow(clippy::all, clippy::unwrap_used, missing_docs, unreachable_pub, unused)]
    grammar,
    "/syntax/grammar.rs"
);

/// The greatest length of a request in bytes. It is fixed; messages and the documentation call it
/// `query_length_max`.
pub(super) const QUERY_LENGTH_MAX: usize = 4 << 20;

/// Parses a query to a syntax tree. The values of its `$variables` are needed only when the tree is
/// lowered to a plan. O(text).
///
/// # Errors
/// [`Error::Syntax`] where the text is not DQL or holds a mutation; [`Error::Limit`] when it is
/// longer than 4 MiB.
pub fn parse(text: &str) -> Result<Document> {
    let document = parse_request(text)?;
    let is_mutation =
        |operation: &Operation| matches!(operation, Operation::Mutation(_) | Operation::Upsert(_));
    if document.operations.iter().any(is_mutation) {
        let is_upsert = |operation: &Operation| matches!(operation, Operation::Upsert(_));
        let (hint, message) = match document.operations.iter().any(is_upsert) {
            true => (
                "send it by itself, as a mutation: it brings its own, so there are no statements, no condition and no variables \
                 with it; or write the blocks inside of its `query { ... }` alone, with the statements next to them",
                "found `upsert { ... }` instead of a query",
            ),
            false => (
                "send it as a mutation; a query has blocks: `name(func: ...) { ... }`",
                "found a mutation in a query",
            ),
        };
        let message = message.to_owned();
        // The tree does not store the position of a mutation, so the error is at the start of the
        // text.
        return Err(Error::Syntax { message, at: Position::of(text, 0), hint: hint.to_owned() });
    }
    Ok(document)
}

/// Parses a request, which may be a query, a mutation or an upsert.
pub(crate) fn parse_request(text: &str) -> Result<Document> {
    if text.len() > QUERY_LENGTH_MAX {
        let length = text.len();
        let message = format!(
            "the request has {length} bytes, more than query_length_max = {QUERY_LENGTH_MAX}"
        );
        return Err(Error::Limit { message });
    }
    if text.trim_ascii().is_empty() {
        let error = Error::syntax(Position { line: 1, column: 0 }, "the request is empty");
        return Err(error.with_hint("write a query: `{ q(func: has(name)) { uid } }`"));
    }
    let operations = run(text, Lexer::new(text))?;
    Ok(Document { source: Arc::new(Source::new(text)), operations })
}

/// Parses the condition of a mutation that comes apart from the query, as in a JSON request:
/// exactly one `@if(...)` or `@filter(...)`, which mean the same.
///
/// # Errors
/// [`Error::Syntax`] when the text is anything else; [`Error::Limit`] when it is longer than 4 MiB.
pub fn parse_condition(text: &str) -> Result<UpsertCondition> {
    let text = without_mark(text);
    if text.len() > QUERY_LENGTH_MAX {
        let message = format!("the condition is longer than query_length_max = {QUERY_LENGTH_MAX}");
        return Err(Error::Limit { message });
    }
    let mut operations = run(text, Lexer::of_condition(text))?;
    match (operations.pop(), operations.is_empty()) {
        (Some(Operation::Condition(filter)), true) => {
            Ok(UpsertCondition { source: Arc::new(Source::new(text)), filter })
        }
        _ => {
            let message = "a condition is exactly one `@if(...)`";
            let error = Error::syntax(Position { line: 1, column: 0 }, message);
            Err(error.with_hint("write `@if(eq(len(v), 0))`"))
        }
    }
}

fn run(text: &str, lexer: Lexer) -> Result<Vec<Operation>> {
    grammar::DocumentParser::new().parse(lexer).map_err(|error| diagnose(text, error))
}
