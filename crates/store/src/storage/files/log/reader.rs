//! Reads a log, record by record, up to the last complete one.

use crate::storage::files::log::format::{FRAME_LEN, Frame, HEADER_LEN, Header, Layout, NoHeader};
use hexgraph_base::types::{Error, Result};
use std::fs::File;
use std::io;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The number of bytes that are read, and for which memory is allocated, at a time: a damaged
/// length must not allocate more than the file has.
const CHUNK_LEN: usize = 1 << 20;

/// More than this after the last complete record is not left by a crash: the greatest record, and
/// the total of many small ones before they are synced.
const TAIL_MAX: u64 = 5 << 30;

/// A log that is read. It may grow meanwhile.
pub struct LogReader {
    path: PathBuf,
    file: BufReader<File>,
    header: Header,
    layout: Layout,
    /// The end of the last record that was read.
    end: u64,
    payload: Vec<u8>,
}

/// A record.
pub struct LogRecord<'a> {
    /// The number of the commit.
    pub commit: u64,
    /// The bytes that were appended.
    pub payload: &'a [u8],
}

impl LogReader {
    /// Opens a log and reads its header, not its records. Returns `None` for a file without a
    /// complete header, which is a log that was being created.
    ///
    /// A file without a header is searched for records of format 1: one that was written when more
    /// than what is before it was durable shows that the header was lost later. Records of format 2
    /// are not searched for, because their checksums begin with the identity and the number in the
    /// lost header. There `CURRENT` names the logs that must have a header, and the caller refuses
    /// a named one for which this is `None`.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] on an error of the operating system; [`Error::Corrupt`] when a later release
    /// wrote the file, when there is such a record of format 1, and when a file without a header is
    /// longer than what a crash leaves (5 GiB).
    pub fn open(path: &Path) -> Result<Option<LogReader>> {
        let failed = |error| Error::io(format!("reading {}", path.display()), error);
        let mut file = BufReader::with_capacity(1 << 18, File::open(path).map_err(failed)?);
        let mut bytes = Vec::new();
        file.by_ref().take(HEADER_LEN).read_to_end(&mut bytes).map_err(failed)?;
        let path = path.to_owned();
        let payload = Vec::new();
        match Header::of_bytes(&bytes) {
            Ok((header, layout)) => {
                let end = layout.header_len();
                file.seek(SeekFrom::Start(end)).map_err(failed)?;
                Ok(Some(LogReader { path, file, header, layout, end, payload }))
            }
            Err(NoHeader::Later(format)) => Err(Error::Corrupt {
                path: path.display().to_string(),
                message: format!(
                    "byte 7: it has format {format} and was written by a later version of hexgraph: open it with that one"
                ),
            }),
            Err(NoHeader::Damaged) => {
                let (header, layout, end) = (Header::default(), Layout::One, 0);
                let mut reader = LogReader { path, file, header, layout, end, payload };
                reader.check_tail().map(|_| None)
            }
        }
    }

