//! The bytes that a load reads, and how many of them it has read.

use bytes::Bytes;
use hexgraph_base::formats::is_packed;
use hexgraph_base::types::{Error, Result};
use std::fs;
use std::fs::File;
use std::io;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Sources of at most so many bytes in all may be read twice, and under the writer lock.
const SMALL_BYTES: u64 = 64 << 10;

/// A source of triples. Gzip is recognised by its first bytes.
#[derive(Debug, Clone)]
pub enum Source {
    /// A file to be read from the disk.
    File(PathBuf),
    /// Bytes in memory.
    Bytes(Bytes),
}

/// The progress of a load, which can be read from any thread while the load runs. Clones have the
/// same counts.
#[derive(Debug, Clone, Default)]
pub struct LoadProgress {
    counts: Arc<Counts>,
}

/// The counts of a load. They are for display alone, so no order between them is retained
/// (`Relaxed`).
#[derive(Debug, Default)]
struct Counts {
    done: AtomicU64,
    total: AtomicU64,
    records: AtomicU64,
}

/// A source that is being read; the bytes read are counted in its [`LoadProgress`].
pub(in crate::db) struct Input {
    bytes: Box<dyn Read + Send>,
    progress: LoadProgress,
}

impl LoadProgress {
    /// The number of bytes read so far; of a compressed source the compressed bytes, so that its
    /// last value is [`LoadProgress::total`].
    ///
    /// ```
    /// use hexgraph::db::{Database, LoadOptions, LoadProgress, RequestContext, Source};
    ///
    /// let db = Database::in_memory();
    /// let progress = LoadProgress::default();
    /// // Another thread may read the clone while the load runs.
    /// let options = LoadOptions { progress: progress.clone(), ..LoadOptions::default() };
    /// let source = Source::Bytes("<1> <name> \"Ada\" .\n".into());
    /// db.load_with(source, None, options, &RequestContext::new())?;
    /// assert_eq!(progress.done(), progress.total());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn done(&self) -> u64 {
        self.counts.done.load(Ordering::Relaxed)
    }

    /// The total number of bytes; 0 before the load has begun, and for sources of unknown length.
    ///
    /// ```
    /// use hexgraph::db::LoadProgress;
    ///
    /// assert_eq!(LoadProgress::default().total(), 0, "no load has begun");
    /// ```
    pub fn total(&self) -> u64 {
        self.counts.total.load(Ordering::Relaxed)
    }

    /// The number of statements or rows read so far.
    ///
    /// ```
    /// use hexgraph::db::LoadProgress;
    ///
    /// assert_eq!(LoadProgress::default().records(), 0, "no load has begun");
    /// ```
    pub fn records(&self) -> u64 {
        self.counts.records.load(Ordering::Relaxed)
    }

    /// Resets the counts for a load of `total` bytes.
    pub(crate) fn start(&self, total: u64) {
        self.counts.done.store(0, Ordering::Relaxed);
        self.counts.records.store(0, Ordering::Relaxed);
        self.counts.total.store(total, Ordering::Relaxed);
    }

    /// Adds to the bytes that were read.
    pub(crate) fn add(&self, bytes: u64) {
        self.counts.done.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Sets the number of statements or rows read so far.
    pub(crate) fn set_records(&self, count: u64) {
        self.counts.records.store(count, Ordering::Relaxed);
    }
}

impl Input {
    /// Opens all sources, so that a missing one is reported before anything is loaded, and sets the
    /// counts of `progress` to 0.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when a file can't be opened, or is a directory.
    pub(in crate::db) fn open(sources: Vec<Source>, progress: &LoadProgress) -> Result<Vec<Input>> {
        let (mut inputs, mut all) = (Vec::new(), 0);
        for source in sources {
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
            all += total;
            inputs.push(Input { bytes, progress: progress.clone() });
        }
        progress.start(all);
        Ok(inputs)
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        self.progress.add(count as u64);
        Ok(count)
    }
}

/// The texts of sources that are short and not compressed; `None` where one is not, or can't be
/// read twice, or not at all: whoever opens it says why.
pub(in crate::db) fn small_texts(sources: &[Source]) -> Option<Vec<Source>> {
    let mut capacity = SMALL_BYTES;
    let mut texts = Vec::with_capacity(sources.len());
    for source in sources {
        let text = match source {
            Source::Bytes(text) => text.clone(),
            Source::File(path) => {
                let result = fs::metadata(path).ok()?;
                if !result.is_file() || capacity < result.len() {
                    return None;
                }
                Bytes::from(fs::read(path).ok()?)
            }
        };
        capacity = capacity.checked_sub(text.len() as u64)?;
        if is_packed(&text) {
            return None;
        }
        texts.push(Source::Bytes(text));
    }
    Some(texts)
}

/// One source where several are possible, so that callers can pass either.
impl From<Source> for Vec<Source> {
    fn from(source: Source) -> Vec<Source> {
        vec![source]
    }
}

impl Source {
    /// The name for messages: the path of a file, or `<bytes>`.
    ///
    /// ```
    /// use hexgraph::db::Source;
    ///
    /// assert_eq!(Source::File("people.rdf".into()).name(), "people.rdf");
    /// assert_eq!(Source::Bytes("<1> <name> \"Ada\" .".into()).name(), "<bytes>");
    /// ```
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
    // Opening a directory succeeds on Linux; only reading fails, with a message that names no file.
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
        let mut input = Input::open(vec![source], &progress).unwrap().remove(0);
        assert_eq!(input.read(&mut [0; 4]).unwrap(), 4);
        assert_eq!((progress.done(), progress.total()), (4, 10));
    }

    #[test]
    fn a_directory_is_no_source() {
        let source = Source::File(std::env::temp_dir());
        let opened = Input::open(vec![source], &LoadProgress::default()).err();
        assert!(opened.unwrap().to_string().contains("directory"));
    }
}
