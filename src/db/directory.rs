//! The directory of a database: which snapshot is the newest, and who may write.
//!
//! `CURRENT` names the newest `snapshot-N.hxs`. A published file is never changed: the next one is
//! written beside it, `CURRENT` is replaced by a rename, and the old one is unlinked, which leaves
//! it whole for those who have it open.

use crate::types::Error;
use crate::types::Result;
use std::fs;
use std::fs::File;
use std::fs::TryLockError;
use std::io;
use std::path::Path;
use std::path::PathBuf;
use std::process;

const CURRENT: &str = "CURRENT";
const LOCK: &str = "LOCK";

/// A directory that is open for reading or writing.
pub struct Directory {
    path: PathBuf,
    /// Held by the one process that may write; `None` for a reader.
    lock: Option<Lock>,
}

struct Lock {
    /// The lock goes with the file when it is closed.
    _file: File,
    /// A forked child has the file too, and must not write.
    process: u32,
}

impl Directory {
    /// Opens a directory for writing and creates it where it is missing.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when another process has it open for writing, and when there are other
    /// files in it and no database.
    pub fn open(path: &Path) -> Result<Directory> {
        fs::create_dir_all(path).map_err(|error| failed("creating", path, error))?;
        let directory = Directory { path: path.to_owned(), lock: None };
        if !directory.path.join(LOCK).exists() && !directory.path.join(CURRENT).exists() {
            refuse_foreign(path)?;
        }
        Ok(Directory { lock: Some(take_lock(path)?), ..directory })
    }

    /// Opens a directory for reading. It may be open for writing elsewhere.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when there is no database.
    pub fn open_read_only(path: &Path) -> Result<Directory> {
        let directory = Directory { path: path.to_owned(), lock: None };
        if directory.current()?.is_none() {
            let missing = io::Error::new(io::ErrorKind::NotFound, "there is no database here");
            return Err(failed("opening", path, missing));
        }
        Ok(directory)
    }

    /// The directory itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The newest snapshot; `None` in a directory that was just created.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] when `CURRENT` names no snapshot.
    pub fn current(&self) -> Result<Option<PathBuf>> {
        let path = self.path.join(CURRENT);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed("reading", &path, error)),
        };
        let name = text.trim_end();
        match number_of(name) {
            Some(_) => Ok(Some(self.path.join(name))),
            None => Err(Error::Corrupt {
                path: path.display().to_string(),
                message: format!("{name:?} is not the name of a snapshot (snapshot-N.hxs)"),
            }),
        }
    }

    /// Says whether this process may write.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] when it is open for reading, or in a forked child.
    pub fn check_writable(&self) -> Result<()> {
        let path = self.path.display();
        match &self.lock {
            Some(lock) if lock.process == process::id() => Ok(()),
            Some(_) => Err(Error::query(format!(
                "{path} belongs to the process that opened it; a forked child may only read"
            ))),
            None => Err(Error::query(format!("{path} is open read-only"))),
        }
    }

    /// Publishes the snapshot that `write` writes to the path it is given. A crash at any moment
    /// leaves the old snapshot or the new one.
    ///
    /// # Errors
    ///
    /// Those of `write`; [`Error::Io`] when the system refuses.
    pub fn publish(&self, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
        self.check_writable()?;
        let old = self.current()?;
        let old_number = old.as_deref().and_then(Path::file_name).and_then(|name| name.to_str());
        let number = old_number.and_then(number_of).unwrap_or(0) + 1;
        let name = format!("snapshot-{number}.hxs");
        let path = self.path.join(&name);
        if let Err(error) = write(&path).and_then(|()| sync(&path)) {
            // Half a snapshot is of no use; the error says more than a failure to remove it.
            let _ = fs::remove_file(&path);
            return Err(error);
        }
        self.switch_to(&name)?;
        match old {
            Some(old) => fs::remove_file(&old).map_err(|error| failed("removing", &old, error)),
            None => Ok(()),
        }
    }

    fn switch_to(&self, name: &str) -> Result<()> {
        let next = self.path.join("CURRENT.next");
        fs::write(&next, name).map_err(|error| failed("writing", &next, error))?;
        sync(&next)?;
        let current = self.path.join(CURRENT);
        fs::rename(&next, &current).map_err(|error| failed("replacing", &current, error))?;
        sync(&self.path)
    }
}

