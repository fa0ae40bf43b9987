//! The versions that open transactions read, and the clock that numbers commits and transactions.
//!
//! One lock, held for nanoseconds, makes two steps atomic: publishing a commit with the set of open
//! transactions, and beginning a transaction with the newest version. So a transaction either reads
//! a commit or finds its keys in the conflict table. Queries outside of transactions do not use it.
//!
//! Numbers define the order: a snapshot has all commits of smaller numbers, and none of greater
//! ones. A journaled commit needs its number before it is published, which may be much later. So it
//! leaves a gap before its number, from which snapshots without it get theirs. A commit without a
//! journal gets its number when it is published.

use crate::graph::version::graph_version::Version;
use arc_swap::ArcSwap;
use hexgraph_base::types::sync::{Mutex, MutexGuard};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, PoisonError};

/// Which snapshots are open.
#[derive(Clone)]
pub(in crate::graph) struct Snapshots {
    state: Arc<Mutex<State>>,
}

struct State {
    /// The greatest number that was given to a commit or a snapshot.
    clock: u64,
    /// The number of numbers that a commit in a journal leaves free before its own.
    gap: u64,
    /// The number of the last snapshot, or of the newest version where that is greater.
    moment: u64,
    /// The numbers of commits that are not published, ascending.
    unpublished: VecDeque<u64>,
    /// For each commit, how many open snapshots read it.
    open: BTreeMap<u64, usize>,
}

/// A version that a transaction reads. While it lives, the conflict table retains all later
/// commits.
pub struct Snapshot {
    version: Arc<Version>,
    number: u64,
    snapshots: Snapshots,
}

impl Snapshots {
    /// None open, at the commit `clock`; commits leave `gap` numbers free, see
    /// [`Thresholds::commit_gap`].
    ///
    /// [`Thresholds::commit_gap`]: crate::graph::Thresholds::commit_gap
    pub(in crate::graph) fn new(clock: u64, gap: u64) -> Snapshots {
        let (unpublished, open) = (VecDeque::new(), BTreeMap::new());
        let state = State { clock, gap, moment: clock, unpublished, open };
        Snapshots { state: Arc::new(Mutex::new(state)) }
    }

    /// A snapshot of the newest version.
    pub(in crate::graph) fn open(&self, current: &ArcSwap<Version>) -> Snapshot {
        let mut state = self.lock();
        let version = current.load_full();
        let number = state.next_moment();
        *state.open.entry(version.commit).or_default() += 1;
        Snapshot { version, number, snapshots: self.clone() }
    }

    /// The number of the next commit, which is to be published or given up.
    pub(super) fn next_number(&self) -> u64 {
        let mut state = self.lock();
        state.clock += state.gap;
        let number = state.clock;
        state.unpublished.push_back(number);
        number
    }

    /// Takes back the number of a commit that is not going to be published.
    pub(super) fn give_up(&self, number: u64) {
        self.lock().unpublished.retain(|commit| *commit != number);
    }

    /// Makes later numbers greater than `number`.
    pub(super) fn advance(&self, number: u64) {
        let mut state = self.lock();
        state.clock = state.clock.max(number);
    }

    /// Makes a version, which has its number, the current one. Returns the version before, and the
    /// oldest commit that an open snapshot reads.
    pub(in crate::graph) fn publish(
        &self,
        next: Arc<Version>,
        current: &ArcSwap<Version>,
    ) -> (Arc<Version>, Option<u64>) {
        let mut state = self.lock();
        state.note_published(next.commit);
        let old = current.swap(next);
        (old, state.open.keys().next().copied())
    }

    /// Numbers a version and makes it the current one. Returns it, and the result of
    /// [`Snapshots::publish`].
    pub(super) fn publish_next(
        &self,
        mut next: Version,
        current: &ArcSwap<Version>,
    ) -> (Arc<Version>, Arc<Version>, Option<u64>) {
        let mut state = self.lock();
        next.commit = state.clock + 1;
        state.clock = next.commit;
        state.note_published(next.commit);
        let next = Arc::new(next);
        let old = current.swap(Arc::clone(&next));
        (next, old, state.open.keys().next().copied())
    }

    /// The oldest commit that an open snapshot reads, or may read when it is opened now.
    pub(super) fn oldest(&self, current: &ArcSwap<Version>) -> u64 {
        let state = self.lock();
        let commit = current.load().commit;
        state.open.keys().next().map_or(commit, |open| commit.min(*open))
    }

    /// The last number that was given to a commit or a snapshot.
    pub(super) fn clock(&self) -> u64 {
        self.lock().clock
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that runs under the lock panics halfway.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn next_moment(&mut self) -> u64 {
        // A snapshot has none of the commits that are not published, so it gets a number before
        // the first of them, as long as its gap has one.
        let first = self.unpublished.front();
        self.moment = match first.is_some_and(|commit| self.moment + 1 < *commit) {
            true => self.moment + 1,
            false => self.clock + 1,
        };
        self.clock = self.clock.max(self.moment);
        self.moment
    }

    fn note_published(&mut self, commit: u64) {
        // Earlier ones are published with it: of several that become durable together, only the
        // last becomes current.
        let count = self.unpublished.partition_point(|number| *number <= commit);
        self.unpublished.drain(..count);
        self.moment = self.moment.max(commit);
    }
}

impl Snapshot {
    /// The version.
    pub fn version(&self) -> &Arc<Version> {
        &self.version
    }

    /// The number of this snapshot: greater than that of every commit in the version, and unique
    /// among snapshots and commits.
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

#[cfg(test)]
mod tests {
    use super::*;

    const GAP: u64 = 4;

    fn version(commit: u64) -> Arc<Version> {
        Arc::new(Version { commit, ..Version::empty() })
    }

    #[test]
    fn numbers_order_snapshots() {
        let snapshots = Snapshots::new(0, GAP);
        let current = ArcSwap::new(version(0));
        let open = || snapshots.open(&current).number();
        assert_eq!([open(), open()], [1, 2]);
        let first = snapshots.next_number();
        let second = snapshots.next_number();
        assert_eq!((first, second), (2 + GAP, 2 + 2 * GAP));
        assert_eq!([open(), open()], [3, 4]);
        snapshots.publish(version(first), &current);
        assert_eq!([open(), open()], [first + 1, first + 2]);
        snapshots.publish(version(second), &current);
        assert_eq!([open(), open()], [second + 1, second + 2]);
    }

    #[test]
    fn what_is_given_up_leaves_no_mark() {
        let snapshots = Snapshots::new(7, GAP);
        let current = ArcSwap::new(version(7));
        let number = snapshots.next_number();
        snapshots.give_up(number);
        assert_eq!(snapshots.open(&current).number(), number + 1);
        let (next, old, oldest) = snapshots.publish_next(Version::empty(), &current);
        assert_eq!((next.commit, old.commit, oldest), (number + 2, 7, None));
    }

    #[test]
    fn a_gap_that_is_used_up_stops_nobody() {
        let snapshots = Snapshots::new(0, GAP);
        let current = ArcSwap::new(version(0));
        let commit = snapshots.next_number();
        let numbers: Vec<u64> = (0..10).map(|_| snapshots.open(&current).number()).collect();
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
        assert!(!numbers.contains(&commit) && numbers[2] < commit && commit < numbers[9]);
        snapshots.publish(version(commit), &current);
        assert!(numbers[9] < snapshots.open(&current).number());
    }
}
