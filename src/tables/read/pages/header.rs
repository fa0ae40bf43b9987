//! The header of a page of a Parquet file: a struct in Thrift's compact protocol. Only the numbers
//! that determine sizes are read.

use parquet::basic::Encoding;
use std::io::{self, Read};

/// The deepest nesting of a header; that of the format is two.
const DEPTH_MAX: usize = 8;

// The types of the compact protocol.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const STRUCT: u8 = 12;

/// What a header says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PageHeader {
    /// What the page holds.
    pub kind: PageKind,
    /// The size in bytes after decompression.
    pub size: u32,
    /// The size in bytes in the file, compressed.
    pub packed_size: u32,
    /// The number of its values, nulls included, or of entries of a dictionary.
    pub values: u32,
    /// How the values are encoded.
    pub encoding: Encoding,
}

/// The kind of a page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum PageKind {
    /// The dictionary of a column.
    Dictionary,
    /// Values of version 1. Their definition and repetition levels are compressed with them.
    Data { definition: Encoding, repetition: Encoding },
    /// Values of version 2. Their levels come first, uncompressed.
    DataV2 { nulls: u32, rows: u32, definition_len: u32, repetition_len: u32, is_packed: bool },
    /// A page without values, such as an index page.
    Other,
}

/// Reads the header at the beginning of `input`. Also returns its length in bytes.
///
/// # Errors
///
/// Those of `input`; [`io::ErrorKind::InvalidData`] for what is no header.
pub(super) fn read_header(input: impl Read) -> io::Result<(PageHeader, u64)> {
    let mut reader = Compact { input, read: 0 };
    let (mut page_type, mut size, mut packed_size) = (-1, None, None);
    let mut inner = Inner::default();
    reader.fields(0, &mut |reader, id, kind| match id {
        1 => reader.int(kind).map(|it| page_type = it),
        2 => reader.int(kind).map(|it| size = u32::try_from(it).ok()),
        3 => reader.int(kind).map(|it| packed_size = u32::try_from(it).ok()),
        5 | 7 | 8 if kind == STRUCT => inner.read(reader, id),
        _ => reader.skip(kind, 0),
    })?;
    let (Some(size), Some(packed_size)) = (size, packed_size) else { return Err(invalid()) };
    let (kind, encoding_at) = match (page_type, inner.of) {
        (0, 5) => {
            let [definition, repetition] = [inner.encoding(3)?, inner.encoding(4)?];
            (PageKind::Data { definition, repetition }, 2)
        }
        (2, 7) => (PageKind::Dictionary, 2),
        (3, 8) => {
            let kind = PageKind::DataV2 {
                nulls: inner.count(2)?,
                rows: inner.count(3)?,
                definition_len: inner.count(5)?,
                repetition_len: inner.count(6)?,
                is_packed: inner.numbers[7] != Some(0),
            };
            (kind, 4)
        }
        (0 | 2 | 3, _) => return Err(invalid()),
        _ => {
            let header = PageHeader {
                kind: PageKind::Other,
                size,
                packed_size,
                values: 0,
                encoding: Encoding::PLAIN,
            };
            return Ok((header, reader.read));
        }
    };
    let (values, encoding) = (inner.count(1)?, inner.encoding(encoding_at)?);
    Ok((PageHeader { kind, size, packed_size, values, encoding }, reader.read))
}

/// The struct within a header that belongs to its kind.
#[derive(Default)]
struct Inner {
    /// The field of the header that it is.
    of: i16,
    /// Its numbers, by field.
    numbers: [Option<i64>; 8],
}

impl Inner {
    fn read(&mut self, reader: &mut Compact<impl Read>, of: i16) -> io::Result<()> {
        let mut numbers = [None; 8];
        reader.fields(1, &mut |reader, id, kind| match usize::try_from(id) {
            Ok(id) if id < numbers.len() && matches!(kind, TRUE | FALSE) => {
                numbers[id] = Some(i64::from(kind == TRUE));
                Ok(())
            }
            Ok(id) if id < numbers.len() && kind != STRUCT => {
                reader.int(kind).map(|it| numbers[id] = Some(it))
            }
            _ => reader.skip(kind, 1),
        })?;
        (self.of, self.numbers) = (of, numbers);
        Ok(())
    }