fn take_lock(path: &Path) -> Result<Lock> {
    let path = path.join(LOCK);
    let mut options = File::options();
    let file = options.create(true).truncate(false).write(true).open(&path);
    let file = file.map_err(|error| failed("opening", &path, error))?;
    match file.try_lock() {
        Ok(()) => Ok(Lock { _file: file, process: process::id() }),
        Err(TryLockError::WouldBlock) => {
            let reason = "the database is open for writing already, here or in another process; \
                          close it there, or open it read-only";
            Err(failed("locking", &path, io::Error::new(io::ErrorKind::WouldBlock, reason)))
        }
        Err(TryLockError::Error(error)) => Err(failed("locking", &path, error)),
    }
}

/// Nobody wants a database among his photographs because of a wrong path.
fn refuse_foreign(path: &Path) -> Result<()> {
    let mut entries = fs::read_dir(path).map_err(|error| failed("reading", path, error))?;
    if entries.next().is_none() {
        return Ok(());
    }
    let reason = "there are files and no database; name a new or an empty directory";
    Err(failed("opening", path, io::Error::new(io::ErrorKind::DirectoryNotEmpty, reason)))
}

fn number_of(name: &str) -> Option<u64> {
    name.strip_prefix("snapshot-")?.strip_suffix(".hxs")?.parse().ok()
}

/// Waits until a file or a directory is on the disk.
fn sync(path: &Path) -> Result<()> {
    let synced = File::open(path).and_then(|file| file.sync_all());
    synced.map_err(|error| failed("syncing", path, error))
}

fn failed(doing: &str, path: &Path, error: io::Error) -> Error {
    Error::io(format!("{doing} {}", path.display()), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(text: &'static str) -> impl FnOnce(&Path) -> Result<()> {
        move |path| fs::write(path, text).map_err(|error| failed("writing", path, error))
    }

    #[test]
    fn the_newest_snapshot_is_the_only_one() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("new");
        let directory = Directory::open(&path).unwrap();
        assert_eq!(directory.current().unwrap(), None);
        directory.publish(write("one")).unwrap();
        directory.publish(write("two")).unwrap();
        let current = directory.current().unwrap().unwrap();
        assert_eq!(fs::read_to_string(current).unwrap(), "two");
        let mut names: Vec<_> =
            fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["CURRENT", "LOCK", "snapshot-2.hxs"]);
    }

    #[test]
    fn a_failed_write_leaves_the_old_snapshot() {
        let root = tempfile::tempdir().unwrap();
        let directory = Directory::open(root.path()).unwrap();
        directory.publish(write("one")).unwrap();
        directory.publish(|_| Err(Error::query("no"))).unwrap_err();
        let current = directory.current().unwrap().unwrap();
        assert_eq!(fs::read_to_string(current).unwrap(), "one");
    }

    #[test]
    fn one_writes_and_many_read() {
        let root = tempfile::tempdir().unwrap();
        assert!(Directory::open_read_only(root.path()).is_err());
        let writer = Directory::open(root.path()).unwrap();
        writer.publish(write("one")).unwrap();
        let error = Directory::open(root.path()).err().unwrap();
        assert!(error.to_string().contains("open for writing already"), "{error}");
        let reader = Directory::open_read_only(root.path()).unwrap();
        assert!(reader.publish(write("two")).unwrap_err().to_string().contains("read-only"));
        drop(writer);
        Directory::open(root.path()).unwrap();
    }

    #[test]
    fn foreign_files_are_left_alone() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("photo"), "").unwrap();
        assert!(Directory::open(root.path()).is_err());
        fs::write(root.path().join(CURRENT), "../photo").unwrap();
        let directory = Directory::open(root.path()).unwrap();
        assert!(matches!(directory.current(), Err(Error::Corrupt { .. })));
    }
}
