//! The reading position of the lexer, and the classes of characters.

use hexgraph_base::types::{Error, Position};

const NAME_START: u8 = 1;
const NAME: u8 = 2;
const LANG: u8 = 4;
const BLANK: u8 = 8;

/// For each byte the set of its classes, as bits.
static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        let letter = byte as u8;
        // A `~` before a name requests the edges backwards, and is read as a part of the name.
        // Bytes from 128 on are of no class: names with other letters stand between `<` and `>`.
        table[byte] = match letter {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'~' => NAME_START | NAME | LANG,
            b'0'..=b'9' => NAME | LANG,
            b'.' => NAME,
            b'-' | b'*' => LANG,
            b' ' | b'\t' | b'\n' | b'\r' => BLANK,
            _ => 0,
        };
        byte += 1;
    }
    table
}

/// Returns true for bytes that a name may begin with.
pub(super) fn starts_name(byte: u8) -> bool {
    CLASSES[byte as usize] & NAME_START != 0
}

/// Returns true for bytes that a name may contain, digits included.
pub(super) fn is_name(byte: u8) -> bool {
    CLASSES[byte as usize] & NAME != 0
}

/// Returns true for bytes that the name of a language or a directive may contain.
pub(super) fn is_lang(byte: u8) -> bool {
    CLASSES[byte as usize] & LANG != 0
}

/// A text and the offset up to which it has been read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'a> {
    /// The entire text.
    pub text: &'a str,
    /// The offset of the next byte.
    pub at: usize,
}

impl<'a> Cursor<'a> {
    /// Creates a cursor at the start of a text.
    pub(crate) fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, at: 0 }
    }

    /// Returns the next byte, or 0 at the end. A byte 0 in a text has no meaning either, so the two
    /// are equivalent.
    pub(crate) fn peek(&self) -> u8 {
        self.peek_at(self.at)
    }

    /// Returns the byte at an offset, or 0 after the end.
    pub(crate) fn peek_at(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    /// Returns true at the end of the text.
    pub(crate) fn is_done(&self) -> bool {
        self.at >= self.text.len()
    }

    /// Skips white space and comments.
    pub(crate) fn skip_blank(&mut self) {
        self.at = self.after_blank(self.at);
    }

    /// Skips white space, comments and commas.
    pub(crate) fn skip_blank_and_commas(&mut self) {
        self.skip_blank();
        while self.peek() == b',' {
            self.at += 1;
            self.skip_blank();
        }
    }

    /// Returns the offset after the white space and comments at `at`.
    pub(crate) fn after_blank(&self, mut at: usize) -> usize {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(at) {
            if CLASSES[byte as usize] & BLANK != 0 {
                at += 1;
            } else if byte == b'#' {
                at = bytes[at..].iter().position(|&b| b == b'\n').map_or(bytes.len(), |n| at + n);
            } else {
                break;
            }
        }
        at
    }

    /// Returns the offset after the name at `at`.
    pub(crate) fn after_name(&self, at: usize) -> usize {
        at + self.text.as_bytes()[at..].iter().take_while(|&&byte| is_name(byte)).count()
    }

    /// Returns the offset after the language at `at`.
    pub(crate) fn after_lang(&self, at: usize) -> usize {
        at + self.text.as_bytes()[at..].iter().take_while(|&&byte| is_lang(byte)).count()
    }

    /// Returns the character at an offset in quotes, for a message.
    pub(crate) fn shown(&self, at: usize) -> String {
        match self.text.get(at..).and_then(|rest| rest.chars().next()) {
            Some('\n') => "the end of the line".to_owned(),
            Some(letter) => format!("`{letter}`"),
            None => "the end of the text".to_owned(),
        }
    }

    /// Makes a syntax error at an offset.
    pub(crate) fn error(
        &self,
        at: usize,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Error {
        let at = Position::of(self.text, at);
        Error::syntax(at, message.into()).with_hint(hint)
    }
}
