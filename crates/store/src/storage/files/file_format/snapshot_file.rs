//! Opens a snapshot file and lends its sections.

use crate::storage::files::blocks::{BLOCK_LEN, CheckedBlocks, Guard, catch_corrupt};
use crate::storage::files::file_format::header::{
    ALIGNMENT, HEADER_LEN, SectionEntry, SnapshotHeader, TableOffsets,
};
use crate::storage::files::mapped::{Pages, map_file};
use crate::storage::{Array, FrozenBitmap, Identity, Offsets, TextArray};
use bytemuck::{Pod, Zeroable};
use bytes::Bytes;
use hexgraph_base::types::{Error, Result};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

/// An open snapshot. Its arrays share the map and outlive it.
///
/// A section that is missing, of other items, or damaged is an [`Error::Corrupt`] that names the
/// file and the section. Damage that shows only when items are read unwinds as in [`Array`].
pub struct SnapshotFile {
    label: String,
    identity: Identity,
    file: Bytes,
    positions: TableOffsets,
    entries: Array<SectionEntry>,
    blocks: Arc<CheckedBlocks>,
}

/// The method of reading a snapshot file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FileAccess {
    /// A large file is mapped: opening costs the same for any length, pages are read on first
    /// access, and the system reclaims them when memory is short. A program that shortens the file
    /// ends the process.
    #[default]
    Map,
    /// It is read into memory entirely.
    Read,
}

/// A file of at most this many bytes is always read: that takes a tenth of a millisecond more than
/// to map it, and the file cannot be shortened afterwards.
const READ_MAX: u64 = 1 << 20;

/// Bytes that are aligned as sections are. A vector of these has its first byte at a multiple of
/// 64.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; ALIGNMENT]);

impl SnapshotFile {
    /// Maps a file and reads its header and tables: O(sections), whatever the length of the data.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when it can't be opened, [`Error::Corrupt`] when it is not ours, of another
    /// version, truncated, or damaged in its header or tables.
    pub fn open(path: impl AsRef<Path>) -> Result<SnapshotFile> {
        SnapshotFile::open_with(path.as_ref(), FileAccess::Map)
    }

    /// Opens a file as [`SnapshotFile::open`] does; `access` says whether it may be mapped. Reading
    /// costs a pass over the file.
    ///
    /// # Errors
    ///
    /// As [`SnapshotFile::open`].
    pub fn open_with(path: &Path, access: FileAccess) -> Result<SnapshotFile> {
        let failed = |error| Error::io(format!("opening {}", path.display()), error);
        let len = fs::metadata(path).map_err(failed)?.len();
        let (file, pages) = match access {
            FileAccess::Map if READ_MAX < len => map_file(path)?,
            _ => (read_file(path)?, Pages::default()),
        };
        SnapshotFile::read(file, pages, path.display().to_string())
    }

    /// A snapshot that lies in memory, named `label` in errors. Copies the bytes unless they are
    /// aligned as a map is.
    ///
    /// # Errors
    ///
    /// As [`SnapshotFile::open`].
    pub fn from_bytes(bytes: Bytes, label: impl Into<String>) -> Result<SnapshotFile> {
        SnapshotFile::read(aligned(bytes), Pages::default(), label.into())
    }

    fn read(file: Bytes, pages: Pages, label: String) -> Result<SnapshotFile> {
        let corrupt = |message| Error::Corrupt { path: label.clone(), message };
        let (header, positions) =
            SnapshotHeader::read(&file).map_err(|fault| corrupt(fault.to_string()))?;
        // Tables are checked entirely on opening: they are small, and all accesses rely on them.
        if crc32fast::hash(&file[positions.sums..]) != header.tables_sum {
            let at = positions.sums;
            return Err(corrupt(format!("offset {at}: the tables do not have their checksum")));
        }
        // In bounds: `Header::read` checks that data and tables add up to the length of the file.
        let data = file.slice(HEADER_LEN..HEADER_LEN + header.data_len as usize);
        let sums = bytemuck::cast_slice(&file[positions.sums..][..4 * positions.blocks]).to_vec();
        let entries = bytemuck::cast_slice(&file[positions.entries..positions.names]).to_vec();
        let blocks =
            Arc::new(CheckedBlocks::new(label.clone(), data, HEADER_LEN, sums).with_pages(pages));
        let entries = Array::from_vec(entries);
        let identity = header.identity();
        let snapshot = SnapshotFile { label, identity, file, positions, entries, blocks };
        snapshot.check_entries(header.data_len)?;
        Ok(snapshot)
    }

