//! Allocates uids: one counter for all versions of a graph.
//!
//! Requests are checked on many threads, each against a version of its own, and their changes are
//! applied later or never. So versions cannot count the uids of new nodes. The counter is shared
//! and only increases: an allocated uid is never reused. One exception: when everything is dropped
//! and half of the low uids are spent, the empty version gets a new counter.
//!
//! Uids below 2^31 are cheap (see [`NodeIds`]), so new nodes get those while any are left. Data may
//! name uids itself, and programs may request runs of them. So there are two halves:
//!
//! ```text
//!   1 .. 2^30        the counter passes what data names; runs are allocated only here
//!   2^30 .. 2^31     a set records what data names, and the counter skips it
//!   2^31 ..          data names scattered uids (hashes); new nodes come here last
//! ```
//!
//! Naming 2^31 - 1 uses up one uid, not all below it, and runs never use up the upper half.

use super::node_ids::NodeIds;
use crate::storage::FrozenBitmap;
use hexgraph_base::types::{Error, Result, Uid};
use roaring::RoaringBitmap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The uid of the first new node: small uids, which are written by hand, never collide with it.
const FIRST_NEW_UID: u64 = 0x10001;

/// Where the upper half begins.
const UPPER: u64 = 1 << 30;

/// The allocator of uids, shared by threads. They wait for each other only in the upper half, and
/// for a few instructions when uids are skipped.
pub struct Uids {
    next: AtomicU64,
    /// No uid below this one is allocated again. Locked while `next` goes back, and while uids are
    /// skipped.
    least: Mutex<u64>,
    named: Mutex<Named>,
}

/// The uids of the upper half that data has named.
#[derive(Default)]
struct Named {
    /// Those of the snapshot that was opened, until they are needed.
    saved: FrozenBitmap,
    /// Those that were named since the snapshot was opened; all of them, once `saved` was added.
    existing: RoaringBitmap,
}

/// The uids below 2^31 that some data names: what new nodes must not get.
#[derive(Debug, Clone, Default)]
pub struct NamedUids {
    /// The uid after the greatest of the lower half.
    next: u32,
    /// Those of the upper half.
    upper: RoaringBitmap,
}

impl NamedUids {
    /// Adds a uid below 2^31.
    pub fn add(&mut self, uid: u32) {
        if u64::from(uid) < UPPER {
            self.next = self.next.max(uid + 1);
        } else {
            self.upper.insert(uid);
        }
    }

    /// Adds those of other data.
    pub fn merge(&mut self, other: &NamedUids) {
        self.next = self.next.max(other.next);
        if !other.upper.is_empty() {
            self.upper |= &other.upper;
        }
    }

    /// The uid after the greatest of the lower half; 0 when there is none.
    pub fn next(&self) -> u64 {
        u64::from(self.next)
    }
}

impl FromIterator<u32> for NamedUids {
    fn from_iter<I: IntoIterator<Item = u32>>(uids: I) -> NamedUids {
        let mut named = NamedUids::default();
        uids.into_iter().for_each(|uid| named.add(uid));
        named
    }
}

impl Default for Uids {
    fn default() -> Uids {
        Uids::starting_at(FIRST_NEW_UID)
    }
}

impl Uids {
    /// A counter that hands out `next` next.
    pub fn starting_at(next: u64) -> Uids {
        Uids { next: AtomicU64::new(next.max(1)), least: Mutex::default(), named: Mutex::default() }
    }

    /// The same where data has named these uids of the upper half.
    pub fn with_named(self, saved: FrozenBitmap) -> Uids {
        Uids { named: Mutex::new(Named { saved, existing: RoaringBitmap::new() }), ..self }
    }

    /// The uids of the upper half that data has named.
    pub fn named(&self) -> RoaringBitmap {
        self.lock().all().clone()
    }

    /// The uid that is handed out next, unless data has named it.
    pub fn next(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }

    /// True if so much of the lower half is allocated that a graph without data should start anew.
    pub fn are_spent(&self) -> bool {
        UPPER / 2 <= self.next()
    }

    /// Sees to it that no uid below `next` is handed out any more.
    pub fn skip_to(&self, next: u64) {
        if next == 0 {
            return;
        }
        let mut least = self.least();
        *least = next.max(*least);
        // Relaxed, here and below: the number alone is shared, and each of its changes is one step.
        self.next.fetch_max(next, Ordering::Relaxed);
    }

    /// Ensures that no new node gets a uid that data names. Uids of 2^31 and more are looked up in
    /// the table of nodes instead: they are scattered, and the counter must not follow them.
    pub fn reserve(&self, named: &NamedUids) {
        self.skip_to(named.next());
        if !named.upper.is_empty() {
            self.lock().existing |= &named.upper;
        }
    }

