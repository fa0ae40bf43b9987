//! The directory of a database: names its newest snapshot and its logs, and locks it for the one
//! process that writes.
//!
//! `CURRENT` names the newest `snapshot-N.hxs`, which includes all logs below N, and the last log;
//! each log names the one before it. The logs from `log-N.hxl` on have what came after the
//! snapshot. A published file is never changed: the next one is written under another name,
//! `CURRENT` is replaced by a rename, and the old file is unlinked, which leaves it intact for its
//! readers. A log exists, with its header on the disk, before `CURRENT` names it: so a missing,
//! empty or external one is detected.
//!
//! `CLOCK` has an upper bound of the numbers of transactions: after a crash numbers continue above
//! it, so that a client with an old transaction is not confused with another.
//!
//! The operating system's lock on `LOCK` is the right to write ([`Lock`]); the file itself stays.

use super::current::{Current, LastLog, log_number, snapshot_number};
use super::lock::{LOCK, Lock, failed};
use crate::storage::{Disk, Files, Identity, write_all_at};
use hexgraph_base::types::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::{fs, io};

const CURRENT: &str = "CURRENT";
const CURRENT_NEXT: &str = "CURRENT.next";
const CLOCK: &str = "CLOCK";
const CLOCK_NEXT: &str = "CLOCK.next";

/// The greatest number of a transaction or a commit: at a billion a second it lasts 146 years. A
/// file with a greater one is invalid, and later numbers would wrap around.
pub(super) const NUMBER_MAX: u64 = 1 << 62;

/// A directory that is open for reading or writing. The right to write ends when it is dropped or
/// [released](Directory::release).
pub struct Directory {
    path: PathBuf,
    /// The file system; tests replace the operating system's.
    files: Arc<dyn Files>,
    /// Held by the one process that may write; `None` for a reader.
    lock: Option<Lock>,
    /// The content of `CURRENT`, once the process that writes has read it.
    written: Mutex<Option<Current>>,
}

/// The absolute path: a process may change its working directory while a database is open, and the
/// relative path may then name another one.
fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(|error| failed("opening", path, error))
}

impl Directory {
    /// Opens a directory for writing and creates it where it is missing.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when another process has it open for writing, and when there are other
    /// files in it and no database.
    pub fn open(path: &Path) -> Result<Directory> {
        Directory::open_with(path, Arc::new(Disk))
    }

    /// Opens a directory as [`Directory::open`] does, and writes through `files` instead of the
    /// operating system.
    ///
    /// # Errors
    ///
    /// As [`Directory::open`].
    pub fn open_with(path: &Path, files: Arc<dyn Files>) -> Result<Directory> {
        refuse_file(path)?;
        fs::create_dir_all(path).map_err(|error| failed("creating", path, error))?;
        let (path_buf, written) = (absolute(path)?, Mutex::default());
        let directory = Directory { path: path_buf, files, lock: None, written };
        if !directory.path.join(LOCK).exists() && !directory.path.join(CURRENT).exists() {
            refuse_external(path)?;
        }
        Ok(Directory { lock: Some(Lock::acquire(path)?), ..directory })
    }

    /// Opens a directory for reading. It may be open for writing elsewhere.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when there is no database.
    pub fn open_read_only(path: &Path) -> Result<Directory> {
        refuse_file(path)?;
        let directory = Directory::unlocked(path)?;
        if directory.current()?.is_none() {
            let missing = io::Error::new(io::ErrorKind::NotFound, "there is no database here");
            return Err(failed("opening", path, missing));
        }
        Ok(directory)
    }

    /// A directory whose files are looked at, whoever has it open.
    pub(super) fn unlocked(path: &Path) -> Result<Directory> {
        let (path, files) = (absolute(path)?, Arc::new(Disk));
        Ok(Directory { path, files, lock: None, written: Mutex::default() })
    }

    /// The directory itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The files through which it is written.
    pub fn files(&self) -> &Arc<dyn Files> {
        &self.files
    }

