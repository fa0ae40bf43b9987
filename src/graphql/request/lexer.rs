//! Text → tokens, one at a time, in one pass. Places are counted in characters as the reference counts them:
//! a string's place is that of its first character behind the quotes.

use std::borrow::Cow;
use std::fmt;

use crate::graphql::request::Location;

/// A piece of the text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token<'t> {
    pub kind: TokenKind<'t>,
    pub at: Location,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind<'t> {
    End,
    /// One of `! $ & ( ) : = @ [ ] { } |`.
    Mark(u8),
    Spread,
    Name(&'t str),
    Int(&'t str),
    Float(&'t str),
    String(Cow<'t, str>),
    Block(String),
    /// Not a token; the reason.
    Invalid(String),
}

impl TokenKind<'_> {
    /// The name of the kind alone, as messages say what was found.
    pub fn word(&self) -> Cow<'static, str> {
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
pub(super) struct Lexer<'t> {
    text: &'t str,
    /// The byte that is read next.
    at: usize,
    /// Up to which byte `line` and `column` are counted.
    counted: usize,
    line: u32,
    column: u32,
}

impl<'t> Lexer<'t> {
    pub fn new(text: &'t str) -> Lexer<'t> {
        Lexer { text, at: 0, counted: 0, line: 1, column: 1 }
    }

    /// The next token; [`TokenKind::End`] again and again at the end.
    pub fn read(&mut self) -> Token<'t> {
        self.skip_blanks();
        let start = self.at;
        let at = self.locate(start);
        let kind = match self.peek() {
            None => TokenKind::End,
            Some(
                mark @ (b'!' | b'$' | b'&' | b'(' | b')' | b':' | b'=' | b'@' | b'[' | b']' | b'{'
                | b'|' | b'}'),
            ) => {
                self.at += 1;
                TokenKind::Mark(mark)
            }
            Some(b'.') if self.text[start..].starts_with("...") => {
                self.at += 3;
                TokenKind::Spread
            }
            Some(b'_' | b'a'..=b'z' | b'A'..=b'Z') => {
                self.skip_while(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
                TokenKind::Name(&self.text[start..self.at])
            }
            Some(b'-' | b'0'..=b'9') => self.read_number(),
            Some(b'"') => return self.read_quoted(),
            Some(_) => self.refuse_character(),
        };
        Token { kind, at }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_while(&mut self, accept: impl Fn(u8) -> bool) -> usize {
        let start = self.at;
        while self.peek().is_some_and(&accept) {
            self.at += 1;
        }
        self.at - start
    }

    fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b',' | b'\n' | b'\r') => self.at += 1,
                Some(b'#') => {
                    self.skip_while(|byte| byte != b'\n' && byte != b'\r');
                }
                Some(0xef) if self.text[self.at..].starts_with('\u{feff}') => self.at += 3,
                _ => return,
            }
        }
    }

    /// Line and column of the byte `to`, which is not before the last one asked for.
    fn locate(&mut self, to: usize) -> Location {
        let bytes = self.text.as_bytes();
        for at in self.counted..to {
            match bytes[at] {
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
        Location { line: self.line, column: self.column }
    }

    fn refuse_character(&mut self) -> TokenKind<'t> {
        let character = self.text[self.at..].chars().next().unwrap_or('\0');
        self.at += character.len_utf8();
        TokenKind::Invalid(match character {
            '\'' => {
                "Unexpected single quote character ('), did you mean to use a double quote (\")?"
                    .to_owned()
            }
            control if u32::from(control) < 0x20 => {
                format!("Cannot contain the invalid character \"\\u{:04}\"", u32::from(control))
            }
            other => format!("Cannot parse the unexpected character \"{other}\"."),
        })
    }

    fn read_number(&mut self) -> TokenKind<'t> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let zero = self.peek() == Some(b'0');
        match self.skip_while(|byte| byte.is_ascii_digit()) {
            0 => return self.number_fault("expected digit but got"),
            1 => {}
            _ if zero => {
                return TokenKind::Invalid("Invalid number, unexpected digit after 0.".to_owned());
            }
            _ => {}
        }
        let mut float = false;
        if self.peek() == Some(b'.') {
            float = true;
            self.at += 1;
            if self.skip_while(|byte| byte.is_ascii_digit()) == 0 {
                return self.number_fault("expected digit but got");
            }
        }
        if let Some(b'e' | b'E') = self.peek() {
            float = true;
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            if self.skip_while(|byte| byte.is_ascii_digit()) == 0 {
                return self.number_fault("expected digit but got");
            }
        }
        let text = &self.text[start..self.at];
        if float { TokenKind::Float(text) } else { TokenKind::Int(text) }
    }

    fn number_fault(&self, what: &str) -> TokenKind<'t> {
        let next = self.text[self.at..].chars().next();
        let next =
            next.map_or("<EOF>".to_owned(), |character| format!("{:?}", character.to_string()));
        TokenKind::Invalid(format!("Invalid number, {what}: {next}."))
    }

    fn read_quoted(&mut self) -> Token<'t> {
        if self.text[self.at..].starts_with("\"\"\"") {
            let at = self.locate(self.at + 3);
            return Token { kind: self.read_block(), at };
        }
        let at = self.locate(self.at + 1);
        Token { kind: self.read_string(), at }
    }

    fn read_string(&mut self) -> TokenKind<'t> {
        self.at += 1;
        let start = self.at;
        let mut changed: Option<String> = None;
        let mut plain = start;
        loop {
            match self.peek() {
                None | Some(b'\n' | b'\r') => {
                    return TokenKind::Invalid("Unterminated string.".to_owned());
                }
                Some(b'"') => break,
                Some(b'\\') => {
                    let text = changed.get_or_insert_with(String::new);
                    text.push_str(&self.text[plain..self.at]);
                    match read_escape(&self.text[self.at + 1..]) {
                        Some((character, length)) => {
                            text.push(character);
                            self.at += 1 + length;
                        }
                        None => return self.escape_fault(),
                    }
                    plain = self.at;
                }
                Some(control) if control < 0x20 && control != b'\t' => {
                    return TokenKind::Invalid(format!(
                        "Invalid character within String: \"\\u{control:04}\"."
                    ));
                }
                Some(_) => self.at += 1,
            }
        }
        let rest = &self.text[plain..self.at];
        self.at += 1;
        TokenKind::String(match changed {
            Some(text) => Cow::Owned(text + rest),
            None => Cow::Borrowed(rest),
        })
    }

    fn escape_fault(&mut self) -> TokenKind<'t> {
        let rest = &self.text[self.at + 1..];
        self.at = self.text.len();
        let escape: String = match rest.starts_with('u') {
            true => rest.chars().take(5).collect(),
            false => rest.chars().take(1).collect(),
        };
        TokenKind::Invalid(format!("Invalid character escape sequence: \\{escape}."))
    }

    fn read_block(&mut self) -> TokenKind<'t> {
        self.at += 3;
        let mut raw = String::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(next) = rest.find(['"', '\\', '\r']) else {
                self.at = self.text.len();
                return TokenKind::Invalid("Unterminated string.".to_owned());
            };
            raw.push_str(&rest[..next]);
            self.at += next;
            let rest = &rest[next..];
            if rest.starts_with("\"\"\"") {
                self.at += 3;
                return TokenKind::Block(block_value(&raw));
            }
            let (piece, length) = match rest.as_bytes() {
                [b'\\', b'"', b'"', b'"', ..] => ("\"\"\"", 4),
                [b'\r', b'\n', ..] => ("\n", 2),
                [b'\r', ..] => ("\n", 1),
                _ => (&rest[..1], 1),
            };
            raw.push_str(piece);
            self.at += length;
        }
    }
}

/// The character that an escape stands for and the bytes behind the backslash. Two `\u` that make up a
/// surrogate pair are one character; half a pair is the replacement character.
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

/// A block string without the indentation that its lines share and without blank lines around it.
fn block_value(raw: &str) -> String {
    let lines: Vec<&str> = raw.split('\n').collect();
    let blank = |line: &&str| line.trim_start_matches([' ', '\t']).is_empty();
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
    }

    #[test]
    fn places_count_characters() {
        let mut lexer = Lexer::new("é\n ü a \"ö\" b");
        let mut places = Vec::new();
        loop {
            let token = lexer.read();
            places.push((token.at.line, token.at.column));
            if token.kind == TokenKind::End {
                break;
            }
        }
        assert_eq!(places, [(1, 1), (2, 2), (2, 4), (2, 7), (2, 10), (2, 11)]);
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
