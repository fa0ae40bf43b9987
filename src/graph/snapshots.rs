//! The versions that open transactions read, and the clock that numbers commits and transactions.
//!
//! One small lock, held for a few nanoseconds, makes two things one: a commit is published while
//! it is known which transactions are open, and a transaction begins while it is known what the
//! newest version is. So a transaction either reads a commit, or finds its keys in the table of
//! conflicts. Queries outside of transactions don't come here.

use super::version::Version;
use arc_swap::ArcSwap;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

/// Which snapshots are open.
#[derive(Clone)]
pub struct Snapshots {
    state: Arc<Mutex<State>>,
}

struct State {
    /// The last number that was given to a commit or a snapshot.
    clock: u64,
    /// For each commit, how many open snapshots read it.
    open: BTreeMap<u64, usize>,
}

/// A version that stays known to those who commit, as long as this lives.
pub struct Snapshot {
    version: Arc<Version>,
    number: u64,
    snapshots: Snapshots,
}

impl Snapshots {
    /// None open, at the commit `clock`.
    pub fn new(clock: u64) -> Snapshots {
        Snapshots { state: Arc::new(Mutex::new(State { clock, open: BTreeMap::new() })) }
    }

    /// A snapshot of the newest version.
    pub fn open(&self, current: &ArcSwap<Version>) -> Snapshot {
        let mut state = self.lock();
        let version = current.load_full();
        state.clock += 1;
        *state.open.entry(version.commit).or_default() += 1;
        Snapshot { version, number: state.clock, snapshots: self.clone() }
    }

    /// The number of the next commit.
    pub fn next_number(&self) -> u64 {
        let mut state = self.lock();
        state.clock += 1;
        state.clock
    }

    /// Sees to it that later numbers are greater than `number`.
    pub fn advance(&self, number: u64) {
        let mut state = self.lock();
        state.clock = state.clock.max(number);
    }

    /// Makes a version, which has its number, the current one. Returns the version before, and the
    /// oldest commit that an open snapshot reads.
    pub fn publish(
        &self,
        next: Arc<Version>,
        current: &ArcSwap<Version>,
    ) -> (Arc<Version>, Option<u64>) {
        let state = self.lock();
        let old = current.swap(next);
        (old, state.open.keys().next().copied())
    }

    /// The oldest commit that an open snapshot reads, or may read when it is opened now.
    pub fn oldest(&self, current: &ArcSwap<Version>) -> u64 {
        let state = self.lock();
        let commit = current.load().commit;
        state.open.keys().next().map_or(commit, |open| commit.min(*open))
    }

    /// The last number that was given to a commit or a snapshot.
    pub fn clock(&self) -> u64 {
        self.lock().clock
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that runs under the lock panics halfway.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Snapshot {
    /// The version.
    pub fn version(&self) -> &Arc<Version> {
        &self.version
    }

    /// The number of the moment when it was taken: greater than those of all commits that the
    /// version has, and no other snapshot or commit has it.
    pub fn number(&self) -> u64 {
        self.number
    }
}

impl Clone for Snapshot {
    fn clone(&self) -> Snapshot {
        let Snapshot { version, number, snapshots } = self;
        *snapshots.lock().open.entry(version.commit).or_default() += 1;
        Snapshot { version: Arc::clone(version), number: *number, snapshots: snapshots.clone() }
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        let mut state = self.snapshots.lock();
        if let Some(count) = state.open.get_mut(&self.version.commit) {
            *count -= 1;
            if *count == 0 {
                state.open.remove(&self.version.commit);
            }
        }
    }
}
