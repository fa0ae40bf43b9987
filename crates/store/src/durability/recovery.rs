//! Recovers a version from a directory: opens the newest snapshot and replays the logs that follow
//! it.

use super::current::{Current, LastLog};
use super::directory::{Directory, NUMBER_MAX};
use super::leftovers::has_record;
use super::wal::LogStart;
use crate::graph::persist;
use crate::graph::{Replay, Thresholds, Version};
use crate::storage::{FileAccess, Identity, LogReader};
use hexgraph_base::types::{Error, Result};
use std::path::{Path, PathBuf};

/// A reader of a directory: the version of the newest snapshot and the logs, and the position in
/// the last log from which it continues.
pub struct Follower {
    /// The number of the snapshot.
    snapshot: u64,
    /// The database that the logs have to belong to.
    identity: Identity,
    replay: Replay,
    reader: Option<LogReader>,
    /// The number of the last log that was begun, 0 for none.
    last_log: u64,
    /// The durable bytes of that log by `CURRENT`.
    durable: u64,
    result: Recovery,
}

/// The commits and bytes of the logs when a database was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Recovery {
    /// The commits that were executed again: those since the newest snapshot.
    pub commits: u64,
    /// The bytes of the logs.
    pub bytes: u64,
    /// The bytes of an incomplete commit at the end of the log, after all durable ones: it was
    /// being written when the process died, and was never acknowledged. They are cut off when the
    /// database is opened for writing. If another process writes, it may be the commit in progress.
    pub cut: u64,
}

impl Follower {
    /// Opens the newest snapshot of a directory and reads the logs; `None` when there is none. Its
    /// versions have `thresholds`. If a writer replaces snapshot and logs concurrently, it starts
    /// again.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] when one of them is damaged, missing or somebody else's, [`Error::Io`]
    /// on an error of the operating system.
    pub fn open(
        directory: &Directory,
        access: FileAccess,
        thresholds: Thresholds,
    ) -> Result<Option<Follower>> {
        loop {
            let Some(current) = directory.current()? else { return Ok(None) };
            let opened = Follower::open_at(directory, &current, access, thresholds);
            // What vanished while it was read is no fault, and what is missing at the front of
            // the logs would not be noticed.
            if directory.current()? == Some(current) {
                return opened.map(Some);
            }
        }
    }

    fn open_at(
        directory: &Directory,
        current: &Current,
        access: FileAccess,
        thresholds: Thresholds,
    ) -> Result<Follower> {
        let Current { snapshot, identity, .. } = *current;
        let path = directory.snapshot_path(snapshot);
        if !path.exists() {
            return Err(corrupt(&path, "it is missing, and CURRENT names it"));
        }
        let version = persist::open_of(&path, identity, access, thresholds)?;
        check_number(&path, version.commit)?;
        let replay = Replay::new(version);
        let result = Recovery::default();
        let mut follower =
            Follower { snapshot, identity, replay, reader: None, last_log: 0, durable: 0, result };
        follower.catch_up(directory, current)?;
        Ok(follower)
    }

    /// Reads what was added since. False when there is a newer snapshot: open it instead.
    ///
    /// # Errors
    ///
    /// As [`Follower::open`].
    pub fn refresh(&mut self, directory: &Directory) -> Result<bool> {
        loop {
            let is_same = |current: &Current| current.snapshot == self.snapshot;
            let Some(current) = directory.current()?.filter(is_same) else { return Ok(false) };
            let read = self.catch_up(directory, &current);
            // As in `open`.
            if directory.current()? == Some(current) {
                return read.map(|()| true);
            }
        }
    }

    /// The version after all that was read.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] when a record can't be executed.
    pub fn version(&mut self, directory: &Directory) -> Result<Version> {
        let path = directory.log_path(self.last_log);
        self.replay.version().map_err(|error| not_replayed(&path, &error))
    }

    /// The commits and bytes of the logs.
    pub fn result(&self) -> Recovery {
        self.result
    }

