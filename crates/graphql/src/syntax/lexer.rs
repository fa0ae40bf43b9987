//! Cuts the text of a schema or a request into tokens, one at a time, in one pass. Strings are
//! checked and left as they are written.
//!
//! The position of a fault is where reading stopped, as in Dgraph; that of a string is
//! after its opening quotes.

use hexgraph_base::types::quote;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LexemeKind {
    End,
    Name,
    Int,
    Float,
    String,
    BlockString,
    /// A punctuator: one of `! $ & ( ) ... : = @ [ ] { } |`.
    Mark(&'static str),
}

impl LexemeKind {
    /// Returns the name that messages use.
    pub(crate) fn name(self) -> &'static str {
        match self {
            LexemeKind::End => "<EOF>",
            LexemeKind::Name => "Name",
            LexemeKind::Int => "Int",
            LexemeKind::Float => "Float",
            LexemeKind::String => "String",
            LexemeKind::BlockString => "BlockString",
            LexemeKind::Mark(mark) => mark,
        }
    }
}

/// A token with its text and position.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token<'a> {
    pub(crate) kind: LexemeKind,
    /// The text of the token; of a string what is between its quotes, with escapes as they are
    /// written.
    pub(crate) text: &'a str,
    /// The offset in bytes that messages about the token point at: of a string the byte after its
    /// opening quotes.
    pub(crate) at: usize,
}

impl Token<'_> {
    /// Describes the token for a message: `Name "x"`, or `{`.
    pub(crate) fn described(&self) -> String {
        match self.kind {
            LexemeKind::End | LexemeKind::Mark(_) => self.kind.name().to_owned(),
            _ if self.text.is_empty() => self.kind.name().to_owned(),
            kind => format!("{} {}", kind.name(), quote(self.text)),
        }
    }
}

/// The offset in bytes of what can't be a token, and the message.
pub(crate) type LexFault = (usize, String);

