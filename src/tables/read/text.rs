//! Text files: the encoding, which is detected from the beginning, and the text in UTF-8.

use crate::tables::shape::options::Encoding;
use hexgraph_base::formats::decompressed;
use hexgraph_base::types::{Error, Result};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The encoding is detected from so many bytes.
const ENCODING_SAMPLE_LEN: u64 = 1 << 20;

/// So many bytes are decoded at a time.
const BUFFER_LEN: usize = 1 << 16;

/// The characters of Windows-1252 from 0x80 to 0x9f; the others are those of Unicode. What it
/// leaves undefined is as it is.
const WINDOWS: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// A text file, perhaps compressed, whose encoding is detected.
#[derive(Debug, Clone)]
pub(in crate::tables) struct TextFile {
    /// The path.
    pub path: PathBuf,
    /// The encoding.
    pub encoding: Encoding,
}

impl TextFile {
    /// Finds the encoding of a file, unless it is given: UTF-16 has a byte order mark, UTF-8 is
    /// valid as such in the first MiB, and what is neither is Windows-1252.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when the file can't be read.
    pub(in crate::tables) fn find(path: PathBuf, given: Option<Encoding>) -> Result<TextFile> {
        if let Some(encoding) = given {
            return Ok(TextFile { path, encoding });
        }
        let sample = beginning(&path, ENCODING_SAMPLE_LEN)?;
        let encoding = match sample.as_slice() {
            [0xff, 0xfe, ..] => Encoding::Utf16Le,
            [0xfe, 0xff, ..] => Encoding::Utf16Be,
            sample => match std::str::from_utf8(sample) {
                Ok(_) => Encoding::Utf8,
                // Cut within a character.
                Err(fault) if fault.error_len().is_none() => Encoding::Utf8,
                Err(_) => Encoding::Windows1252,
            },
        };
        Ok(TextFile { path, encoding })
    }

    /// Opens the file: its text, decompressed and in UTF-8.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when the file can't be read.
    pub(in crate::tables) fn open(&self) -> Result<Box<dyn Read + Send>> {
        Ok(decoded(opened(&self.path)?, self.encoding))
    }

    /// The first `len` bytes of its text at most, and whether more follow.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when the file can't be read.
    pub(in crate::tables) fn sample(&self, len: usize) -> Result<(String, bool)> {
        let mut sample = Vec::new();
        let mut input = self.open()?.take(len as u64);
        input.read_to_end(&mut sample).map_err(|error| failed(&self.path, error))?;
        let is_cut = sample.len() == len;
        let text = String::from_utf8_lossy(&sample).into_owned();
        Ok((text.trim_start_matches('\u{feff}').to_owned(), is_cut))
    }
}

/// The first `len` bytes of a file at most, decompressed.
///
/// # Errors
///
/// [`Error::Io`] when the file can't be read.
pub(super) fn beginning(path: &Path, len: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut input = opened(path)?.take(len);
    input.read_to_end(&mut bytes).map_err(|error| failed(path, error))?;
    Ok(bytes)
}

fn opened(path: &Path) -> Result<Box<dyn Read + Send>> {
    let file = File::open(path);
    let file = file.map_err(|error| Error::io(format!("opening {}", path.display()), error))?;
    decompressed(file, &path.display().to_string())
}

fn failed(path: &Path, error: io::Error) -> Error {
    Error::io(format!("reading {}", path.display()), error)
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
    /// Text that is decoded, read up to `at`.
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
    /// Decodes what was read; an incomplete character is retained, unless it is the end.
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

    #[test]
    fn encodings_are_detected_and_decoded() {
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
            let mut result = String::new();
            file.open().unwrap().read_to_string(&mut result).unwrap();
            assert_eq!((file.encoding, result.as_str()), (encoding, want), "{name}");
        }
    }

    proptest::proptest! {
        /// Whatever the lengths are in which the input comes.
        #[test]
        fn text_is_decoded_in_chunks(text in "\\PC{0,40}", step in 1usize..7) {
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
            let mut result = String::new();
            let input = Box::new(Steps(bytes, step));
            decoded(input, Encoding::Utf16Le).read_to_string(&mut result).unwrap();
            proptest::prop_assert_eq!(result, text);
        }
    }
}
