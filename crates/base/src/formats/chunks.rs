//! Cuts a file, plain or compressed, into chunks of entire lines that can be read in parallel.
//!
//! One thread reads and decompresses. Whether a chunk is UTF-8 is checked by the thread that reads
//! its lines, so that the check does not slow down the reading thread.

use std::io::{self, Cursor, Read};

use super::compressed::unpacked;
use super::compression::Compression;
use super::json_values::{END, JsonValues, is_spread};
use crate::types::{BYTE_ORDER_MARK, Error, Position, Result};

/// The least length of a chunk in bytes; only the last may be shorter.
const CHUNK_LEN: usize = 1 << 20;

/// The greatest length of a line in bytes, unless the caller sets another.
const LINE_LEN_MAX: usize = 64 << 20;

/// The number of bytes of one read.
const READ_LEN: usize = 1 << 16;

/// The first bytes of a file compressed with gzip.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The first bytes of a file compressed with Zstandard.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Some entire lines of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// The lines with their line feeds; the last line of the file may have none.
    pub text: Vec<u8>,
    /// Where it begins in the file.
    start: FilePosition,
    /// The number of the chunk in the file, from 0.
    pub index: usize,
    /// Whether it has values of JSON instead of lines; see [`super::json_values`].
    has_values: bool,
}

/// A position in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilePosition {
    /// The line, from 1.
    pub line: u64,
    /// The byte within the line, from 0.
    pub column: u32,
}

/// A line of a chunk, or a value of JSON, which can go over several lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkLine<'a> {
    /// Where it begins in the file; for what is not UTF-8, where it is not.
    pub start: FilePosition,
    /// Its text without the line feed, or why there is none.
    pub text: std::result::Result<&'a str, String>,
    /// Whether it is a value of JSON.
    pub is_value: bool,
}

impl FilePosition {
    /// The position of `at` in a text that begins here.
    pub fn within(self, at: Position) -> FilePosition {
        let line = self.line + u64::from(at.line.saturating_sub(1));
        let before = if line == self.line { self.column } else { 0 };
        FilePosition { line, column: before.saturating_add(at.column) }
    }

    /// The position after a text that begins here.
    fn behind(self, text: &[u8]) -> FilePosition {
        let feed = text.iter().rposition(|&byte| byte == b'\n');
        let before = if feed.is_some() { 0 } else { self.column };
        let own = text.len() - feed.map_or(0, |feed| feed + 1);
        let column = before.saturating_add(u32::try_from(own).unwrap_or(u32::MAX));
        FilePosition { line: self.line + count_feeds(text), column }
    }
}

/// The position in the file after a text that begins at `start`. The file does not have the marks
/// after values.
fn position_behind(start: FilePosition, text: &[u8], has_values: bool) -> FilePosition {
    if !has_values {
        return start.behind(text);
    }
    let mut next = start;
    for value in text.split(|&byte| byte == END) {
        next = next.behind(value);
    }
    next
}

impl Chunk {
    /// Returns the lines in order. The entire chunk is checked for UTF-8 before the first line is
    /// returned.
    pub fn lines(&self) -> impl Iterator<Item = ChunkLine<'_>> {
        let (end, text) = match self.has_values {
            true => (END, &*self.text),
            false => (b'\n', self.text.strip_suffix(b"\n").unwrap_or(&self.text)),
        };
        // Exactly one of the two iterators below has items: lines are checked one by one only when
        // the chunk is not UTF-8.
        let (full, bytes) = match std::str::from_utf8(text) {
            Ok(full) => (Some(full), None),
            Err(_) => (None, Some(text)),
        };
        let good = full.into_iter().flat_map(move |text| text.split(char::from(end)));
        let good = good.map(|text| (text.as_bytes(), Ok(text)));
        let mixed = bytes.into_iter().flat_map(move |text| text.split(move |&byte| byte == end));
        let mixed = mixed.map(|text| (text, std::str::from_utf8(text)));
        let mut next = self.start;
        let is_value = self.has_values;
        good.chain(mixed).filter_map(move |(bytes, text)| {
            // Only a value begins after blanks; a line has them.
            let blanks = if is_value { bytes.len() - bytes.trim_ascii_start().len() } else { 0 };
            let start = next.behind(&bytes[..blanks]);
            let line = match text {
                Ok(text) => ChunkLine { start, text: Ok(&text[blanks..]), is_value },
                Err(fault) => {
                    let (before, rest) = bytes.split_at(fault.valid_up_to());
                    let reason = format!("not UTF-8: byte {:#04x}", rest[0]);
                    ChunkLine { start: next.behind(before), text: Err(reason), is_value }
                }
            };
            next = match is_value {
                true => next.behind(bytes),
                false => FilePosition { line: next.line + 1, column: 0 },
            };
            // Behind the last value there are blanks alone.
            (!is_value || blanks < bytes.len()).then_some(line)
        })
    }
}