    fn count(&self, field: usize) -> io::Result<u32> {
        self.numbers[field].and_then(|it| u32::try_from(it).ok()).ok_or_else(invalid)
    }

    fn encoding(&self, field: usize) -> io::Result<Encoding> {
        Ok(match self.numbers[field] {
            Some(0) => Encoding::PLAIN,
            Some(2) => Encoding::PLAIN_DICTIONARY,
            Some(3) => Encoding::RLE,
            #[expect(deprecated, reason = "old files have levels of this encoding")]
            Some(4) => Encoding::BIT_PACKED,
            Some(5) => Encoding::DELTA_BINARY_PACKED,
            Some(6) => Encoding::DELTA_LENGTH_BYTE_ARRAY,
            Some(7) => Encoding::DELTA_BYTE_ARRAY,
            Some(8) => Encoding::RLE_DICTIONARY,
            Some(9) => Encoding::BYTE_STREAM_SPLIT,
            _ => return Err(invalid()),
        })
    }
}

/// A reader of the compact protocol. It allocates nothing.
struct Compact<R> {
    input: R,
    read: u64,
}

type Each<'a, R> = dyn FnMut(&mut Compact<R>, i16, u8) -> io::Result<()> + 'a;

impl<R: Read> Compact<R> {
    /// Calls `each` with the number and type of each field of a struct; it reads the value.
    fn fields(&mut self, depth: usize, each: &mut Each<'_, R>) -> io::Result<()> {
        if DEPTH_MAX < depth {
            return Err(invalid());
        }
        let mut id = 0_i16;
        loop {
            let byte = self.byte()?;
            let (delta, kind) = (byte >> 4, byte & 15);
            if kind == 0 {
                return Ok(());
            }
            id = match delta {
                0 => i16::try_from(self.zigzag()?).map_err(|_| invalid())?,
                delta => id.checked_add(i16::from(delta)).ok_or_else(invalid)?,
            };
            each(self, id, kind)?;
        }
    }

    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.input.read_exact(&mut byte)?;
        self.read += 1;
        Ok(byte[0])
    }

    fn varint(&mut self) -> io::Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(invalid())
    }

    fn zigzag(&mut self) -> io::Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// An integer of 16, 32 or 64 bits.
    fn int(&mut self, kind: u8) -> io::Result<i64> {
        match kind {
            4..=6 => self.zigzag(),
            _ => Err(invalid()),
        }
    }

    fn skip(&mut self, kind: u8, depth: usize) -> io::Result<()> {
        if DEPTH_MAX < depth {
            return Err(invalid());
        }
        match kind {
            TRUE | FALSE => Ok(()),
            BYTE => self.skip_bytes(1),
            4..=6 => self.varint().map(|_| ()),
            DOUBLE => self.skip_bytes(8),
            BINARY => self.varint().and_then(|len| self.skip_bytes(len)),
            9 | 10 => {
                let byte = self.byte()?;
                let (short, kind) = (byte >> 4, byte & 15);
                let len = if short == 15 { self.varint()? } else { u64::from(short) };
                (0..len).try_for_each(|_| self.skip_item(kind, depth))
            }
            11 => {
                let len = self.varint()?;
                let kinds = if len == 0 { 0 } else { self.byte()? };
                (0..len).try_for_each(|_| {
                    self.skip_item(kinds >> 4, depth)?;
                    self.skip_item(kinds & 15, depth)
                })
            }
            STRUCT => self.fields(depth + 1, &mut |reader, _, kind| reader.skip(kind, depth + 1)),
            _ => Err(invalid()),
        }
    }

    /// As [`Compact::skip`] within a list, where truth values have a byte.
    fn skip_item(&mut self, kind: u8, depth: usize) -> io::Result<()> {
        match kind {
            TRUE | FALSE => self.skip_bytes(1),
            kind => self.skip(kind, depth + 1),
        }
    }

    fn skip_bytes(&mut self, len: u64) -> io::Result<()> {
        let skipped = io::copy(&mut self.input.by_ref().take(len), &mut io::sink())?;
        self.read += skipped;
        if skipped == len { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

fn invalid() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the header of a page is damaged")
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        /// Whatever the bytes are: an error, or no more than there are were read.
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..80)) {
            if let Ok((_, read)) = read_header(bytes.as_slice()) {
                proptest::prop_assert!(read <= bytes.len() as u64);
            }
        }
    }
}
