//! The files that a pattern of names matches.

use hexgraph_base::types::{Error, Result};
use std::path::PathBuf;

/// Returns the files that a pattern with `*`, `?` or `[…]` matches, sorted by name.
///
/// # Errors
///
/// [`Error::Query`] for a malformed pattern, [`Error::Io`] for a folder that can't be read.
pub(super) fn matching(pattern: &str) -> Result<Vec<PathBuf>> {
    let result =
        glob::glob(pattern).map_err(|error| Error::query(format!("{pattern}: {error}")))?;
    let failed = |error: glob::GlobError| {
        Error::io(format!("reading {}", error.path().display()), std::io::Error::from(error))
    };
    result.map(|file| file.map_err(failed)).collect()
}
