//! Opens files of tables, and says why one can't be read.

use hexgraph_base::types::{Error, Result};
use std::fs::File;
use std::path::Path;

/// Opens a file.
///
/// # Errors
///
/// [`Error::Io`], with its name.
pub(super) fn open_file(path: &Path) -> Result<File> {
    File::open(path).map_err(|error| Error::io(format!("opening {}", path.display()), error))
}

/// The error for a file that was opened and can't be read.
pub(super) fn failed(path: &Path, error: std::io::Error) -> Error {
    Error::io(format!("reading {}", path.display()), error)
}

/// The error for a table that is not what it should be.
pub(super) fn unreadable(name: &str, error: impl std::fmt::Display) -> Error {
    Error::query(format!("{name}: {error}"))
}