    /// Marks as used what another counter has allocated and what data has named there.
    pub fn absorb(&self, other: &Uids) {
        self.skip_to(other.next());
        let named = other.named();
        if !named.is_empty() {
            self.lock().existing |= named;
        }
    }

    /// Allocates `count` contiguous uids, which no new node gets. They come from the lower half, so
    /// repeated calls cannot exhaust the uids of new nodes.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] if fewer are left.
    pub fn allocate_run(&self, count: u64) -> Result<Range<u64>> {
        let end = |next: u64| next.checked_add(count).filter(|end| *end <= UPPER);
        let allocated = self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, end);
        allocated.map(|start| start..start + count).map_err(|next| {
            let left = UPPER.saturating_sub(next);
            let message = format!(
                "{count} consecutive uids: {left} are left, the others are reserved for new nodes"
            );
            Error::Limit { message }
        })
    }

    /// Hands out `count` uids that neither `nodes` knows nor data has named, `named` among it,
    /// ascending.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] when there are not so many left.
    pub fn allocate(&self, count: u64, nodes: &NodeIds, named: &NamedUids) -> Result<Vec<u64>> {
        self.skip_to(named.next());
        let mut allocated: Vec<u64> = Vec::new();
        while (allocated.len() as u64) < count {
            let more = self.advance(count - allocated.len() as u64)?;
            let (before, end) = (allocated.len(), more.end);
            if more.end <= UPPER {
                allocated.extend(more);
            } else if NodeIds::is_high(Uid(more.start)) {
                allocated.extend(more.filter(|&uid| nodes.node(Uid(uid)).is_none()));
            } else {
                let mut existing = self.lock();
                let existing = existing.all();
                let is_named = |uid| existing.contains(uid) || named.upper.contains(uid);
                let is_free = |uid: &u64| match NodeIds::is_high(Uid(*uid)) {
                    true => nodes.node(Uid(*uid)).is_none(),
                    false => !is_named(*uid as u32),
                };
                allocated.extend(more.filter(is_free));
                // All were named. One step over the entire run, which may be as long as the upper
                // half.
                if allocated.len() == before {
                    self.skip_to(end_of_run(existing, end).max(end_of_run(&named.upper, end)));
                }
            }
        }
        Ok(allocated)
    }

    /// Returns the allocation of [`Uids::allocate`] of a refused request, unless others have
    /// allocated since. So a refused request costs no uids. Those that data has named since, and
    /// the ones below, are lost.
    pub fn give_back(&self, allocated: &[u64]) {
        let (Some(&first), Some(&last)) = (allocated.first(), allocated.last()) else { return };
        if last - first + 1 == allocated.len() as u64 {
            // Nobody skips at the same time: otherwise `next` could briefly be at a uid that was
            // just named.
            let least = self.least();
            let back = first.max(*least);
            // Where it fails the uids are lost, which harms nobody.
            if back <= last {
                let next = &self.next;
                let _ = next.compare_exchange(last + 1, back, Ordering::Relaxed, Ordering::Relaxed);
            }
        }
    }

    fn advance(&self, count: u64) -> Result<Range<u64>> {
        // The greatest uid is never given: it is what a node id without a uid shows.
        let end = |next: u64| next.checked_add(count).filter(|end| *end < u64::MAX);
        let allocated = self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, end);
        match allocated {
            Ok(start) => Ok(start..start + count),
            Err(next) => {
                let message = format!("{count} new uids: only {} are left", u64::MAX - 1 - next);
                Err(Error::Limit { message })
            }
        }
    }

    fn least(&self) -> MutexGuard<'_, u64> {
        // Nothing panics while it is locked.
        self.least.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Named> {
        // Whoever panicked had added some, or none.
        self.named.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Named {
    fn all(&mut self) -> &RoaringBitmap {
        if !self.saved.is_empty() {
            self.saved.or_into(&mut self.existing);
            self.saved = FrozenBitmap::empty();
        }
        &self.existing
    }
}

/// The first uid from `start` on, which is at most 2^31, that is not in `set`.
fn end_of_run(set: &RoaringBitmap, start: u64) -> u64 {
    let Ok(first) = u32::try_from(start) else { return start };
    let mut iter = set.iter();
    iter.advance_to(first);
    match iter.next_range() {
        Some(run) if *run.start() == first => u64::from(*run.end()) + 1,
        _ => start,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::Array;

    const NOTHING: &[u32] = &[];

    fn named(uids: &[u32]) -> NamedUids {
        uids.iter().copied().collect()
    }

    fn allocate(uids: &Uids, count: u64, nodes: &NodeIds) -> Vec<u64> {
        uids.allocate(count, nodes, &named(NOTHING)).unwrap()
    }

    #[test]
    fn uids_are_handed_out_once() {
        // Across the border of the halves, with named ones in the upper.
        let uids = Uids::starting_at(UPPER - 3000);
        let holes: Vec<u32> = (0..2000).map(|hole| UPPER as u32 + 2 * hole).collect();
        uids.reserve(&named(&holes));
        let nodes = NodeIds::default();
        let mut all: Vec<u64> = std::thread::scope(|scope| {
            let many =
                || (1..50).flat_map(|count| allocate(&uids, count, &nodes)).collect::<Vec<_>>();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(many)).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!((all.len(), count, all[0]), (4 * 1225, 4 * 1225, UPPER - 3000));
        assert!(all.iter().all(|uid| !holes.contains(&(*uid as u32))));
    }

    #[test]
    fn named_uids_are_left_out() {
        let uids = Uids::starting_at(1);
        uids.reserve(&named(&[7]));
        assert_eq!(uids.allocate_run(2).unwrap(), 8..10);
        uids.skip_to(1 << 31);
        let nodes = NodeIds::new(Array::from_vec(vec![1 << 31, (1 << 31) + 2])).unwrap();
        let low = 1 << 31;
        assert_eq!(allocate(&uids, 2, &nodes), [low + 1, low + 3]);
        uids.skip_to(u64::MAX - 3);
        let error = uids.allocate(3, &nodes, &named(NOTHING)).unwrap_err();
        assert_eq!(error.to_string(), "3 new uids: only 2 are left");
        assert_eq!(allocate(&uids, 2, &nodes)[0], u64::MAX - 3);
    }

    #[test]
    fn a_named_uid_takes_none_but_itself() {
        let uids = Uids::starting_at(UPPER - 2);
        let nodes = NodeIds::default();
        let last = (1 << 31) - 1;
        uids.reserve(&named(&[last, last - 1, UPPER as u32, UPPER as u32 + 2]));
        assert_eq!(uids.next(), UPPER - 2);
        // What the request itself names is left out, too, before anybody else knows of it.
        let own = named(&[UPPER as u32 + 3]);
        let given = uids.allocate(4, &nodes, &own).unwrap();
        assert_eq!(given, [UPPER - 2, UPPER - 1, UPPER + 1, UPPER + 4]);
        uids.skip_to(u64::from(last) - 2);
        assert_eq!(allocate(&uids, 3, &nodes), [u64::from(last) - 2, 1 << 31, (1 << 31) + 1]);
    }

    #[test]
    fn runs_are_passed_at_once() {
        let run: RoaringBitmap = (UPPER as u32..UPPER as u32 + 1_000_000).collect();
        let uids = Uids::starting_at(UPPER).with_named(FrozenBitmap::from_roaring(&run));
        assert_eq!(uids.named(), run);
        assert_eq!(allocate(&uids, 1, &NodeIds::default()), [UPPER + 1_000_000]);
        assert_eq!(uids.next(), UPPER + 1_000_001);
    }

    #[test]
    fn rows_leave_the_upper_half_alone() {
        let uids = Uids::starting_at(UPPER - 10);
        assert_eq!(uids.allocate_run(8).unwrap(), UPPER - 10..UPPER - 2);
        for _ in 0..2 {
            let error = uids.allocate_run(3).unwrap_err().to_string();
            assert!(error.starts_with("3 consecutive uids: 2 are left"), "{error}");
        }
        assert_eq!(allocate(&uids, 3, &NodeIds::default()), [UPPER - 2, UPPER - 1, UPPER]);
        let error = uids.allocate_run(u64::MAX).unwrap_err().to_string();
        assert!(error.contains(": 0 are left"), "{error}");
    }

    #[test]
    fn the_last_allocation_is_returned() {
        let (uids, nodes) = (Uids::starting_at(5), NodeIds::default());
        let first = allocate(&uids, 3, &nodes);
        uids.give_back(&first);
        assert_eq!(uids.next(), 5);
        let (one, other) = (allocate(&uids, 2, &nodes), allocate(&uids, 2, &nodes));
        uids.give_back(&one);
        assert_eq!(uids.next(), 9);
        uids.give_back(&other);
        assert_eq!(uids.next(), 7);
    }
    #[test]
    fn what_data_named_meanwhile_is_not_given_back() {
        for (name, back) in [(5, 6), (6, 7), (7, 8), (4, 5)] {
            let (uids, nodes) = (Uids::starting_at(5), NodeIds::default());
            let allocated = allocate(&uids, 3, &nodes);
            uids.reserve(&named(&[name]));
            uids.give_back(&allocated);
            assert_eq!(allocate(&uids, 3, &nodes), [back, back + 1, back + 2], "{name} was named");
        }
    }
}