    /// Cuts off an incomplete record at the end, so that a writer can append, and makes the log
    /// durable: a process that died may have written it without a sync. Returns the position where
    /// the log continues.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if a log that `CURRENT` does not name has records: nothing is changed
    /// then; [`Error::Io`] on an error of the operating system.
    pub fn cut(&mut self, directory: &Directory) -> Result<LogStart> {
        // Before anything is changed: a log beyond those of `CURRENT` is data that must not be
        // lost.
        let unborn = self.unborn_logs(directory)?;
        let mut last_end = 0;
        let mut is_durable = false;
        if let Some(reader) = &self.reader {
            last_end = reader.end();
            // So it is where the database was closed, and nothing has to be waited for.
            is_durable = self.result.cut == 0 && last_end <= self.durable;
            if !is_durable {
                let cut = directory.files().truncate(reader.path(), last_end);
                cut.map_err(|error| {
                    Error::io(format!("cutting {}", reader.path().display()), error)
                })?;
            }
        }
        if !is_durable {
            // The last rename of `CURRENT` too, before the files that it replaced are removed.
            directory.sync()?;
        }
        for path in unborn {
            let removed = directory.files().remove(&path);
            removed.map_err(|error| Error::io(format!("removing {}", path.display()), error))?;
        }
        directory.tidy(self.snapshot)?;
        Ok(LogStart {
            snapshot: self.snapshot,
            last_log: self.last_log,
            last_end,
            commit: self.replay.commit(),
            bytes: self.result.bytes,
        })
    }

    /// The logs after the last one. They have no record: nothing is appended before `CURRENT` names
    /// a log.
    fn unborn_logs(&self, directory: &Directory) -> Result<Vec<PathBuf>> {
        let first = self.snapshot.max(self.last_log + 1);
        let mut unborn = Vec::new();
        for number in directory.logs(first)? {
            let path = directory.log_path(number);
            if has_record(&path)? {
                return Err(corrupt(
                    &path,
                    "it has records, and CURRENT names only earlier logs: restore CURRENT from a backup",
                ));
            }
            unborn.push(path);
        }
        Ok(unborn)
    }

    /// Reads the rest of the log that is read, and those that follow upon it.
    fn catch_up(&mut self, directory: &Directory, current: &Current) -> Result<()> {
        self.read_log()?;
        for next in self.later_logs(directory, current)? {
            // A log with a successor is complete.
            self.read_log()?;
            self.check_follows(&next)?;
            self.last_log = next.header().number;
            self.reader = Some(next);
            self.read_log()?;
        }
        self.check_end(directory, current)
    }

    /// The logs after the one that is read, in their order. None of them is read yet.
    fn later_logs(&self, directory: &Directory, current: &Current) -> Result<Vec<LogReader>> {
        match current.log {
            LastLog::Unknown => self.logs_that_are_there(directory),
            LastLog::None => Ok(Vec::new()),
            LastLog::Is { number, .. } => self.logs_back_from(directory, number),
        }
    }

    /// Each log names the one before it, back to the one that is read or to the snapshot.
    fn logs_back_from(&self, directory: &Directory, last: u64) -> Result<Vec<LogReader>> {
        let mut logs: Vec<LogReader> = Vec::new();
        let mut number = last;
        // Logs below the number of the snapshot are in it, and may be removed already.
        while self.last_log < number && (self.snapshot <= number) {
            let path = directory.log_path(number);
            let who = match logs.last() {
                None => "CURRENT".to_owned(),
                Some(later) => later.path().display().to_string(),
            };
            if !path.exists() {
                return Err(corrupt(&path, &format!("it is missing, and {who} names it")));
            }
            let reader = LogReader::open(&path)?.ok_or_else(|| {
                corrupt(&path, &format!("byte 0: there is no header of a log, and {who} names it"))
            })?;
            let previous = reader.header().previous;
            self.check_own(&reader, number)?;
            if number <= previous {
                return Err(corrupt(
                    &path,
                    &format!("it follows upon log-{previous}.hxl, a later one"),
                ));
            }
            logs.push(reader);
            number = previous;
        }
        logs.reverse();
        Ok(logs)
    }

    /// The logs in a directory of the first format, where nothing says which there have to be.
    fn logs_that_are_there(&self, directory: &Directory) -> Result<Vec<LogReader>> {
        let numbers = directory.logs(self.snapshot.max(self.last_log + 1))?;
        let mut logs = Vec::new();
        for (position, number) in numbers.iter().enumerate() {
            let path = directory.log_path(*number);
            match LogReader::open(&path)? {
                Some(reader) => {
                    self.check_own(&reader, *number)?;
                    logs.push(reader);
                }
                // It is being created, or was when the process died.
                None if position + 1 == numbers.len() => {}
                None => return Err(corrupt(&path, "it has no header, and there are later logs")),
            }
        }
        Ok(logs)
    }

