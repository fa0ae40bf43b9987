//! Appends to a log.

use crate::storage::files::disk::{Files, OutputFile, write_all_at};
use crate::storage::files::log::format::{HEADER_LEN, Header, Layout};
use hexgraph_base::types::{Error, Result};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A log that is appended to. One thread writes; any may sync.
pub(crate) struct LogWriter {
    path: PathBuf,
    file: Arc<dyn OutputFile>,
    layout: Layout,
    /// The end of the last complete record.
    end: u64,
    /// The buffer in which a record is put together before it is written.
    buffer: Vec<u8>,
}

impl LogWriter {
    /// Creates a log, durably.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] on an error of the operating system; what there is of the file then counts as
    /// empty.
    pub(crate) fn create(files: &dyn Files, path: &Path, header: &Header) -> Result<LogWriter> {
        let create = || {
            let file = files.create(path)?;
            write_all_at(&*file, &header.to_bytes(), 0)?;
            file.sync()?;
            files.sync_directory(path.parent().unwrap_or(Path::new(".")))?;
            Ok(file)
        };
        let file = create().map_err(|error| failed("creating", path, error))?;
        let (path, end, layout) = (path.to_owned(), HEADER_LEN, Layout::of(header));
        Ok(LogWriter { path, file: Arc::from(file), layout, end, buffer: Vec::new() })
    }

    /// The length of what was appended, with the header.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// The file, to be synced.
    pub(crate) fn file(&self) -> Arc<dyn OutputFile> {
        Arc::clone(&self.file)
    }

    /// Appends a record. It is durable when the file was synced after this. `synced` is how far the
    /// file is durable.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] for a payload of 4 GiB; nothing is written then. [`Error::Io`] when the
    /// system refuses. The inner result says whether the log is unchanged. If not, nothing may be
    /// appended any more.
    pub(crate) fn append(
        &mut self,
        commit: u64,
        payload: &[u8],
        synced: u64,
    ) -> std::result::Result<(), AppendError> {
        let Some(frame) = self.layout.frame_of(commit, synced, payload) else {
            let message = "a change of 4 GiB and more: split it, or load it from a file".to_owned();
            return Err(AppendError { error: Error::Limit { message }, is_complete: true });
        };
        self.buffer.clear();
        self.buffer.extend_from_slice(&frame);
        self.buffer.extend_from_slice(payload);
        // At a given position, and not at the end of the file, so that it overwrites the remains of
        // a failed write.
        match write_all_at(&*self.file, &self.buffer, self.end) {
            Ok(()) => {
                self.end += self.buffer.len() as u64;
                // One very long record must not hold its memory as long as the log is open.
                self.buffer.shrink_to(1 << 20);
                Ok(())
            }
            Err(error) => {
                // Truncated: the refused record may be complete in the file, and a reader would
                // accept it as a commit.
                let is_complete = self.file.set_len(self.end).is_ok();
                let doing = "nothing is committed, for there was an error while writing";
                let error = failed(doing, &self.path, error);
                Err(AppendError { error, is_complete })
            }
        }
    }
}

/// Why a record was not appended.
pub(crate) struct AppendError {
    /// The reason.
    pub error: Error,
    /// False when a part of the record may be left in the log.
    pub is_complete: bool,
}

fn failed(doing: &str, path: &Path, error: io::Error) -> Error {
    Error::io(format!("{doing} {}", path.display()), error)
}