/// Reads a file in chunks of entire lines, about 1 MiB each, in order.
pub struct ChunkReader<'a> {
    input: Box<dyn Read + Send + 'a>,
    name: String,
    line_len_max: usize,
    /// The bytes after the last line or value of the last chunk, which begin the next one.
    rest: Vec<u8>,
    next_start: FilePosition,
    next_index: usize,
    ended: bool,
    /// Whether the text is JSON whose values were ended.
    has_values: bool,
}

impl<'a> ChunkReader<'a> {
    /// Creates a reader; `name` is the name of the file in error messages. Its first bytes say
    /// whether it is compressed.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when the first bytes can't be read.
    pub fn new(input: impl Read + Send + 'a, name: &str) -> Result<ChunkReader<'a>> {
        let mut input = decompressed(input, name)?;
        let start = first_bytes(&mut input, READ_LEN);
        let start = start.map_err(|fault| Error::io(format!("reading {name}"), fault))?;
        let has_values = is_spread(&start);
        let input = Cursor::new(start).chain(input);
        let input: Box<dyn Read + Send> =
            if has_values { Box::new(JsonValues::new(input)) } else { Box::new(input) };
        Ok(ChunkReader {
            input,
            has_values,
            name: name.to_string(),
            line_len_max: LINE_LEN_MAX,
            rest: Vec::new(),
            next_start: FilePosition { line: 1, column: 0 },
            next_index: 0,
            ended: false,
        })
    }

    /// Sets the greatest length of a line in bytes, which is 64 MiB otherwise. A longer line is an
    /// error.
    pub fn line_len_max(mut self, bytes: usize) -> ChunkReader<'a> {
        self.line_len_max = bytes;
        self
    }

    fn read_chunk(&mut self) -> Result<Option<Chunk>> {
        let mut text = std::mem::take(&mut self.rest);
        let end = if self.has_values { END } else { b'\n' };
        // The offset after the last line or value. Each round searches only the bytes that it has
        // read, so a long line takes linear time.
        let mut lines_end = 0;
        // A chunk consists of complete lines, so it grows while its first line is incomplete.
        while text.len() < CHUNK_LEN || lines_end == 0 {
            let existing = text.len();
            if !self.fill(&mut text)? {
                lines_end = text.len();
                self.ended = true;
                break;
            }
            let last = text[existing..].iter().rposition(|&byte| byte == end);
            lines_end = last.map_or(lines_end, |index| existing + index + 1);
            // Only an incomplete line is measured, so one that the last read completes may pass by
            // that much.
            if self.line_len_max < text.len() - lines_end {
                return Err(self.long_line(&text[..lines_end]));
            }
        }
        if text.is_empty() {
            return Ok(None);
        }
        self.rest = text[lines_end..].to_vec();
        text.truncate(lines_end);
        let (start, index) = (self.next_start, self.next_index);
        let chunk = Chunk { text, start, index, has_values: self.has_values };
        self.next_start = position_behind(start, &chunk.text, self.has_values);
        self.next_index += 1;
        Ok(Some(chunk))
    }

    /// Appends up to [`READ_LEN`] bytes to the text. Returns false at the end of the file.
    fn fill(&mut self, text: &mut Vec<u8>) -> Result<bool> {
        let existing = text.len();
        (&mut self.input)
            .take(READ_LEN as u64)
            .read_to_end(text)
            .map_err(|fault| Error::io(format!("reading {}", self.name), fault))?;
        Ok(existing < text.len())
    }

    fn long_line(&self, before: &[u8]) -> Error {
        let (file, max) = (self.name.clone(), self.line_len_max);
        let at = position_behind(self.next_start, before, self.has_values);
        let FilePosition { line, column } = at;
        let what = if self.has_values { "value" } else { "line" };
        let message = format!("the {what} is longer than {max} bytes");
        Error::Load { file, line, column: column + 1, message }
    }
}

/// True for what [`decompressed`] would decompress.
pub fn is_packed(bytes: &[u8]) -> bool {
    compression_of(bytes).is_some()
}