    /// The header of the log.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The path of the log.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The end of the last record that was read.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Reads the next record; `None` if there is no complete one. More may have been appended by
    /// the next call.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] on an error of the operating system.
    pub fn read_next(&mut self) -> Result<Option<LogRecord<'_>>> {
        match self.read_record() {
            Ok(Some(frame)) => {
                self.end += (self.layout.frame_len() + self.payload.len()) as u64;
                Ok(Some(LogRecord { commit: frame.commit, payload: &self.payload }))
            }
            Ok(None) => {
                self.go_to(self.end)?;
                Ok(None)
            }
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Returns the number of bytes after the last complete record, after [`LogReader::read_next`]
    /// has returned `None`. Reads them once, a chunk at a time.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] when missing bytes were durable once; [`Error::Io`] when the system
    /// refuses.
    pub fn check_tail(&mut self) -> Result<u64> {
        let len = self.file.get_ref().metadata().map_err(|error| self.failed(error))?.len();
        let tail = len.saturating_sub(self.end);
        if tail == 0 || self.has_record_at_end()? {
            return Ok(tail);
        }
        if TAIL_MAX < tail {
            let what = if self.end == 0 { "header of a log" } else { "complete record" };
            return Err(self.corrupt(format!(
                "there is no {what} at byte {}, and the {tail} bytes from there on are more than a \
                 crash leaves: restore a backup",
                self.end
            )));
        }
        let later = self.later_record(len)?;
        self.go_to(self.end)?;
        let Some(later) = later else { return Ok(tail) };
        // If another process writes, missing data may have arrived before the record that was read.
        if self.has_record_at_end()? {
            return Ok(tail);
        }
        Err(self.corrupt(format!(
            "the record at byte {} is damaged: the one at byte {later} was written when it was on the disk; restore a \
             backup, or cut the log off at byte {} to lose all that came after it",
            self.end, self.end
        )))
    }

    /// Whether there is a complete record after the last one that was read.
    fn has_record_at_end(&mut self) -> Result<bool> {
        self.go_to(self.end)?;
        let result = self.read_record().map_err(|error| self.failed(error))?.is_some();
        self.go_to(self.end)?;
        Ok(result)
    }

    /// The end of the last complete record written when more than the bytes before the gap was
    /// durable.
    fn later_record(&mut self, len: u64) -> Result<Option<u64>> {
        let frame_len = self.layout.frame_len();
        // Checksums of a few times the tail suffice for any valid log, and bound the time for a
        // forged one with a million records. Only format 1 uses it, as its frames have no checksum:
        // each candidate is read to its end.
        let mut budget = 8 * (len - self.end);
        let mut window = Vec::new();
        let mut at = self.end;
        while at < len {
            window.clear();
            self.go_to(at)?;
            // A frame more than is searched, so that one at the end of the chunk is complete.
            let read =
                self.file.by_ref().take((CHUNK_LEN + frame_len) as u64).read_to_end(&mut window);
            read.map_err(|error| self.failed(error))?;
            let full = window.len().min(CHUNK_LEN);
            if window.iter().any(|byte| *byte != 0) {
                for position in
                    positions_of(self.layout.magic(), &window).filter(|position| *position < full)
                {
                    let start = at + position as u64;
                    let Some(frame) = self.layout.frame(&window[position..]) else { continue };
                    // Only a record written when more than what is read was durable proves damage.
                    // None can refer to bytes after itself, and the one at the end is the missing
                    // one.
                    if frame.synced <= self.end || start < frame.synced || start == self.end {
                        continue;
                    }
                    if self.is_later(&frame, start, len, &mut budget)? {
                        return Ok(Some(start));
                    }
                }
            }
            if full == 0 {
                break;
            }
            at += full as u64;
        }
        Ok(None)
    }

    /// Whether what begins like a record at a position is one.
    fn is_later(&mut self, frame: &Frame, start: u64, len: u64, budget: &mut u64) -> Result<bool> {
        if self.layout != Layout::One {
            // The checksum of what begins it is enough.
            return Ok(true);
        }
        let end = start + (self.layout.frame_len() as u64) + u64::from(frame.len);
        if len < end || *budget < u64::from(frame.len) {
            return Ok(false);
        }
        *budget -= u64::from(frame.len);
        let at = start + self.layout.frame_len() as u64;
        self.go_to(at)?;
        let mut hasher = self.layout.hasher(frame);
        let mut rest = u64::from(frame.len);
        let mut chunk = vec![0; rest.min(CHUNK_LEN as u64) as usize];
        while 0 < rest {
            let now = rest.min(chunk.len() as u64) as usize;
            let full = read_full(&mut self.file, &mut chunk[..now]);
            if !full.map_err(|error| self.failed(error))? {
                return Ok(false);
            }
            hasher.update(&chunk[..now]);
            rest -= now as u64;
        }
        Ok(frame.fits(hasher))
    }

    fn go_to(&mut self, position: u64) -> Result<()> {
        let gone = self.file.seek(SeekFrom::Start(position)).map(drop);
        gone.map_err(|error| self.failed(error))
    }

    fn read_record(&mut self) -> io::Result<Option<Frame>> {
        let mut bytes = [0; FRAME_LEN];
        let bytes = &mut bytes[..self.layout.frame_len()];
        if !read_full(&mut self.file, bytes)? {
            return Ok(None);
        }
        let Some(frame) = self.layout.frame(bytes) else { return Ok(None) };
        self.payload.clear();
        let mut missing = frame.len as usize;
        while 0 < missing {
            let now = missing.min(CHUNK_LEN);
            let start = self.payload.len();
            self.payload.resize(start + now, 0);
            if !read_full(&mut self.file, &mut self.payload[start..])? {
                return Ok(None);
            }
            missing -= now;
        }
        let mut hasher = self.layout.hasher(&frame);
        hasher.update(&self.payload);
        Ok(frame.fits(hasher).then_some(frame))
    }

    fn corrupt(&self, message: String) -> Error {
        Error::Corrupt { path: self.path.display().to_string(), message }
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::io(format!("reading {}", self.path.display()), error)
    }
}

/// Fills the buffer; false when the file ends before.
fn read_full(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// The positions where four bytes stand, ascending.
fn positions_of(magic: [u8; 4], bytes: &[u8]) -> impl Iterator<Item = usize> {
    bytes
        .windows(4)
        .enumerate()
        .filter(move |(_, result)| *result == magic)
        .map(|(position, _)| position)
}
