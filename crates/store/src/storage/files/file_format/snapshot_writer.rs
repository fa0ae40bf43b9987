//! Writes a snapshot file, section by section.

use crate::storage::files::blocks::BLOCK_LEN;
use crate::storage::files::disk::{Files, OutputFile, write_all_at};
use crate::storage::files::file_format::header::{
    ALIGNMENT, HEADER_LEN, SectionEntry, SnapshotHeader,
};
use crate::storage::{Array, FrozenBitmap, Identity, Offsets, TextArray};
use bytemuck::Pod;
use hexgraph_base::types::{Error, Result};
use std::io;
use std::io::{BufWriter, Write};
use std::path::Path;

const BUFFER_LEN: usize = 1024 * 1024;

/// Writes a snapshot file. Data stream to the file and are not buffered.
///
/// Until [`SnapshotWriter::finish`] the file has no header, so it is no valid snapshot. Dropping an
/// unfinished writer removes the file.
pub(crate) struct SnapshotWriter {
    label: String,
    identity: Identity,
    file: BufWriter<Output>,
    /// The number of bytes of data so far.
    data_len: u64,
    block: crc32fast::Hasher,
    sums: Vec<u32>,
    sections: Vec<(String, SectionEntry)>,
}

/// The end of a file that is written from its beginning.
struct Output {
    file: Box<dyn OutputFile>,
    end: u64,
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write_at(bytes, self.end)?;
        self.end += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl SnapshotWriter {
    /// Begins a file. One of that name is unlinked first and never written to, since another
    /// process may have mapped it.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when the file can't be created.
    pub(crate) fn create_in(files: &dyn Files, path: &Path) -> Result<SnapshotWriter> {
        let label = path.display().to_string();
        let file = files.create(path).map_err(|source| failed(&label, source))?;
        let mut writer = SnapshotWriter {
            file: BufWriter::with_capacity(BUFFER_LEN, Output { file, end: 0 }),
            data_len: 0,
            block: crc32fast::Hasher::new(),
            sums: Vec::new(),
            sections: Vec::new(),
            identity: Identity::NONE,
            label,
        };
        // The header is written last, with lengths and checksums that are only available then.
        // Until then there are zeros, which are no valid header.
        writer.write(&[0; HEADER_LEN])?;
        Ok(writer)
    }

    /// Says which database the file belongs to.
    pub(crate) fn set_identity(&mut self, identity: Identity) {
        self.identity = identity;
    }

    /// Adds an array, which may be mapped from another snapshot.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when writing fails, [`Error::Corrupt`] when the array is mapped and damaged.
    pub(crate) fn array<T: Pod>(&mut self, name: &str, array: &Array<T>) -> Result<()> {
        self.begin(name, size_of::<T>());
        for chunk in array.checked_chunks() {
            self.data(chunk?)?;
        }
        // Saving a mapped snapshot would else leave all of it in memory.
        array.release();
        self.end()
    }

    /// Adds bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when writing fails.
    pub(crate) fn bytes(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.begin(name, 1);
        self.data(bytes)?;
        self.end()
    }

    /// Adds a bitmap, as `name.dir` and `name.words`.
    ///
    /// # Errors
    ///
    /// As [`SnapshotWriter::array`].
    pub(crate) fn bitmap(&mut self, name: &str, bitmap: &FrozenBitmap) -> Result<()> {
        let (directory, payload) = bitmap.parts();
        self.array(&format!("{name}.dir"), directory)?;
        self.array(&format!("{name}.words"), payload)
    }

    /// Adds offsets, as `name.narrow` or `name.wide`.
    ///
    /// # Errors
    ///
    /// As [`SnapshotWriter::array`].
    pub(crate) fn offsets(&mut self, name: &str, offsets: &Offsets) -> Result<()> {
        match offsets {
            Offsets::Narrow(starts) => self.array(&format!("{name}.narrow"), starts),
            Offsets::Wide(starts) => self.array(&format!("{name}.wide"), starts),
        }
    }

    /// Adds texts, as offsets and `name.text`.
    ///
    /// # Errors
    ///
    /// As [`SnapshotWriter::array`].
    pub(crate) fn text(&mut self, name: &str, texts: &TextArray) -> Result<()> {
        let (offsets, bytes) = texts.parts();
        self.offsets(name, offsets)?;
        self.array(&format!("{name}.text"), bytes)
    }

    /// Writes the tables and the header and waits until the file is on disk. Its entry in the
    /// folder is the caller's to make durable.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when writing fails, or two sections have the same name.
    pub(crate) fn finish(self) -> Result<()> {
        let label = self.label.clone();
        let file = self.finish_file()?;
        file.sync().map_err(|source| failed(&label, source))
    }

    /// As [`SnapshotWriter::finish`], for a file that is of no use after a crash: it may not be on
    /// disk yet.
    ///
    /// # Errors
    ///
    /// As [`SnapshotWriter::finish`].
    pub(crate) fn finish_temporary(self) -> Result<()> {
        self.finish_file().map(drop)
    }

    fn finish_file(mut self) -> Result<Box<dyn OutputFile>> {
        if !self.data_len.is_multiple_of(BLOCK_LEN as u64) {
            self.end_block();
        }
        // By name, since sections are looked up by binary search.
        self.sections.sort_by(|(one, _), (two, _)| one.cmp(two));
        if let Some(pair) = self.sections.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let what = format!("two sections are named `{}`", pair[0].0);
            return Err(failed(&self.label, io::Error::new(io::ErrorKind::AlreadyExists, what)));
        }
        let (tables, names_len) = self.tables();
        self.write(&tables)?;
        let sum = crc32fast::hash(&tables);
        let counts = [self.sections.len() as u64, names_len];
        let header = SnapshotHeader::new(self.identity, self.data_len, counts, sum);
        self.put_header(&header).map_err(|source| failed(&self.label, source))?;
        let file = self.file.into_inner();
        file.map(|output| output.file).map_err(|fault| failed(&self.label, fault.into_error()))
    }

