//! Reading JSON piece by piece.
//!
//! The caller asks for what it expects next. Values that nobody wants are skipped without being
//! kept, and nesting is bounded. The words of the errors are those of Go's `encoding/json`.

use crate::types::stack;
use std::borrow::Cow;

/// The deepest nesting of a value that is skipped.
const DEPTH_MAX: usize = 500;

const END: &str = "the JSON ends too early";

/// A place in a JSON text.
#[derive(Clone)]
pub struct JsonReader<'a> {
    text: &'a str,
    at: usize,
    /// Half of a pair of escapes is refused.
    is_strict: bool,
}

impl<'a> JsonReader<'a> {
    /// Begins at the front.
    pub fn new(text: &'a str) -> JsonReader<'a> {
        JsonReader { text, at: 0, is_strict: false }
    }

    /// The same for a text that is kept: what is no text, half of a character that is written as two escapes, is
    /// refused. Else it becomes U+FFFD, as in the reference.
    pub fn strict(text: &'a str) -> JsonReader<'a> {
        JsonReader { is_strict: true, ..JsonReader::new(text) }
    }

    /// The byte that comes next.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// The text from the byte `start` up to here.
    pub fn since(&self, start: usize) -> &'a str {
        &self.text[start..self.at]
    }

    /// The first byte of the next value, which is where the reader stands then.
    ///
    /// # Errors
    /// When nothing is left. All other methods fail with the reason why the text does not go on as
    /// they expect.
    pub fn peek(&mut self) -> Result<u8, String> {
        self.skip_blanks();
        self.byte().ok_or_else(|| END.to_string())
    }

    /// Reads an object: calls `field` with each key, which must read or skip the value.
    pub fn object(
        &mut self,
        mut field: impl FnMut(Cow<'a, str>, &mut JsonReader<'a>) -> Result<(), String>,
    ) -> Result<(), String> {
        stack::require();
        self.expect(b'{', "where a value should be")?;
        if self.peek()? == b'}' {
            self.at += 1;
            return Ok(());
        }
        loop {
            if self.peek()? != b'"' {
                return Err(self.unexpected("where a key should be"));
            }
            let key = self.string()?;
            self.expect(b':', "after a key")?;
            field(key, self)?;
            match self.peek()? {
                b',' => self.at += 1,
                b'}' => break,
                _ => return Err(self.unexpected("after a value")),
            }
        }
        self.at += 1;
        Ok(())
    }

    /// Reads an array: calls `element` before each element, which must read or skip it.
    pub fn array(
        &mut self,
        mut element: impl FnMut(&mut JsonReader<'a>) -> Result<(), String>,
    ) -> Result<(), String> {
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
                _ => return Err(self.unexpected("after an element")),
            }
        }
        self.at += 1;
        Ok(())
    }