    /// Checks once what all later accesses rely on.
    fn check_entries(&self, data_len: u64) -> Result<()> {
        let mut name_before = None;
        for (index, entry) in self.entries.as_slice().iter().enumerate() {
            let what = match self.entry_name(entry) {
                None => "its name is no text",
                // Sections are looked up by binary search, so duplicate names would be ambiguous.
                Some(name) if name_before.is_some_and(|before| name <= before) => {
                    "its name is out of order"
                }
                _ if entry.start.checked_add(entry.len).is_none_or(|end| data_len < end) => {
                    "it exceeds the data"
                }
                _ if !entry.start.is_multiple_of(ALIGNMENT as u64) => "it is not aligned",
                _ if entry.len.checked_rem(entry.item_len.into()).is_none_or(|rest| rest != 0) => {
                    "its length is no multiple of its items"
                }
                name => {
                    name_before = name;
                    continue;
                }
            };
            let at = self.positions.entries + index * size_of::<SectionEntry>();
            let name = self.entry_name(entry).unwrap_or("?");
            return Err(self.corrupt(format!("offset {at}: section `{name}`: {what}: {entry:?}")));
        }
        Ok(())
    }

    /// Releases the pages that were read so far; they are read again when they are next touched.
    pub fn release(&self) {
        self.blocks.release(0, self.file.len().saturating_sub(HEADER_LEN));
    }

    /// The database that it belongs to; [`Identity::NONE`] for a file of the first format and a
    /// temporary one.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// The path, or the label of bytes in memory.
    pub fn path(&self) -> &Path {
        Path::new(&self.label)
    }

    /// The names of all sections, ascending; things of several sections have several.
    pub fn section_names(&self) -> impl Iterator<Item = &str> {
        self.entries.as_slice().iter().filter_map(|entry| self.entry_name(entry))
    }