/// The tokens of a text that are still to be read.
pub(crate) struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    /// Starts at the beginning of a text.
    pub(crate) fn new(text: &'a str) -> Tokens<'a> {
        Tokens { text, at: 0 }
    }

    /// Reads the next token. At the end this is [`LexemeKind::End`], however often it is called.
    ///
    /// # Errors
    ///
    /// When what comes next is no token.
    pub(crate) fn next(&mut self) -> Result<Token<'a>, LexFault> {
        self.skip_ignored();
        let start = self.at;
        let rest = &self.text.as_bytes()[start..];
        let Some(first) = rest.first() else {
            return Ok(Token { kind: LexemeKind::End, text: "", at: start });
        };
        match first {
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => {
                let is_part = |byte: &&u8| **byte == b'_' || byte.is_ascii_alphanumeric();
                Ok(self.token(LexemeKind::Name, rest.iter().take_while(is_part).count()))
            }
            b'"' if rest.starts_with(b"\"\"\"") => self.block_string(),
            b'"' => self.string(),
            b'-' | b'0'..=b'9' => self.number(),
            _ => match mark(rest) {
                Some(mark) => Ok(self.token(LexemeKind::Mark(mark), mark.len())),
                None => Err(self.stray()),
            },
        }
    }

    /// Makes the fault of a character that begins no token.
    fn stray(&self) -> LexFault {
        let message = match self.text[self.at..].chars().next().unwrap_or('\0') {
            '\'' => {
                "Unexpected single quote character ('), did you mean to use a double quote (\")?"
                    .to_owned()
            }
            control @ '\0'..='\x1f' => {
                format!("Cannot contain the invalid character \"\\u{:04}\"", u32::from(control))
            }
            other => format!("Cannot parse the unexpected character \"{other}\"."),
        };
        (self.at, message)
    }

    /// Takes the next `len` bytes as a token.
    fn token(&mut self, kind: LexemeKind, len: usize) -> Token<'a> {
        let start = self.at;
        self.at += len;
        Token { kind, text: &self.text[start..self.at], at: start }
    }

    /// Skips what GraphQL ignores between tokens: blanks, commas, line breaks, byte order marks and
    /// comments.
    fn skip_ignored(&mut self) {
        let bytes = self.text.as_bytes();
        loop {
            self.at += match bytes.get(self.at) {
                Some(b' ' | b'\t' | b',' | b'\n' | b'\r') => 1,
                Some(b'#') => {
                    let is_comment = |byte: &&u8| !matches!(**byte, b'\n' | b'\r');
                    bytes[self.at..].iter().take_while(is_comment).count()
                }
                // U+FEFF is ignored anywhere, not at the beginning alone.
                Some(0xef) if bytes[self.at..].starts_with("\u{feff}".as_bytes()) => 3,
                _ => return,
            }
        }
    }

    /// Reads an `Int` or a `Float`.
    fn number(&mut self) -> Result<Token<'a>, LexFault> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let mut at = start + usize::from(bytes[start] == b'-');
        // No number but 0 begins with a 0.
        if bytes.get(at) == Some(&b'0') {
            at += 1;
            if bytes.get(at).is_some_and(u8::is_ascii_digit) {
                let message =
                    format!("Invalid number, unexpected digit after 0: {}.", self.shown_at(at));
                return Err((at, message));
            }
        } else {
            at = self.digits(at)?;
        }
        let mut kind = LexemeKind::Int;
        if bytes.get(at) == Some(&b'.') {
            kind = LexemeKind::Float;
            at = self.digits(at + 1)?;
        }
        if matches!(bytes.get(at), Some(b'e' | b'E')) {
            kind = LexemeKind::Float;
            at += 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
            at = self.digits(at)?;
        }
        Ok(self.token(kind, at - start))
    }

    /// Returns the offset after the digits at `at`, at least one.
    fn digits(&self, at: usize) -> Result<usize, LexFault> {
        let digits = self.text.as_bytes()[at..].iter().take_while(|byte| byte.is_ascii_digit());
        match digits.count() {
            0 => {
                let shown = self.shown_at(at);
                Err((at, format!("Invalid number, expected digit but got: {shown}.")))
            }
            count => Ok(at + count),
        }
    }

    /// Quotes the character at an offset for a message.
    fn shown_at(&self, at: usize) -> String {
        match self.text[at..].chars().next() {
            Some(character) => format!("\"{character}\""),
            None => "<EOF>".to_owned(),
        }
    }

    /// Reads a string in single quotes, within one line.
    fn string(&mut self) -> Result<Token<'a>, LexFault> {
        let bytes = self.text.as_bytes();
        let start = self.at + 1;
        let mut at = start;
        loop {
            match bytes.get(at) {
                Some(b'"') => break,
                None | Some(b'\n' | b'\r') => return Err((at, "Unterminated string.".to_owned())),
                Some(b'\\') => at += self.escape(at)?,
                Some(&byte) if byte < 0x20 && byte != b'\t' => {
                    let message = format!("Invalid character within String: \"\\u{byte:04}\".");
                    return Err((at, message));
                }
                Some(_) => at += 1,
            }
        }
        self.at = at + 1;
        Ok(Token { kind: LexemeKind::String, text: &self.text[start..at], at: start })
    }

    /// Returns the length in bytes of the escape sequence at an offset.
    fn escape(&self, at: usize) -> Result<usize, LexFault> {
        let rest = &self.text[at + 1..];
        let fault =
            |shown: &str| (at + 1, format!("Invalid character escape sequence: \\{shown}."));
        match rest.chars().next() {
            None => Err((at + 1, "Invalid character escape sequence.".to_owned())),
            Some('"' | '/' | '\\' | 'b' | 'f' | 'n' | 'r' | 't') => Ok(2),
            // Characters beyond 16 bits are written as two escapes, a surrogate pair (RFC 8259,
            // section 7).
            Some('u') => match (hex4(rest, 0), hex4(rest, 6)) {
                (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => Ok(12),
                (Some(half @ 0xd800..0xe000), _) => {
                    let reported = "is half of a character, without its other half";
                    Err((
                        at + 1,
                        format!("Invalid character escape sequence: \\u{half:04x} {reported}."),
                    ))
                }
                (Some(_), _) => Ok(6),
                (None, _) => Err(fault(rest.get(..5).unwrap_or(rest))),
            },
            Some(other) => Err(fault(&other.to_string())),
        }
    }

    /// Reads a string in triple quotes. Only `\"""` is an escape in it.
    fn block_string(&mut self) -> Result<Token<'a>, LexFault> {
        let bytes = self.text.as_bytes();
        let start = self.at + 3;
        let mut at = start;
        loop {
            // An escape at the very end may have moved `at` past it.
            let rest = &bytes[at.min(bytes.len())..];
            match rest.first() {
                None => return Err((bytes.len(), "Unterminated string.".to_owned())),
                Some(_) if rest.starts_with(b"\"\"\"") => break,
                Some(_) if rest.starts_with(b"\\\"\"\"") => at += 4,
                Some(&byte) if byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r') => {
                    let message = format!("Invalid character within String: \"\\u{byte:04}\".");
                    return Err((at, message));
                }
                Some(_) => at += 1,
            }
        }
        self.at = at + 3;
        Ok(Token { kind: LexemeKind::BlockString, text: &self.text[start..at], at: start })
    }
}

/// Returns the number of the escape `uXXXX` at an offset, when there is one. The first stands
/// after a backslash that is not part of `text`.
fn hex4(text: &str, at: usize) -> Option<u32> {
    let is_escape = at == 0 || text.as_bytes().get(at - 1) == Some(&b'\\');
    let hex = text.get(at..)?.strip_prefix('u').filter(|_| is_escape)?.get(..4)?;
    hex.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u32::from_str_radix(hex, 16).ok())?
}

/// Returns the punctuator that a text begins with.
fn mark(rest: &[u8]) -> Option<&'static str> {
    Some(match rest.first()? {
        b'{' => "{",
        b'}' => "}",
        b'(' => "(",
        b')' => ")",
        b':' => ":",
        b'!' => "!",
        b'[' => "[",
        b']' => "]",
        b'$' => "$",
        b'@' => "@",
        b'=' => "=",
        b'|' => "|",
        b'&' => "&",
        b'.' if rest.starts_with(b"...") => "...",
        _ => return None,
    })
}
