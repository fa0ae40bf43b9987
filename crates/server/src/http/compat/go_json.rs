//! Errors of a text that is no JSON, in the words that clients of Dgraph know: those of Go's
//! reader.
//!
//! One pass over the bytes with a stack of open objects and lists, made only when another reader
//! has refused the text.

use crate::http::message::request_error::RequestError;

/// The first fault of a text.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::http) struct Fault {
    /// How many bytes had been read, the wrong one included.
    pub offset: usize,
    /// What is wrong; `None` for an unexpected end of the text.
    pub message: Option<String>,
}

/// The first fault of a text that should be one value. `None` where it is JSON as far as its
/// grammar goes: the other reader then had a reason that Go has not, such as a depth, and its own
/// words are reported. O(length), with a byte for each open bracket.
pub(in crate::http) fn fault(text: &[u8]) -> Option<Fault> {
    let mut scan = Scan { text, at: 0, open: Vec::new() };
    scan.document().err().map(|wrong| match wrong {
        Wrong::Truncated => Fault { offset: text.len(), message: None },
        Wrong::Byte(context) => {
            let message = format!("invalid character {} {context}", quoted(text[scan.at]));
            // The scan stops at the wrong byte without passing it, so the position is that of a
            // byte of the text.
            Fault { offset: scan.at + 1, message: Some(message) }
        }
    })
}

/// Returns the first fault of the body of a request, with its position, which Dgraph counts
/// from the start of the line up to the byte after the wrong one. `None` where the body is JSON as
/// far as its grammar goes.
pub(in crate::http) fn request_error(body: &str) -> Option<RequestError> {
    let fault = fault(body.as_bytes())?;
    let read = &body.as_bytes()[..body.len().min(fault.offset + 1)];
    let line = read.iter().filter(|byte| **byte == b'\n').count() + 1;
    let behind = read.iter().rev().take_while(|byte| **byte != b'\n').count();
    // The end of the line before counts as well.
    let column = behind + usize::from(line > 1);
    let reason = fault.message.unwrap_or_else(|| "unexpected end of JSON input".to_owned());
    Some(RequestError::NoJson { line, column, reason: reason + "\n" })
}

/// What is wrong where the scan has stopped.
enum Wrong {
    /// Unexpected end within a value.
    Truncated,
    /// The byte at hand is wrong; the text names its context, in the words of Go.
    Byte(String),
}

struct Scan<'a> {
    text: &'a [u8],
    at: usize,
    /// True for an object, false for a list.
    open: Vec<bool>,
}