    /// Whether there is a section of that name, or a bitmap, offsets or texts of that name.
    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
            || ["dir", "narrow", "wide"].iter().any(|part| self.find_part(name, part).is_some())
    }

    /// The array of that name.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] when there is none, or its items have another length.
    pub fn array<T: Pod>(&self, name: &str) -> Result<Array<T>> {
        let Some(entry) = self.find(name) else {
            return Err(self.corrupt(format!("section `{name}` is missing")));
        };
        // The length and not the type: only the catalog has the types of items.
        if entry.item_len as usize != size_of::<T>() {
            let (result, expected) = (entry.item_len, size_of::<T>());
            let at = HEADER_LEN as u64 + entry.start;
            return Err(self.corrupt(format!(
                "section `{name}` at offset {at}: items of {result} bytes, not {expected}"
            )));
        }
        let start = entry.start as usize;
        let bytes = self.file.slice(HEADER_LEN + start..HEADER_LEN + start + entry.len as usize);
        Array::from_mapped(bytes, Guard::new(&self.blocks, name, start))
    }

    /// The bytes of that name.
    ///
    /// # Errors
    ///
    /// As [`SnapshotFile::array`].
    pub fn bytes(&self, name: &str) -> Result<Array<u8>> {
        self.array(name)
    }

    /// The bitmap of that name. Reads its directory.
    ///
    /// # Errors
    ///
    /// As [`SnapshotFile::array`], and when the directory is damaged.
    pub fn bitmap(&self, name: &str) -> Result<FrozenBitmap> {
        let directory = self.array(&format!("{name}.dir"))?;
        FrozenBitmap::from_parts(directory, self.array(&format!("{name}.words"))?)
    }

    /// The offsets of that name.
    ///
    /// # Errors
    ///
    /// As [`SnapshotFile::array`].
    pub fn offsets(&self, name: &str) -> Result<Offsets> {
        if self.find_part(name, "wide").is_some() {
            return Offsets::Wide(self.array(&format!("{name}.wide"))?).checked();
        }
        Offsets::Narrow(self.array(&format!("{name}.narrow"))?).checked()
    }

    /// The texts of that name. Reads the last of their offsets.
    ///
    /// # Errors
    ///
    /// As [`SnapshotFile::array`], and when the texts are longer than their bytes.
    pub fn text(&self, name: &str) -> Result<TextArray> {
        let offsets = self.offsets(name)?;
        let bytes = self.array(&format!("{name}.text"))?;
        catch_corrupt(|| TextArray::from_file_parts(offsets, bytes))?
    }

    /// Compares every block with its checksum. Reads the file to its end.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] for the first block that is damaged.
    pub fn verify_all(&self) -> Result<()> {
        for block in 0..self.blocks.count() {
            self.blocks.check(block, self.section_in(block))?;
        }
        Ok(())
    }

    /// The name of a section that has bytes in a block.
    fn section_in(&self, block: usize) -> &str {
        let start = (block * BLOCK_LEN) as u64;
        // Only for the message of a damaged block, so a pass over all sections suffices.
        let entries = self.entries.as_slice().iter();
        let first =
            entries.filter(|entry| start < entry.start + entry.len).min_by_key(|entry| entry.start);
        first.and_then(|entry| self.entry_name(entry)).unwrap_or("?")
    }

    fn find_part(&self, name: &str, part: &str) -> Option<SectionEntry> {
        self.find(&format!("{name}.{part}"))
    }

    fn find(&self, name: &str) -> Option<SectionEntry> {
        let entries = self.entries.as_slice();
        let result = entries.binary_search_by(|entry| self.entry_name(entry).cmp(&Some(name)));
        result.ok().map(|index| entries[index])
    }

    fn entry_name(&self, entry: &SectionEntry) -> Option<&str> {
        let names = &self.file[self.positions.names..self.positions.end];
        let start = usize::try_from(entry.name_start).ok()?;
        let end = start.checked_add(entry.name_len as usize)?;
        std::str::from_utf8(names.get(start..end)?).ok()
    }

    fn corrupt(&self, message: String) -> Error {
        Error::Corrupt { path: self.label.clone(), message }
    }
}

/// Reads a file to where every section is aligned.
fn read_file(path: &Path) -> Result<Bytes> {
    let failed = |error| Error::io(format!("reading {}", path.display()), error);
    let mut file = File::open(path).map_err(failed)?;
    let len = usize::try_from(file.metadata().map_err(failed)?.len());
    let len = len.map_err(|_| failed(io::ErrorKind::FileTooLarge.into()))?;
    let mut lines = Vec::new();
    let count = len.div_ceil(ALIGNMENT);
    // A damaged or external file may have any length; that must be an error and not the end of the
    // process.
    lines.try_reserve_exact(count).map_err(|_| failed(io::ErrorKind::OutOfMemory.into()))?;
    lines.resize(count, Line([0; ALIGNMENT]));
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut lines);
    file.read_exact(&mut bytes[..len]).map_err(failed)?;
    Ok(Array::from_vec(lines).bytes().slice(..len))
}

/// Returns the bytes at an address where every section is aligned: the same bytes, or a copy of
/// them.
fn aligned(bytes: Bytes) -> Bytes {
    if bytes.as_ptr().cast::<Line>().is_aligned() {
        return bytes;
    }
    let mut lines = vec![Line([0; ALIGNMENT]); bytes.len().div_ceil(ALIGNMENT)];
    bytemuck::cast_slice_mut(&mut lines)[..bytes.len()].copy_from_slice(&bytes);
    Array::from_vec(lines).bytes().slice(..bytes.len())
}
