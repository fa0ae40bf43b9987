//! The current version, and how the next one replaces it.
//!
//! Readers load the current version with one atomic operation and never wait. Writers run one at a
//! time. With a journal, each writer builds on the version before it, published or not, and a
//! version is published when all commits up to its own are durable. Writers free replaced versions
//! (`replaced.rs`), so that no reader has to.

use super::catch_up::Tail;
use super::conflicts::{Claim, Conflicts, Written};
use super::rebuilding::{RebuildLock, Rebuilding};
use super::replaced::Replaced;
use super::snapshots::{Snapshot, Snapshots};
use super::watch::{Watch, Watches};
use crate::graph::change::keys::ConflictKey;
use crate::graph::version::graph_version::Version;
use crate::graph::version::predicate::Predicate;
use arc_swap::ArcSwap;
use hexgraph_base::types::sync::{Mutex, MutexGuard};
use hexgraph_base::types::{Error, LockGuard, Result, before_waiting};
use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};

/// A graph that changes.
pub struct Store {
    current: ArcSwap<Version>,
    /// The state under the writer lock: the newest version, and what was written last.
    writer: Mutex<WriterState>,
    /// The lock for concurrent builds of entire predicates.
    rebuilding: Rebuilding,
    pub(super) snapshots: Snapshots,
    /// The log to which commits are appended before they are published; `None` for an in-memory
    /// graph.
    journal: Option<Box<dyn Journal>>,
    /// Versions whose commits are noted and not durable yet, by their positions in the journal.
    pending: Mutex<VecDeque<(u64, Arc<Version>)>>,
    watches: Watches,
    replaced: Replaced,
}

/// The state that the writer lock protects.
pub(super) struct WriterState {
    /// The newest version, which the next one is made of. Readers see it when its commit is
    /// durable.
    pub(super) head: Arc<Version>,
    conflicts: Conflicts,
    /// What was committed since the load began that is being built; `None` when none is.
    pub(super) tail: Option<Tail>,
}

impl WriterState {
    /// Retains the record of a commit for a load in progress.
    fn note(&mut self, commit: u64, record: Option<Vec<u8>>) {
        if let (Some(tail), Some(record)) = (&mut self.tail, record) {
            tail.note(commit, record);
        }
    }
}

/// The log of commits, which survives a crash. A writer appends under the writer lock and waits
/// after releasing it, so one sync serves many commits.
pub trait Journal: Send + Sync {
    /// Appends a commit. Returns its position for [`Journal::wait`].
    ///
    /// # Errors
    ///
    /// [`Error::Io`] on an error of the operating system; the commit is not in the log then.
    fn append(&self, commit: u64, record: &[u8]) -> Result<u64>;

    /// True when what was appended may be published without a wait.
    fn is_ready(&self) -> bool;

    /// Waits until everything up to a position is durable. Returns the position up to which
    /// everything is.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] on an error of the operating system. It is then unknown what is durable, so
    /// this and all later commits fail.
    fn wait(&self, position: u64) -> Result<u64>;
}

/// The keys and the record of a change, which a writer returns with the version that it makes.
pub struct Commit {
    /// The conflict keys of what was written.
    pub keys: Vec<ConflictKey>,
    /// The record for the journal; `None` without one.
    pub record: Option<Vec<u8>>,
    /// True when entire predicates were changed, those that are not the same in both versions: an
    /// open transaction that changes one of them then is in conflict.
    pub is_complete: bool,
}

impl Default for Store {
    fn default() -> Store {
        Store::new()
    }
}

impl Store {
    /// An empty graph.
    pub fn new() -> Store {
        Store::with_version(Version::empty(), None)
    }

    /// A graph that begins as `version`, with its thresholds.
    pub fn with_version(version: Version, journal: Option<Box<dyn Journal>>) -> Store {
        let thresholds = version.thresholds;
        let snapshots = Snapshots::new(version.commit, thresholds.commit_gap);
        let head = Arc::new(version);
        Store {
            current: ArcSwap::new(Arc::clone(&head)),
            writer: Mutex::new(WriterState {
                head,
                conflicts: Conflicts::new(thresholds),
                tail: None,
            }),
            rebuilding: Rebuilding::default(),
            snapshots,
            journal,
            pending: Mutex::default(),
            watches: Watches::default(),
            replaced: Replaced::new(),
        }
    }

    /// The newest version. Takes no lock.
    pub fn version(&self) -> Arc<Version> {
        self.current.load_full()
    }

    /// The number of older versions that are still read.
    pub fn replaced_count(&self) -> usize {
        self.replaced.count()
    }

    /// The newest version for a transaction. Waits only for others that begin or publish at the
    /// same moment.
    pub fn snapshot(&self) -> Snapshot {
        self.snapshots.open(&self.current)
    }

    /// The last number that a commit or a snapshot got.
    pub fn clock(&self) -> u64 {
        self.snapshots.clock()
    }

