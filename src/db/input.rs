//! The bytes that a load reads, and how many of them it has read.

use super::operation::Source;
use crate::types::Error;
use crate::types::Result;
use std::fs::File;
use std::io;
use std::io::Cursor;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;

/// How far a load is, readable while it runs. A clone shows the same load.
#[derive(Debug, Clone, Default)]
pub struct LoadProgress {
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    done: AtomicU64,
    total: AtomicU64,
}

/// A source that is being read.
pub struct Input {
    bytes: Box<dyn Read + Send>,
    progress: LoadProgress,
}

impl LoadProgress {
    /// The bytes that were read, packed ones where the source is packed; the rows of a table.
    pub fn done(&self) -> u64 {
        self.counts.done.load(Ordering::Relaxed)
    }

    /// The bytes that there are; 0 before the load has begun.
    pub fn total(&self) -> u64 {
        self.counts.total.load(Ordering::Relaxed)
    }

    /// Says how far a load is that reads no bytes.
    pub(crate) fn set(&self, done: u64, total: u64) {
        self.counts.done.store(done, Ordering::Relaxed);
        self.counts.total.store(total, Ordering::Relaxed);
    }
}

impl Input {
    /// Opens a source.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when the file can't be read.
    pub fn open(source: Source, progress: LoadProgress) -> Result<Input> {
        let (bytes, total): (Box<dyn Read + Send>, u64) = match source {
            Source::File(path) => {
                let (file, len) = open_file(&path)?;
                (Box::new(file), len)
            }
            Source::Bytes(bytes) => {
                let len = bytes.len() as u64;
                (Box::new(Cursor::new(bytes)), len)
            }
        };
        progress.counts.done.store(0, Ordering::Relaxed);
        progress.counts.total.store(total, Ordering::Relaxed);
        Ok(Input { bytes, progress })
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        self.progress.counts.done.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl Source {
    /// What errors call it.
    pub fn name(&self) -> String {
        match self {
            Source::File(path) => path.display().to_string(),
            Source::Bytes(_) => "<bytes>".to_owned(),
        }
    }
}

fn open_file(path: &Path) -> Result<(File, u64)> {
    let failed = |error| Error::io(format!("opening {}", path.display()), error);
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.is_dir() {
        return Err(failed(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory")));
    }
    Ok((file, metadata.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    #[test]
    fn what_is_read_is_counted() {
        let source = Source::Bytes(Bytes::from_static(b"0123456789"));
        let progress = LoadProgress::default();
        let mut input = Input::open(source, progress.clone()).unwrap();
        assert_eq!(input.read(&mut [0; 4]).unwrap(), 4);
        assert_eq!((progress.done(), progress.total()), (4, 10));
    }

    #[test]
    fn a_directory_is_no_source() {
        let source = Source::File(std::env::temp_dir());
        let opened = Input::open(source, LoadProgress::default()).err();
        assert!(opened.unwrap().to_string().contains("directory"));
    }
}
