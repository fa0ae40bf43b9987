//! The state of an open database: the graph in memory, and its snapshots and logs where it has a
//! directory.

use super::activity::Meter;
use super::compactor::Compactor;
use super::guard::guarded;
use super::operation::OpenOptions;
use crate::db::change::transactions::Transactions;
use hexgraph_base::budget::Budget;
use hexgraph_base::types::{Error, Result};
use hexgraph_store::durability::{
    Directory, Files, Follower, Recovery, Wal, check_new, is_database,
};
use hexgraph_store::graph;
use hexgraph_store::graph::{Check, LoadHome, Store, Uids, Version, persist};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::{fs, thread};

/// The length of the log, in bytes, from which a snapshot is due unless the options say otherwise.
const CHECKPOINT_BYTES: u64 = 64 << 20;

/// A log up to this many bytes is retained when the database is closed, since replaying it is
/// faster than writing a snapshot of a large graph.
const SHORT_LOG: u64 = 64 << 10;

/// The file `CLOCK` is moved on by this many numbers at a time, so that few transactions write to
/// it: those of ten thousand commits, which lie 1,024 apart (`commit_gap`).
const CLOCK_STEP: u64 = 10_000 << 10;

/// Everything that exists only while a database is open.
pub(super) struct Open {
    /// The data.
    pub(super) store: Arc<Store>,
    folder: Arc<Compactor>,
    /// The transactions that are open, and the versions that recent queries read.
    pub(super) transactions: Transactions,
    /// Counts the compactions.
    pub(super) compactions: Arc<Meter>,
    /// Counts the checkpoints.
    pub(super) checkpoints: Meter,
    /// The budget in which all requests reserve memory.
    budget: Budget,
    /// Where the data are stored.
    home: Home,
}

enum Home {
    Memory,
    Read(Box<Reading>),
    Write(Box<Writing>),
}

/// A directory that was opened read-only.
struct Reading {
    directory: Directory,
    follower: Mutex<Follower>,
    result: Recovery,
    options: OpenOptions,
}

/// A directory that this process writes to.
struct Writing {
    directory: Arc<Directory>,
    wal: Arc<Wal>,
    options: OpenOptions,
    result: Recovery,
    /// Transaction numbers up to this one are recorded in the directory as handed out.
    clock: Mutex<u64>,
    /// Locked while a snapshot is being written, so that there is one writer of snapshots at a
    /// time.
    saving: Mutex<()>,
    /// The thread that writes a snapshot because the log has grown long; `None` before the first
    /// one.
    checkpointer: Mutex<Option<JoinHandle<()>>>,
}

impl Open {
    /// Opens the graph of a directory, to be read or written as the options say. Its memory is
    /// reserved in `budget`, and new nodes get their uids from `uids`, which another graph may use,
    /// too.
    ///
    /// # Errors
    ///
    /// As [`super::Database::open`].
    pub(super) fn at(
        path: &Path,
        (options, budget, uids): (OpenOptions, &Budget, Option<&Arc<Uids>>),
        files: &Arc<dyn Files>,
    ) -> Result<Open> {
        match options.read_only {
            true => Open::to_read(path, (options, budget)),
            false => Open::to_write(path, (options, budget, uids), Arc::clone(files)),
        }
    }

    /// Creates an empty graph in memory. New nodes get their uids from `uids`, where it is another
    /// graph's, too.
    pub(super) fn in_memory(
        options: OpenOptions,
        budget: &Budget,
        uids: Option<&Arc<Uids>>,
    ) -> Open {
        let budget = budget.clone();
        let thresholds = options.thresholds;
        let mut version = Version::empty();
        use_common_uids(&mut version, uids);
        (version.budget, version.thresholds) = (budget.clone(), thresholds);
        Open::new(Store::with_version(version, None), budget, options, Home::Memory)
    }

