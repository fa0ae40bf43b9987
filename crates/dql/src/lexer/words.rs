//! Names, numbers, IRIs, strings, variables and regular expressions.
//!
//! Each reader starts at the cursor and returns its token with the offsets of its first byte and of
//! the byte after it. Its last call is [`Lexer::word`], which moves the cursor there, or
//! [`Lexer::opened_until`], which enters a bracket as well. Offsets are in bytes of the text.

use super::cursor;
use super::directives::OPERATIONS;
use super::modes::{Lexer, Spanned};
use super::scope::{Previous, Scope};
use crate::compat::go_escapes::unquote;
use crate::syntax::token::{FieldFunction, Text, Token};
use hexgraph_base::plan::AGGREGATES;
use hexgraph_base::types::{Error, Result};

/// The words that are functions instead of a field, when a `(` follows, each with a call of it; in
/// addition the aggregates are.
const FIELD_FUNCTIONS: [(&str, FieldFunction, &str); 4] = [
    ("val", FieldFunction::Val, "val(x)"),
    ("uid", FieldFunction::Uid, "uid(0x1, x)"),
    ("expand", FieldFunction::Expand, "expand(_all_)"),
    ("checkpwd", FieldFunction::CheckPassword, "checkpwd(pass, \"secret\")"),
];

/// The words that begin an operation.
pub(crate) fn operations() -> impl Iterator<Item = &'static str> {
    OPERATIONS.into_iter()
}

/// The words that are functions instead of a field, each with a call of it.
pub(crate) fn field_functions() -> impl Iterator<Item = (&'static str, &'static str)> {
    FIELD_FUNCTIONS.into_iter().map(|(name, _, form)| (name, form))
}