impl Scan<'_> {
    fn document(&mut self) -> Result<(), Wrong> {
        self.value()?;
        while let Some(&is_object) = self.open.last() {
            match (self.skip_space()?, is_object) {
                (b',', true) => {
                    self.at += 1;
                    self.key()?;
                    self.value()?;
                }
                (b',', false) => {
                    self.at += 1;
                    self.value()?;
                }
                (b'}', true) | (b']', false) => self.close(),
                (_, true) => return wrong("after object key:value pair"),
                (_, false) => return wrong("after array element"),
            }
        }
        match self.skip_space() {
            Ok(_) => wrong("after top-level value"),
            Err(_) => Ok(()),
        }
    }

    /// Reads an entire scalar, or what an object or list begins with, down to its first scalar.
    fn value(&mut self) -> Result<(), Wrong> {
        loop {
            match self.skip_space()? {
                b'{' => {
                    self.begin(true);
                    if self.skip_space()? == b'}' {
                        self.close();
                        return Ok(());
                    }
                    self.key()?;
                }
                b'[' => {
                    self.begin(false);
                    if self.skip_space()? == b']' {
                        self.close();
                        return Ok(());
                    }
                }
                b'"' => return self.string(),
                b'-' | b'0'..=b'9' => return self.number(),
                b't' => return self.word("true"),
                b'f' => return self.word("false"),
                b'n' => return self.word("null"),
                _ => return wrong("looking for beginning of value"),
            }
        }
    }

    fn begin(&mut self, is_object: bool) {
        self.open.push(is_object);
        self.at += 1;
    }

    fn close(&mut self) {
        self.open.pop();
        self.at += 1;
    }

    fn key(&mut self) -> Result<(), Wrong> {
        if self.skip_space()? != b'"' {
            return wrong("looking for beginning of object key string");
        }
        self.string()?;
        if self.skip_space()? != b':' {
            return wrong("after object key");
        }
        self.at += 1;
        Ok(())
    }

    fn string(&mut self) -> Result<(), Wrong> {
        self.at += 1;
        loop {
            match self.byte()? {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                b'\\' => {
                    self.at += 1;
                    self.escape()?;
                }
                0..0x20 => return wrong("in string literal"),
                _ => self.at += 1,
            }
        }
    }

    fn escape(&mut self) -> Result<(), Wrong> {
        match self.byte()? {
            b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"' => self.at += 1,
            b'u' => {
                self.at += 1;
                for _ in 0..4 {
                    if !self.byte()?.is_ascii_hexdigit() {
                        return wrong("in \\u hexadecimal character escape");
                    }
                    self.at += 1;
                }
            }
            _ => return wrong("in string escape code"),
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), Wrong> {
        if self.byte()? == b'-' {
            self.at += 1;
        }
        match self.byte()? {
            b'0' => self.at += 1,
            // The first digit is there, so nothing can be wrong.
            b'1'..=b'9' => self.digits("")?,
            _ => return wrong("in numeric literal"),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits("after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits("in exponent of numeric literal")?;
        }
        Ok(())
    }

    /// Reads at least one digit; `context` says where one is missing.
    fn digits(&mut self, context: &str) -> Result<(), Wrong> {
        if !self.byte()?.is_ascii_digit() {
            return wrong(context);
        }
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }

    fn word(&mut self, word: &str) -> Result<(), Wrong> {
        for expected in word.bytes() {
            if self.byte()? != expected {
                let expected = char::from(expected);
                return wrong(&format!("in literal {word} (expecting '{expected}')"));
            }
            self.at += 1;
        }
        Ok(())
    }

    fn skip_space(&mut self) -> Result<u8, Wrong> {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
        self.byte()
    }

    fn byte(&self) -> Result<u8, Wrong> {
        self.peek().ok_or(Wrong::Truncated)
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }
}

fn wrong(context: &str) -> Result<(), Wrong> {
    Err(Wrong::Byte(context.to_owned()))
}

/// A byte as Go quotes it: as the character of its number.
fn quoted(byte: u8) -> String {
    match byte {
        b'\'' => r"'\''".to_owned(),
        b'\\' => r"'\\'".to_owned(),
        7 => r"'\a'".to_owned(),
        8 => r"'\b'".to_owned(),
        9 => r"'\t'".to_owned(),
        10 => r"'\n'".to_owned(),
        11 => r"'\v'".to_owned(),
        12 => r"'\f'".to_owned(),
        13 => r"'\r'".to_owned(),
        0..0x20 | 0x7f => format!("'\\x{byte:02x}'"),
        0x80..=0xa0 | 0xad => format!("'\\u{:04x}'", u32::from(byte)),
        _ => format!("'{}'", char::from(byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_reported() {
        let cases: [(&str, usize, &str); 25] = [
            ("x", 1, "invalid character 'x' looking for beginning of value"),
            ("\u{1f}", 1, "invalid character '\\x1f' looking for beginning of value"),
            ("[1,]", 4, "invalid character ']' looking for beginning of value"),
            ("{,", 2, "invalid character ',' looking for beginning of object key string"),
            ("{\"a\":1,}", 8, "invalid character '}' looking for beginning of object key string"),
            ("{a:1}", 2, "invalid character 'a' looking for beginning of object key string"),
            ("{\"a\" 1}", 6, "invalid character '1' after object key"),
            ("{\"a\":1 2}", 8, "invalid character '2' after object key:value pair"),
            ("{\"a\":[1}", 8, "invalid character '}' after array element"),
            ("[1 2]", 4, "invalid character '2' after array element"),
            ("\"a\nb\"", 3, "invalid character '\\n' in string literal"),
            ("\"\\x\"", 3, "invalid character 'x' in string escape code"),
            ("\"\\u12g4\"", 6, "invalid character 'g' in \\u hexadecimal character escape"),
            ("-a", 2, "invalid character 'a' in numeric literal"),
            ("1.a", 3, "invalid character 'a' after decimal point in numeric literal"),
            ("1e+a", 4, "invalid character 'a' in exponent of numeric literal"),
            ("01", 2, "invalid character '1' after top-level value"),
            ("trie", 3, "invalid character 'i' in literal true (expecting 'u')"),
            ("{} '", 4, "invalid character '\\'' after top-level value"),
            ("é", 1, "invalid character 'Ã' looking for beginning of value"),
            ("{\"a\":", 5, ""),
            ("", 0, ""),
            ("[[[", 3, ""),
            ("\"a", 2, ""),
            ("nul", 3, ""),
        ];
        for (text, offset, message) in cases {
            let message = (!message.is_empty()).then(|| message.to_owned());
            assert_eq!(fault(text.as_bytes()), Some(Fault { offset, message }), "{text}");
        }
        for fine in ["{}", " [ ] ", "[{\"a\":[1,-0.5e-3]},\"\\u00e9\",true,false,null]\n", "0"] {
            assert_eq!(fault(fine.as_bytes()), None, "{fine}");
        }
        assert!(fault(&[b'['; 1 << 20]).is_some());
    }
}
