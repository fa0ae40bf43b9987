//! Text files with cells: the encoding and the separator, which are found in the beginning, and the text in UTF-8.

use crate::tables::shape::options::Encoding;
use hexgraph_base::formats::decompressed;
use hexgraph_base::types::{Error, Result};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The encoding is found in so many bytes.
const ENCODING_SAMPLE_LEN: u64 = 1 << 20;

/// The separator is found in the records of so many bytes, and no more than [`RECORDS_MAX`] of them.
const SEPARATOR_SAMPLE_LEN: usize = 1 << 16;

const RECORDS_MAX: usize = 50;

/// So many bytes are decoded at a time.
const BUFFER_LEN: usize = 1 << 16;

const SEPARATORS: [u8; 4] = *b",;\t|";

/// The letters of Windows-1252 from 0x80 to 0x9f; the others are those of Unicode. What it leaves undefined is as it is.
const WINDOWS: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// A text file, perhaps packed, whose encoding is known.
#[derive(Debug, Clone)]
pub(in crate::tables) struct TextFile {
    /// The path.
    pub path: PathBuf,
    /// The encoding.
    pub encoding: Encoding,
}

impl TextFile {
    /// Finds the encoding of a file, unless it is given: UTF-16 has a byte order mark, UTF-8 is valid as such in the first MiB, and
    /// what is neither is Windows-1252.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when the file can't be read.
    pub(in crate::tables) fn find(path: PathBuf, given: Option<Encoding>) -> Result<TextFile> {
        if let Some(encoding) = given {
            return Ok(TextFile { path, encoding });
        }
        let mut sample = Vec::new();
        let mut input = opened(&path)?.take(ENCODING_SAMPLE_LEN);
        input.read_to_end(&mut sample).map_err(|error| failed(&path, error))?;
        let encoding = match sample.as_slice() {
            [0xff, 0xfe, ..] => Encoding::Utf16Le,
            [0xfe, 0xff, ..] => Encoding::Utf16Be,
            sample => match std::str::from_utf8(sample) {
                Ok(_) => Encoding::Utf8,
                // Cut within a letter.
                Err(fault) if fault.error_len().is_none() => Encoding::Utf8,
                Err(_) => Encoding::Windows1252,
            },
        };
        Ok(TextFile { path, encoding })
    }

    /// Opens the file: its text, unpacked and in UTF-8.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when the file can't be read.
    pub(in crate::tables) fn open(&self) -> Result<Box<dyn Read + Send>> {
        Ok(decoded(opened(&self.path)?, self.encoding))
    }

    /// Finds the character between cells: `usual`, if every record of the beginning has as many as the first one, else the one of
    /// which that is so, else the one that stands most often in the first record.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when the file can't be read.
    pub(in crate::tables) fn separator(&self, usual: u8) -> Result<u8> {
        let mut sample = Vec::new();
        let mut input = self.open()?.take(SEPARATOR_SAMPLE_LEN as u64);
        input.read_to_end(&mut sample).map_err(|error| failed(&self.path, error))?;
        Ok(separator_of(&sample, sample.len() == SEPARATOR_SAMPLE_LEN, usual))
    }
}

fn opened(path: &Path) -> Result<Box<dyn Read + Send>> {
    let file = File::open(path);
    let file = file.map_err(|error| Error::io(format!("opening {}", path.display()), error))?;
    decompressed(file, &path.display().to_string())
}

fn failed(path: &Path, error: io::Error) -> Error {
    Error::io(format!("reading {}", path.display()), error)
}

/// Finds the separator in a sample of text, the last record of which may be cut.
fn separator_of(sample: &[u8], is_cut: bool, usual: u8) -> u8 {
    let mut records = counts(sample);
    if is_cut && 1 < records.len() {
        records.pop();
    }
    let Some(first) = records.first().copied() else { return usual };
    let even = |place: usize| {
        0 < first[place] && records.iter().all(|record| record[place] == first[place])
    };
    let usual_place = SEPARATORS.iter().position(|mark| *mark == usual).unwrap_or(0);
    if even(usual_place) {
        return usual;
    }
    let best = |places: &mut dyn Iterator<Item = usize>| {
        places
            .filter(|&place| 0 < first[place])
            .max_by_key(|&place| (first[place], SEPARATORS.len() - place))
    };
    let found = best(&mut (0..SEPARATORS.len()).filter(|&place| even(place)));
    let found =
        found.or_else(|| (first[usual_place] == 0).then(|| best(&mut (0..SEPARATORS.len())))?);
    found.map_or(usual, |place| SEPARATORS[place])
}

/// Counts each separator outside of quotes in the first records that are not empty.
fn counts(sample: &[u8]) -> Vec<[usize; SEPARATORS.len()]> {
    let mut records = Vec::new();
    let (mut record, mut is_empty, mut is_quoted) = ([0; SEPARATORS.len()], true, false);
    for &byte in sample.iter().chain(b"\n") {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' | b'\r' if !is_quoted => {
                if !is_empty {
                    records.push(record);
                }
                if records.len() == RECORDS_MAX {
                    break;
                }
                (record, is_empty) = ([0; SEPARATORS.len()], true);
                continue;
            }
            _ if !is_quoted => {
                if let Some(place) = SEPARATORS.iter().position(|mark| *mark == byte) {
                    record[place] += 1;
                }
            }
            _ => {}
        }
        is_empty = false;
    }
    records
}

/// Makes UTF-8 of a text. A byte order mark is left out.
pub(in crate::tables) fn decoded<'a>(
    input: Box<dyn Read + Send + 'a>,
    encoding: Encoding,
) -> Box<dyn Read + Send + 'a> {
    if encoding == Encoding::Utf8 {
        return input;
    }
    let (raw, text) = (Vec::new(), Vec::new());
    Box::new(Decoder { input, encoding, raw, text, at: 0, is_begun: false })
}

