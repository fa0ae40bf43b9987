//! The write-ahead log of a directory, to which commits are appended before they are published.
//!
//! Writers append one at a time and wait for the disk together: the first to wait syncs for all
//! that have appended, the others wait, and one that came later is next. So a sync is divided among
//! all concurrent commits.
//!
//! A position in the journal is a number of bytes, which continues from log to log.

use super::directory::Directory;
use super::syncs::{Syncs, poisoned};
use crate::graph::Journal;
use crate::storage::{Files, LOG_HEADER_LEN, LogHeader, LogWriter};
use hexgraph_base::types::{Error, Result};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// When a commit counts as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SyncPolicy {
    /// When it is on the disk: neither a crash of the process nor one of the machine loses it.
    #[default]
    Always,
    /// When it is handed to the operating system, with a sync at this interval: a crash of the
    /// process loses nothing, one of the machine the last commits.
    Every(Duration),
    /// When it is handed to the operating system, which puts it on the disk when it likes.
    Never,
}

/// The journal of a directory that is open for writing.
pub struct Wal {
    directory: Arc<Directory>,
    files: Arc<dyn Files>,
    policy: SyncPolicy,
    log: Mutex<Log>,
    syncs: Arc<Syncs>,
}

/// The log that is written.
struct Log {
    /// `None` until something is to be noted.
    writer: Option<LogWriter>,
    /// The number of the log.
    number: u64,
    /// The number of the log before it, and its length if available.
    previous: (u64, u64),
    /// A log that was created, and that `CURRENT` could not be made to name yet.
    unnamed: Option<LogWriter>,
    /// The last commit that was noted.
    commit: u64,
    /// The position where the log begins.
    start: u64,
    /// The end position.
    end: u64,
    /// The number of the newest snapshot, and the position up to which it has everything.
    snapshot: (u64, u64),
    /// The bytes in older logs that the newest snapshot has not.
    recovered: u64,
    /// The number of bytes after the newest snapshot from which another snapshot is due.
    due: u64,
    /// The position where an incomplete record may be in the log: nothing may be appended before a
    /// snapshot includes all up to there.
    broken: Option<u64>,
}

/// The position where the log goes on after recovery.
#[derive(Debug, Clone, Copy, Default)]
pub struct LogStart {
    /// The number of the newest snapshot.
    pub snapshot: u64,
    /// The number of the last log, 0 for none.
    pub last_log: u64,
    /// Its length.
    pub last_end: u64,
    /// The last commit that there is.
    pub commit: u64,
    /// The bytes in the logs.
    pub bytes: u64,
}

impl Wal {
    /// A journal that goes on at `start`. The next log is created when something is noted.
    pub fn new(
        directory: Arc<Directory>,
        files: Arc<dyn Files>,
        policy: SyncPolicy,
        start: LogStart,
    ) -> Wal {
        let LogStart { snapshot, last_log, last_end, commit, bytes } = start;
        let log = Log {
            writer: None,
            number: snapshot.max(last_log + 1),
            previous: (last_log, last_end),
            unnamed: None,
            commit,
            start: 0,
            end: 0,
            snapshot: (snapshot, 0),
            recovered: bytes,
            due: u64::MAX,
            broken: None,
        };
        Wal { directory, files, policy, log: Mutex::new(log), syncs: Arc::default() }
    }

    /// The bytes that were noted since the newest snapshot.
    pub fn unsaved(&self) -> u64 {
        self.log().unsaved()
    }

    /// True when another snapshot is due.
    pub fn is_due(&self) -> bool {
        let log = self.log();
        log.due <= log.unsaved()
    }

    /// Says how many unsaved bytes make another snapshot due.
    pub fn set_due(&self, bytes: u64) {
        self.log().due = bytes;
    }

    /// Makes all appended commits durable and ends the log. Later ones go to the next log, or to
    /// one after it. Returns its number, which must become that of a snapshot of the current
    /// version, and the position.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] on an error of the operating system, now or before.
    pub fn rotate(&self) -> Result<(u64, u64)> {
        let mut log = self.log();
        self.directory.check_writable()?;
        // The log stays locked, so nothing is appended and the log ends where the snapshot begins.
        // And so `Syncs` only ever syncs the newest file.
        self.syncs.wait(log.end)?;
        if let Some(writer) = log.writer.take() {
            log.previous = (log.number, writer.end());
            log.number += 1;
        }
        // It has no record. A file that may be named is not created again: the next one gets
        // another number.
        if log.unnamed.take().is_some() {
            log.number += 1;
        }
        log.number = log.number.max(log.snapshot.0 + 1);
        Ok((log.number, log.end))
    }

