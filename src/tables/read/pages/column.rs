//! The pages of a column in a row group.

use super::codec::{bytes_at, unpacked};
use super::header::{PageHeader, PageKind, read_header};
use parquet::basic::{Encoding, Type};
use parquet::file::metadata::ColumnChunkMetaData;
use std::io::{self, BufRead, Read, Seek, SeekFrom};

/// The statistics of a column from the headers of its pages.
pub(super) struct ColumnPages {
    /// Its chunk in the file.
    pub chunk: ColumnChunkMetaData,
    /// The bytes of a value; `None` where each has another length.
    pub value_len: Option<u64>,
    /// Whether a row may have several values.
    pub is_list: bool,
    /// The bytes of the longest entry of the dictionary, where entries have lengths of their own.
    pub longest: u64,
    /// The pages with values, and the dictionary in front of them.
    pub pages: Vec<PageAt>,
}

/// A page and where it lies.
pub(super) struct PageAt {
    /// Its header.
    pub header: PageHeader,
    /// Where the bytes after the header begin.
    pub offset: u64,
    /// The number of values in the pages before it.
    pub first: u64,
}

impl PageAt {
    /// The number of its rows, where it has values and a row has one.
    pub(super) fn values(&self) -> u64 {
        if self.header.kind == PageKind::Dictionary { 0 } else { u64::from(self.header.values) }
    }

    /// The bytes of the page, compressed and decompressed.
    pub(super) fn buffers_len(&self) -> u64 {
        u64::from(self.header.size) + u64::from(self.header.packed_size)
    }
}

impl ColumnPages {
    /// Reads the headers of all pages of a column in a row group of so many rows. A dictionary is
    /// decompressed where that takes `limit` bytes at most.
    ///
    /// # Errors
    ///
    /// Why the file is damaged.
    pub(super) fn read(
        file: &mut (impl BufRead + Seek),
        chunk: &ColumnChunkMetaData,
        (rows, file_len, limit): (u64, u64, u64),
    ) -> std::result::Result<ColumnPages, String> {
        let (start, len) = chunk.byte_range();
        let name = chunk.column_path().string();
        let damaged = |what: &str| format!("column {name:?} is damaged: {what}");
        let end = start.checked_add(len).filter(|end| *end <= file_len);
        let end = end.ok_or_else(|| damaged("it ends behind the file"))?;
        let column = chunk.column_descr();
        let mut read = ColumnPages {
            chunk: chunk.clone(),
            value_len: value_len(column.physical_type(), column.type_length()),
            is_list: 0 < column.max_rep_level(),
            longest: 0,
            pages: Vec::new(),
        };
        let (mut offset, mut first) = (start, 0);
        while offset < end {
            file.seek(SeekFrom::Start(offset)).map_err(|error| damaged(&error.to_string()))?;
            let header = read_header(file.by_ref().take(end - offset));
            let (header, header_len) = header.map_err(|error| damaged(&error.to_string()))?;
            let page = PageAt { header, offset: offset + header_len, first };
            offset = page.offset + u64::from(header.packed_size);
            if end < offset {
                return Err(damaged("a page ends behind it"));
            }
            if header.kind == PageKind::Other {
                continue;
            }
            if header.kind == PageKind::Dictionary {
                let least = u64::from(header.values) * read.value_len.unwrap_or(4);
                if !read.pages.is_empty() || u64::from(header.size) < least {
                    return Err(damaged("its dictionary is none"));
                }
                if read.value_len.is_none() && page.buffers_len() <= limit {
                    let entries = read.content(file, &page).map_err(|fault| damaged(&fault))?;
                    read.longest = longest_in(&entries);
                }
            }
            first += page.values();
            read.pages.push(page);
        }
        if !read.is_list && first != rows {
            return Err(damaged(&format!("its pages have {first} rows of {rows}")));
        }
        Ok(read)
    }

    /// The bytes of a page, decompressed.
    ///
    /// # Errors
    ///
    /// Why there are none.
    pub(super) fn content(
        &self,
        file: &mut (impl Read + Seek),
        page: &PageAt,
    ) -> std::result::Result<Vec<u8>, String> {
        let PageHeader { kind, size, packed_size, .. } = page.header;
        let failed = |error: io::Error| error.to_string();
        let bytes = bytes_at(file, page.offset, packed_size as usize).map_err(failed)?;
        let (codec, size) = (self.chunk.compression(), size as usize);
        let PageKind::DataV2 { definition_len, repetition_len, is_packed, .. } = kind else {
            return unpacked(codec, bytes, size);
        };
        let levels = definition_len as usize + repetition_len as usize;
        if bytes.len() < levels || size < levels {
            return Err("a page is shorter than its levels".to_owned());
        }
        if !is_packed || codec == parquet::basic::Compression::UNCOMPRESSED {
            return Ok(bytes);
        }
        let values = unpacked(codec, bytes[levels..].to_vec(), size - levels)?;
        Ok([&bytes[..levels], &values].concat())
    }
}

/// Whether values are keys of a dictionary.
pub(super) fn is_by_dictionary(encoding: Encoding) -> bool {
    matches!(encoding, Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY)
}

fn value_len(physical: Type, len: i32) -> Option<u64> {
    match physical {
        Type::BOOLEAN => Some(0),
        Type::INT32 | Type::FLOAT => Some(4),
        Type::INT64 | Type::DOUBLE => Some(8),
        Type::INT96 => Some(12),
        Type::FIXED_LEN_BYTE_ARRAY => Some(u64::try_from(len).unwrap_or(0)),
        Type::BYTE_ARRAY => None,
    }
}

/// The length of the longest of entries, each after its length.
fn longest_in(mut entries: &[u8]) -> u64 {
    let mut longest = 0;
    while let Some((len, rest)) = entries.split_first_chunk() {
        let len = u32::from_le_bytes(*len);
        longest = longest.max(len);
        let Some(behind) = rest.get(len as usize..) else { break };
        entries = behind;
    }
    u64::from(longest)
}