    /// Opens the graph of a directory read-only.
    ///
    /// # Errors
    ///
    /// As [`super::Database::open`].
    fn to_read(path: &Path, (options, budget): (OpenOptions, &Budget)) -> Result<Open> {
        // One that lost its `CURRENT` is damaged, which is another error than that there is none.
        is_database(path)?;
        let directory = Directory::open_read_only(path)?;
        let mut follower = open_follower(&directory, &options)?;
        let budget = budget.clone();
        let mut version = follower.version(&directory)?;
        version.budget = budget.clone();
        let store = Store::with_version(version, None);
        let (result, follower) = (follower.result(), Mutex::new(follower));
        let reading = Reading { directory, follower, result, options };
        Ok(Open::new(store, budget, options, Home::Read(Box::new(reading))))
    }

    /// Opens the graph of a directory for writing, and creates the directory where it is missing.
    /// Truncates an incomplete record at the end of the log.
    ///
    /// # Errors
    ///
    /// As [`super::Database::open`].
    fn to_write(
        path: &Path,
        (options, budget, uids): (OpenOptions, &Budget, Option<&Arc<Uids>>),
        files: Arc<dyn Files>,
    ) -> Result<Open> {
        let directory = Arc::new(Directory::open_with(path, files)?);
        graph::remove_left(path)?;
        if directory.current()?.is_none() {
            check_new(&directory)?;
            let files = Arc::clone(directory.files());
            directory.publish_next(|path, identity| {
                persist::save_in(&*files, &Version::empty(), path, identity, &|| Ok(()))
            })?;
        }
        let mut follower = open_follower(&directory, &options)?;
        let budget = budget.clone();
        let mut version = follower.version(&directory)?;
        version.budget = budget.clone();
        use_common_uids(&mut version, uids);
        // An incomplete record was never acknowledged; new ones overwrite it.
        let start = follower.cut(&directory)?;
        let result = follower.result();
        let files = Arc::clone(directory.files());
        let wal = Arc::new(Wal::new(Arc::clone(&directory), files, options.sync, start));
        let store = Store::with_version(version, Some(Box::new(Arc::clone(&wal))));
        let (saving, checkpointer) = (Mutex::new(()), Mutex::default());
        let clock = directory.clock()?;
        // Numbers up to this one may have been handed out by a process before this one.
        store.advance_clock(clock);
        let clock = Mutex::new(clock);
        let writing = Writing { directory, wal, options, result, clock, saving, checkpointer };
        writing.set_due(start.snapshot);
        let open = Open::new(store, budget, options, Home::Write(Box::new(writing)));
        // What the log brought may be much.
        open.folder.start_after_open(&open.store);
        Ok(open)
    }

    fn new(store: Store, budget: Budget, options: OpenOptions, home: Home) -> Open {
        // Up to here the numbers are those of transactions that ended when it was closed.
        let transactions = Transactions::new(options.transactions, store.clock(), &budget);
        let (compactions, checkpoints) = (Arc::<Meter>::default(), Meter::default());
        let folder = Compactor::new(options.thresholds.folding, &compactions);
        Open {
            store: Arc::new(store),
            folder,
            transactions,
            compactions,
            checkpoints,
            budget,
            home,
        }
    }

    /// Checks that the database accepts changes.
    ///
    /// # Errors
    ///
    /// [`Error::ReadOnly`] when it was opened to be read only, or by the parent of this process;
    /// [`Error::Closed`] when it was closed meanwhile.
    pub(super) fn check_writable(&self) -> Result<()> {
        match &self.home {
            Home::Memory => Ok(()),
            Home::Read(reading) => reading.directory.check_writable(),
            Home::Write(writing) => writing.directory.check_writable(),
        }
    }

    /// Records that the number of a transaction is handed out, so that it is not handed out again
    /// after the database was reopened. Only one call in ten thousand writes to the disk; the
    /// others compare two numbers.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] on an error of the operating system.
    pub(super) fn note_number(&self, number: u64) -> Result<()> {
        let Home::Write(writing) = &self.home else { return Ok(()) };
        // A forked child commits nothing, so its numbers mean nothing to others.
        if writing.directory.check_writable().is_err() {
            return Ok(());
        }
        let mut clock = writing.clock.lock().unwrap_or_else(PoisonError::into_inner);
        if *clock < number {
            // Fails when it was closed while this waited.
            writing.directory.set_clock(number + CLOCK_STEP)?;
            *clock = number + CLOCK_STEP;
        }
        Ok(())
    }

