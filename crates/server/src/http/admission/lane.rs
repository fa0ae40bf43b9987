//! One pool: its slots, the queue for them, and the decision whether another request may wait.
//!
//! The time that a request will wait is estimated from how long slots were held lately. A burst may
//! wait for the entire time that the setting `queue` says. Once a request was refused it is no
//! burst any more but a load that stays, until that time has passed without a refusal; then a tenth
//! of it is the most, since a longer queue would only have those who are let in wait longer, and
//! serve no more of them (after CoDel, Nichols and Jacobson 2012).
//!
//! The queue is a multilevel feedback queue (Corbató et al. 1962): its levels are by the time that
//! a request has held slots so far. The lowest level that waits is served first, and every other
//! time the highest, so that each gets on. A request that holds a slot gives it up at the end of a
//! time slice, if a lower level waits. So a request waits about as long as those before it at its
//! own level compute, and not for the end of one that computes for minutes.

use super::fair_queue::FairQueue;
use std::time::{Duration, Instant};

/// The weight of the newest sample in the moving average of the times that slots are held: the
/// highest, and the lowest.
const WEIGHT_MAX: f64 = 0.1;
const WEIGHT_MIN: f64 = 0.005;

/// The number of seconds for which a slot is held, on average, from which on the highest weight
/// holds. Below, the weight falls in proportion: where requests need 20 µs, one that another
/// process has interrupted for 4 ms counts like two hundred, and the queue would look too long to
/// everybody who comes meanwhile.
const HELD_LONG: f64 = 0.002;

/// The number of levels. A request leaves the first after one time slice, and each further one
/// after ten times the time of the one before it.
const LEVELS: usize = 5;

/// The key of a client in the fair queue: requests with the same key wait for each other.
pub(super) type Client = u64;

/// What is in the queue of a pool, and is given a slot in the end.
pub(super) trait Waiter {
    /// Whether the slot is not needed any more.
    fn is_gone(&self) -> bool;
}

/// One pool; `W` is what waits for a slot in it.
pub(super) struct Lane<W> {
    free: usize,
    slots: usize,
    /// The time after which a request is at the second level.
    slice: Duration,
    /// The queues of all levels.
    queues: [FairQueue<Client, W>; LEVELS],
    /// The state of admission at the first level, and at all others.
    entrances: [Entrance; 2],
    /// Whether the next slot is for the highest level that waits.
    is_for_highest: bool,
    patience: Duration,
}

/// What decides whether one more may wait.
#[derive(Clone, Copy)]
struct Entrance {
    /// The moving average of the time that a request holds slots, in seconds.
    held: f64,
    /// The time of the last refusal.
    refused: Option<Instant>,
}

/// How busy a pool is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LaneLoad {
    /// The number of slots in use.
    pub running: usize,
    /// The number of requests that wait for one.
    pub waiting: usize,
}

/// The answer to a request for a slot.
pub(super) enum Entry<W> {
    /// A slot is free, and reserved now.
    Free(W),
    /// The request is in the queue.
    Queued,
    /// The wait would be too long, so the request is refused.
    Full(W),
}

impl<W: Waiter> Lane<W> {
    /// Creates a pool with so many free slots, with `held` as the first estimate of the time that a
    /// request holds one, and time slices of this length.
    pub(super) fn new(
        slots: usize,
        held: Duration,
        slice: Duration,
        patience: Duration,
    ) -> Lane<W> {
        let entrance = Entrance { held: held.as_secs_f64(), refused: None };
        Lane {
            free: slots,
            slots,
            slice,
            queues: std::array::from_fn(|_| FairQueue::new()),
            entrances: [entrance; 2],
            is_for_highest: false,
            patience,
        }
    }

    /// How many slots are in use, and how many requests wait for one. O(waiting clients).
    pub(super) fn load(&self) -> LaneLoad {
        let waiting = self.queues.iter().map(FairQueue::len).sum();
        LaneLoad { running: self.slots - self.free, waiting }
    }

    /// Requests a slot for a request that has held slots for `before`. A free one belongs to the
    /// caller at once; `is_open` says whether slots may be given out now. Otherwise `waiter` is
    /// queued, or comes back where the queue is too long.
    pub(super) fn enter(
        &mut self,
        client: Client,
        before: Duration,
        is_open: bool,
        waiter: W,
    ) -> Entry<W> {
        if is_open && 0 < self.free && self.queues.iter().all(FairQueue::is_empty) {
            self.free -= 1;
            return Entry::Free(waiter);
        }
        self.push(client, self.level(before), waiter)
    }

    /// Called when the time slice of a request is over that has held slots for `held`. Gives its
    /// slot back and queues `waiter`, if a lower level waits. `Free` says that it retains its slot,
    /// `Full` that the queue is too long for it, and its slot is to be returned.
    pub(super) fn pause(&mut self, client: Client, held: Duration, waiter: W) -> Entry<W> {
        let level = self.level(held);
        if self.queues[..level].iter().all(FairQueue::is_empty) {
            return Entry::Free(waiter);
        }
        // Who is at a higher level was let in there before.
        let entry = match level {
            1 => self.push(client, level, waiter),
            _ => {
                self.queues[level].push(client, waiter);
                Entry::Queued
            }
        };
        if matches!(entry, Entry::Queued) {
            self.free += 1;
        }
        entry
    }