/// How a file is compressed, by its first bytes.
fn compression_of(start: &[u8]) -> Option<Compression> {
    match start {
        start if start.starts_with(&GZIP_MAGIC) => Some(Compression::Gzip),
        start if start.starts_with(&ZSTD_MAGIC) => Some(Compression::Zstd),
        _ => None,
    }
}

/// Returns a reader of the text of a file, which decompresses gzip or Zstandard if the first bytes
/// show one of them, and skips a byte order mark at the start of the text. `name` is the name of
/// the file in error messages.
///
/// # Errors
///
/// [`Error::Io`] when the first bytes can't be read or decompressed.
pub fn decompressed<'a>(
    mut input: impl Read + Send + 'a,
    name: &str,
) -> Result<Box<dyn Read + Send + 'a>> {
    let failed = |fault| Error::io(format!("reading {name}"), fault);
    let start = first_bytes(&mut input, ZSTD_MAGIC.len()).map_err(failed)?;
    let Some(compression) = compression_of(&start) else {
        return Ok(Box::new(without_mark(start).chain(input)));
    };
    let full = Cursor::new(start).chain(input);
    // The mark is a part of the text, so in a compressed file it follows the bytes of the
    // compression.
    let mut text = unpacked(full, compression, READ_LEN).map_err(failed)?;
    let start = first_bytes(&mut text, BYTE_ORDER_MARK.len()).map_err(failed)?;
    Ok(Box::new(without_mark(start).chain(text)))
}

