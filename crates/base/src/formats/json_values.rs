//! Terminates each value of a JSON text by a mark, so that a text in any layout is read value by
//! value.
//!
//! ```text
//! [                         ␤
//!   {"a": 1,                  {"a": 1,
//!    "b": [2, 3]},    →        "b": [2, 3]}␞ ␤
//!   {"a": 4}                  {"a": 4}␞␤
//! ]                         ␤
//! ```
//!
//! The elements of an array at the top are values, and so are values that follow each other.
//! [`END`] terminates each; no JSON has it, since strings escape it. Brackets and commas at the top
//! become blanks, and nothing else changes: each byte of a value has the same line and, but for the
//! marks before it, its column. Cost: one pass over the bytes.

use std::io::{self, Read};

/// The byte after a value: the record separator of ASCII, as in RFC 7464.
pub(super) const END: u8 = 0x1e;

/// The bytes that are read at a time.
const BUFFER_LEN: usize = 1 << 16;

/// Whether a text that begins so is JSON in another layout than a value a line: it is an array, or
/// its first value goes over several lines or has another one after it.
pub(super) fn is_spread(start: &[u8]) -> bool {
    let mut text = start.trim_ascii_start();
    match text.first() {
        Some(b'[') => true,
        Some(b'{') => {
            let mut values = Values::default();
            while let [byte, rest @ ..] = text {
                if *byte == b'\n' {
                    return true;
                }
                values.byte(*byte, &mut Vec::new());
                text = rest;
                if values.depth == 0 {
                    let behind = text.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r'));
                    return behind.is_some_and(|byte| *byte != b'\n');
                }
            }
            false
        }
        _ => false,
    }
}

/// Where a text is.
#[derive(Default)]
struct Values {
    /// The brackets that are open within a value.
    depth: u64,
    is_in_array: bool,
    is_in_string: bool,
    is_escaped: bool,
    /// Within a number or a word at the top.
    is_in_word: bool,
}

impl Values {
    fn byte(&mut self, byte: u8, out: &mut Vec<u8>) {
        if self.is_in_string {
            out.push(byte);
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => {
                    self.is_in_string = false;
                    self.end_of_value(out);
                }
                _ => {}
            }
            return;
        }
        if self.depth == 0 {
            return self.byte_at_top(byte, out);
        }
        match byte {
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth -= 1,
            b'"' => self.is_in_string = true,
            _ => {}
        }
        out.push(byte);
        if matches!(byte, b'}' | b']') {
            self.end_of_value(out);
        }
    }

    fn byte_at_top(&mut self, byte: u8, out: &mut Vec<u8>) {
        let is_after_word = matches!(byte, b'\n' | b' ' | b'\t' | b'\r' | b',' | b']');
        if self.is_in_word && is_after_word {
            self.is_in_word = false;
            out.push(END);
        }
        match byte {
            b'\n' | b' ' | b'\t' | b'\r' => out.push(byte),
            b',' if self.is_in_array => out.push(b' '),
            b']' if self.is_in_array => {
                self.is_in_array = false;
                out.push(b' ');
            }
            b'[' if !self.is_in_array => {
                self.is_in_array = true;
                out.push(b' ');
            }
            b'{' | b'[' => {
                self.depth = 1;
                out.push(byte);
            }
            b'"' => {
                self.is_in_string = true;
                out.push(byte);
            }
            _ => {
                self.is_in_word = true;
                out.push(byte);
            }
        }
    }

    fn end_of_value(&mut self, out: &mut Vec<u8>) {
        if self.depth == 0 && !self.is_in_string {
            out.push(END);
        }
    }
}

/// A JSON text with a mark after each value.
pub(super) struct JsonValues<R> {
    input: R,
    values: Values,
    raw: Vec<u8>,
    marked: Vec<u8>,
    /// The bytes of `marked` that were read.
    at: usize,
}

impl<R: Read> JsonValues<R> {
    /// Reads a text.
    pub(super) fn new(input: R) -> JsonValues<R> {
        JsonValues {
            input,
            values: Values::default(),
            raw: vec![0; BUFFER_LEN],
            marked: Vec::new(),
            at: 0,
        }
    }
}

impl<R: Read> Read for JsonValues<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.marked.len() {
            let len = self.input.read(&mut self.raw)?;
            if len == 0 {
                return Ok(0);
            }
            (self.at, _) = (0, self.marked.clear());
            self.raw[..len].iter().for_each(|byte| self.values.byte(*byte, &mut self.marked));
        }
        let len = buffer.len().min(self.marked.len() - self.at);
        buffer[..len].copy_from_slice(&self.marked[self.at..self.at + len]);
        self.at += len;
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str) -> String {
        let mut read = String::new();
        JsonValues::new(text.as_bytes()).read_to_string(&mut read).unwrap();
        read.replace('\u{1e}', "|")
    }

    #[test]
    fn values_are_ended() {
        #[rustfmt::skip]
        let cases = [
            ("[\n {\"a\": 1,\n  \"b\": [2, 3]},\n {\"a\": 4}\n]\n", " \n {\"a\": 1,\n  \"b\": [2, 3]}| \n {\"a\": 4}|\n \n"),
            ("[{\"a\":1},{\"a\":2}]", " {\"a\":1}| {\"a\":2}| "),
            ("{\"a\":1}{\"a\":2}\n{\n}", "{\"a\":1}|{\"a\":2}|\n{\n}|"),
            ("[]\n[]", "  \n  "),
            ("[[1,2],[3]]", " [1,2]| [3]| "),
            ("[1, \"a\\\"]\", null]", " 1|  \"a\\\"]\"|  null| "),
            ("[{\"a\":\"\\\\\"},{\"b\":\"]\"}]", " {\"a\":\"\\\\\"}| {\"b\":\"]\"}| "),
        ];
        for (text, want) in cases {
            assert_eq!(marked(text), want, "{text}");
        }
        for (text, want) in [
            ("[\n{", true),
            (" [", true),
            ("{\"a\":\n1}", true),
            ("{\"a\":1}\n{", false),
            ("{\"a", false),
            ("<a>", false),
        ] {
            assert_eq!(is_spread(text.as_bytes()), want, "{text}");
        }
    }

    proptest::proptest! {
        /// Without the marks it is the text, but for blanks in the stead of brackets and commas at
        /// the top.
        #[test]
        fn bytes_retain_their_positions(text in "[\\[\\]{}\",\\\\\n a1]{0,60}") {
            let read = marked(&text).replace('|', "");
            proptest::prop_assert_eq!(read.len(), text.len());
            for (one, other) in read.chars().zip(text.chars()) {
                let is_blank = one == ' ' && matches!(other, '[' | ']' | ',');
                proptest::prop_assert!(one == other || is_blank, "{:?} {:?}", text, read);
            }
        }
    }
}
