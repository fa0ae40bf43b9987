//! The lexer of schema texts: splits a text into names, numbers, quoted texts and characters.

use crate::types::{Error, Position, Result};

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A bare name.
    Word,
    /// A name that stood in angle brackets.
    Iri,
    /// Digits.
    Number,
    /// A text that stood in double quotes.
    Quoted,
    /// The end of a line.
    Newline,
    /// One of `:.,@!()[]{}`.
    Sign(u8),
    /// The end of the text.
    End,
}

/// A token and its position.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'a> {
    /// What it is.
    pub(super) kind: Kind,
    /// Its text, without the brackets or quotes around it.
    pub(super) text: &'a str,
    /// The offset of its first byte in the text.
    pub(super) start: usize,
}

impl Token<'_> {
    /// Returns the token as error messages show it.
    pub(super) fn shown(&self) -> String {
        match self.kind {
            Kind::Newline => "the end of the line".to_string(),
            Kind::End => "the end of the text".to_string(),
            Kind::Iri => format!("`<{}>`", self.text),
            Kind::Quoted => format!("`\"{}\"`", self.text),
            _ => format!("`{}`", self.text),
        }
    }

    /// Returns true for a name, with or without brackets.
    pub(super) fn is_name(&self) -> bool {
        matches!(self.kind, Kind::Word | Kind::Iri)
    }

    /// Returns true if the token is this character.
    pub(super) fn is(&self, sign: u8) -> bool {
        self.kind == Kind::Sign(sign)
    }
}

/// Returns the tokens of a schema text. The last one is [`Kind::End`]; comments and blanks are left
/// out.
///
/// # Errors
///
/// [`Error::Syntax`] at a character that nothing starts with, and where a bracket or quote is
/// not closed.
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let (kind, from, to, next) = match bytes[at] {
            b' ' | b'\t' => {
                at += 1;
                continue;
            }
            b'#' => {
                at = end_of(bytes, at, |byte| !matches!(byte, b'\n' | b'\r'));
                continue;
            }
            b'\n' | b'\r' => (Kind::Newline, at, at + 1, at + 1),
            b'<' => {
                let end = iri_end(text, at)?;
                (Kind::Iri, at + 1, end, end + 1)
            }
            b'"' => {
                let end = quote_end(text, at)?;
                (Kind::Quoted, at + 1, end, end + 1)
            }
            byte if is_name_start(byte) => {
                let end = end_of(bytes, at, is_name_byte);
                (Kind::Word, at, end, end)
            }
            byte if byte.is_ascii_digit() => {
                let end = end_of(bytes, at, |byte| byte.is_ascii_alphanumeric());
                (Kind::Number, at, end, end)
            }
            byte if b":.,@!()[]{}".contains(&byte) => (Kind::Sign(byte), at, at + 1, at + 1),
            _ => {
                let error = unexpected(text, at, "unexpected");
                return Err(
                    error.with_hint("names with such letters are written between `<` and `>`")
                );
            }
        };
        tokens.push(Token { kind, text: &text[from..to], start });
        at = next;
    }
    tokens.push(Token { kind: Kind::End, text: "", start: text.len() });
    Ok(tokens)
}

/// Returns true when a name can be written without angle brackets.
pub(super) fn is_bare_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.first().is_some_and(|&byte| is_name_start(byte))
        && bytes.iter().all(|&byte| is_name_byte(byte))
}

fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

fn end_of(bytes: &[u8], from: usize, belongs: impl Fn(u8) -> bool) -> usize {
    bytes[from..].iter().position(|&byte| !belongs(byte)).map_or(bytes.len(), |n| from + n)
}

/// Returns the offset of the `>` that closes the `<` at `open`.
fn iri_end(text: &str, open: usize) -> Result<usize> {
    let bytes = text.as_bytes();
    let mut at = open + 1;
    loop {
        match bytes.get(at) {
            Some(b'>') if at == open + 1 => {
                return Err(unexpected(text, at, "`<>` is no name, unexpected"));
            }
            Some(b'>') => return Ok(at),
            Some(b'\\') if escape_len(&bytes[at..]).is_some() => {
                at += escape_len(&bytes[at..]).unwrap_or(1);
            }
            Some(0..=32 | b'<' | b'"' | b'{' | b'}' | b'|' | b'^' | b'`' | b'\\') => {
                return Err(unexpected(text, at, "expected `>`, found"));
            }
            Some(_) => at += 1,
            None => {
                let never = Error::syntax(Position::of(text, open), "`<` is never closed");
                return Err(never.with_hint("add `>`"));
            }
        }
    }
}

/// Returns the length of an escape `\uXXXX` or `\UXXXXXXXX` at the start of `bytes`; `None` when
/// there is none.
fn escape_len(bytes: &[u8]) -> Option<usize> {
    let digits = match bytes.get(1)? {
        b'u' => 4,
        b'U' => 8,
        _ => return None,
    };
    let hex = bytes.get(2..2 + digits)?;
    hex.iter().all(|byte| byte.is_ascii_hexdigit()).then_some(2 + digits)
}

/// Returns the offset of the quote that closes the one at `open`; it has to be on the same line.
fn quote_end(text: &str, open: usize) -> Result<usize> {
    let bytes = text.as_bytes();
    let end = end_of(bytes, open + 1, |byte| !matches!(byte, b'"' | b'\n' | b'\r'));
    match bytes.get(end) {
        Some(b'"') => Ok(end),
        _ => {
            let never = Error::syntax(Position::of(text, open), "`\"` is never closed in its line");
            Err(never.with_hint("add `\"`"))
        }
    }
}

fn unexpected(text: &str, at: usize, reason: &str) -> Error {
    let result = match text[at..].chars().next() {
        Some(character) => format!("{reason} `{}`", character.escape_debug()),
        None => format!("{reason} the end of the text"),
    };
    Error::syntax(Position::of(text, at), result)
}