    /// Reads a string. Copies it only when escapes stand in it.
    pub fn string(&mut self) -> Result<Cow<'a, str>, String> {
        self.expect(b'"', "where a value should be")?;
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f));
            let plain = plain.ok_or_else(|| END.to_string())?;
            let (text, end) = (&rest[..plain], rest.as_bytes()[plain]);
            self.at += plain;
            if end == b'"' {
                self.at += 1;
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
    pub fn number(&mut self) -> Result<f64, String> {
        let text = self.number_text()?;
        let number: f64 = text.parse().unwrap_or(f64::NAN);
        if number.is_finite() {
            return Ok(number);
        }
        Err(format!("the number {text} is too large"))
    }

    /// Reads a number as it is written.
    pub fn number_text(&mut self) -> Result<&'a str, String> {
        if !matches!(self.peek()?, b'-' | b'0'..=b'9') {
            return Err(self.unexpected("where a value should be"));
        }
        let start = self.at;
        self.skip_number()?;
        Ok(self.since(start))
    }

    /// Reads `true`, `false` or `null`, which is `None`.
    pub fn word(&mut self) -> Result<Option<bool>, String> {
        let (word, meaning) = match self.peek()? {
            b't' => ("true", Some(true)),
            b'f' => ("false", Some(false)),
            b'n' => ("null", None),
            _ => return Err(self.unexpected("where a value should be")),
        };
        self.skip_word(word)?;
        Ok(meaning)
    }

    /// Skips any value. Fails where it is not JSON, or nested too deep.
    pub fn skip(&mut self) -> Result<(), String> {
        self.skip_nested(0)
    }

    /// Fails unless nothing is left.
    pub fn end(&mut self) -> Result<(), String> {
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

    fn expect(&mut self, wanted: u8, place: &str) -> Result<(), String> {
        if self.peek()? != wanted {
            return Err(self.unexpected(place));
        }
        self.at += 1;
        Ok(())
    }

    fn unexpected(&self, place: &str) -> String {
        match self.text[self.at..].chars().next() {
            None => END.to_string(),
            Some('\'') => format!("unexpected `'` {place}"),
            Some('"') => format!("unexpected `\"` {place}"),
            Some(letter) => format!("unexpected `{letter}` {place}"),
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        self.at += 1;
        let letter = match self.byte().ok_or_else(|| END.to_string())? {
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

    /// Reads `uXXXX`, and another such that completes it; half of a pair gives U+FFFD, or is refused.
    fn unicode_escape(&mut self) -> Result<char, String> {
        let start = self.at - 1;
        let first = self.four_digits()?;
        if (0xd800..0xdc00).contains(&first) && self.text[self.at..].starts_with("\\u") {
            let mut ahead = self.clone();
            ahead.at += 1;
            let second = ahead.four_digits()?;
            if (0xdc00..0xe000).contains(&second) {
                self.at = ahead.at;
                let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
        }
        match char::from_u32(first) {
            Some(letter) => Ok(letter),
            None if self.is_strict => {
                self.at = start;
                Err(format!("`\\u{first:04x}` is half of a character, without its other half"))
            }
            None => Ok(char::REPLACEMENT_CHARACTER),
        }
    }

    fn four_digits(&mut self) -> Result<u32, String> {
        self.at += 1;
        let mut code = 0;
        for _ in 0..4 {
            let byte = self.byte().ok_or_else(|| END.to_string())?;
            let Some(digit) = (byte as char).to_digit(16) else {
                return Err(self.unexpected("in an escape"));
            };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }

    fn skip_number(&mut self) -> Result<(), String> {
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

    fn skip_digits(&mut self, place: &str) -> Result<(), String> {
        let start = self.at;
        while self.byte().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start { Err(self.unexpected(place)) } else { Ok(()) }
    }

    fn skip_nested(&mut self, depth: usize) -> Result<(), String> {
        if depth > DEPTH_MAX {
            return Err("it is nested too deep".to_string());
        }
        match self.peek()? {
            b'{' => self.object(|_, value| value.skip_nested(depth + 1)),
            b'[' => self.array(|value| value.skip_nested(depth + 1)),
            b'"' => self.string().map(drop),
            b'-' | b'0'..=b'9' => self.skip_number(),
            _ => self.word().map(drop),
        }
    }

    fn skip_word(&mut self, word: &str) -> Result<(), String> {
        for wanted in word.chars() {
            if self.byte() != Some(wanted as u8) {
                let place = format!("in `{word}`");
                return Err(self.unexpected(&place));
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

    fn check(text: &str) -> Result<(), String> {
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
            assert_eq!(check(text).unwrap_err(), expected);
        }
        assert_eq!(check(&"[".repeat(100_000)).unwrap_err(), "it is nested too deep");
    }

    #[test]
    fn unescapes() {
        let text = r#""a\n\u00e9\ud83d\ude00\ud83dx\/""#;
        assert_eq!(JsonReader::new(text).string().unwrap(), "a\né😀\u{fffd}x/");
        let why = JsonReader::strict(text).string().unwrap_err();
        assert!(why.contains("is half of a character, without its other half"), "{why}");
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