    fn push(&mut self, client: Client, level: usize, waiter: W) -> Entry<W> {
        let now = Instant::now();
        if self.is_too_long(client, level, now) {
            // It costs a pass over the queues, so those who have gone are looked for only where it
            // decides something.
            for queue in &mut self.queues {
                queue.retain(|waiter| !waiter.is_gone());
            }
            if self.is_too_long(client, level, now) {
                self.entrances[level.min(1)].refused = Some(now);
                return Entry::Full(waiter);
            }
        }
        self.queues[level].push(client, waiter);
        Entry::Queued
    }

    fn is_too_long(&self, client: Client, level: usize, now: Instant) -> bool {
        let Entrance { mut held, refused } = self.entrances[level.min(1)];
        // The first level waits for itself and each time for one time slice of another. The other
        // levels may have to be completed one after the other.
        let is_first = level == 0;
        if is_first && self.queues[1..].iter().any(|queue| !queue.is_empty()) {
            held += self.slice.as_secs_f64();
        }
        let before = if is_first { &self.queues[..1] } else { &self.queues[1..] };
        let before: usize = before.iter().map(|queue| queue.requests_before(client)).sum();
        let rounds = (before + 1) as f64 / self.slots as f64;
        let is_burst = refused.is_none_or(|refused| self.patience <= now - refused);
        let patience = self.patience.as_secs_f64() * if is_burst { 1.0 } else { 0.1 };
        // Where a slot is held for longer than the patience, nobody could ever wait: two rounds are
        // allowed in any case.
        let most = patience.max(2.0 * held);
        // The estimate may be wrong, so the queue is also too long where its oldest has waited for
        // twice what is allowed.
        let oldest = self.queues[level].oldest().map_or(0.0, |since| (now - since).as_secs_f64());
        most < rounds * held || 2.0 * most < oldest
    }

    /// The level of a request that has held slots for so long.
    fn level(&self, held: Duration) -> usize {
        let limits = (0..LEVELS as u32 - 1).map(|level| self.slice * 10_u32.pow(level));
        limits.filter(|limit| *limit <= held).count()
    }

    /// Returns the slot of a finished request, which has held slots for the given time.
    pub(super) fn leave(&mut self, held: Duration) {
        self.free += 1;
        self.entrances[0].note(held.min(self.slice));
        if self.slice <= held {
            self.entrances[1].note(held);
        }
    }

    /// Takes a free slot for the next request in the queues, if there are both. The caller gives it
    /// after unlocking.
    pub(super) fn next(&mut self) -> Option<W> {
        if self.free == 0 {
            return None;
        }
        loop {
            let mut waiting = self.queues.iter_mut().filter(|queue| !queue.is_empty());
            let queue = if self.is_for_highest { waiting.next_back() } else { waiting.next() };
            let waiter = queue?.pop()?;
            if !waiter.is_gone() {
                self.is_for_highest = !self.is_for_highest;
                self.free -= 1;
                return Some(waiter);
            }
        }
    }
}