impl Lexer<'_> {
    /// Reads a name. An `as`, `:` or `(` after it belongs to the token where the scope gives it a
    /// meaning.
    pub(super) fn name(&mut self, scope: Scope) -> Result<Spanned> {
        let start = self.cursor.at;
        let is_iri = self.cursor.peek() == b'<';
        let mut text =
            if is_iri { self.iri()? } else { Text::slice(start, self.cursor.after_name(start)) };
        // The name in an IRI is the text between the brackets, and the token includes the `>`.
        let mut end = if is_iri { text.end as usize + 1 } else { text.end as usize };
        // Dashes belong to the names of predicates, not to those of blocks and facets.
        if !is_iri && !matches!(scope, Scope::Blocks | Scope::Schema | Scope::Facets) {
            end = self.join_dashes(&mut text, end);
        }
        let next = self.cursor.after_blank(end);
        match self.cursor.peek_at(next) {
            // Without a bracket after it, `count` or `uid` is the name of a predicate.
            b'(' if matches!(scope, Scope::Fields | Scope::Count) && !is_iri => {
                if let Some((token, inner)) = self.field_function(start, end, next) {
                    return self.opened_until(next + 1, token, inner);
                }
            }
            byte if scope == Scope::Count && !is_iri && self.is_distinct(start, end, byte) => {
                return self.word(end, Token::Distinct);
            }
            b':' if !matches!(scope, Scope::Blocks | Scope::Schema | Scope::List) => {
                return self.word(next + 1, Token::Alias(text));
            }
            b'a' | b'A' if matches!(scope, Scope::Blocks | Scope::Fields | Scope::Facets) => {
                let word_end = self.cursor.after_name(next);
                if self.cursor.text[next..word_end].eq_ignore_ascii_case("as") {
                    return self.word(word_end, Token::Define(text));
                }
            }
            _ => {}
        }
        let word = self.word(end, Token::Name(text));
        self.previous = Previous::Name;
        word
    }

    /// Returns true for the `distinct` of `count(distinct name)`: another name is next. Without
    /// one it is the name of a predicate.
    fn is_distinct(&self, start: usize, end: usize, next: u8) -> bool {
        let is_word = self.cursor.text[start..end].eq_ignore_ascii_case("distinct");
        is_word && (cursor::is_name(next) && next != b'.' || next == b'<')
    }

    /// Returns the token of a function of fields, ignoring case, and the scope of its
    /// bracket, which is at `open`; `None` for another name.
    fn field_function(&self, start: usize, end: usize, open: usize) -> Option<(Token, Scope)> {
        let word = &self.cursor.text[start..end];
        if word.eq_ignore_ascii_case("count") {
            return Some((Token::CountOpen, Scope::Count));
        }
        if word.eq_ignore_ascii_case("math") {
            return Some((Token::MathOpen, Scope::Math));
        }
        let is_it = |name: &str| word.eq_ignore_ascii_case(name);
        let function = match AGGREGATES.iter().find(|row| is_it(row.name)) {
            Some(row) if !row.is_reserved() && self.has_key(open + 1) => return None,
            Some(row) => FieldFunction::Aggregate(row.op),
            None => FIELD_FUNCTIONS.iter().find(|(name, _, _)| is_it(name))?.1,
        };
        Some((Token::CallOpen(function), Scope::Function))
    }

    /// Returns true when `key:` stands at an offset, as in the arguments of a field.
    fn has_key(&self, at: usize) -> bool {
        let start = self.cursor.after_blank(at);
        let end = match self.cursor.peek_at(start) {
            b'<' => match self.cursor.text[start..].find('>') {
                Some(length) => start + length + 1,
                None => return false,
            },
            _ => self.cursor.after_name(start),
        };
        start < end && self.cursor.peek_at(self.cursor.after_blank(end)) == b':'
    }

    /// Joins `a - b - c` into the one name `a-b-c`, since names of predicates may have dashes.
    /// Returns the offset after it.
    fn join_dashes(&self, text: &mut Text, mut end: usize) -> usize {
        let mut joined = text.owned.take().map(String::from);
        loop {
            let dash = self.cursor.after_blank(end);
            if self.cursor.peek_at(dash) != b'-' {
                break;
            }
            let next = self.cursor.after_blank(dash + 1);
            let next_end = self.cursor.after_name(next);
            // Names have points within, and none at the start: `a-.b` is not joined.
            if next == next_end || self.cursor.peek_at(next) == b'.' {
                break;
            }
            // A name without blanks is a slice of the text; the first blank makes a copy necessary.
            if joined.is_none() && (dash != end || next != dash + 1) {
                joined = Some(self.cursor.text[text.start as usize..end].to_owned());
            }
            if let Some(joined) = &mut joined {
                joined.push('-');
                joined.push_str(&self.cursor.text[next..next_end]);
            }
            end = next_end;
            text.end = end as u32;
        }
        text.owned = joined.map(String::into_boxed_str);
        end
    }

    /// Reads `<...>` and returns the text between the brackets.
    fn iri(&self) -> Result<Text> {
        let start = self.cursor.at + 1;
        let mut at = start;
        loop {
            match self.cursor.peek_at(at) {
                b'>' if at == start => return Err(self.error(start, "`<>` is no name", "")),
                b'>' => return Ok(Text::slice(start, at)),
                // Escapes are checked and left: the name is the text between the brackets
                // unchanged.
                b'\\' => at = self.iri_escape(at)?,
                b'-' if at == start => return Err(self.backwards(start)),
                0..=b' ' | b'<' | b'"' | b'{' | b'}' | b'|' | b'^' | b'`' => {
                    let result = self.cursor.shown(at);
                    let hint = "is `>` missing, or a blank behind an operator `<`?";
                    return Err(self.error(at, format!("unexpected {result} after `<`"), hint));
                }
                _ => at += 1,
            }
        }
    }

    /// Makes the error for an arrow before a predicate, as in `<-friend`. No name begins with `-`.
    fn backwards(&self, minus: usize) -> Error {
        let start = self.cursor.after_blank(minus + 1);
        let name = &self.cursor.text[start..self.cursor.after_name(start)];
        let name = if name.is_empty() { "friend" } else { name };
        let hint = format!(
            "an edge is walked backwards as `~{name} {{ ... }}`; its schema needs `@reverse`"
        );
        self.error(minus - 1, "found an arrow `<-`", hint)
    }

    fn iri_escape(&self, at: usize) -> Result<usize> {
        let digits = match self.cursor.peek_at(at + 1) {
            b'u' => 4,
            b'U' => 8,
            _ => 0,
        };
        let hex = self.cursor.text.as_bytes().get(at + 2..at + 2 + digits).unwrap_or_default();
        if digits == 0 || hex.len() < digits || !hex.iter().all(u8::is_ascii_hexdigit) {
            let hint = "only `\\u` with 4 and `\\U` with 8 hexadecimal digits";
            return Err(self.error(at, "a wrong escape between `<` and `>`", hint));
        }
        Ok(at + 2 + digits)
    }

    /// Reads a name or a number with a sign before it.
    pub(super) fn signed(&mut self) -> Result<Spanned> {
        let sign = self.cursor.at;
        let start = self.cursor.after_blank(sign + 1);
        let end = self.cursor.after_name(start);
        // `-.5` is no number in this language: digits stand on both sides of a point.
        if start == end || self.cursor.peek_at(start) == b'.' {
            return Err(self.unexpected(sign, "inside brackets"));
        }
        let mut text = Text::slice(sign, end);
        if start != sign + 1 {
            let sign = &self.cursor.text[sign..=sign];
            text.owned = Some(format!("{sign}{}", &self.cursor.text[start..end]).into());
        }
        let end = self.join_dashes(&mut text, end);
        self.word(end, Token::Name(text))
    }

    /// Reads `$name`.
    pub(super) fn variable(&mut self) -> Result<Spanned> {
        let dollar = self.cursor.at;
        let start = self.cursor.after_blank(dollar + 1);
        let end = self.cursor.after_name(start);
        if start == end {
            return Err(self.error(dollar, "`$` without a name", ""));
        }
        let mut text = Text::slice(dollar, end);
        if start != dollar + 1 {
            text.owned = Some(format!("${}", &self.cursor.text[start..end]).into());
        }
        self.word(end, Token::Variable(text))
    }

    /// Reads a string in double quotes and replaces its escapes.
    pub(super) fn string(&mut self) -> Result<Spanned> {
        let start = self.cursor.at + 1;
        let bytes = self.cursor.text.as_bytes();
        let (mut at, mut is_plain) = (start, true);
        loop {
            match bytes.get(at) {
                Some(b'"') => break,
                // The byte after a backslash may be a quote. `unquote` looks at escapes and
                // refuses line breaks. A step may stop within a character, or after the text: only
                // a quote stops the loop, and that is a boundary.
                Some(b'\\') => (at, is_plain) = (at + 2, false),
                Some(b'\n') => (at, is_plain) = (at + 1, false),
                Some(_) => at += 1,
                None => return Err(self.error(start - 1, "a string is never closed", "add `\"`")),
            }
        }
        let mut text = Text::slice(start, at);
        if !is_plain {
            let decoded = unquote(&self.cursor.text[start..at]);
            text.owned =
                Some(decoded.map_err(|why| self.error(start - 1, why.to_string(), ""))?.into());
        }
        self.word(at + 1, Token::String(text))
    }

    /// Reads `/pattern/flags`. The token includes both slashes, the escapes and the flags
    /// unchanged. A flag is any ASCII letter here.
    pub(super) fn regex(&mut self) -> Result<Spanned> {
        let start = self.cursor.at;
        let bytes = self.cursor.text.as_bytes();
        let mut at = start + 1;
        loop {
            match bytes.get(at) {
                Some(b'/') => break,
                Some(b'\\') => at += 2,
                Some(_) => at += 1,
                None => {
                    let message = "a regular expression is never closed";
                    return Err(self.error(start, message, "add `/`"));
                }
            }
        }
        let flags = bytes[at + 1..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let end = at + 1 + flags;
        self.word(end, Token::Regex(Text::slice(start, end)))
    }
}