    /// Publishes the version that `make_next` makes of the newest one, after it was saved. Writers
    /// go on meanwhile; what they commit counts as later.
    ///
    /// # Errors
    ///
    /// Those of `make_next`; [`Error::Io`] on an error of the operating system. Nothing is changed
    /// then.
    pub(super) fn write_saved<T>(
        &self,
        make_next: impl FnOnce(&Arc<Version>) -> Result<(Version, T)>,
    ) -> Result<T> {
        // The order of locks is always this one, then that of snapshots, then the writer lock; a
        // checkpoint acquires the latter two in the same order.
        let lock = self.store.rebuild_lock();
        let Home::Write(writing) = &self.home else {
            return self.store.write_concurrently(&lock, &mut (), make_next);
        };
        let _saving = writing.lock();
        // Most of what is to be synced is, before writers have to wait for it.
        writing.wal.sync()?;
        let mut snapshot = LoadSnapshot { writing, begun: None, is_named: false };
        let done = self.store.write_concurrently(&lock, &mut snapshot, make_next)?;
        snapshot.tidy();
        Ok(done)
    }

    /// Writes a snapshot of the newest version, unless there is one. `check` is called between
    /// steps.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] on an error of the operating system; those of `check`. The log has all then,
    /// as before.
    pub(super) fn checkpoint(&self, check: Check<'_>) -> Result<()> {
        let writing = match &self.home {
            Home::Memory => return Ok(()),
            Home::Read(reading) => return reading.directory.check_writable(),
            Home::Write(writing) => writing,
        };
        let _saving = writing.lock();
        writing.directory.check_writable()?;
        // What is not noted in the log was saved at once.
        if writing.wal.unsaved() == 0 {
            return Ok(());
        }
        // Most of what is to be synced is, before writers have to wait for it.
        writing.wal.sync()?;
        // Nobody else commits meanwhile, so the new log begins right after the version that is
        // saved.
        self.checkpoints.run(|| {
            let rotated =
                self.store.with_head(|version| Ok((Arc::clone(version), writing.wal.rotate()?)));
            let (version, (number, position)) = rotated?;
            writing.save(&version, number, position, check).map(Some)
        })?;
        Ok(())
    }

    /// The bytes of the log since the newest snapshot; 0 where this process does not write.
    pub(super) fn log_bytes(&self) -> u64 {
        match &self.home {
            Home::Memory | Home::Read(_) => 0,
            Home::Write(writing) => writing.wal.unsaved(),
        }
    }

    /// Has a snapshot written on a thread of its own.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when the system gives no thread.
    pub(super) fn request_checkpoint(open: &Arc<Open>) -> Result<()> {
        let Home::Write(writing) = &open.home else { return Ok(()) };
        let started = Open::checkpoint_in_background(open, writing);
        started.map_err(|error| Error::io("starting the thread that writes a snapshot", error))
    }

    /// Syncs the log, or starts a snapshot or a compaction, when one of them is due after a commit.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when the system gives no thread.
    pub(super) fn retain(open: &Arc<Open>) -> Result<()> {
        open.folder.start_after_commit(&open.store);
        let Home::Write(writing) = &open.home else { return Ok(()) };
        writing.wal.retain_synced()?;
        if writing.wal.is_due() {
            // A failed thread start does not fail the commit: the next one tries again.
            let _ = Open::checkpoint_in_background(open, writing);
        }
        Ok(())
    }

