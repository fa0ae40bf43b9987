//! The parser: runs the LR(1) grammar over the tokens of the lexer.

use super::diagnose::diagnose;
use crate::error::{Code, Fault, Result};
use crate::lexer::tokens;
use crate::span::Span;
use crate::syntax::ast::Statement;
use hexgraph_base::types::without_mark;

lalrpop_util::lalrpop_mod!(
    #[allow(clippy::all, clippy::unwrap_used, missing_docs, unreachable_pub, unused)]
    grammar,
    "/syntax/grammar.rs"
);

/// The greatest length of a query in bytes. It is fixed; messages call it `query_length_max`.
const QUERY_LENGTH_MAX: usize = 4 << 20;

/// A text with its tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    text: Box<str>,
    statement: Statement,
}

impl Parsed {
    /// Returns the text that was parsed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns its tree.
    pub fn statement(&self) -> &Statement {
        &self.statement
    }
}

/// Parses a query. O(text).
///
/// # Errors
/// The text is not a query of openCypher that reads only. The first fault is reported.
pub fn parse(text: &str) -> Result<Parsed> {
    let text = without_mark(text);
    let statement = statement(text).map_err(|fault| fault.locate(text))?;
    Ok(Parsed { text: text.into(), statement })
}

fn statement(text: &str) -> std::result::Result<Statement, Fault> {
    if text.len() > QUERY_LENGTH_MAX {
        let length = text.len();
        let message = format!(
            "the query has {length} bytes, more than query_length_max = {QUERY_LENGTH_MAX}"
        );
        return Err(Fault::new(Code::Limit, Span::new(0, 0), message));
    }
    let tokens = tokens(text)?;
    if tokens.is_empty() {
        let fault = Fault::new(Code::UnexpectedSyntax, Span::new(0, 0), "the query is empty");
        return Err(fault.with_hint("write a query: `MATCH (n) RETURN n LIMIT 10`"));
    }
    grammar::StatementParser::new()
        .parse(tokens.iter().cloned())
        .map_err(|error| diagnose(text, &tokens, error))
}
