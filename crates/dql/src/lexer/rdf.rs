//! The lexer of mutation blocks: `{ set { ... } delete { ... } }`, whose bodies are one token each.

use super::cursor;
use super::modes::{Lexer, Spanned};
use crate::syntax::token::{RdfKind, Text, Token};
use hexgraph_base::types::Result;

impl Lexer<'_> {
    /// Returns true when the word at `at` shows that the block around it is a mutation. The `del`
    /// among them is refused later with a better message than a query would give.
    pub(super) fn starts_mutation(&self, at: usize) -> bool {
        let start = self.cursor.after_blank(at);
        let word = &self.cursor.text[start..self.cursor.after_name(start)];
        matches!(word, "set" | "delete" | "del")
    }

    pub(super) fn in_mutation(&mut self) -> Result<Spanned> {
        self.cursor.skip_blank();
        self.check_unclosed()?;
        let at = self.cursor.at;
        if self.cursor.peek() == b'}' {
            return self.closed(Token::BraceClose);
        }
        let end = self.cursor.after_name(at);
        let kind = match &self.cursor.text[at..end] {
            "set" => RdfKind::Set,
            "delete" => RdfKind::Delete,
            word => {
                let result = if cursor::starts_name(self.cursor.peek()) {
                    format!("`{word}`")
                } else {
                    self.cursor.shown(at)
                };
                let message = format!("found {result} in a mutation");
                return Err(self.error(at, message, "expected `set { ... }` or `delete { ... }`"));
            }
        };
        let brace = self.cursor.after_blank(end);
        if self.cursor.peek_at(brace) != b'{' {
            let result = self.cursor.shown(brace);
            return Err(self.error(brace, format!("found {result}"), "expected `{`"));
        }
        let close = self.rdf_end(brace + 1)?;
        self.word(close + 1, Token::Rdf(kind, Text::slice(brace + 1, close)))
    }

    /// Returns the offset of the `}` that closes a body. Braces inside quotes do not count.
    fn rdf_end(&self, start: usize) -> Result<usize> {
        let bytes = self.cursor.text.as_bytes();
        let (mut at, mut quote) = (start, None);
        while let Some(&byte) = bytes.get(at) {
            match (byte, quote) {
                (b'"', None) => quote = Some(at),
                (b'"', Some(_)) => quote = None,
                (b'\\', Some(_)) => at += 1,
                (b'}', None) => return Ok(at),
                (b'{', None) => {
                    let hint = "braces may only be inside quoted literals";
                    return Err(self.error(at, "found `{` inside RDF", hint));
                }
                _ => {}
            }
            at += 1;
        }
        match quote {
            Some(open) => Err(self.error(open, "a literal is never closed", "add `\"`")),
            None => Err(self.error(start - 1, "`{` is never closed", "add `}`")),
        }
    }
}
