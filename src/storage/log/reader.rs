//! Reads a log, record by record, as far as it is whole.

use super::format::FRAME_LEN;
use super::format::Frame;
use super::format::HEADER_LEN;
use super::format::Header;
use super::format::RECORD_MAGIC;
use crate::types::Error;
use crate::types::Result;
use std::fs::File;
use std::io;
use std::io::BufReader;
use std::io::Read;
use std::io::Seek;
use std::io::SeekFrom;
use std::path::Path;
use std::path::PathBuf;

/// What is read at once at the most before it is known to be there: a length that is damaged must
/// not allocate.
const CHUNK_LEN: usize = 1 << 20;

/// A log that is read. It may grow meanwhile.
pub struct LogReader {
    path: PathBuf,
    file: BufReader<File>,
    header: Header,
    /// The end of the last record that was read.
    end: u64,
    payload: Vec<u8>,
}

/// A record.
pub struct LogRecord<'a> {
    /// The number of the commit.
    pub commit: u64,
    /// What was appended.
    pub payload: &'a [u8],
}

impl LogReader {
    /// Opens a log; `None` when it has no whole header: it was being created.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when the system refuses; [`Error::Corrupt`] when there is no header and yet a
    /// record that was durable.
    pub fn open(path: &Path) -> Result<Option<LogReader>> {
        let failed = |error| Error::io(format!("reading {}", path.display()), error);
        let mut file = BufReader::with_capacity(1 << 18, File::open(path).map_err(failed)?);
        let mut bytes = Vec::new();
        file.by_ref().take(HEADER_LEN).read_to_end(&mut bytes).map_err(failed)?;
        let path = path.to_owned();
        let Some(header) = Header::of_bytes(&bytes) else {
            let header = Header { number: 0, previous: 0 };
            let mut reader = LogReader { path, file, header, end: 0, payload: Vec::new() };
            return reader.check_tail().map(|_| None);
        };
        Ok(Some(LogReader { path, file, header, end: HEADER_LEN, payload: Vec::new() }))
    }

    /// The number of the log, as its header says.
    pub fn number(&self) -> u64 {
        self.header.number
    }

    /// The number of the log before it, 0 for none.
    pub fn previous(&self) -> u64 {
        self.header.previous
    }

    /// The end of the last record that was read.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Reads the next record; `None` when there is no whole one. More may have been appended when
    /// it is asked again.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when the system refuses.
    pub fn read_next(&mut self) -> Result<Option<LogRecord<'_>>> {
        match self.read_record() {
            Ok(Some(frame)) => {
                self.end += (FRAME_LEN + self.payload.len()) as u64;
                Ok(Some(LogRecord { commit: frame.commit, payload: &self.payload }))
            }
            Ok(None) => {
                self.file.seek(SeekFrom::Start(self.end)).map_err(|error| self.failed(error))?;
                Ok(None)
            }
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Says how many bytes there are behind the last whole record, which [`LogReader::read_next`] has
    /// found to be the last.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] when what is missing there was durable once; [`Error::Io`] when the
    /// system refuses.
    pub fn check_tail(&mut self) -> Result<u64> {
        let mut tail = Vec::new();
        let read = self.file.seek(SeekFrom::Start(self.end));
        let read = read.and_then(|_| self.file.read_to_end(&mut tail));
        read.map_err(|error| self.failed(error))?;
        match later_record(&tail, self.end) {
            None => Ok(tail.len() as u64),
            Some(at) => Err(Error::Corrupt {
                path: self.path.display().to_string(),
                message: format!(
                    "the record at byte {} is damaged: the one at byte {} was written when it was \
                     on the disk; restore a backup, or cut the log off at byte {} to lose all that \
                     came after it",
                    self.end,
                    self.end + at as u64,
                    self.end
                ),
            }),
        }
    }

    fn read_record(&mut self) -> io::Result<Option<Frame>> {
        let mut frame = [0; FRAME_LEN];
        if !read_whole(&mut self.file, &mut frame)? {
            return Ok(None);
        }
        let Some(frame) = Frame::of_bytes(&frame) else { return Ok(None) };
        self.payload.clear();
        let mut missing = frame.len as usize;
        while 0 < missing {
            let now = missing.min(CHUNK_LEN);
            let start = self.payload.len();
            self.payload.resize(start + now, 0);
            if !read_whole(&mut self.file, &mut self.payload[start..])? {
                return Ok(None);
            }
            missing -= now;
        }
        Ok(frame.fits(&self.payload).then_some(frame))
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::io(format!("reading {}", self.path.display()), error)
    }
}

/// Fills the buffer; false when the file ends before.
fn read_whole(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// The place of a whole record in `tail`, which begins at the offset `start` of the log, that was
/// written when more than what is before the tail was durable. None where the tail itself begins
/// with a whole record: it was appended just now.
fn later_record(tail: &[u8], start: u64) -> Option<usize> {
    // Checksums of a few times the tail are enough for any log that we wrote, and bound the time
    // for one that is made to look like a million records.
    let mut budget = 8 * tail.len();
    let mut at = 0;
    while let Some(found) = tail[at..].windows(4).position(|bytes| *bytes == RECORD_MAGIC) {
        at += found;
        let place = start + at as u64;
        if let Some(frame) = Frame::of_bytes(&tail[at..])
            && (at == 0 || start < frame.synced)
            && frame.synced <= place
            && let Some(payload) = tail[at + FRAME_LEN..].get(..frame.len as usize)
        {
            if frame.fits(payload) {
                return Some(at).filter(|at| 0 < *at);
            }
            budget = budget.checked_sub(payload.len())?;
        }
        at += 1;
    }
    None
}