    /// Writes a snapshot on a thread of its own, unless one is being written.
    fn checkpoint_in_background(open: &Arc<Open>, writing: &Writing) -> std::io::Result<()> {
        let mut running = writing.checkpointer.lock().unwrap_or_else(PoisonError::into_inner);
        if running.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return Ok(());
        }
        // One that fails is not tried again at once.
        writing.wal.set_due(writing.wal.unsaved() + writing.least());
        let open = Arc::clone(open);
        let thread = thread::Builder::new().name("hexgraph-checkpoint".to_owned());
        // What fails is tried again after a later commit, and reported when the database is closed.
        let work = move || drop(guarded(|| open.checkpoint(&|| Ok(()))));
        *running = Some(thread.spawn(work)?);
        Ok(())
    }

    /// Ends the log: writes a snapshot unless the log is short or the disk has no space for one,
    /// and syncs in any case. Does nothing to a directory that this process may not write.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] on an error of the operating system.
    pub(super) fn finish(&self) -> Result<()> {
        let Home::Write(writing) = &self.home else { return Ok(()) };
        self.wait_for_checkpointer();
        if writing.directory.check_writable().is_err() {
            return Ok(());
        }
        // After a failed sync there is nothing that could be done any more.
        let has_failed = writing.wal.has_failed();
        if !has_failed && SHORT_LOG < writing.wal.unsaved() {
            // Where there is no space for a snapshot, the log has it all.
            let _ = self.checkpoint(&|| Ok(()));
        }
        // Threads whose work was interrupted may hold the database for a while. None of them writes
        // a snapshot or the clock while these are held, and afterwards all are refused.
        let _saving = writing.lock();
        let _clock = writing.clock.lock().unwrap_or_else(PoisonError::into_inner);
        match has_failed {
            true => writing.directory.release(),
            false => writing.wal.close()?,
        }
        Ok(())
    }

    /// Ends the log without a snapshot: the directory is about to be removed.
    pub(super) fn abandon(&self) {
        let Home::Write(writing) = &self.home else { return };
        self.wait_for_checkpointer();
        let _saving = writing.lock();
        writing.directory.release();
    }

    /// Waits for the thread that writes a snapshot, which holds the database open.
    pub(super) fn wait_for_checkpointer(&self) {
        let Home::Write(writing) = &self.home else { return };
        // A forked child has no such thread.
        if writing.directory.check_writable().is_err() {
            return;
        }
        let running = writing.checkpointer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = running {
            // It catches what could make it panic.
            let _ = thread.join();
        }
    }

    /// Reads what other processes committed since. Returns the number of the newest commit.
    ///
    /// # Errors
    ///
    /// As [`super::Database::open`].
    pub(super) fn refresh(&self) -> Result<u64> {
        if let Home::Read(reading) = &self.home {
            let Reading { directory, follower, options, .. } = &**reading;
            let mut follower = follower.lock().unwrap_or_else(PoisonError::into_inner);
            let before = follower.result().commits;
            if !follower.refresh(directory)? {
                // A newer snapshot has replaced the logs that were followed.
                *follower = open_follower(directory, options)?;
            } else if follower.result().commits <= before {
                // Nothing was committed since, so the version that is there stays.
                return Ok(self.store.version().commit);
            }
            let mut version = follower.version(directory)?;
            version.budget = self.budget.clone();
            self.store.follow(version);
        }
        Ok(self.store.version().commit)
    }

    /// The state of the logs when the database was opened.
    pub(super) fn recovery(&self) -> Recovery {
        match &self.home {
            Home::Memory => Recovery::default(),
            Home::Read(reading) => reading.result,
            Home::Write(writing) => writing.result,
        }
    }

    /// The directory; `None` for a database in memory.
    pub(super) fn folder(&self) -> Option<&Path> {
        match &self.home {
            Home::Memory => None,
            Home::Read(reading) => Some(reading.directory.path()),
            Home::Write(writing) => Some(writing.directory.path()),
        }
    }

    /// True while this process writes, and a path has the directory that it writes to: not one that
    /// was made later instead.
    pub(super) fn is_locked_at(&self, path: &Path) -> bool {
        matches!(&self.home, Home::Write(writing) if writing.directory.is_locked_at(path))
    }

    /// Whether a path points to the directory of the database.
    pub(super) fn is_at(&self, path: &Path) -> bool {
        self.folder().is_some_and(|own| is_same(own, path))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Home::Write(writing) = &self.home {
            // An error has no receiver here; `close` reports it. A thread that writes a snapshot
            // owns this, so there is none any more but this one.
            let _ = guarded(|| match SHORT_LOG < writing.wal.unsaved() {
                _ if writing.directory.check_writable().is_err() => writing.wal.sync(),
                true => self.checkpoint(&|| Ok(())),
                false => writing.wal.close(),
            });
            writing.wal.end();
        }
    }
}

