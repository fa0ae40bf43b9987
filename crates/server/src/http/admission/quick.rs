//! Kinds of requests that were quick lately. The next one of such a kind is executed on the thread
//! that has read it, which saves two changes of threads: half of the time of a request that takes
//! 20 µs.
//!
//! It is a guess from what went before, so nothing may hang on it: a slow request hands the thread
//! over (see `ticket`).

use hexgraph_base::types::position_of;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::available_parallelism;
use std::time::Duration;

/// The number of kinds that are remembered. Each has one slot by its hash, and the last one that
/// comes there has it.
const KINDS: usize = 4096;

/// The most processor time of a request that counts as quick. A request that computes for longer
/// gains nothing from staying.
const QUICK: Duration = Duration::from_micros(500);

/// The longest time, by the clock on the wall, of a request that counts as quick. It is far above
/// [`QUICK`], since the system takes the processor away for milliseconds where others want it too;
/// what exceeds it probably waited for the disk, without having said so.
const QUICK_ON_THE_WALL: Duration = Duration::from_millis(20);

/// The number of quick requests of a kind, one after the other, after which the next one stays.
const ENOUGH: u64 = 2;

/// The number of requests of a kind that stayed and were slow, or waited, after which no more of
/// the kind stay.
const STRIKES_MAX: u64 = 3;

/// The bits of a slot for its numbers; those above them are of the kind.
const NUMBER_BITS: u64 = 0b1111;

/// The bits of the number of quick requests; the two above them count strikes.
const QUICK_BITS: u64 = 0b11;

/// What is remembered of quick kinds, and the number of requests that are being executed on threads
/// of connections.
pub(super) struct Quick {
    positions: Box<[AtomicU64]>,
    /// The number of requests that may still stay. There are as many threads for connections.
    free: AtomicUsize,
}

/// The right to stay, until it is dropped.
pub(super) struct Stay<'a>(&'a Quick);

impl Quick {
    pub(super) fn new() -> Quick {
        let positions = (0..KINDS).map(|_| AtomicU64::new(0)).collect();
        Quick { positions, free: AtomicUsize::new(stay_max()) }
    }

    /// Returns the right to stay for a request of a kind that was quick the last times, if it is
    /// not given to too many others. O(1), without a lock.
    pub(super) fn stay(&self, kind: u64) -> Option<Stay<'_>> {
        let (quick, strikes) = numbers(self.position(kind).load(Ordering::Relaxed), kind);
        if quick < ENOUGH || STRIKES_MAX <= strikes {
            return None;
        }
        let fewer = |free: usize| free.checked_sub(1);
        // The order among threads does not matter: the number guards no other data.
        self.free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer).ok()?;
        Some(Stay(self))
    }

    /// Records the time of a request of a kind (see [`time_that_counts`]), and whether it waited
    /// for anything. `stayed` says whether it was executed on the thread of its connection.
    pub(super) fn note(&self, kind: u64, elapsed: Duration, waited: bool, stayed: bool) {
        let position = self.position(kind);
        let before = position.load(Ordering::Relaxed);
        let (quick, strikes) = numbers(before, kind);
        let (quick, strikes) = match (waited || QUICK < elapsed, stayed && waited) {
            (false, _) => ((quick + 1).min(ENOUGH), strikes),
            (true, false) => (0, strikes),
            (true, true) => (0, (strikes + 1).min(STRIKES_MAX)),
        };
        // The numbers replace the lowest bits of the kind, so kinds that differ in these alone are
        // one.
        let after = (kind & !NUMBER_BITS) | (strikes << 2) | quick;
        // Where two write at once one is forgotten, which costs nothing but time.
        if after != before {
            position.store(after, Ordering::Relaxed);
        }
    }

    fn position(&self, kind: u64) -> &AtomicU64 {
        &self.positions[position_of(kind, KINDS)]
    }
}

impl Drop for Stay<'_> {
    fn drop(&mut self) {
        self.0.free.fetch_add(1, Ordering::Relaxed);
    }
}

/// The number of threads for connections, and of requests that are executed on them at once: as
/// many as there are cores.
pub(crate) fn stay_max() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// The time of a request that decides whether it was quick, from its time by the clock on the wall
/// and its processor time, which is requested only where the first does not decide.
pub(super) fn time_that_counts(wall: Duration, busy: impl FnOnce() -> Duration) -> Duration {
    if QUICK < wall && wall <= QUICK_ON_THE_WALL { busy() } else { wall }
}

/// The numbers of quick requests and of strikes in a slot, 0 where it is another kind's.
fn numbers(position: u64, kind: u64) -> (u64, u64) {
    match (position ^ kind) & !NUMBER_BITS {
        0 => (position & QUICK_BITS, (position & NUMBER_BITS) >> 2),
        _ => (0, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: u64 = 0x1234_5678_9abc_def0;
    const SHORT: Duration = Duration::from_micros(20);

    #[test]
    fn who_was_quick_twice_stays() {
        let quick = Quick::new();
        assert!(quick.stay(KIND).is_none());
        quick.note(KIND, SHORT, false, false);
        assert!(quick.stay(KIND).is_none());
        quick.note(KIND, SHORT, false, false);
        assert!(quick.stay(KIND).is_some());
        assert!(quick.stay(KIND + 16).is_none(), "another kind");
        quick.note(KIND, Duration::from_millis(3), false, false);
        assert!(quick.stay(KIND).is_none(), "it was not quick the last time");
    }

    #[test]
    fn who_was_interrupted_was_quick() {
        let (interrupted, long) = (Duration::from_millis(4), Duration::from_millis(30));
        assert_eq!(time_that_counts(interrupted, || SHORT), SHORT);
        assert_eq!(time_that_counts(interrupted, || interrupted), interrupted);
        assert_eq!(time_that_counts(long, || SHORT), long, "it probably waited for the disk");
        assert_eq!(time_that_counts(SHORT, || panic!("a call to the system")), SHORT);
    }

    #[test]
    fn who_waits_never_stays() {
        let quick = Quick::new();
        for _ in 0..5 {
            quick.note(KIND, SHORT, true, false);
            assert!(quick.stay(KIND).is_none());
        }
    }

    #[test]
    fn who_waited_three_times_stays_no_more() {
        let quick = Quick::new();
        for strike in 0..STRIKES_MAX {
            quick.note(KIND, SHORT, false, false);
            quick.note(KIND, SHORT, false, false);
            assert!(quick.stay(KIND).is_some(), "after {strike} strikes");
            quick.note(KIND, Duration::from_secs(1), true, true);
        }
        for _ in 0..5 {
            quick.note(KIND, SHORT, false, false);
            assert!(quick.stay(KIND).is_none());
        }
    }

    #[test]
    fn so_many_stay_at_once() {
        let quick = Quick::new();
        quick.note(KIND, SHORT, false, false);
        quick.note(KIND, SHORT, false, false);
        let held: Vec<_> = (0..stay_max()).map(|_| quick.stay(KIND).unwrap()).collect();
        assert!(quick.stay(KIND).is_none());
        drop(held);
        assert!(quick.stay(KIND).is_some());
    }
}