    fn put_header(&mut self, header: &SnapshotHeader) -> io::Result<()> {
        // All before it is handed to the system first: the header must not be written if that
        // fails.
        self.file.flush()?;
        write_all_at(&*self.file.get_ref().file, bytemuck::bytes_of(header), 0)
    }

    /// The tables as in the file, and the length of the names at their end.
    fn tables(&mut self) -> (Vec<u8>, u64) {
        let mut tables: Vec<u8> = bytemuck::cast_slice(&self.sums).to_vec();
        // Entries have to lie aligned, since the reader casts them in
        // position. The checksum of the tables is over the filler, too.
        tables.resize(tables.len().next_multiple_of(ALIGNMENT), 0);
        let mut names = Vec::new();
        for (name, entry) in &mut self.sections {
            entry.name_start = names.len() as u64;
            names.extend_from_slice(name.as_bytes());
            tables.extend_from_slice(bytemuck::bytes_of(entry));
        }
        tables.extend_from_slice(&names);
        (tables, names.len() as u64)
    }

    fn begin(&mut self, name: &str, item_len: usize) {
        let entry = SectionEntry {
            start: self.data_len,
            len: 0,
            name_start: 0,
            name_len: u32::try_from(name.len()).expect("names are short"),
            item_len: u32::try_from(item_len).expect("items are small"),
        };
        self.sections.push((name.to_owned(), entry));
    }

    /// Ends the current section: records its length and pads up to the start of the next.
    fn end(&mut self) -> Result<()> {
        let data_len = self.data_len;
        let (_, entry) = self.sections.last_mut().expect("a section was begun");
        entry.len = data_len - entry.start;
        let filler = data_len.next_multiple_of(ALIGNMENT as u64) - data_len;
        self.data(&[0; ALIGNMENT][..filler as usize])
    }

    /// Writes data and updates its checksums.
    fn data(&mut self, bytes: &[u8]) -> Result<()> {
        self.write(bytes)?;
        let mut rest = bytes;
        while !rest.is_empty() {
            // Blocks are cut by the position in the data and not by sections, so one may hold parts
            // of several.
            let capacity = BLOCK_LEN - (self.data_len % BLOCK_LEN as u64) as usize;
            let (now, later) = rest.split_at(capacity.min(rest.len()));
            self.block.update(now);
            self.data_len += now.len() as u64;
            if now.len() == capacity {
                self.end_block();
            }
            rest = later;
        }
        Ok(())
    }

    fn end_block(&mut self) {
        self.sums.push(std::mem::take(&mut self.block).finalize());
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|source| failed(&self.label, source))
    }
}

fn failed(label: &str, source: io::Error) -> Error {
    Error::io(format!("writing {label}"), source)
}