struct Decoder<R> {
    input: R,
    encoding: Encoding,
    /// Bytes that are not decoded yet.
    raw: Vec<u8>,
    /// Text that is decoded, of which the part before `at` was read.
    text: Vec<u8>,
    at: usize,
    is_begun: bool,
}

impl<R: Read> Read for Decoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.text.len() {
            let start = self.raw.len();
            self.raw.resize(start + BUFFER_LEN, 0);
            let len = self.input.read(&mut self.raw[start..])?;
            self.raw.truncate(start + len);
            (self.text, self.at) = (self.decode(len == 0), 0);
            if len == 0 && self.text.is_empty() {
                return Ok(0);
            }
        }
        let len = buffer.len().min(self.text.len() - self.at);
        buffer[..len].copy_from_slice(&self.text[self.at..self.at + len]);
        self.at += len;
        Ok(len)
    }
}

impl<R> Decoder<R> {
    /// Decodes what was read; half a letter stays behind, unless it is the end.
    fn decode(&mut self, is_end: bool) -> Vec<u8> {
        let of_bytes = match self.encoding {
            Encoding::Utf16Le => u16::from_le_bytes,
            Encoding::Utf16Be => u16::from_be_bytes,
            Encoding::Utf8 | Encoding::Windows1252 => {
                let letters = self.raw.drain(..).map(|byte| match byte {
                    0x80..=0x9f => WINDOWS[usize::from(byte - 0x80)],
                    byte => char::from(byte),
                });
                return letters.collect::<String>().into_bytes();
            }
        };
        let mut units: Vec<u16> =
            self.raw.chunks_exact(2).map(|pair| of_bytes([pair[0], pair[1]])).collect();
        let is_half = |unit: &u16| (0xd800..0xdc00).contains(unit);
        if !is_end && units.last().is_some_and(is_half) {
            units.pop();
        }
        self.raw.drain(..2 * units.len());
        if is_end {
            self.raw.clear();
        }
        let mut text: String =
            char::decode_utf16(units).map(|letter| letter.unwrap_or('\u{fffd}')).collect();
        if !self.is_begun && text.starts_with('\u{feff}') {
            text.drain(..'\u{feff}'.len_utf8());
        }
        self.is_begun |= !text.is_empty();
        text.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each row: text, what is usual => the separator.
    #[test]
    fn separators() {
        #[rustfmt::skip]
        let cases: &[(&str, u8, u8)] = &[
            ("a,b\n1,2\n", b',', b','),
            ("a;b\n1,5;2\n", b',', b';'),           // a comma as the point of a number
            ("a\tb\n1\t2\n", b',', b'\t'),          // a .csv with tabs
            ("a|b|c\n1|2|3\n", b',', b'|'),
            ("a,b\n1,2\n", b'\t', b','),            // a .tsv with commas
            ("a,b\n\"x;y\",\"z;w;\n;\"\n", b',', b','), // quotes hide others
            ("a;b,c\n1;2,3\n", b',', b','),         // both are even: what is usual
            ("a;b\n1\n", b',', b';'),               // none is even: the first record decides
            ("a\n1\n", b',', b','),                 // one column
            ("", b',', b','),
        ];
        for &(text, usual, want) in cases {
            assert_eq!(separator_of(text.as_bytes(), false, usual), want, "{text:?}");
        }
    }

    #[test]
    fn encodings_are_found_and_decoded() {
        let folder = tempfile::tempdir().unwrap();
        let text = "name,v\nZürich,€\n木𝄞,\n";
        let utf16 = |of: fn(u16) -> [u8; 2]| {
            ["\u{feff}", text].concat().encode_utf16().flat_map(of).collect::<Vec<u8>>()
        };
        #[rustfmt::skip]
        let cases: [(&str, Vec<u8>, Encoding, &str); 5] = [
            ("8", text.as_bytes().to_vec(), Encoding::Utf8, text),
            ("mark", ["\u{feff}", text].concat().into_bytes(), Encoding::Utf8, text),
            ("le", utf16(u16::to_le_bytes), Encoding::Utf16Le, text),
            ("be", utf16(u16::to_be_bytes), Encoding::Utf16Be, text),
            ("win", b"name,v\nZ\xfcrich,\x80\n".to_vec(), Encoding::Windows1252, "name,v\nZürich,€\n"),
        ];
        for (name, bytes, encoding, want) in cases {
            let path = folder.path().join(name);
            std::fs::write(&path, &bytes).unwrap();
            let file = TextFile::find(path, None).unwrap();
            let mut found = String::new();
            file.open().unwrap().read_to_string(&mut found).unwrap();
            assert_eq!((file.encoding, found.as_str()), (encoding, want), "{name}");
        }
    }

    proptest::proptest! {
        /// Whatever the lengths are in which the input comes.
        #[test]
        fn text_is_decoded_in_pieces(text in "\\PC{0,40}", step in 1usize..7) {
            let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            struct Steps(Vec<u8>, usize);
            impl Read for Steps {
                fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                    let len = self.1.min(buffer.len()).min(self.0.len());
                    buffer[..len].copy_from_slice(&self.0[..len]);
                    self.0.drain(..len);
                    Ok(len)
                }
            }
            let mut found = String::new();
            let input = Box::new(Steps(bytes, step));
            decoded(input, Encoding::Utf16Le).read_to_string(&mut found).unwrap();
            proptest::prop_assert_eq!(found, text);
        }
    }
}
