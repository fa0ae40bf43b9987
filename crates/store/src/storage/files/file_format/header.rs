//! The first bytes of a snapshot file, and the entries of its table of sections.

use crate::storage::Identity;
use crate::storage::files::blocks::BLOCK_LEN;
use bytemuck::{Pod, Zeroable};

/// The positions of all sections, and of all tables except that of the names, are multiples of this
/// number of bytes.
pub(in crate::storage::files::file_format) const ALIGNMENT: usize = 64;
pub(in crate::storage::files::file_format) const HEADER_LEN: usize = 128;
const MAGIC: [u8; 8] = *b"hexgraph";
/// Goes up with every change that an older reader would misread. What has other sections alone may
/// be read by it.
const VERSION: u32 = 2;
/// The oldest that is read. It has no identity and another layout of the catalog, which says so
/// itself.
const VERSION_MIN: u32 = 1;
/// Reads as another number in another byte order, which is refused.
const ORDER: u32 = 0x0102_0304;

// The format is little-endian, and arrays are written and mapped as they are in memory.
const _: () = assert!(cfg!(target_endian = "little"), "hexgraph needs a little-endian machine");

/// The header of a snapshot file.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(in crate::storage::files::file_format) struct SnapshotHeader {
    magic: [u8; 8],
    version: u32,
    order: u32,
    /// The length of the entire file.
    file_len: u64,
    /// The length of the data, which follows the header.
    pub(in crate::storage::files::file_format) data_len: u64,
    /// The number of sections.
    pub(in crate::storage::files::file_format) sections: u64,
    /// The length of all names of sections.
    pub(in crate::storage::files::file_format) names_len: u64,
    /// The checksum of the tables.
    pub(in crate::storage::files::file_format) tables_sum: u32,
    /// The database that it belongs to, the low part first; nothing in a file of version 1 and in a
    /// temporary one.
    identity: [u32; 4],
    filler: [u32; 14],
    /// The checksum of all bytes before this one.
    sum: u32,
}

const _: () = assert!(size_of::<SnapshotHeader>() == HEADER_LEN);

/// The positions of the tables, in bytes from the beginning of the file.
#[derive(Debug, Clone, Copy)]
pub(in crate::storage::files::file_format) struct TableOffsets {
    pub(in crate::storage::files::file_format) sums: usize,
    pub(in crate::storage::files::file_format) blocks: usize,
    pub(in crate::storage::files::file_format) entries: usize,
    pub(in crate::storage::files::file_format) names: usize,
    pub(in crate::storage::files::file_format) end: usize,
}

/// One section.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(in crate::storage::files::file_format) struct SectionEntry {
    /// The first byte, counted in the data.
    pub(in crate::storage::files::file_format) start: u64,
    pub(in crate::storage::files::file_format) len: u64,
    /// The first byte of the name, counted in the names.
    pub(in crate::storage::files::file_format) name_start: u64,
    pub(in crate::storage::files::file_format) name_len: u32,
    /// The length of one item.
    pub(in crate::storage::files::file_format) item_len: u32,
}

/// What is wrong with the header of a snapshot. Offsets in messages count bytes of the file from 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in crate::storage::files::file_format) enum HeaderError {
    /// The file is shorter than a header.
    #[error("{len} bytes are too few for a snapshot")]
    Short {
        /// How many bytes it has.
        len: usize,
    },
    /// The file does not begin as snapshots do.
    #[error("offset 0: not a snapshot of hexgraph")]
    NotOurs,
    /// The numbers of the file have their bytes in another order.
    #[error("offset 12: written with another order of bytes")]
    ByteOrder,
    /// The file has a format that is not read.
    #[error(
        "offset 8: format {version}, this program reads {VERSION_MIN} to {VERSION}; {}",
        whose_version(*version)
    )]
    Version {
        /// The number of the format.
        version: u32,
    },
    /// A bit of the header has changed.
    #[error("offset 124: the header does not have its checksum")]
    Checksum,
    /// The file was cut, or bytes were added.
    #[error("{result} bytes long, {expected} were written")]
    Length {
        /// How many bytes it has.
        result: usize,
        /// How many bytes the header says.
        expected: u64,
    },
    /// The header contradicts itself.
    #[error("offset 24: lengths of the tables do not add up")]
    Tables,
}

