//! The first bytes of a snapshot file, and the entries of its table of sections.

use crate::storage::blocks::BLOCK_LEN;
use bytemuck::Pod;
use bytemuck::Zeroable;

/// What every section, and every table but the names, begins on a multiple of.
pub(super) const ALIGNMENT: usize = 64;
pub(super) const HEADER_LEN: usize = 128;
const MAGIC: [u8; 8] = *b"hexgraph";
/// Goes up with every change that an older reader would misread.
const VERSION: u32 = 1;
/// Reads as another number on a machine with another order of bytes.
const ORDER: u32 = 0x0102_0304;

/// The header of a snapshot file.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Header {
    magic: [u8; 8],
    version: u32,
    order: u32,
    /// The length of the whole file.
    file_len: u64,
    /// The length of the data, which follows the header.
    pub(super) data_len: u64,
    /// The number of sections.
    pub(super) sections: u64,
    /// The length of all names of sections.
    pub(super) names_len: u64,
    /// The checksum of the tables.
    pub(super) tables_sum: u32,
    filler: [u32; 18],
    /// The checksum of all bytes before this one.
    sum: u32,
}

const _: () = assert!(size_of::<Header>() == HEADER_LEN);

/// Where the tables lie, in bytes from the beginning of the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Places {
    pub(super) sums: usize,
    pub(super) blocks: usize,
    pub(super) entries: usize,
    pub(super) names: usize,
    pub(super) end: usize,
}

/// One section.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct SectionEntry {
    /// The first byte, counted in the data.
    pub(super) start: u64,
    pub(super) len: u64,
    /// The first byte of the name, counted in the names.
    pub(super) name_start: u64,
    pub(super) name_len: u32,
    /// The length of one item.
    pub(super) item_len: u32,
}

impl Header {
    /// The header of a file with such data and tables.
    pub(super) fn new(data_len: u64, sections: u64, names_len: u64, tables_sum: u32) -> Header {
        let mut header = Header {
            magic: MAGIC,
            version: VERSION,
            order: ORDER,
            file_len: 0,
            data_len,
            sections,
            names_len,
            tables_sum,
            filler: [0; 18],
            sum: 0,
        };
        header.file_len = header.places().map_or(0, |places| places.end as u64);
        header.sum = header.own_sum();
        header
    }

    /// Reads the header of a file of `file_len` bytes and says where its tables lie, or what is
    /// wrong.
    pub(super) fn read(file: &[u8]) -> Result<(Header, Places), String> {
        let Some(bytes) = file.get(..HEADER_LEN) else {
            return Err(format!("{} bytes are too few for a snapshot", file.len()));
        };
        let header: Header = bytemuck::pod_read_unaligned(bytes);
        if header.magic != MAGIC {
            return Err("offset 0: not a snapshot of hexgraph".to_owned());
        }
        if header.order != ORDER {
            return Err("offset 12: written with another order of bytes".to_owned());
        }
        if header.version != VERSION {
            let version = header.version;
            return Err(format!("offset 8: format {version}, this program reads {VERSION}"));
        }
        if header.sum != header.own_sum() {
            return Err("offset 124: the header does not have its checksum".to_owned());
        }
        if header.file_len != file.len() as u64 {
            let (found, wanted) = (file.len(), header.file_len);
            return Err(format!("{found} bytes long, {wanted} were written"));
        }
        match header.places() {
            Some(places) if places.end == file.len() => Ok((header, places)),
            _ => Err("offset 24: lengths of the tables do not add up".to_owned()),
        }
    }

    /// Where the tables lie, or `None` when no file can be so long.
    fn places(&self) -> Option<Places> {
        let data_len = usize::try_from(self.data_len).ok()?;
        let sums = HEADER_LEN.checked_add(data_len.checked_next_multiple_of(ALIGNMENT)?)?;
        let blocks = data_len.div_ceil(BLOCK_LEN);
        let sums_len = blocks.checked_mul(4)?.checked_next_multiple_of(ALIGNMENT)?;
        let entries = sums.checked_add(sums_len)?;
        let sections = usize::try_from(self.sections).ok()?;
        let names = entries.checked_add(sections.checked_mul(size_of::<SectionEntry>())?)?;
        let end = names.checked_add(usize::try_from(self.names_len).ok()?)?;
        Some(Places { sums, blocks, entries, names, end })
    }

    fn own_sum(&self) -> u32 {
        crc32fast::hash(&bytemuck::bytes_of(self)[..HEADER_LEN - 4])
    }
}