    fn read_log(&mut self) -> Result<()> {
        let Some(reader) = &mut self.reader else { return Ok(()) };
        let (before, path) = (reader.end(), reader.path().to_owned());
        loop {
            let at = reader.end();
            let Some(record) = reader.read_next()? else { break };
            check_number(&path, record.commit)?;
            let replayed = self.replay.record(record.commit, record.payload);
            if let Err(error) = replayed {
                let context = format!("the record at byte {at}: {error}");
                return Err(match error {
                    // What this build has no feature for is no damage.
                    Error::Schema { .. } => Error::schema(format!("{}: {context}", path.display())),
                    _ => corrupt(&path, &context),
                });
            }
            self.result.commits += 1;
        }
        self.result.bytes += reader.end() - before;
        Ok(())
    }

    /// Checks that the log has the required length.
    fn check_end(&mut self, directory: &Directory, current: &Current) -> Result<()> {
        let Some(reader) = &mut self.reader else { return Ok(()) };
        self.result.cut = reader.check_tail()?;
        let LastLog::Is { number, durable } = current.log else { return Ok(()) };
        if number != self.last_log {
            return Ok(());
        }
        self.durable = durable;
        if durable <= reader.end() {
            return Ok(());
        }
        let message = format!(
            "there is no complete record at byte {}, and {durable} bytes of it were on the disk: restore a backup",
            reader.end()
        );
        Err(corrupt(&directory.log_path(number), &message))
    }

    fn check_own(&self, reader: &LogReader, number: u64) -> Result<()> {
        let header = reader.header();
        if header.number != number {
            let message = format!("byte 0: its header is that of log-{}.hxl", header.number);
            return Err(corrupt(reader.path(), &message));
        }
        let have_identities = header.identity != Identity::NONE && self.identity != Identity::NONE;
        if have_identities && header.identity != self.identity {
            let message = format!(
                "byte 0: it belongs to another database, {} and not {}",
                header.identity, self.identity
            );
            return Err(corrupt(reader.path(), &message));
        }
        Ok(())
    }

    /// Whether `next` follows the current log, which is complete then.
    fn check_follows(&mut self, next: &LogReader) -> Result<()> {
        let header = *next.header();
        let previous = header.previous;
        let is_next = match self.last_log {
            // None was read yet: the log before this one has to be in the snapshot.
            0 => previous < self.snapshot,
            last => previous == last,
        };
        if !is_next {
            let message = format!("it follows upon log-{previous}.hxl, which is missing");
            return Err(corrupt(next.path(), &message));
        }
        if let Some(reader) = &mut self.reader {
            let (end, path) = (reader.end(), reader.path().to_owned());
            let is_short = end < header.previous_end;
            // An incomplete record is cut off before a later log begins, so nothing follows the
            // last complete record here.
            if reader.check_tail()? != 0 || is_short {
                let message = format!(
                    "the record at byte {end} is damaged or missing, and there are later logs: restore a backup"
                );
                return Err(corrupt(&path, &message));
            }
        }
        // The header has the last commit before it, so an older snapshot or a missing log in
        // between is detected here.
        if self.replay.commit() < header.commit {
            let message = format!(
                "it follows upon commit {}, and what is before it ends with commit {}: a file is missing or too old",
                header.commit,
                self.replay.commit()
            );
            return Err(corrupt(next.path(), &message));
        }
        Ok(())
    }
}

fn not_replayed(path: &Path, error: &Error) -> Error {
    match error {
        Error::Io { .. } | Error::Corrupt { .. } => corrupt(path, &error.to_string()),
        _ => corrupt(path, &format!("a record can't be applied: {error}")),
    }
}

/// Refuses the number of a commit after which the numbers would begin again.
fn check_number(path: &Path, commit: u64) -> Result<()> {
    match commit <= NUMBER_MAX {
        true => Ok(()),
        false => Err(corrupt(path, &format!("{commit} is the number of no commit"))),
    }
}

fn corrupt(path: &Path, message: &str) -> Error {
    Error::Corrupt { path: path.display().to_string(), message: message.to_owned() }
}