    /// Reads `CURRENT`: which files there have to be. `None` in a directory that was just created.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] when `CURRENT` is not what was written.
    pub fn current(&self) -> Result<Option<Current>> {
        let path = self.path.join(CURRENT);
        let text = match fs::read(&path) {
            // Invalid UTF-8 becomes other characters, which the first line or the checksum detects.
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed("reading", &path, error)),
        };
        Current::of_text(&text).map(Some).map_err(|fault| Error::Corrupt {
            path: path.display().to_string(),
            message: fault.to_string(),
        })
    }

    /// The identity of the database, which a new one gets now.
    ///
    /// # Errors
    ///
    /// As [`Directory::current`].
    pub fn identity(&self) -> Result<Identity> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(self.existing(&mut written)?.identity)
    }

    /// Has `CURRENT` name a log as the last one. The log must be on the disk with its header.
    /// `durable` is the number of its bytes that are.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] on an error of the operating system.
    pub fn name_log(&self, number: u64, durable: u64) -> Result<()> {
        self.update(|current| {
            current.log = LastLog::Is { number, durable };
            true
        })
    }

    /// Notes that `len` bytes of a log are durable. Does nothing if `CURRENT` names another last
    /// log, or as many bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] on an error of the operating system.
    pub fn note_durable(&self, log: u64, len: u64) -> Result<()> {
        self.update(|current| match &mut current.log {
            LastLog::Is { number, durable } if *number == log && *durable < len => {
                *durable = len;
                true
            }
            _ => false,
        })
    }

    /// The content of `CURRENT`, or the one that a new database is going to have.
    fn existing(&self, written: &mut Option<Current>) -> Result<Current> {
        if let Some(current) = written {
            return Ok(*current);
        }
        let new = Current { snapshot: 0, log: LastLog::None, identity: Identity::NONE };
        let mut current = self.current()?.unwrap_or(new);
        if current.identity == Identity::NONE {
            current.identity = Identity::random();
        }
        // Read once: from then on only this process changes it, as it has the lock of the
        // directory.
        *written = Some(current);
        Ok(current)
    }

    /// Replaces `CURRENT` by what `change` makes of it, unless that returns false. A crash at any
    /// moment leaves the old one or the new one. The lock covers reading and writing, so changes
    /// are serialised.
    fn update(&self, change: impl FnOnce(&mut Current) -> bool) -> Result<()> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = self.existing(&mut written)?;
        if !change(&mut next) {
            return Ok(());
        }
        // Where this fails the new text may stand there all the same. What is
        // remembered stays the old one, and the next change replaces the file again.
        self.replace(CURRENT, CURRENT_NEXT, &next.to_text())?;
        *written = Some(next);
        Ok(())
    }

    /// Reads `CLOCK`: an upper bound of the numbers of transactions; 0 if there were none.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] when `CLOCK` has no number.
    pub fn clock(&self) -> Result<u64> {
        let path = self.path.join(CLOCK);
        let corrupt = |message| Error::Corrupt { path: path.display().to_string(), message };
        match fs::read_to_string(&path) {
            Ok(text) => match text.trim_end().parse() {
                Ok(number) if number <= NUMBER_MAX => Ok(number),
                Ok(number) => Err(corrupt(format!(
                    "{number} is above {NUMBER_MAX}, and no transaction ever has such a number: restore a backup"
                ))),
                Err(_) => Err(corrupt(format!("{text:?} is not a number"))),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(failed("reading", &path, error)),
        }
    }

    /// Writes to `CLOCK` that numbers of transactions go up to this one. Calls must not overlap:
    /// they write the same temporary file.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] on an error of the operating system; as [`Directory::check_writable`].
    pub fn set_clock(&self, number: u64) -> Result<()> {
        self.check_writable()?;
        self.replace(CLOCK, CLOCK_NEXT, &number.to_string())
    }

    /// The path of a snapshot.
    pub fn snapshot_path(&self, number: u64) -> PathBuf {
        self.path.join(format!("snapshot-{number}.hxs"))
    }

    /// The path of a log.
    pub fn log_path(&self, number: u64) -> PathBuf {
        self.path.join(format!("log-{number}.hxl"))
    }

    /// The numbers of the logs from `first` on, ascending.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when the directory can't be read.
    pub fn logs(&self, first: u64) -> Result<Vec<u64>> {
        let names = self.names()?;
        let numbers = names.iter().filter_map(|name| log_number(name));
        let mut logs: Vec<u64> = numbers.filter(|number| first <= *number).collect();
        logs.sort_unstable();
        Ok(logs)
    }

    /// The numbers of the snapshots, ascending.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when the directory can't be read.
    pub fn snapshots(&self) -> Result<Vec<u64>> {
        let names = self.names()?;
        let mut snapshots: Vec<u64> =
            names.iter().filter_map(|name| snapshot_number(name)).collect();
        snapshots.sort_unstable();
        Ok(snapshots)
    }

    /// Checks that this process may write.
    ///
    /// # Errors
    ///
    /// [`Error::ReadOnly`] when it is open for reading, or in a forked child; [`Error::Closed`]
    /// after [`Directory::release`].
    pub fn check_writable(&self) -> Result<()> {
        let path = self.path.display();
        match &self.lock {
            Some(lock) if !lock.is_own() => Err(Error::ReadOnly {
                message: format!(
                    "{path} belongs to the process that opened it; a forked child may only read"
                ),
            }),
            Some(_) => self.check_retained(),
            None => Err(Error::ReadOnly { message: format!("{path} is open read-only") }),
        }
    }

    /// Checks that the right to write is still there, without a system call.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`] after [`Directory::release`].
    pub fn check_retained(&self) -> Result<()> {
        let is_released = self.lock.as_ref().is_some_and(|lock| lock.is_released());
        if is_released { Err(Error::Closed) } else { Ok(()) }
    }

    /// Checks that the path still names the locked directory. Must be called before a file is
    /// created, replaced or removed by its name: a directory that was recreated at the path is
    /// another database.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when it was removed or replaced.
    pub fn check_location(&self) -> Result<()> {
        if self.lock.as_ref().is_none_or(|lock| lock.is_at(&self.path)) {
            return Ok(());
        }
        let reason = "the directory was removed or replaced while the database was open, so nothing more is written there; \
                      close it and open the new one";
        Err(failed("writing", &self.path, io::Error::new(io::ErrorKind::NotFound, reason)))
    }

    /// Releases the writer's lock, so that the directory can be reopened at once even while this
    /// handle is in use. The caller ensures that nothing is being written.
    pub fn release(&self) {
        if let Some(lock) = self.lock.as_ref().filter(|lock| lock.is_own()) {
            lock.release();
        }
    }

    /// True while this process writes and `path` names the locked directory, not one
    /// recreated at the path.
    pub fn is_locked_at(&self, path: &Path) -> bool {
        self.lock.as_ref().is_some_and(|lock| lock.is_own() && lock.is_at(path))
    }

    /// Publishes a snapshot that `write` writes to the path it is given, with the identity of the
    /// database, under a number above all existing ones. A crash at any moment leaves the old
    /// snapshot or the new one.
    ///
    /// # Errors
    ///
    /// Those of `write`; [`Error::Io`] on an error of the operating system.
    pub fn publish_next(&self, write: impl FnOnce(&Path, Identity) -> Result<()>) -> Result<()> {
        let last = |numbers: Vec<u64>| numbers.last().copied().unwrap_or(0);
        // Logs from the snapshot's number on are replayed after it, so it must be above all logs
        // that it replaces.
        let last = last(self.logs(0)?).max(last(self.snapshots()?));
        let number = self.current()?.map_or(0, |current| current.snapshot).max(last) + 1;
        self.publish(number, write)
    }

    /// As [`Directory::publish_next`], under a number that is above those of all snapshots and of
    /// all logs that it is to replace.
    ///
    /// # Errors
    ///
    /// As [`Directory::publish_next`].
    pub fn publish(
        &self,
        number: u64,
        write: impl FnOnce(&Path, Identity) -> Result<()>,
    ) -> Result<()> {
        self.write_snapshot(number, write)?;
        self.switch_to(number)?;
        // What can't be removed now is removed by the next one.
        let _ = self.tidy(number);
        Ok(())
    }

    /// The first part of [`Directory::publish`]: writes a snapshot that nothing names yet.
    ///
    /// # Errors
    ///
    /// As [`Directory::publish`].
    pub fn write_snapshot(
        &self,
        number: u64,
        write: impl FnOnce(&Path, Identity) -> Result<()>,
    ) -> Result<()> {
        self.check_writable()?;
        self.check_location()?;
        let (path, identity) = (self.snapshot_path(number), self.identity()?);
        if let Err(error) = write(&path, identity) {
            // Half a snapshot is of no use; the error says more than a failure to remove it.
            let _ = self.files.remove(&path);
            return Err(error);
        }
        self.sync()
    }

    /// Removes a snapshot that nothing names.
    pub fn remove_snapshot(&self, number: u64) {
        // The next one that is published removes what can't be removed now.
        if self.check_location().is_ok() {
            let _ = self.files.remove(&self.snapshot_path(number));
        }
    }

    /// Removes what is older than the snapshot `number`, which `CURRENT` names, and a
    /// `CURRENT.next` left by a crash. A snapshot with a greater number stays until one above it is
    /// named: either a crash came before `CURRENT` named it, or `CURRENT` is outdated. A
    /// `CLOCK.next` stays, as another thread may be writing it; the next one overwrites it.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] on an error of the operating system.
    pub fn tidy(&self, number: u64) -> Result<()> {
        let is_old = |name: &str| {
            log_number(name).is_some_and(|log| log < number)
                || snapshot_number(name).is_some_and(|snapshot| snapshot < number)
                || name == CURRENT_NEXT
        };
        // Under this lock nobody replaces `CURRENT`, so a `CURRENT.next` was left by a crash.
        let _written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        for name in self.names()?.iter().filter(|name| is_old(name)) {
            let path = self.path.join(name);
            self.files.remove(&path).map_err(|error| failed("removing", &path, error))?;
        }
        Ok(())
    }

    /// The second part of [`Directory::publish`]: has `CURRENT` name a snapshot that was written.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] on an error of the operating system; it may be named then.
    pub fn switch_to(&self, number: u64) -> Result<()> {
        self.update(|current| {
            current.snapshot = number;
            // A log that was begun while the snapshot was written has what came after it.
            let is_later = |log| matches!(log, LastLog::Is { number: last, .. } if number <= last);
            if !is_later(current.log) {
                current.log = LastLog::None;
            }
            true
        })
    }

    /// Writes a small file durably. A crash at any moment leaves the old one or the new one.
    fn replace(&self, name: &str, next: &str, text: &str) -> Result<()> {
        self.check_location()?;
        let next = self.path.join(next);
        let write = || {
            let file = self.files.create(&next)?;
            write_all_at(&*file, text.as_bytes(), 0)?;
            file.sync()
        };
        write().map_err(|error| failed("writing", &next, error))?;
        let path = self.path.join(name);
        let renamed = self.files.rename(&next, &path);
        renamed.map_err(|error| failed("replacing", &path, error))?;
        self.sync()
    }

    /// Waits until the names of the files are on the disk.
    pub(super) fn sync(&self) -> Result<()> {
        let synced = self.files.sync_directory(&self.path);
        synced.map_err(|error| failed("syncing", &self.path, error))
    }

    /// The names of all files, unordered. Invalid UTF-8 is skipped: no file of a database has such
    /// a name.
    fn names(&self) -> Result<Vec<String>> {
        let list = || -> io::Result<Vec<String>> {
            let entries = fs::read_dir(&self.path)?;
            let names = entries.map(|entry| Ok(entry?.file_name().into_string().ok()));
            Ok(names.collect::<io::Result<Vec<_>>>()?.into_iter().flatten().collect())
        };
        list().map_err(|error| failed("reading", &self.path, error))
    }
}