fn whose_version(version: u32) -> &'static str {
    match VERSION < version {
        true => "it was written by a later version of hexgraph: open it with that one",
        false => "it is no format that there ever was",
    }
}

impl SnapshotHeader {
    /// The header of a file of a database with such data and tables.
    pub(in crate::storage::files::file_format) fn new(
        identity: Identity,
        data_len: u64,
        [sections, names_len]: [u64; 2],
        tables_sum: u32,
    ) -> SnapshotHeader {
        let part = |position: u32| (identity.0 >> (32 * position)) as u32;
        let mut header = SnapshotHeader {
            magic: MAGIC,
            version: VERSION,
            order: ORDER,
            file_len: 0,
            data_len,
            sections,
            names_len,
            tables_sum,
            identity: [part(0), part(1), part(2), part(3)],
            filler: [0; 14],
            sum: 0,
        };
        header.file_len = header.positions().map_or(0, |positions| positions.end as u64);
        header.sum = header.own_sum();
        header
    }

    /// Reads the header of a file, checks it against the length of the file, and returns where the
    /// tables lie.
    ///
    /// # Errors
    ///
    /// [`HeaderError`] for a file that is no snapshot, that another version wrote, or that is cut
    /// or damaged.
    pub(in crate::storage::files::file_format) fn read(
        file: &[u8],
    ) -> Result<(SnapshotHeader, TableOffsets), HeaderError> {
        let Some(bytes) = file.get(..HEADER_LEN) else {
            return Err(HeaderError::Short { len: file.len() });
        };
        let header: SnapshotHeader = bytemuck::pod_read_unaligned(bytes);
        if header.magic != MAGIC {
            return Err(HeaderError::NotOurs);
        }
        // Before the version, whose bytes would be in the wrong order as well.
        if header.order != ORDER {
            return Err(HeaderError::ByteOrder);
        }
        if !(VERSION_MIN..=VERSION).contains(&header.version) {
            return Err(HeaderError::Version { version: header.version });
        }
        if header.sum != header.own_sum() {
            return Err(HeaderError::Checksum);
        }
        if header.file_len != file.len() as u64 {
            return Err(HeaderError::Length { result: file.len(), expected: header.file_len });
        }
        match header.positions() {
            Some(positions) if positions.end == file.len() => Ok((header, positions)),
            _ => Err(HeaderError::Tables),
        }
    }

    /// The database that the file belongs to.
    pub(in crate::storage::files::file_format) fn identity(&self) -> Identity {
        let parts = self.identity.iter().rev();
        Identity(parts.fold(0, |all, part| all << 32 | u128::from(*part)))
    }

    /// The positions of the tables; `None` when they would lie beyond what a file can have.
    fn positions(&self) -> Option<TableOffsets> {
        let data_len = usize::try_from(self.data_len).ok()?;
        let sums = HEADER_LEN.checked_add(data_len.checked_next_multiple_of(ALIGNMENT)?)?;
        let blocks = data_len.div_ceil(BLOCK_LEN);
        let sums_len = blocks.checked_mul(4)?.checked_next_multiple_of(ALIGNMENT)?;
        let entries = sums.checked_add(sums_len)?;
        let sections = usize::try_from(self.sections).ok()?;
        let names = entries.checked_add(sections.checked_mul(size_of::<SectionEntry>())?)?;
        let end = names.checked_add(usize::try_from(self.names_len).ok()?)?;
        Some(TableOffsets { sums, blocks, entries, names, end })
    }

    fn own_sum(&self) -> u32 {
        crc32fast::hash(&bytemuck::bytes_of(self)[..HEADER_LEN - 4])
    }
}
