//! Reading JSON chunk by chunk.
//!
//! The caller requests what it expects next. Unneeded values are skipped, and nesting is bounded.
//! The words of the errors are those of Go's `encoding/json`.

use crate::types::stack;
use std::borrow::Cow;

/// The deepest nesting of a value that is skipped.
const DEPTH_MAX: usize = 500;

/// Why a text can't be read as the JSON that was expected. [`JsonReader::offset`] says where the
/// reader stands then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// Unexpected end of the text.
    #[error("the JSON ends too early")]
    End,
    /// JSON has no such character here.
    #[error("unexpected `{letter}` {position}")]
    Unexpected {
        /// The actual character.
        letter: char,
        /// Where it stands, as the end of a sentence: `after a key`.
        position: &'static str,
    },
    /// The number is finite in the text, but not as a float of 64 bits.
    #[error("the number {text} is too large")]
    NumberTooLarge {
        /// The number as it is written.
        text: String,
    },
    /// An escape is half of a surrogate pair, and the other half does not follow. Only a strict
    /// reader refuses it.
    #[error("`\\u{code:04x}` is half of a character, without its other half")]
    HalfCharacter {
        /// The code unit that the escape names.
        code: u32,
    },
    /// Objects and arrays are nested deeper than the reader follows them.
    #[error("it is nested too deep")]
    TooDeep,
}

/// A position in a JSON text, from which values are read one after the other.
#[derive(Clone)]
pub struct JsonReader<'a> {
    text: &'a str,
    /// The offset of the next byte. It always lies between two characters.
    at: usize,
    /// True if half of a surrogate pair is refused, false if it is read as U+FFFD.
    is_strict: bool,
}

