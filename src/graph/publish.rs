//! The current version, and how the next one takes its place.
//!
//! Readers take the current version with one atomic operation and never wait. Writers come one
//! after the other. A version that was replaced goes to a thread of its own, which keeps it until
//! nobody else does: so freeing a large version never falls to a reader.

use super::conflicts::Claim;
use super::conflicts::Conflicts;
use super::conflicts::Written;
use super::keys::Key;
use super::snapshots::Snapshot;
use super::snapshots::Snapshots;
use super::version::Predicate;
use super::version::Version;
use crate::types::Error;
use crate::types::Result;
use arc_swap::ArcSwap;
use crossbeam::channel;
use crossbeam::channel::RecvTimeoutError;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::OnceLock;
use std::sync::PoisonError;
use std::thread;
use std::time::Duration;

/// A graph that changes.
pub struct Store {
    current: ArcSwap<Version>,
    /// Whose turn it is to write, and what was written of late.
    writer: Mutex<Conflicts>,
    snapshots: Snapshots,
    /// The process whose thread drops old versions: a child of a fork has none.
    process: u32,
    /// To the thread that drops old versions, which starts with the first of them.
    dropper: OnceLock<Option<channel::Sender<Arc<Version>>>>,
}

impl Default for Store {
    fn default() -> Store {
        Store::new()
    }
}

impl Store {
    /// An empty graph.
    pub fn new() -> Store {
        Store::with_version(Version::empty())
    }

    /// A graph that begins as `version`.
    pub fn with_version(version: Version) -> Store {
        let snapshots = Snapshots::new(version.commit);
        let current = ArcSwap::from_pointee(version);
        let process = std::process::id();
        let writer = Mutex::default();
        Store { current, writer, snapshots, process, dropper: OnceLock::new() }
    }

    /// The newest version. Takes no lock.
    pub fn version(&self) -> Arc<Version> {
        self.current.load_full()
    }

    /// The newest version for a transaction. Waits for nobody but others who begin or publish at
    /// this very moment.
    pub fn snapshot(&self) -> Snapshot {
        self.snapshots.open(&self.current)
    }

    /// The last number that a commit or a snapshot got.
    pub fn clock(&self) -> u64 {
        self.snapshots.clock()
    }

    /// Makes the next version from the current one and publishes it. Waits for other writers. An
    /// open transaction that changes one of the predicates that differ then is in conflict.
    ///
    /// # Errors
    ///
    /// Those of `change`; the current version stays then.
    pub fn write<T>(
        &self,
        change: impl FnOnce(&Arc<Version>) -> Result<(Version, T)>,
    ) -> Result<T> {
        let mut turn = self.turn();
        let old = self.current.load_full();
        let (next, answer) = change(&old)?;
        let changed = changed_predicates(&old, &next);
        self.publish(&mut turn, next, Written::Predicates(changed));
        Ok(answer)
    }

    /// As [`Store::write`], for a change that tells its conflict keys. With a `claim` the change
    /// is that of a transaction, and made only when it is not in conflict. Returns the number of
    /// the commit too.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`], or those of `change`; the current version stays then.
    pub fn write_keys<T>(
        &self,
        claim: Option<Claim<'_>>,
        change: impl FnOnce(&Arc<Version>, &mut Vec<Key>) -> Result<(Version, T)>,
    ) -> Result<(u64, T)> {
        let mut turn = self.turn();
        if claim.is_some_and(|claim| turn.has(claim)) {
            return Err(Error::Conflict);
        }
        let mut keys = Vec::new();
        let (next, answer) = change(&self.current.load_full(), &mut keys)?;
        keys.sort_unstable();
        keys.dedup();
        Ok((self.publish(&mut turn, next, Written::Keys(keys)), answer))
    }

    fn turn(&self) -> MutexGuard<'_, Conflicts> {
        // A writer that panicked published nothing, and notes what it published.
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish(&self, turn: &mut Conflicts, next: Version, written: Written) -> u64 {
        let (old, oldest) = self.snapshots.publish(next, &self.current);
        let commit = self.current.load().commit;
        turn.note(commit, written, oldest);
        self.retire(old);
        commit
    }

    fn retire(&self, old: Arc<Version>) {
        if self.process != std::process::id() {
            return;
        }
        if let Some(dropper) = self.dropper.get_or_init(start_dropper) {
            // The thread ends with the store only, so this does not fail; if it did, the version
            // would be dropped here.
            let _ = dropper.send(old);
        }
    }
}

/// The predicates that are not the same in two versions.
fn changed_predicates(old: &Version, new: &Version) -> Vec<Arc<str>> {
    let differs = |one: &Version, name: &str, other: &Arc<Predicate>| match one.predicate(name) {
        Some(known) => !Arc::ptr_eq(known, other),
        None => true,
    };
    let changed = new.predicates.iter().filter(|(name, it)| differs(old, name, it));
    let dropped = old.predicates.iter().filter(|(name, _)| new.predicate(name).is_none());
    changed.chain(dropped).map(|(name, _)| Arc::clone(name)).collect()
}

/// `None` when the system gives no thread; then versions are dropped where they are replaced.
fn start_dropper() -> Option<channel::Sender<Arc<Version>>> {
    let (sender, receiver) = channel::unbounded();
    let thread = thread::Builder::new().name("hexgraph-drop".to_owned());
    thread.spawn(move || drop_versions(&receiver)).ok().map(|_| sender)
}

fn drop_versions(receiver: &channel::Receiver<Arc<Version>>) {
    const SHORTEST: Duration = Duration::from_millis(1);
    const LONGEST: Duration = Duration::from_millis(200);
    let mut waiting: Vec<Arc<Version>> = Vec::new();
    let mut pause = SHORTEST;
    loop {
        let received = match waiting.is_empty() {
            true => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
            false => receiver.recv_timeout(pause),
        };
        match received {
            Ok(version) => {
                waiting.push(version);
                pause = SHORTEST;
            }
            Err(RecvTimeoutError::Timeout) => pause = (2 * pause).min(LONGEST),
            Err(RecvTimeoutError::Disconnected) if waiting.is_empty() => return,
            Err(RecvTimeoutError::Disconnected) => {
                thread::sleep(pause);
                pause = (2 * pause).min(LONGEST);
            }
        }
        waiting.retain(|version| 1 < Arc::strong_count(version));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_counted_and_freed() {
        let store = Store::new();
        let first = store.version();
        assert_eq!(store.write(|version| Ok((Version::clone(version), 7))).unwrap(), 7);
        assert_eq!((first.commit + 1, store.version().commit), (1, 1));
        let weak = Arc::downgrade(&first);
        drop(first);
        while weak.upgrade().is_some() {
            thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn a_failed_write_changes_nothing() {
        let store = Store::new();
        let failed = store.write(|_| Err::<(Version, ()), _>(Error::query("no")));
        assert!(failed.is_err());
        assert_eq!(store.version().commit, 0);
    }
}
