//! Represents patterns of file names in a build without the feature `files`.

use hexgraph_base::types::{Error, Feature, Result};
use std::path::PathBuf;

/// Refuses a pattern.
///
/// # Errors
///
/// [`Error::Query`], always.
pub(super) fn matching(pattern: &str) -> Result<Vec<PathBuf>> {
    Err(Error::query(Feature::Files.missing(format!("the pattern of file names {pattern}"))))
}
