//! Parses a text into the tree of apollo-compiler, after our own grammar has accepted it.

use apollo_compiler::ast::Document;
use apollo_compiler::parser::Parser;

use crate::syntax::recognizer::{Grammar, recognize};
use crate::syntax::{GraphqlError, Position, query_grammar, schema_grammar};

/// Parses the text of a schema. A text without tokens is a schema too, without definitions.
/// O(text).
///
/// # Errors
///
/// The first fault of the text.
pub fn parse_schema(text: &str) -> Result<Document, GraphqlError> {
    parse(text, schema_grammar::document)
}

/// Parses the text of a request. A text without tokens is a request too, without operations.
/// O(text).
///
/// # Errors
///
/// The first fault of the text.
pub(crate) fn parse_query(text: &str) -> Result<Document, GraphqlError> {
    parse(text, query_grammar::document)
}

fn parse(text: &str, grammar: Grammar) -> Result<Document, GraphqlError> {
    let recognized = recognize(text, grammar)?;
    if recognized.is_empty {
        return Ok(Document::new());
    }
    // Dgraph allows `f()` and `@x()`, apollo-compiler does not. Blanks replace them, so that all
    // other positions stay the same.
    let mut bytes = text.as_bytes().to_vec();
    for range in recognized.empty_parentheses {
        bytes[range].fill(b' ');
    }
    let text = String::from_utf8(bytes).expect("tokens became blanks");
    Parser::new().parse_ast(text, "input").map_err(|errors| {
        // If only apollo-compiler refuses the text, the error has its message.
        let first = errors.errors.iter().next();
        let range = first.as_ref().and_then(|first| first.line_column_range());
        let position = range.map(|range| Position {
            line: range.start.line as u32,
            column: range.start.column as u32,
        });
        GraphqlError::at(position, first.map_or_else(String::new, |first| first.error.to_string()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_parentheses_are_nothing() {
        let document = parse_schema("type A @x( ,# c\n ) { f: Int @y() }").expect("valid");
        assert_eq!(document.definitions.len(), 1);
        let document = parse_query("query () { a() @b() { c } }").expect("valid");
        assert_eq!(document.definitions.len(), 1);
    }

    #[test]
    fn nothing_is_a_document() {
        for text in ["", "  ", "# a comment", ",,\n"] {
            assert!(parse_query(text).is_ok_and(|document| document.definitions.is_empty()));
            assert!(parse_schema(text).is_ok_and(|document| document.definitions.is_empty()));
        }
    }
}
