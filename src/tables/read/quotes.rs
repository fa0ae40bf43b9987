//! Quotes of a text file that are never closed. The rest of the file would be one cell, so it is an error instead.
//!
//! A quote opens where a cell begins, and is a letter elsewhere. Within quotes two of them are one letter. Bytes without a quote
//! among them are passed over sixty-four at a time.

use super::text::TextFile;
use hexgraph_base::types::{Error, Result};
use std::io::{self, Read};

/// So many bytes are looked at for a quote at once.
const STEP: usize = 64;

/// So many bytes are read at a time.
const BUFFER_LEN: usize = 1 << 16;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Where a text is that was read so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Outside,
    Inside,
    /// Behind a quote within quotes: it ended them, unless another one follows.
    Ending,
}

/// The quotes of a text that is read in pieces.
struct Quotes {
    separator: u8,
    state: State,
    /// The byte that came last.
    before: u8,
    /// The number of bytes so far.
    len: u64,
    /// The place of the quote that opened last.
    opened: u64,
}

impl Quotes {
    fn new(separator: u8) -> Quotes {
        Quotes { separator, state: State::Outside, before: b'\n', len: 0, opened: 0 }
    }

    fn read(&mut self, bytes: &[u8]) {
        let text = match bytes.strip_prefix(BYTE_ORDER_MARK) {
            Some(text) if self.len == 0 => {
                self.len = BYTE_ORDER_MARK.len() as u64;
                text
            }
            _ => bytes,
        };
        for step in text.chunks(STEP) {
            if step.contains(&b'"') {
                step.iter().for_each(|&byte| self.byte(byte));
            } else if let Some(&last) = step.last() {
                if self.state == State::Ending {
                    self.state = State::Outside;
                }
                self.before = last;
                self.len += step.len() as u64;
            }
        }
    }

    fn byte(&mut self, byte: u8) {
        let begins = matches!(self.before, b'\n' | b'\r') || self.before == self.separator;
        self.state = match (self.state, byte) {
            (State::Outside, b'"') if begins => {
                self.opened = self.len;
                State::Inside
            }
            (State::Inside, b'"') => State::Ending,
            (State::Ending, b'"') => State::Inside,
            (State::Ending, _) => State::Outside,
            (state, _) => state,
        };
        self.before = byte;
        self.len += 1;
    }

    /// The place of the quote that is open.
    fn open(&self) -> Option<u64> {
        (self.state == State::Inside).then_some(self.opened)
    }
}

/// A text whose end is an error where a quote is open.
pub(super) struct Closed<R> {
    input: R,
    quotes: Quotes,
}

impl<R: Read> Closed<R> {
    /// Reads a text with this character between its cells.
    pub(super) fn new(input: R, separator: u8) -> Closed<R> {
        Closed { input, quotes: Quotes::new(separator) }
    }
}

impl<R: Read> Read for Closed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.input.read(buffer)?;
        self.quotes.read(&buffer[..len]);
        if len == 0 && !buffer.is_empty() && self.quotes.open().is_some() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a quote is not closed"));
        }
        Ok(len)
    }
}

/// Returns the line, from 1, on which a quote opens that is never closed. It reads the file once more.
///
/// # Errors
///
/// [`Error::Io`] when the file can't be read.
pub(super) fn unclosed_line(file: &TextFile, separator: u8) -> Result<Option<u64>> {
    let mut quotes = Quotes::new(separator);
    each_piece(file, u64::MAX, |piece| quotes.read(piece))?;
    let Some(place) = quotes.open() else { return Ok(None) };
    let mut line = 1;
    each_piece(file, place, |piece| {
        line += piece.iter().filter(|&&byte| byte == b'\n').count() as u64;
    })?;
    Ok(Some(line))
}

/// Calls `each` with the first `len` bytes of a file, in pieces.
fn each_piece(file: &TextFile, len: u64, mut each: impl FnMut(&[u8])) -> Result<()> {
    let failed = |error| Error::io(format!("reading {}", file.path.display()), error);
    let mut input = file.open()?.take(len);
    let mut buffer = vec![0; BUFFER_LEN];
    loop {
        let len = input.read(&mut buffer).map_err(failed)?;
        if len == 0 {
            return Ok(());
        }
        each(&buffer[..len]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(text: &[u8], step: usize) -> Option<u64> {
        let mut quotes = Quotes::new(b',');
        text.chunks(step).for_each(|piece| quotes.read(piece));
        quotes.open()
    }

    /// Each row: text => the place of the quote that is not closed.
    #[test]
    fn quotes_that_are_not_closed() {
        #[rustfmt::skip]
        let cases: &[(&str, Option<u64>)] = &[
            ("id,a\nx,\"abc\ny,2\n", Some(7)),
            ("\"a", Some(0)),
            ("\u{feff}\"a", Some(3)),
            ("a,\"b\"\"", Some(2)),      // the second pair is a letter
            ("a,\"", Some(2)),
            ("a,\"b\"\n", None),
            ("a,\"b,\n\"\"c\"\n", None),
            ("a,\"\"\n", None),
            ("5\" pipe,6\"\n", None),   // within a cell it is a letter
            ("a,\"b\"c\"d\n", None),    // so it is behind the end of a quoted part
            ("", None),
        ];
        for &(text, want) in cases {
            assert_eq!(open(text.as_bytes(), usize::MAX), want, "{text:?}");
            if !text.starts_with('\u{feff}') {
                assert_eq!(open(text.as_bytes(), 1), want, "{text:?}");
            }
        }
    }

    proptest::proptest! {
        /// Whatever the lengths are in which the text comes.
        #[test]
        fn texts_come_in_pieces(text in "[a,\"\n]{0,200}") {
            let steps = [1, 3, 64, 1000].map(|step| open(text.as_bytes(), step));
            proptest::prop_assert!(steps.iter().all(|found| *found == steps[0]));
        }
    }
}