    /// Notes that the snapshot `number` has everything up to `position`.
    pub fn saved(&self, number: u64, position: u64) {
        let mut log = self.log();
        log.snapshot = (number, position);
        log.recovered = 0;
        // The incomplete record is in a log that was ended for this snapshot, and that nobody reads
        // again.
        log.broken = log.broken.filter(|broken| position < *broken);
    }

    /// Makes all that was noted durable.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] on an error of the operating system, now or before.
    pub fn sync(&self) -> Result<()> {
        let end = self.log().end;
        self.syncs.wait(end).map(|_| ())
    }

    /// Notes that it is unknown what is on the disk: nothing is committed from now on.
    pub fn fail(&self, reason: &Error) {
        self.syncs.state().failure = Some(reason.to_string());
    }

    /// True when it is unknown what is durable, since a sync or a write has failed.
    pub fn has_failed(&self) -> bool {
        self.syncs.state().failure.is_some()
    }

    /// Makes everything durable and writes the length to `CURRENT`, so that missing bytes are
    /// detected when the database is opened again. Then it releases the directory: later appends
    /// fail with [`Error::Closed`].
    ///
    /// # Errors
    ///
    /// [`Error::Io`] on an error of the operating system, now or before; the directory is retained
    /// then.
    pub fn close(&self) -> Result<()> {
        let log = self.log();
        self.syncs.wait(log.end)?;
        if let Some(writer) = log.writer.as_ref().filter(|_| log.broken.is_none()) {
            // Durable it is in any case, and only this process writes here.
            let _ = self.directory.note_durable(log.number, writer.end());
        }
        self.directory.release();
        Ok(())
    }

    /// Stops the sync thread.
    pub fn end(&self) {
        self.syncs.end();
    }

    /// Starts the thread that syncs every so often, where that is the policy and it does not run.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] when the system gives no thread.
    pub fn retain_synced(&self) -> Result<()> {
        match self.policy {
            SyncPolicy::Every(pause) => self.syncs.retain(pause),
            _ => Ok(()),
        }
    }

    /// Creates the log, durably, and has `CURRENT` name it.
    fn create(&self, log: &mut Log) -> Result<LogWriter> {
        let writer = match log.unnamed.take() {
            Some(writer) => writer,
            None => {
                let (previous, previous_end) = log.previous;
                let identity = self.directory.identity()?;
                let (number, commit) = (log.number, log.commit);
                self.directory.check_location()?;
                let header = LogHeader { number, previous, identity, previous_end, commit };
                LogWriter::create(&*self.files, &self.directory.log_path(number), &header)?
            }
        };
        if let Err(error) = self.directory.name_log(log.number, LOG_HEADER_LEN) {
            // `CURRENT` may name it already, so it stays.
            log.unnamed = Some(writer);
            return Err(not_named(log.number, error));
        }
        log.start = log.end;
        log.end += LOG_HEADER_LEN;
        Ok(writer)
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        // Nothing that runs under the lock panics halfway.
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why nothing is committed as long as `CURRENT` does not name the log.
fn not_named(log: u64, error: Error) -> Error {
    match error {
        Error::Io { context, source } => {
            let what =
                format!("nothing is committed, for CURRENT can't be made to name log-{log}.hxl");
            Error::io(format!("{what}: {context}"), source)
        }
        other => other,
    }
}

impl Log {
    fn unsaved(&self) -> u64 {
        self.recovered + self.end - self.snapshot.1
    }
}

impl Journal for Arc<Wal> {
    fn append(&self, commit: u64, record: &[u8]) -> Result<u64> {
        let mut log = self.log();
        self.directory.check_retained()?;
        // The lock order is the same everywhere: the log, then the syncs.
        let durable = {
            let state = self.syncs.state();
            if let Some(failure) = &state.failure {
                return Err(poisoned(failure));
            }
            state.durable
        };
        if log.broken.is_some() {
            return Err(poisoned("a part of a record could not be removed from the log"));
        }
        let mut writer = match log.writer.take() {
            Some(writer) => writer,
            None => self.create(&mut log)?,
        };
        // Positions continue from log to log, and a record has offsets in its own log; the header
        // was synced when it was created.
        let synced = durable.saturating_sub(log.start).max(LOG_HEADER_LEN);
        let appended = writer.append(commit, record, synced);
        log.end = log.start + writer.end();
        let mut state = self.syncs.state();
        // Also where the record failed: the log may be new, and then its header has moved the end.
        state.end = log.end;
        state.file = Some(writer.file());
        drop(state);
        log.writer = Some(writer);
        if let Err(failure) = appended {
            log.broken = (!failure.is_complete).then_some(log.end);
            return Err(failure.error);
        }
        log.commit = commit;
        Ok(log.end)
    }

    fn is_ready(&self) -> bool {
        self.policy != SyncPolicy::Always
    }

    fn wait(&self, position: u64) -> Result<u64> {
        self.syncs.wait(position)
    }
}