impl Entrance {
    fn note(&mut self, held: Duration) {
        let weight = (WEIGHT_MAX * self.held / HELD_LONG).clamp(WEIGHT_MIN, WEIGHT_MAX);
        self.held += weight * (held.as_secs_f64() - self.held);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    const MS: Duration = Duration::from_millis(1);
    const SLICE: Duration = Duration::from_millis(20);

    /// One that waits until somebody else lets its number go.
    struct Numbered(Rc<u32>);

    impl Waiter for Numbered {
        fn is_gone(&self) -> bool {
            Rc::strong_count(&self.0) == 1
        }
    }

    fn is_free(lane: &mut Lane<Numbered>) -> bool {
        matches!(lane.enter(1, Duration::ZERO, true, Numbered(Rc::new(0))), Entry::Free(_))
    }

    fn waits(lane: &mut Lane<Numbered>, client: Client) -> Option<Rc<u32>> {
        waits_at(lane, client, Duration::ZERO)
    }

    fn waits_at(lane: &mut Lane<Numbered>, client: Client, before: Duration) -> Option<Rc<u32>> {
        let number = Rc::new(client as u32);
        match lane.enter(client, before, true, Numbered(Rc::clone(&number))) {
            Entry::Queued => Some(number),
            Entry::Full(_) => None,
            Entry::Free(_) => panic!("there is a slot"),
        }
    }

    #[test]
    fn slots_then_a_queue_then_refusals() {
        let mut lane = Lane::new(2, 20 * MS, SLICE, 100 * MS);
        assert!(is_free(&mut lane) && is_free(&mut lane));
        // 20 ms each on two slots: ten of them need 100 ms.
        let waiting: Vec<_> = (0..).map_while(|_| waits(&mut lane, 1)).collect();
        assert_eq!(waiting.len(), 10);
        let other = waits(&mut lane, 2);
        assert!(other.is_some(), "another client has a queue of its own");
        lane.leave(20 * MS);
        assert!(lane.next().is_some_and(|next| *next.0 == 1));
        assert!(lane.next().is_none(), "there was one slot");
        lane.leave(20 * MS);
        assert!(lane.next().is_some_and(|next| *next.0 == 2));
    }

    #[test]
    fn a_request_that_was_dropped_has_no_slot() {
        let mut lane = Lane::new(1, 20 * MS, SLICE, 100 * MS);
        assert!(is_free(&mut lane));
        drop(waits(&mut lane, 1));
        let stays = waits(&mut lane, 7).unwrap();
        lane.leave(20 * MS);
        assert_eq!(lane.next().unwrap().0, stays);
    }

    #[test]
    fn one_that_was_interrupted_refuses_nobody() {
        let short = Duration::from_micros(40);
        let mut lane = Lane::new(4, short, SLICE, 100 * MS);
        assert!((0..4).all(|_| is_free(&mut lane)));
        lane.leave(4 * MS);
        assert!(is_free(&mut lane));
        // 2,000 of 60 µs on four slots need 30 ms.
        let burst: Vec<_> = (0..2_000).map_while(|_| waits(&mut lane, 1)).collect();
        assert_eq!(burst.len(), 2_000);
        // What takes long from now on is noticed in time.
        for _ in 0..500 {
            lane.leave(MS);
            lane.next();
        }
        assert!((0.0008..0.001).contains(&lane.entrances[0].held), "{}", lane.entrances[0].held);
    }

    #[test]
    fn a_queue_that_stays_gets_short_and_long_requests_may_wait_for_two() {
        let mut lane: Lane<Numbered> = Lane::new(1, 2 * MS, SLICE, 100 * MS);
        assert!(is_free(&mut lane));
        let burst: Vec<_> = (0..).map_while(|_| waits(&mut lane, 1)).collect();
        assert_eq!(burst.len(), 50);
        drop(burst);
        let standing: Vec<_> = (0..).map_while(|_| waits(&mut lane, 1)).collect();
        assert_eq!(standing.len(), 5);
        let refused = &mut lane.entrances[0].refused;
        *refused = refused.map(|refused| refused - 200 * MS);
        let burst: Vec<_> = (0..).map_while(|_| waits(&mut lane, 1)).collect();
        assert_eq!(burst.len(), 45, "there was no refusal for some time");
        let mut long: Lane<Numbered> = Lane::new(2, 10_000 * MS, SLICE, 100 * MS);
        assert!(is_free(&mut long));
        assert!(is_free(&mut long));
        let waiting: Vec<_> = (0..).map_while(|_| waits_at(&mut long, 1, SLICE)).collect();
        assert_eq!(waiting.len(), 4);
    }

    #[test]
    fn who_has_computed_for_less_goes_first_and_nobody_starves() {
        let mut lane = Lane::new(1, 20 * MS, SLICE, 100 * MS);
        assert!(is_free(&mut lane));
        let pause = |lane: &mut Lane<Numbered>, held| {
            let number = Rc::new(9);
            match lane.pause(1, held, Numbered(Rc::clone(&number))) {
                Entry::Queued => Some(number),
                Entry::Free(_) | Entry::Full(_) => None,
            }
        };
        assert!(pause(&mut lane, 100 * SLICE).is_none(), "nobody waits");
        let same = waits_at(&mut lane, 7, 100 * SLICE);
        assert!(same.is_some() && pause(&mut lane, 100 * SLICE).is_none(), "nobody has had less");
        let short: Vec<_> = (0..2).map(|_| waits(&mut lane, 1).unwrap()).collect();
        let paused = pause(&mut lane, 100 * SLICE).unwrap();
        let served = (0..4).map(|_| {
            let next = lane.next().unwrap().0;
            assert!(lane.next().is_none(), "there is one slot");
            lane.leave(MS);
            *next
        });
        assert_eq!(served.collect::<Vec<_>>(), [1, 7, 1, 9]);
        assert_eq!((short.len(), *paused), (2, 9));
    }

    #[test]
    fn who_computes_for_minutes_refuses_only_its_like() {
        let mut lane = Lane::new(1, 20 * MS, SLICE, 100 * MS);
        assert!(is_free(&mut lane));
        // The first that ended has computed for minutes.
        lane.leave(600_000 * MS);
        assert!(is_free(&mut lane));
        let long: Vec<_> = (0..).map_while(|_| waits_at(&mut lane, 1, SLICE)).collect();
        assert_eq!(long.len(), 2);
        let short: Vec<_> = (0..).map_while(|_| waits(&mut lane, 1)).collect();
        assert!((2..=5).contains(&short.len()), "{}", short.len());
        assert!(matches!(lane.pause(1, SLICE, Numbered(Rc::new(0))), Entry::Full(_)));
        assert!(matches!(lane.pause(1, 10 * SLICE, Numbered(Rc::new(0))), Entry::Queued));
    }
}
