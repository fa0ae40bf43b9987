//! Files of a directory without `CURRENT`: left by a crash, or a database whose `CURRENT` is lost.
//!
//! While a database is created there is no `CURRENT` yet. A crash then leaves `LOCK`, a file ending
//! in `.next`, a snapshot without data or a log without a record. A directory with more than that
//! has lost its `CURRENT`. Creating a database there would overwrite data.

use super::directory::Directory;
use crate::graph::{Thresholds, Version, persist};
use crate::storage::{FileAccess, Identity, LogReader};
use hexgraph_base::types::{Error, Result};
use std::fs;
use std::path::Path;

/// The number of the snapshot of a new database. Later ones are written when `CURRENT` already
/// names one.
const FIRST_SNAPSHOT: u64 = 1;

/// The longest incomplete snapshot that a crash leaves while a database is created: without data it
/// has some pages.
const EMPTY_SNAPSHOT_MAX: u64 = 1 << 16;

/// Checks that a directory without a `CURRENT` is new, or that its creation was interrupted.
///
/// # Errors
///
/// [`Error::Corrupt`] where a snapshot or a log has data; [`Error::Io`] on an error of the
/// operating system.
pub fn check_new(directory: &Directory) -> Result<()> {
    let lost = |path: &Path| Error::Corrupt {
        path: directory.path().join("CURRENT").display().to_string(),
        message: format!(
            "it is missing, and {} has data: restore it from a backup of the directory; nothing was changed",
            path.display()
        ),
    };
    for number in directory.snapshots()? {
        let path = directory.snapshot_path(number);
        if !is_without_data(&path, number)? {
            return Err(lost(&path));
        }
    }
    for number in directory.logs(0)? {
        let path = directory.log_path(number);
        if has_record(&path)? {
            return Err(lost(&path));
        }
    }
    Ok(())
}

/// Whether there is a database at a path, whoever has it open.
///
/// # Errors
///
/// As [`check_new`], where it has lost its `CURRENT`.
pub fn is_database(path: &Path) -> Result<bool> {
    // What is wrong with a `CURRENT` that is there is for those who open it to say.
    if !path.is_dir() || path.join("CURRENT").exists() {
        return Ok(path.is_dir());
    }
    check_new(&Directory::unlocked(path)?).map(|()| false)
}

/// Whether a snapshot is that of a new database, complete or not.
fn is_without_data(path: &Path, number: u64) -> Result<bool> {
    match persist::open_of(path, Identity::NONE, FileAccess::default(), Thresholds::default()) {
        Ok(version) => {
            let new = Version::empty();
            let predicates = |version: &Version| version.schema.predicates.len();
            Ok(version.node_count() == 0 && predicates(&version) == predicates(&new))
        }
        Err(_) if number != FIRST_SNAPSHOT => Ok(false),
        Err(_) => {
            let file = fs::metadata(path);
            let context = || format!("reading {}", path.display());
            let file = file.map_err(|error| Error::io(context(), error))?;
            Ok(file.len() <= EMPTY_SNAPSHOT_MAX)
        }
    }
}

/// Whether a log has anything after its header that may be a record.
pub(super) fn has_record(path: &Path) -> Result<bool> {
    let Some(mut reader) = LogReader::open(path)? else { return Ok(false) };
    Ok(reader.read_next()?.is_some() || 0 < reader.check_tail()?)
}