/// Refuses a path that is a file.
fn refuse_file(path: &Path) -> Result<()> {
    if !path.is_file() {
        return Ok(());
    }
    let reason = "it is a file, and a database is a directory; name a new or an empty one";
    Err(failed("opening", path, io::Error::new(io::ErrorKind::NotADirectory, reason)))
}

/// Refuses a non-empty directory without a database: a wrong path must not mix a database with
/// other files.
fn refuse_external(path: &Path) -> Result<()> {
    let mut entries = fs::read_dir(path).map_err(|error| failed("reading", path, error))?;
    if entries.next().is_none() {
        return Ok(());
    }
    let reason = "there are files and no database; name a new or an empty directory";
    Err(failed("opening", path, io::Error::new(io::ErrorKind::DirectoryNotEmpty, reason)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(text: &'static str) -> impl FnOnce(&Path, Identity) -> Result<()> {
        move |path, _| fs::write(path, text).map_err(|error| failed("writing", path, error))
    }

    #[test]
    fn the_newest_snapshot_is_the_only_one() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("new");
        let directory = Directory::open(&path).unwrap();
        assert_eq!(directory.current().unwrap(), None);
        directory.publish_next(write("one")).unwrap();
        directory.publish_next(write("two")).unwrap();
        let current = directory.snapshot_path(directory.current().unwrap().unwrap().snapshot);
        assert_eq!(fs::read_to_string(current).unwrap(), "two");
        let mut names: Vec<_> =
            fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["CURRENT", "LOCK", "snapshot-2.hxs"]);
    }

    /// A log that a snapshot has replaced is not named again, or opening would miss its file.
    #[test]
    fn only_the_last_log_grows() {
        let root = tempfile::tempdir().unwrap();
        let directory = Directory::open(root.path()).unwrap();
        let log = || directory.current().unwrap().unwrap().log;
        fs::write(directory.log_path(1), "").unwrap();
        directory.name_log(1, 64).unwrap();
        for (number, len, durable) in [(1, 80, 80), (1, 70, 80), (2, 90, 80)] {
            directory.note_durable(number, len).unwrap();
            assert_eq!(log(), LastLog::Is { number: 1, durable }, "log {number} of {len} bytes");
        }
        directory.publish_next(write("one")).unwrap();
        directory.note_durable(1, 100).unwrap();
        assert_eq!(log(), LastLog::None);
    }

    #[test]
    fn a_failed_write_leaves_the_old_snapshot() {
        let root = tempfile::tempdir().unwrap();
        let directory = Directory::open(root.path()).unwrap();
        directory.publish_next(write("one")).unwrap();
        directory.publish_next(|_, _| Err(Error::query("no"))).unwrap_err();
        let current = directory.snapshot_path(directory.current().unwrap().unwrap().snapshot);
        assert_eq!(fs::read_to_string(current).unwrap(), "one");
    }

    /// One handle is left open, its directory is removed, and another database is made there.
    #[test]
    fn a_recreated_directory_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("db");
        let old = Directory::open(&path).unwrap();
        old.publish_next(write("old")).unwrap();
        fs::remove_dir_all(&path).unwrap();
        let new = Directory::open(&path).unwrap();
        new.publish_next(write("new")).unwrap();
        assert!(new.is_locked_at(&path) && !old.is_locked_at(&path));
        old.remove_snapshot(1);
        for refused in [old.publish(5, write("old")), old.set_clock(7), old.name_log(9, 64)] {
            let error = refused.unwrap_err().to_string();
            assert!(error.contains("was removed or replaced while"), "{error}");
        }
        assert_eq!(fs::read_to_string(new.snapshot_path(1)).unwrap(), "new");
        assert_eq!(
            Directory::open_read_only(&path).unwrap().current().unwrap(),
            new.current().unwrap()
        );
        assert_eq!(new.clock().unwrap(), 0);
    }

    #[test]
    fn numbers_of_transactions_do_not_wrap() {
        let root = tempfile::tempdir().unwrap();
        let directory = Directory::open(root.path()).unwrap();
        for number in [7, NUMBER_MAX] {
            fs::write(root.path().join(CLOCK), number.to_string()).unwrap();
            assert_eq!(directory.clock().unwrap(), number);
        }
        for text in [(NUMBER_MAX + 1).to_string(), u64::MAX.to_string(), format!("{}0", u64::MAX)] {
            fs::write(root.path().join(CLOCK), &text).unwrap();
            let error = directory.clock().unwrap_err().to_string();
            assert!(error.contains(&text), "{error}");
        }
    }

    #[test]
    fn one_writes_and_many_read() {
        let root = tempfile::tempdir().unwrap();
        let error = Directory::open_read_only(root.path()).err().unwrap().to_string();
        assert!(error.ends_with("there is no database here"), "{error}");
        let writer = Directory::open(root.path()).unwrap();
        writer.publish_next(write("one")).unwrap();
        let error = Directory::open(root.path()).err().unwrap();
        assert!(error.to_string().contains("open for writing already"), "{error}");
        let reader = Directory::open_read_only(root.path()).unwrap();
        assert!(reader.publish_next(write("two")).unwrap_err().to_string().contains("read-only"));
        drop(writer);
        Directory::open(root.path()).unwrap();
    }

    #[test]
    fn external_files_are_left_alone() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("photo"), "").unwrap();
        let error = Directory::open(root.path()).err().unwrap().to_string();
        assert!(error.contains("there are files and no database"), "{error}");
        let file = root.path().join("photo");
        for opened in [Directory::open(&file), Directory::open_read_only(&file)] {
            let error = opened.err().unwrap().to_string();
            assert!(error.contains("it is a file, and a database is a directory"), "{error}");
        }
        fs::write(root.path().join(CURRENT), "../photo").unwrap();
        let directory = Directory::open(root.path()).unwrap();
        assert!(matches!(directory.current(), Err(Error::Corrupt { .. })));
    }
}