impl Writing {
    fn lock(&self) -> MutexGuard<'_, ()> {
        // One who panicked while he held it wrote no snapshot.
        self.saving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn save(&self, version: &Version, number: u64, position: u64, check: Check<'_>) -> Result<()> {
        let files = self.directory.files();
        let published = self.directory.publish(number, |path, identity| {
            persist::save_in(&**files, version, path, identity, check)
        });
        if let Err(error) = published {
            self.fail_where_named(number, &error);
            return Err(error);
        }
        self.wal.saved(number, position);
        self.set_due(number);
        Ok(())
    }

    /// Called after a snapshot failed: if it is named already, opening the directory reads it. Then
    /// no more commits are accepted. Returns whether it is named.
    fn fail_where_named(&self, number: u64, error: &Error) -> bool {
        let current = self.directory.current().ok().flatten();
        let is_named = current.is_some_and(|current| current.snapshot == number);
        if is_named {
            self.wal.fail(error);
        }
        is_named
    }

    /// Sets the length of the log from which a snapshot is due. A quarter of the last snapshot is
    /// the least, so all snapshots together write at most a few times the bytes of all logs.
    fn set_due(&self, snapshot: u64) {
        let file = fs::metadata(self.directory.snapshot_path(snapshot));
        let quarter = file.map_or(0, |file| file.len() / 4);
        self.wal.set_due(self.least().max(quarter));
    }

    fn least(&self) -> u64 {
        match self.options.checkpoint {
            0 => CHECKPOINT_BYTES,
            bytes => bytes,
        }
    }
}

/// The snapshot of a load. The log is closed at the start of the load, and the next one continues
/// the snapshot. So recovery applies concurrent commits to the load, or, if the snapshot is not
/// named, to the state before.
struct LoadSnapshot<'a> {
    writing: &'a Writing,
    /// The number of the snapshot, and the position in the log where the load begins.
    begun: Option<(u64, u64)>,
    is_named: bool,
}

impl LoadSnapshot<'_> {
    fn begun(&self) -> Result<(u64, u64)> {
        self.begun.ok_or_else(|| Error::internal("a load that was not begun is saved"))
    }

    /// Removes what the snapshot replaces.
    fn tidy(&self) {
        if let Some((number, _)) = self.begun {
            // What can't be removed now is removed by the next one.
            let _ = self.writing.directory.tidy(number);
            self.writing.set_due(number);
        }
    }
}

impl LoadHome for LoadSnapshot<'_> {
    fn begin(&mut self) -> Result<()> {
        self.begun = Some(self.writing.wal.rotate()?);
        Ok(())
    }

    fn write(&mut self, version: &Version) -> Result<()> {
        let (number, _) = self.begun()?;
        let files = self.writing.directory.files();
        self.writing.directory.write_snapshot(number, |path, identity| {
            persist::save_in(&**files, version, path, identity, &|| Ok(()))
        })
    }

    fn switch(&mut self) -> Result<()> {
        let (number, position) = self.begun()?;
        if let Err(error) = self.writing.directory.switch_to(number) {
            self.is_named = self.writing.fail_where_named(number, &error);
            return Err(error);
        }
        self.is_named = true;
        self.writing.wal.saved(number, position);
        Ok(())
    }
}

impl Drop for LoadSnapshot<'_> {
    fn drop(&mut self) {
        if let Some((number, _)) = self.begun.filter(|_| !self.is_named) {
            self.writing.directory.remove_snapshot(number);
        }
    }
}

/// Has new nodes of a graph get their uids from a counter that others use, too.
fn use_common_uids(version: &mut Version, uids: Option<&Arc<Uids>>) {
    if let Some(uids) = uids {
        // The counter then gives no uid that this graph has already.
        uids.absorb(&version.uids);
        version.uids = Arc::clone(uids);
    }
}

pub(super) fn open_follower(directory: &Directory, options: &OpenOptions) -> Result<Follower> {
    Follower::open(directory, options.access(), options.thresholds)?
        .ok_or_else(|| no_database(directory.path()))
}

pub(super) fn no_database(path: &Path) -> Error {
    let missing = std::io::Error::new(std::io::ErrorKind::NotFound, "there is no database here");
    Error::io(format!("opening {}", path.display()), missing)
}

fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}
