//! Reads a directory: the newest snapshot, and what the logs have that came after it.

use super::directory::Directory;
use super::wal::LogStart;
use crate::graph::Replay;
use crate::graph::Version;
use crate::graph::persist;
use crate::storage::LogReader;
use crate::types::Error;
use crate::types::Result;
use std::path::Path;

/// What the newest snapshot and the logs have, and where reading goes on when there is more.
pub struct Follower {
    /// The number of the snapshot.
    snapshot: u64,
    replay: Replay,
    reader: Option<LogReader>,
    /// The number of the last log that was begun, 0 for none.
    last_log: u64,
    found: Recovery,
}

/// What was found in the logs when a database was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Recovery {
    /// The commits that were carried out again: those since the newest snapshot.
    pub commits: u64,
    /// The bytes of the logs.
    pub bytes: u64,
    /// The bytes that were cut off at the end: a commit that was being written when the process
    /// died, and that was acknowledged to nobody.
    pub cut: u64,
}

impl Follower {
    /// Opens the newest snapshot of a directory and reads the logs; `None` when there is none. A
    /// writer may replace both just now; then it begins anew.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] when one of them is damaged, [`Error::Io`] when the system refuses.
    pub fn open(directory: &Directory) -> Result<Option<Follower>> {
        loop {
            let Some(number) = directory.current()? else { return Ok(None) };
            let opened = Follower::open_at(directory, number);
            // What vanished while it was read is no fault, and what is missing at the front of
            // the logs would not be noticed.
            if directory.current()? == Some(number) {
                return opened.map(Some);
            }
        }
    }

    fn open_at(directory: &Directory, number: u64) -> Result<Follower> {
        let version = persist::open(&directory.snapshot_path(number))?;
        let replay = Replay::new(version);
        let found = Recovery::default();
        let mut follower = Follower { snapshot: number, replay, reader: None, last_log: 0, found };
        follower.catch_up(directory)?;
        Ok(follower)
    }

    /// Reads what was added since. False when there is a newer snapshot: open it instead.
    ///
    /// # Errors
    ///
    /// As [`Follower::open`].
    pub fn refresh(&mut self, directory: &Directory) -> Result<bool> {
        if directory.current()? != Some(self.snapshot) {
            return Ok(false);
        }
        let read = self.catch_up(directory);
        // As in `open`.
        if directory.current()? != Some(self.snapshot) {
            return Ok(false);
        }
        read.map(|()| true)
    }

    /// The version after all that was read.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] when a record can't be carried out.
    pub fn version(&mut self, directory: &Directory) -> Result<Version> {
        let path = directory.log_path(self.last_log);
        self.replay.version().map_err(|error| not_replayed(&path, &error))
    }

    /// What was found.
    pub fn found(&self) -> Recovery {
        self.found
    }

    /// Cuts off what a crash left behind the last whole record, for the one who writes. Returns
    /// where the log goes on.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] when what is missing there was durable once.
    pub fn cut(&mut self, directory: &Directory) -> Result<LogStart> {
        if let Some(reader) = &mut self.reader {
            let (tail, path) = (reader.check_tail()?, directory.log_path(self.last_log));
            if 0 < tail {
                let cut = directory.files().truncate(&path, reader.end());
                cut.map_err(|error| Error::io(format!("cutting {}", path.display()), error))?;
                self.found.cut = tail;
            }
        }
        let first = self.snapshot.max(self.last_log + 1);
        for unborn in directory.logs(first)? {
            let path = directory.log_path(unborn);
            let removed = directory.files().remove(&path);
            removed.map_err(|error| Error::io(format!("removing {}", path.display()), error))?;
        }
        directory.tidy(self.snapshot)?;
        let bytes = self.found.bytes;
        Ok(LogStart { snapshot: self.snapshot, last_log: self.last_log, bytes })
    }

    /// Compares what stands behind the last whole record of the last log with what may stand there.
    /// Returns its length.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] when what is missing there was durable once.
    pub fn check_tail(&mut self) -> Result<u64> {
        self.reader.as_mut().map_or(Ok(0), LogReader::check_tail)
    }

    fn catch_up(&mut self, directory: &Directory) -> Result<()> {
        loop {
            self.read_log(directory)?;
            let next = directory.logs(self.snapshot.max(self.last_log + 1))?;
            let Some(&number) = next.first() else { return Ok(()) };
            // A log that has a successor is whole, and all of it is there by now.
            self.read_log(directory)?;
            self.check_whole(directory)?;
            let path = directory.log_path(number);
            let Some(reader) = LogReader::open(&path)? else {
                return match next.len() {
                    // It is being created, or was when the process died.
                    1 => Ok(()),
                    _ => Err(corrupt(&path, "it has no header, and there are later logs")),
                };
            };
            self.check_follows(&reader, number, &path)?;
            self.last_log = number;
            self.reader = Some(reader);
        }
    }

    fn read_log(&mut self, directory: &Directory) -> Result<()> {
        let Some(reader) = &mut self.reader else { return Ok(()) };
        let before = reader.end();
        while let Some(record) = reader.read_next()? {
            let taken = self.replay.record(record.commit, record.payload);
            if let Err(error) = taken {
                return Err(not_replayed(&directory.log_path(self.last_log), &error));
            }
            self.found.commits += 1;
        }
        self.found.bytes += reader.end() - before;
        Ok(())
    }

    fn check_whole(&mut self, directory: &Directory) -> Result<()> {
        let Some(reader) = &mut self.reader else { return Ok(()) };
        if reader.check_tail()? == 0 {
            return Ok(());
        }
        let message = format!(
            "the record at byte {} is damaged, and there are later logs: restore a backup",
            reader.end()
        );
        Err(corrupt(&directory.log_path(self.last_log), &message))
    }

    fn check_follows(&self, reader: &LogReader, number: u64, path: &Path) -> Result<()> {
        if reader.number() != number {
            let message = format!("its header is that of log-{}.hxl", reader.number());
            return Err(corrupt(path, &message));
        }
        let previous = reader.previous();
        let is_next = match self.last_log {
            0 => previous < self.snapshot,
            last => previous == last,
        };
        match is_next {
            true => Ok(()),
            false => {
                let message = format!("it follows upon log-{previous}.hxl, which is missing");
                Err(corrupt(path, &message))
            }
        }
    }
}

fn not_replayed(path: &Path, error: &Error) -> Error {
    match error {
        Error::Io { .. } | Error::Corrupt { .. } => corrupt(path, &error.to_string()),
        _ => corrupt(path, &format!("a record can't be carried out: {error}")),
    }
}

fn corrupt(path: &Path, message: &str) -> Error {
    Error::Corrupt { path: path.display().to_string(), message: message.to_owned() }
}