    /// Makes commits and snapshots get numbers above `number`.
    pub fn advance_clock(&self, number: u64) {
        self.snapshots.advance(number);
    }

    /// Makes the next version from the newest one, notes it in the journal, and publishes it when
    /// it is durable. Waits for other writers. With a `claim` the change is that of a transaction,
    /// and made only when it is not in conflict. Returns the number of the commit too.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`], those of `change`, and [`Error::Io`] when the journal fails; the
    /// current version stays then.
    pub fn write<T>(
        &self,
        claim: Option<Claim<'_>>,
        change: impl FnOnce(&Arc<Version>, &mut Commit) -> Result<(Version, T)>,
    ) -> Result<(u64, T)> {
        let mut writer_lock = self.writer_lock();
        if claim.is_some_and(|claim| writer_lock.conflicts.has(claim)) {
            return Err(Error::Conflict);
        }
        let has_record = self.journal.is_some() || writer_lock.tail.is_some();
        let record = has_record.then(Vec::new);
        let mut commit = Commit { keys: Vec::new(), record, is_complete: false };
        let (mut next, answer) = change(&writer_lock.head, &mut commit)?;
        check_full(&next)?;
        let Commit { mut keys, record, is_complete } = commit;
        keys.sort_unstable();
        keys.dedup();
        let written = match is_complete {
            true => Written::Predicates(changed_predicates(&writer_lock.head, &next)),
            false => Written::Keys(keys),
        };
        let Some(journal) = &self.journal else {
            let (next, old, oldest) = self.snapshots.publish_next(next, &self.current);
            let number = next.commit;
            writer_lock.note(number, record);
            self.note_published(&mut writer_lock, next, written, (old, oldest));
            return Ok((number, answer));
        };
        next.commit = self.snapshots.next_number();
        let number = next.commit;
        let position = journal
            .append(number, record.as_deref().unwrap_or_default())
            .inspect_err(|_| self.snapshots.give_up(number))?;
        writer_lock.note(number, record);
        if journal.is_ready() {
            self.publish_now(&mut writer_lock, next, written);
            return Ok((number, answer));
        }
        self.publish_when_durable(writer_lock, next, written, position)?;
        Ok((number, answer))
    }

    /// Makes a version the head, and publishes it when the journal is durable up to `position`.
    /// Releases the writer lock before it waits.
    fn publish_when_durable(
        &self,
        mut writer_lock: LockGuard<MutexGuard<'_, WriterState>>,
        next: Version,
        written: Written,
        position: u64,
    ) -> Result<()> {
        let next = Arc::new(next);
        // Now and not when it is durable: the next version builds on this one, so a writer of the
        // same keys must fail.
        writer_lock.conflicts.note(
            next.commit,
            written,
            Some(self.snapshots.oldest(&self.current)),
        );
        writer_lock.head = Arc::clone(&next);
        // Under the writer lock, so that positions ascend in the list as in the journal.
        self.pending().push_back((position, next));
        drop(writer_lock);
        // On failure the version is never published, and the journal refuses all later commits.
        let durable =
            self.journal.as_ref().map_or(Ok(position), |journal| journal.wait(position))?;
        self.publish_durable(durable);
        Ok(())
    }

    /// Publishes the result of a load as soon as all its commits are durable. Releases the writer
    /// lock.
    pub(super) fn publish_made(
        &self,
        mut writer_lock: LockGuard<MutexGuard<'_, WriterState>>,
        next: Version,
    ) -> Result<()> {
        let written = Written::Predicates(changed_predicates(&writer_lock.head, &next));
        let last = self.pending().back().map(|(position, _)| *position);
        match last {
            None => self.publish_now(&mut writer_lock, next, written),
            Some(position) => self.publish_when_durable(writer_lock, next, written, position)?,
        }
        Ok(())
    }

    /// The newest version that a writer made, published or not. Waits for the current writer.
    pub fn head(&self) -> Arc<Version> {
        Arc::clone(&self.writer_lock().head)
    }

    /// Calls `look` with the newest version that a writer made, under the writer lock. The commit
    /// of that version may not be durable yet.
    ///
    /// # Errors
    ///
    /// Those of `look`.
    pub fn with_head<T>(&self, look: impl FnOnce(&Arc<Version>) -> Result<T>) -> Result<T> {
        look(&self.writer_lock().head)
    }

    /// Replaces the head by a version with the same data, published or not.
    pub(super) fn put_arranged(&self, writer_lock: &mut WriterState, next: Version) {
        let next = Arc::new(next);
        writer_lock.head = Arc::clone(&next);
        let mut pending = self.pending();
        match pending.back_mut() {
            Some((_, version)) => *version = next,
            None => {
                // Nothing is added meanwhile: that needs the writer lock, which the caller has.
                drop(pending);
                self.replaced.retire_compacted(self.replace(next));
            }
        }
    }

