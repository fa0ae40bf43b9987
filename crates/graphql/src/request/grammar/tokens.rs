//! The tokens of a request with their positions. Strings have their escapes replaced.

use std::borrow::Cow;
use std::fmt;

use crate::request::Position;
use crate::syntax::{LexemeKind, Tokens};

/// A token with its position.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::request) struct QueryToken<'t> {
    pub kind: TokenKind<'t>,
    pub at: Position,
}

#[derive(Debug, Clone, PartialEq)]
pub(in crate::request) enum TokenKind<'t> {
    End,
    /// One of `! $ & ( ) : = @ [ ] { } |`.
    Mark(u8),
    Spread,
    Name(&'t str),
    Int(&'t str),
    Float(&'t str),
    String(Cow<'t, str>),
    Block(String),
    /// What is no token, with the reason.
    Invalid(String),
}

impl TokenKind<'_> {
    /// Returns the name of the kind, which messages use for what was read.
    pub(in crate::request) fn word(&self) -> Cow<'static, str> {
        match self {
            TokenKind::End => "<EOF>".into(),
            TokenKind::Mark(mark) => char::from(*mark).to_string().into(),
            TokenKind::Spread => "...".into(),
            TokenKind::Name(_) => "Name".into(),
            TokenKind::Int(_) => "Int".into(),
            TokenKind::Float(_) => "Float".into(),
            TokenKind::String(_) => "String".into(),
            TokenKind::Block(_) => "BlockString".into(),
            TokenKind::Invalid(_) => "<Invalid>".into(),
        }
    }
}

impl fmt::Display for TokenKind<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.word())?;
        match self {
            TokenKind::Name(text) | TokenKind::Int(text) | TokenKind::Float(text) => {
                write!(f, " {text:?}")
            }
            TokenKind::String(text) if !text.is_empty() => write!(f, " {text:?}"),
            TokenKind::Block(text) if !text.is_empty() => write!(f, " {text:?}"),
            _ => Ok(()),
        }
    }
}

/// Reads tokens from a text.
pub(in crate::request) struct Lexer<'t> {
    text: &'t str,
    tokens: Tokens<'t>,
    /// The offset in bytes of the position that `line` and `column` say.
    counted: usize,
    line: u32,
    column: u32,
}

impl<'t> Lexer<'t> {
    pub(in crate::request) fn new(text: &'t str) -> Lexer<'t> {
        Lexer { text, tokens: Tokens::new(text), counted: 0, line: 1, column: 1 }
    }

    /// Reads the next token: [`TokenKind::End`] at the end, however often it is called, and
    /// [`TokenKind::Invalid`] for what is no token.
    pub(in crate::request) fn read(&mut self) -> QueryToken<'t> {
        let (kind, at) = match self.tokens.next() {
            Ok(token) => (kind(token.kind, token.text), token.at),
            Err((at, reason)) => (TokenKind::Invalid(reason), at),
        };
        QueryToken { kind, at: self.locate(at) }
    }

    /// Returns the position of the byte `to`, which must not be before the last one. So all
    /// positions of a text cost one pass over it.
    fn locate(&mut self, to: usize) -> Position {
        let bytes = self.text.as_bytes();
        for at in self.counted..to {
            match bytes[at] {
                // The second half of a line end was counted with the first.
                b'\n' if at > 0 && bytes[at - 1] == b'\r' => {}
                b'\n' | b'\r' => {
                    self.line += 1;
                    self.column = 1;
                }
                // A byte that continues a character.
                0x80..=0xbf => {}
                _ => self.column += 1,
            }
        }
        self.counted = to;
        Position { line: self.line, column: self.column }
    }
}

fn kind(kind: LexemeKind, text: &str) -> TokenKind<'_> {
    match kind {
        LexemeKind::End => TokenKind::End,
        LexemeKind::Name => TokenKind::Name(text),
        LexemeKind::Int => TokenKind::Int(text),
        LexemeKind::Float => TokenKind::Float(text),
        LexemeKind::String => TokenKind::String(string_value(text)),
        LexemeKind::BlockString => {
            let lines = text.replace("\\\"\"\"", "\"\"\"").replace("\r\n", "\n");
            TokenKind::Block(block_value(&lines.replace('\r', "\n")))
        }
        LexemeKind::Mark("...") => TokenKind::Spread,
        LexemeKind::Mark(mark) => TokenKind::Mark(mark.as_bytes()[0]),
    }
}

/// Returns a string with its escapes replaced. The tokens have checked them before.
fn string_value(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find('\\') else { return text.into() };
    let mut value = text[..first].to_owned();
    let mut rest = &text[first..];
    while let Some(escape) = rest.strip_prefix('\\') {
        let (character, length) = read_escape(escape).unwrap_or(('\u{fffd}', 0));
        value.push(character);
        let plain = &escape[length..];
        let end = plain.find('\\').unwrap_or(plain.len());
        value.push_str(&plain[..end]);
        rest = &plain[end..];
    }
    value.into()
}