impl<'a> JsonReader<'a> {
    /// Returns a reader at the start of a text. It reads an escape that is half of a surrogate pair
    /// as U+FFFD, which is what Go's `encoding/json` does.
    pub fn new(text: &'a str) -> JsonReader<'a> {
        JsonReader { text, at: 0, is_strict: false }
    }

    /// Returns a reader that refuses an escape that is half of a surrogate pair. It is for texts
    /// that are stored, which must come back as they were written.
    pub fn strict(text: &'a str) -> JsonReader<'a> {
        JsonReader { is_strict: true, ..JsonReader::new(text) }
    }

    /// Returns the offset of the next byte to be read.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Returns the text from the offset `start` up to the next byte to be read.
    pub fn since(&self, start: usize) -> &'a str {
        &self.text[start..self.at]
    }

    /// Skips blanks and returns the next byte, without reading it.
    ///
    /// # Errors
    ///
    /// [`JsonError::End`] when nothing is left. All other methods fail when the text does not go on
    /// as they expect; the reader then stands at the byte that does not fit.
    pub fn peek(&mut self) -> Result<u8, JsonError> {
        self.skip_blanks();
        self.byte().ok_or(JsonError::End)
    }

    /// Reads an object: calls `field` with each key, which must read or skip the value. The
    /// caller's errors end the reading, as those of the reader do.
    pub fn object<E: From<JsonError>>(
        &mut self,
        mut field: impl FnMut(Cow<'a, str>, &mut JsonReader<'a>) -> Result<(), E>,
    ) -> Result<(), E> {
        stack::require();
        self.expect(b'{', "where a value should be")?;
        if self.peek()? == b'}' {
            self.at += 1;
            return Ok(());
        }
        loop {
            if self.peek()? != b'"' {
                return Err(self.unexpected("where a key should be").into());
            }
            let key = self.string()?;
            self.expect(b':', "after a key")?;
            field(key, self)?;
            match self.peek()? {
                b',' => self.at += 1,
                b'}' => break,
                _ => return Err(self.unexpected("after a value").into()),
            }
        }
        self.at += 1;
        Ok(())
    }

    /// Reads an array: calls `element` before each element, which must read or skip it. The
    /// caller's errors end the reading, as those of the reader do.
    pub fn array<E: From<JsonError>>(
        &mut self,
        mut element: impl FnMut(&mut JsonReader<'a>) -> Result<(), E>,
    ) -> Result<(), E> {
        stack::require();
        self.expect(b'[', "where a value should be")?;
        if self.peek()? == b']' {
            self.at += 1;
            return Ok(());
        }
        loop {
            element(self)?;
            match self.peek()? {
                b',' => self.at += 1,
                b']' => break,
                _ => return Err(self.unexpected("after an element").into()),
            }
        }
        self.at += 1;
        Ok(())
    }

    /// Reads a string. Copies it only when escapes are in it.
    pub fn string(&mut self) -> Result<Cow<'a, str>, JsonError> {
        self.expect(b'"', "where a value should be")?;
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f));
            let plain = plain.ok_or(JsonError::End)?;
            let (text, end) = (&rest[..plain], rest.as_bytes()[plain]);
            self.at += plain;
            if end == b'"' {
                self.at += 1;
                // Each escape puts a character into `out`: an empty one means that there was none.
                if out.is_empty() {
                    return Ok(Cow::Borrowed(text));
                }
                out.push_str(text);
                return Ok(Cow::Owned(out));
            }
            if end != b'\\' {
                return Err(self.unexpected("in a string"));
            }
            out.push_str(text);
            out.push(self.escape()?);
        }
    }

    /// Reads a finite number.
    pub fn number(&mut self) -> Result<f64, JsonError> {
        let text = self.number_text()?;
        let number: f64 = text.parse().unwrap_or(f64::NAN);
        if number.is_finite() {
            return Ok(number);
        }
        Err(JsonError::NumberTooLarge { text: text.to_owned() })
    }

    /// Reads a number as it is written.
    pub fn number_text(&mut self) -> Result<&'a str, JsonError> {
        if !matches!(self.peek()?, b'-' | b'0'..=b'9') {
            return Err(self.unexpected("where a value should be"));
        }
        let start = self.at;
        self.skip_number()?;
        Ok(self.since(start))
    }

    /// Reads `true`, `false` or `null`, which is `None`.
    pub fn word(&mut self) -> Result<Option<bool>, JsonError> {
        let (word, position, meaning) = match self.peek()? {
            b't' => ("true", "in `true`", Some(true)),
            b'f' => ("false", "in `false`", Some(false)),
            b'n' => ("null", "in `null`", None),
            _ => return Err(self.unexpected("where a value should be")),
        };
        self.skip_word(word, position)?;
        Ok(meaning)
    }

    /// Skips any value. Fails when it is not JSON, or when objects and arrays are nested in it more
    /// than 500 deep.
    pub fn skip(&mut self) -> Result<(), JsonError> {
        self.skip_nested(0)
    }

    /// Fails unless nothing is left.
    pub fn end(&mut self) -> Result<(), JsonError> {
        self.skip_blanks();
        match self.byte() {
            None => Ok(()),
            Some(_) => Err(self.unexpected("after the end")),
        }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while matches!(self.byte(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn expect(&mut self, expected: u8, position: &'static str) -> Result<(), JsonError> {
        if self.peek()? != expected {
            return Err(self.unexpected(position));
        }
        self.at += 1;
        Ok(())
    }

    /// Returns the error for the next character, which does not fit.
    fn unexpected(&self, position: &'static str) -> JsonError {
        match self.text[self.at..].chars().next() {
            None => JsonError::End,
            Some(letter) => JsonError::Unexpected { letter, position },
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        self.at += 1;
        let letter = match self.byte().ok_or(JsonError::End)? {
            b'u' => return self.unicode_escape(),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            byte @ (b'"' | b'\\' | b'/') => byte as char,
            _ => return Err(self.unexpected("in an escape")),
        };
        self.at += 1;
        Ok(letter)
    }

    /// Reads `uXXXX`, and a second escape when the first is a high surrogate that the second
    /// completes. Half of a pair gives U+FFFD, or is refused by a strict reader.
    fn unicode_escape(&mut self) -> Result<char, JsonError> {
        let start = self.at - 1;
        let first = self.four_digits()?;
        // RFC 8259, section 7: a character beyond U+FFFF is written as two escapes, a high
        // surrogate and a low one.
        if (0xd800..0xdc00).contains(&first) && self.text[self.at..].starts_with("\\u") {
            let mut lookahead = self.clone();
            lookahead.at += 1;
            let second = lookahead.four_digits()?;
            if (0xdc00..0xe000).contains(&second) {
                self.at = lookahead.at;
                let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
        }
        match char::from_u32(first) {
            Some(letter) => Ok(letter),
            None if self.is_strict => {
                self.at = start;
                Err(JsonError::HalfCharacter { code: first })
            }
            None => Ok(char::REPLACEMENT_CHARACTER),
        }
    }

    fn four_digits(&mut self) -> Result<u32, JsonError> {
        self.at += 1;
        let mut code = 0;
        for _ in 0..4 {
            let byte = self.byte().ok_or(JsonError::End)?;
            let Some(digit) = (byte as char).to_digit(16) else {
                return Err(self.unexpected("in an escape"));
            };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }

    fn skip_number(&mut self) -> Result<(), JsonError> {
        if self.byte() == Some(b'-') {
            self.at += 1;
        }
        match self.byte() {
            Some(b'0') => self.at += 1,
            _ => self.skip_digits("in a number")?,
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.skip_digits("after the point of a number")?;
        }
        if matches!(self.byte(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.byte(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.skip_digits("in the exponent of a number")?;
        }
        Ok(())
    }

    fn skip_digits(&mut self, position: &'static str) -> Result<(), JsonError> {
        let start = self.at;
        while self.byte().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start { Err(self.unexpected(position)) } else { Ok(()) }
    }

    fn skip_nested(&mut self, depth: usize) -> Result<(), JsonError> {
        if depth > DEPTH_MAX {
            return Err(JsonError::TooDeep);
        }
        match self.peek()? {
            b'{' => self.object(|_, value| value.skip_nested(depth + 1)),
            b'[' => self.array(|value| value.skip_nested(depth + 1)),
            b'"' => self.string().map(drop),
            b'-' | b'0'..=b'9' => self.skip_number(),
            _ => self.word().map(drop),
        }
    }

    fn skip_word(&mut self, word: &str, position: &'static str) -> Result<(), JsonError> {
        for expected in word.bytes() {
            if self.byte() != Some(expected) {
                return Err(self.unexpected(position));
            }
            self.at += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str) -> Result<(), JsonError> {
        let mut reader = JsonReader::new(text);
        reader.skip()?;
        reader.end()
    }

    #[test]
    fn says_what_is_wrong() {
        for (text, expected) in [
            ("", "the JSON ends too early"),
            ("{", "the JSON ends too early"),
            ("thisisntjson", "unexpected `h` in `true`"),
            ("{'a':1}", "unexpected `'` where a key should be"),
            ("[1 2]", "unexpected `2` after an element"),
            ("{\"a\" 1}", "unexpected `1` after a key"),
            ("{\"a\":1 2}", "unexpected `2` after a value"),
            ("1 x", "unexpected `x` after the end"),
            ("é", "unexpected `é` where a value should be"),
        ] {
            assert_eq!(check(text).unwrap_err().to_string(), expected);
        }
        assert_eq!(check(&"[".repeat(100_000)), Err(JsonError::TooDeep));
    }

    #[test]
    fn unescapes() {
        let text = r#""a\n\u00e9\ud83d\ude00\ud83dx\/""#;
        assert_eq!(JsonReader::new(text).string().unwrap(), "a\né😀\u{fffd}x/");
        let why = JsonReader::strict(text).string().unwrap_err();
        assert_eq!(why, JsonError::HalfCharacter { code: 0xd83d });
        let shown = "`\\ud83d` is half of a character, without its other half";
        assert_eq!(why.to_string(), shown);
        assert_eq!(JsonReader::strict(r#""\ud83d\ude00""#).string().unwrap(), "😀");
    }

    proptest! {
        #[test]
        fn accepts_what_serde_accepts(text in "[\\[\\]{}:,\"a01.eE+\\- nulltrfs\\\\]{0,16}") {
            let theirs = serde_json::from_str::<serde_json::Value>(&text).is_ok();
            prop_assert_eq!(check(&text).is_ok(), theirs, "{}", text);
        }

        #[test]
        fn any_text_is_survived(text in "\\PC*") {
            let _ = check(&text);
        }
    }
}