    /// Waits for other builds of entire predicates, and blocks them until the guard is dropped.
    /// Writers do not wait for it.
    pub fn rebuild_lock(&self) -> RebuildLock<'_> {
        self.rebuilding.writer_lock()
    }

    /// Registers `wake`, which is called after each commit that changes one of the predicates
    /// `names`, or after any commit without names, as long as the returned watch lives. It runs on
    /// the publishing thread, so it must be quick and must not commit.
    pub fn watch(
        &self,
        names: Option<Vec<Arc<str>>>,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> Arc<Watch> {
        self.watches.watch(names, wake)
    }

    /// Makes a version that another process committed the current one.
    pub fn follow(&self, version: Version) {
        let mut writer_lock = self.writer_lock();
        let next = Arc::new(version);
        writer_lock.head = Arc::clone(&next);
        self.snapshots.advance(next.commit);
        self.replaced.retire(self.replace(next));
    }

    pub(super) fn writer_lock(&self) -> LockGuard<MutexGuard<'_, WriterState>> {
        before_waiting();
        // A writer that panicked published nothing, and notes what it published.
        LockGuard::new(self.writer.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn pending(&self) -> MutexGuard<'_, VecDeque<(u64, Arc<Version>)>> {
        // Nothing that runs under the lock panics halfway.
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish_now(&self, writer_lock: &mut WriterState, next: Version, written: Written) {
        let next = Arc::new(next);
        let replaced = self.snapshots.publish(Arc::clone(&next), &self.current);
        self.note_published(writer_lock, next, written, replaced);
    }

    /// Records that `next` replaces the version `replaced`, with the oldest commit that an open
    /// snapshot reads.
    fn note_published(
        &self,
        writer_lock: &mut WriterState,
        next: Arc<Version>,
        written: Written,
        replaced: (Arc<Version>, Option<u64>),
    ) {
        let (old, oldest) = replaced;
        self.watches.notify(&old, &next);
        writer_lock.conflicts.note(next.commit, written, oldest);
        writer_lock.head = next;
        self.replaced.retire(old);
    }

    /// Publishes the last of those versions whose commits are durable up to a position.
    fn publish_durable(&self, position: u64) {
        let mut pending = self.pending();
        let count = pending.partition_point(|(at, _)| *at <= position);
        let mut done: Vec<_> = pending.drain(..count).map(|(_, version)| version).collect();
        if let Some(newest) = done.pop() {
            // Under the lock, so that no older one comes later.
            done.push(self.replace(newest));
        }
        drop(pending);
        done.into_iter().for_each(|version| self.replaced.retire(version));
    }

    /// Makes a version the current one, and notifies the watches of what changed. Returns the
    /// previous one.
    fn replace(&self, next: Arc<Version>) -> Arc<Version> {
        let (old, _) = self.snapshots.publish(Arc::clone(&next), &self.current);
        self.watches.notify(&old, &next);
        old
    }
}

/// Refuses a version with a restricted view: it would become what everybody sees, and its schema
/// the stored one.
pub(super) fn check_full(next: &Version) -> Result<()> {
    match next.view().is_some() {
        true => Err(Error::internal("a part of a version was to be published")),
        false => Ok(()),
    }
}

/// The predicates that are not the same in two versions.
fn changed_predicates(old: &Version, new: &Version) -> Vec<Arc<str>> {
    let differs = |one: &Version, name: &str, other: &Arc<Predicate>| match one.predicate(name) {
        Some(existing) => !Arc::ptr_eq(existing, other),
        None => true,
    };
    let changed = new.predicates.iter().filter(|(name, it)| differs(old, name, it));
    let dropped = old.predicates.iter().filter(|(name, _)| new.predicate(name).is_none());
    changed.chain(dropped).map(|(name, _)| Arc::clone(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_counted_and_freed() {
        let store = Store::new();
        let first = store.version();
        let written = store.write(None, |version, _| Ok((Version::clone(version), 7)));
        assert_eq!(written.unwrap(), (1, 7));
        assert_eq!((first.commit + 1, store.version().commit), (1, 1));
        let weak = Arc::downgrade(&first);
        drop(first);
        while weak.upgrade().is_some() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    #[test]
    fn watchers_are_notified_of_their_predicates() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let store = Store::new();
        let reported = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&reported);
        let watch = store.watch(Some(vec!["a".into()]), move || {
            count.fetch_add(1, Ordering::Relaxed);
        });
        let alter = |text: &'static str| {
            let altered =
                store.write(None, |version, _| Ok((crate::graph::alter(version, text)?, ())));
            altered.unwrap();
            reported.load(Ordering::Relaxed)
        };
        assert_eq!([alter("b: int ."), alter("a: int ."), alter("b: string .")], [0, 1, 1]);
        drop(watch);
        assert_eq!(alter("a: string ."), 1);
    }

    #[test]
    fn a_failed_write_changes_nothing() {
        let store = Store::new();
        let failed = store.write(None, |_, _| Err::<(Version, ()), _>(Error::query("no")));
        assert_eq!(failed.err().map(|error| error.to_string()).as_deref(), Some("no"));
        assert_eq!(store.version().commit, 0);
    }
}
