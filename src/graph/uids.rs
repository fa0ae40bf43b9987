//! Who gets which uid: one counter for all versions of a graph.
//!
//! Requests are checked on many threads at once, each against a version of its own, and what they
//! change is carried out later or never. So the uids of new nodes can't be counted by versions: the
//! counter stands beside them, goes up only, and a uid that was handed out is never handed out
//! again, whatever became of it.

use super::node_ids::NodeIds;
use crate::types::Error;
use crate::types::Result;
use crate::types::Uid;
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;

/// The uid of the first new node: small uids, which are written by hand, never collide with it.
const FIRST_NEW_UID: u64 = 0x10001;

/// The counter of uids. All may be asked at once, none waits.
pub struct Uids {
    next: AtomicU64,
}

impl Default for Uids {
    fn default() -> Uids {
        Uids::starting_at(FIRST_NEW_UID)
    }
}

impl Uids {
    /// A counter that hands out `next` next.
    pub fn starting_at(next: u64) -> Uids {
        Uids { next: AtomicU64::new(next.max(1)) }
    }

    /// The uid that is handed out next.
    pub fn next(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }

    /// Sees to it that no uid below `next` is handed out any more.
    pub fn skip_to(&self, next: u64) {
        self.next.fetch_max(next, Ordering::Relaxed);
    }

    /// Sees to it that no new node gets `uid`, which somebody wrote. Great uids are looked up in
    /// the table of nodes instead: they are scattered, and the counter must not follow them.
    pub fn reserve(&self, uid: Uid) {
        if !NodeIds::is_high(uid) {
            self.skip_to(uid.0 + 1);
        }
    }

    /// Hands out `count` uids in a row.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] when there are not so many left.
    pub fn take(&self, count: u64) -> Result<Range<u64>> {
        let end = |next: u64| next.checked_add(count).filter(|end| *end < u64::MAX);
        let taken = self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, end);
        match taken {
            Ok(start) => Ok(start..start + count),
            Err(next) => {
                let message = format!("{count} new uids: only {} are left", u64::MAX - 1 - next);
                Err(Error::Limit { message })
            }
        }
    }

    /// Hands out `count` uids that `nodes` does not know, ascending.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] when there are not so many left.
    pub fn take_unknown(&self, count: u64, nodes: &NodeIds) -> Result<Vec<u64>> {
        let mut taken: Vec<u64> = Vec::new();
        while (taken.len() as u64) < count {
            let is_known =
                |uid: &u64| NodeIds::is_high(Uid(*uid)) && nodes.node(Uid(*uid)).is_some();
            let more = self.take(count - taken.len() as u64)?;
            taken.extend(more.filter(|uid| !is_known(uid)));
        }
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::Array;

    #[test]
    fn uids_are_handed_out_once() {
        let uids = Uids::default();
        let mut all: Vec<u64> = std::thread::scope(|scope| {
            let take = || (1..50).flat_map(|count| uids.take(count).unwrap()).collect::<Vec<_>>();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(take)).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!((all.len(), all[0]), (count, FIRST_NEW_UID));
    }

    #[test]
    fn named_uids_are_left_out() {
        let uids = Uids::starting_at(1);
        uids.reserve(Uid(7));
        uids.reserve(Uid(1 << 40));
        assert_eq!(uids.take(2).unwrap(), 8..10);
        uids.skip_to(1 << 31);
        let nodes = NodeIds::new(Array::from_vec(vec![1 << 31, (1 << 31) + 2])).unwrap();
        let low = 1 << 31;
        assert_eq!(uids.take_unknown(2, &nodes).unwrap(), [low + 1, low + 3]);
        uids.skip_to(u64::MAX - 3);
        assert!(uids.take(3).is_err());
        assert_eq!(uids.take(2).unwrap().start, u64::MAX - 3);
    }
}