/// Reads the escape after a backslash: its character, and its length in bytes. Two `\u` that are a
/// surrogate pair make one character.
fn read_escape(rest: &str) -> Option<(char, usize)> {
    let simple = match rest.as_bytes().first()? {
        byte @ (b'"' | b'/' | b'\\') => char::from(*byte),
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => {
            let high = hex4(rest.get(1..5)?)?;
            if (0xd800..0xdc00).contains(&high) {
                let low = rest.get(5..11).and_then(|next| hex4(next.strip_prefix("\\u")?));
                if let Some(low @ 0xdc00..0xe000) = low {
                    let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                    return Some((char::from_u32(code)?, 11));
                }
            }
            // Half of a pair that has no other half becomes U+FFFD, as any other code that is no
            // character.
            return Some((char::from_u32(high).unwrap_or('\u{fffd}'), 5));
        }
        _ => return None,
    };
    Some((simple, 1))
}

fn hex4(text: &str) -> Option<u32> {
    if text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        u32::from_str_radix(text, 16).ok()
    } else {
        None
    }
}

/// Removes the indentation common to all lines of a block string, and blank lines around it
/// (GraphQL specification, *Block Strings*).
fn block_value(raw: &str) -> String {
    let lines: Vec<&str> = raw.split('\n').collect();
    let blank = |line: &&str| line.trim_start_matches([' ', '\t']).is_empty();
    // The first line begins after the quotes, so its indentation does not count.
    let indent = lines.iter().skip(1).filter(|line| !blank(line));
    let indent = indent
        .map(|line| line.len() - line.trim_start_matches([' ', '\t']).len())
        .min()
        .unwrap_or(0);
    let Some(first) = lines.iter().position(|line| !blank(line)) else { return String::new() };
    let last = lines.iter().rposition(|line| !blank(line)).unwrap_or(first);
    let stripped = lines.iter().enumerate().map(|(at, line)| match at {
        0 => line,
        _ => line.get(indent..).unwrap_or(""),
    });
    stripped.skip(first).take(last + 1 - first).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind<'_>> {
        let mut lexer = Lexer::new(text);
        let mut kinds = Vec::new();
        loop {
            match lexer.read().kind {
                TokenKind::End => return kinds,
                kind @ TokenKind::Invalid(_) => {
                    kinds.push(kind);
                    return kinds;
                }
                kind => kinds.push(kind),
            }
        }
    }

    #[test]
    fn reads_every_kind() {
        assert_eq!(
            kinds("{ a: -1 ...b 1.5e3 # c\n \"x\\u0041\\n\" }"),
            [
                TokenKind::Mark(b'{'),
                TokenKind::Name("a"),
                TokenKind::Mark(b':'),
                TokenKind::Int("-1"),
                TokenKind::Spread,
                TokenKind::Name("b"),
                TokenKind::Float("1.5e3"),
                TokenKind::String("xA\n".into()),
                TokenKind::Mark(b'}'),
            ]
        );
        assert_eq!(kinds("\"\"\"\n  a\n    b\n\"\"\""), [TokenKind::Block("a\n  b".into())]);
        assert_eq!(kinds("\"\\ud83d\\ude00\""), [TokenKind::String("😀".into())]);
        let escaped = "\"\\\\ü\\/x\\\"\\t\"";
        assert_eq!(kinds(escaped), [TokenKind::String("\\ü/x\"\t".into())]);
        for half in
            ["ud83dx", "ud83d", "ude00", "ud83d\\u0041", "ud83d\\ud83d\\ude00", "ud83d ude00"]
        {
            let text = format!("\"\\{half}\"");
            let TokenKind::Invalid(why) = &kinds(&text)[0] else { panic!("{half}") };
            let shown = &half[..5];
            assert_eq!(
                why,
                &format!(
                    "Invalid character escape sequence: \\{shown} is half of a character, without its other half."
                )
            );
        }
        let block = "\"\"\"a\r\n  \\\"\"\"\r  b\"\"\"";
        assert_eq!(kinds(block), [TokenKind::Block("a\n\"\"\"\nb".into())]);
    }

    #[test]
    fn positions_count_characters() {
        let mut lexer = Lexer::new("\"é\"\n \"ü\" a \"ö\" b");
        let mut positions = Vec::new();
        loop {
            let token = lexer.read();
            positions.push((token.at.line, token.at.column));
            if token.kind == TokenKind::End {
                break;
            }
        }
        assert_eq!(positions, [(1, 2), (2, 3), (2, 6), (2, 9), (2, 12), (2, 13)]);
    }

    #[test]
    fn refuses() {
        for text in
            ["'", "01", "1.", "-", "\"a", "\"a\nb\"", "\"\\x\"", "\"\\u12\"", "\"\"\"a", "\u{1}"]
        {
            assert!(kinds(text).iter().any(|kind| matches!(kind, TokenKind::Invalid(_))), "{text}");
        }
    }
}