/// Reads so many bytes, or fewer at the end of the input.
fn first_bytes(input: &mut impl Read, len: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(len as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns a reader of the first bytes of a text without the byte order mark.
fn without_mark(mut start: Vec<u8>) -> Cursor<Vec<u8>> {
    if start.starts_with(BYTE_ORDER_MARK) {
        start.drain(..BYTE_ORDER_MARK.len());
    }
    Cursor::new(start)
}

fn count_feeds(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

impl Iterator for ChunkReader<'_> {
    type Item = Result<Chunk>;

    fn next(&mut self) -> Option<Result<Chunk>> {
        if self.ended {
            return None;
        }
        let chunk = self.read_chunk();
        self.ended |= chunk.is_err();
        chunk.transpose()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::write::GzEncoder;

    use super::*;
    use crate::formats::Compressor;

    fn compressed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn lines_of(bytes: &[u8]) -> Vec<(u64, String)> {
        let mut lines = Vec::new();
        for (index, chunk) in ChunkReader::new(bytes, "test").unwrap().enumerate() {
            let chunk = chunk.unwrap();
            assert_eq!(chunk.index, index);
            let line = |line: ChunkLine<'_>| (line.start.line, line.text.unwrap().to_string());
            lines.extend(chunk.lines().map(line));
        }
        lines
    }

    fn many_lines() -> String {
        (1..200_000).map(|number| format!("line {number}\n")).collect()
    }

    #[test]
    fn lines_are_complete_and_numbered() {
        let text = many_lines();
        let expected: Vec<(u64, String)> =
            text.lines().enumerate().map(|(at, line)| (at as u64 + 1, line.to_string())).collect();
        assert_eq!(lines_of(text.as_bytes()), expected);
        assert_eq!(lines_of(&compressed(text.as_bytes())), expected);
        // A file may be several compressed ones, one after the other, cut anywhere.
        let (first, second) = text.as_bytes().split_at(text.len() / 2);
        assert_eq!(lines_of(&[compressed(first), compressed(second)].concat()), expected);
        // The last line need not be ended.
        assert_eq!(lines_of(text.trim_end().as_bytes()), expected);
    }

    #[test]
    fn small_files() {
        assert_eq!(lines_of(b""), []);
        assert_eq!(lines_of(&compressed(b"")), []);
        assert_eq!(lines_of(b"\n"), [(1, String::new())]);
        assert_eq!(lines_of(b"a"), [(1, "a".to_string())]);
        assert_eq!(
            lines_of(b"\xef\xbb\xbfa\n\nb"),
            [1, 2, 3].map(|n| (n, ["a", "", "b"][n as usize - 1].to_string()))
        );
    }

    #[test]
    fn a_byte_order_mark_is_skipped_once() {
        let packed = |text: &[u8], compression| {
            let mut packer = Compressor::new(Vec::new(), compression).unwrap();
            packer.write_all(text).unwrap();
            packer.finish().unwrap()
        };
        for (text, want) in [
            ("\u{feff}a", "a"),
            ("\u{feff}", ""),
            ("\u{feff}\u{feff}a", "\u{feff}a"),
            ("a\u{feff}", "a\u{feff}"),
            ("é", "é"),
        ] {
            let text = text.as_bytes();
            for bytes in
                [text.to_vec(), packed(text, Compression::Gzip), packed(text, Compression::Zstd)]
            {
                let mut read = String::new();
                decompressed(&*bytes, "test").unwrap().read_to_string(&mut read).unwrap();
                assert_eq!(read, want, "{text:?}");
            }
        }
    }

    #[test]
    fn bad_bytes_are_faults_of_their_line_alone() {
        let chunk = Chunk {
            text: b"good\nb\xc3\xa9\xff\nalso good\n".to_vec(),
            start: FilePosition { line: 7, column: 0 },
            index: 0,
            has_values: false,
        };
        let lines: Vec<_> = chunk.lines().collect();
        assert_eq!(lines.len(), 3);
        let at = |line, column| FilePosition { line, column };
        assert_eq!((lines[0].start, &lines[0].text), (at(7, 0), &Ok("good")));
        let fault = Err("not UTF-8: byte 0xff".to_string());
        assert_eq!((lines[1].start, &lines[1].text), (at(8, 3), &fault));
        assert_eq!((lines[2].start, &lines[2].text), (at(9, 0), &Ok("also good")));
    }

    #[test]
    fn all_line_feeds_are_counted() {
        for len in [0, 1, 254, 255, 256, 1000] {
            assert_eq!(count_feeds(&vec![b'\n'; len]), len as u64);
            assert_eq!(count_feeds(&b"a\n".repeat(len)), len as u64);
        }
    }

    /// Each value begins where the text has it, in chunks that begin within lines, too.
    #[test]
    fn values_have_their_positions() {
        let value = "{\"a\":\n  \"é\"}";
        let many = 150_000;
        let text = format!("[{}\n]", vec![value; many].join(", "));
        let mut offsets = text.match_indices('{').map(|(offset, _)| offset);
        let (mut line, mut line_start, mut read) = (1, 0, 0);
        for chunk in ChunkReader::new(text.as_bytes(), "test").unwrap() {
            for read_value in chunk.unwrap().lines() {
                assert_eq!((read_value.text, read_value.is_value), (Ok(value), true));
                let offset = offsets.next().unwrap();
                let feeds = text[read..offset].matches('\n').count() as u64;
                if 0 < feeds {
                    (line, line_start) = (line + feeds, text[..offset].rfind('\n').unwrap() + 1);
                }
                read = offset;
                let column = (offset - line_start) as u32;
                assert_eq!(read_value.start, FilePosition { line, column });
                let inner = read_value.start.within(Position { line: 2, column: 2 });
                assert_eq!(inner, FilePosition { line: line + 1, column: 2 });
            }
        }
        assert_eq!(offsets.next(), None);
        let mut reader = ChunkReader::new(&b"[1,\n2, {\"a\": \xff}]"[..], "test").unwrap();
        let chunk = reader.next().unwrap().unwrap();
        let fault = chunk.lines().last().unwrap();
        assert_eq!(fault.start, FilePosition { line: 2, column: 9 });
        assert_eq!(fault.text, Err("not UTF-8: byte 0xff".to_string()));
    }

    #[test]
    fn long_lines_are_refused() {
        let text = format!("a\n{}\nb\n", "x".repeat(200_000));
        let mut reader = ChunkReader::new(text.as_bytes(), "f.rdf").unwrap().line_len_max(100_000);
        let fault = reader.next().unwrap().unwrap_err().to_string();
        assert_eq!(fault, "f.rdf:2:1: the line is longer than 100000 bytes");
        assert!(reader.next().is_none());
        // One that is longer than a chunk is fine otherwise.
        let text = format!("{}\nb", "x".repeat(3 << 20));
        assert_eq!(lines_of(text.as_bytes()).len(), 2);
    }

    #[test]
    fn broken_compression_is_an_error() {
        let full = compressed(many_lines().as_bytes());
        let mut reader = ChunkReader::new(&full[..full.len() / 2], "cut.gz").unwrap();
        let fault = reader.find_map(|chunk| chunk.err()).unwrap().to_string();
        assert!(fault.starts_with("reading cut.gz: "), "{fault}");
        assert!(reader.next().is_none());
    }
}
