//! One pool: its slots, the queue for them, and the decision whether another request may wait.
//!
//! The time that a request will wait is estimated from how long slots were held lately. A burst may
//! wait for the entire time that the setting `queue` says. Once a request was refused it is no
//! burst any more but a load that stays, until that time has passed without a refusal; then a tenth
//! of it is the most, since a longer queue would only have those who are let in wait longer, and
//! serve no more of them (after CoDel, Nichols and Jacobson 2012).

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
    /// The moving average of the time that a slot is held, in seconds.
    held: f64,
    queue: FairQueue<Client, W>,
    /// The time of the last refusal.
    refused: Option<Instant>,
    patience: Duration,
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
    /// Creates a pool with so many free slots, and `held` as the first estimate of the time that
    /// one is held.
    pub(super) fn new(slots: usize, held: Duration, patience: Duration) -> Lane<W> {
        let (queue, held) = (FairQueue::new(), held.as_secs_f64());
        Lane { free: slots, slots, held, queue, refused: None, patience }
    }

    /// How many slots are in use, and how many requests wait for one. O(waiting clients).
    pub(super) fn load(&self) -> LaneLoad {
        LaneLoad { running: self.slots - self.free, waiting: self.queue.len() }
    }

    /// Requests a slot. A free one belongs to the caller at once; `is_open` says whether slots may
    /// be given out now. Otherwise `waiter` is queued, or comes back where the queue is too long.
    pub(super) fn enter(&mut self, client: Client, is_open: bool, waiter: W) -> Entry<W> {
        let now = Instant::now();
        if self.queue.is_empty() && is_open && 0 < self.free {
            self.free -= 1;
            return Entry::Free(waiter);
        }
        if self.is_too_long(client, now) {
            // It costs a pass over the queue, so those who have gone are looked for only where it
            // decides something.
            self.queue.retain(|waiter| !waiter.is_gone());
            if self.is_too_long(client, now) {
                self.refused = Some(now);
                return Entry::Full(waiter);
            }
        }
        self.queue.push(client, waiter);
        Entry::Queued
    }

    fn is_too_long(&self, client: Client, now: Instant) -> bool {
        let rounds = (self.queue.requests_before(client) + 1) as f64 / self.slots as f64;
        let is_burst = self.refused.is_none_or(|refused| self.patience <= now - refused);
        let patience = self.patience.as_secs_f64() * if is_burst { 1.0 } else { 0.1 };
        // Where a slot is held for longer than the patience, nobody could ever wait: two rounds are
        // allowed in any case.
        let most = patience.max(2.0 * self.held);
        // The estimate may be wrong, so the queue is also too long where its oldest has waited for
        // twice what is allowed.
        let oldest = self.queue.oldest().map_or(0.0, |since| (now - since).as_secs_f64());
        most < rounds * self.held || 2.0 * most < oldest
    }

    /// Returns a slot, which was held for the given time.
    pub(super) fn leave(&mut self, held: Duration) {
        self.free += 1;
        let weight = (WEIGHT_MAX * self.held / HELD_LONG).clamp(WEIGHT_MIN, WEIGHT_MAX);
        self.held += weight * (held.as_secs_f64() - self.held);
    }

    /// Takes a free slot for the next request in the queue, if there are both. The caller gives it
    /// after unlocking.
    pub(super) fn next(&mut self) -> Option<W> {
        if self.free == 0 {
            return None;
        }
        while let Some(waiter) = self.queue.pop() {
            if !waiter.is_gone() {
                self.free -= 1;
                return Some(waiter);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    const MS: Duration = Duration::from_millis(1);

    /// One that waits until somebody else lets its number go.
    struct Numbered(Rc<u32>);

    impl Waiter for Numbered {
        fn is_gone(&self) -> bool {
            Rc::strong_count(&self.0) == 1
        }
    }

    fn is_free(lane: &mut Lane<Numbered>) -> bool {
        matches!(lane.enter(1, true, Numbered(Rc::new(0))), Entry::Free(_))
    }

    fn waits(lane: &mut Lane<Numbered>, client: Client) -> Option<Rc<u32>> {
        let number = Rc::new(client as u32);
        match lane.enter(client, true, Numbered(Rc::clone(&number))) {
            Entry::Queued => Some(number),
            Entry::Full(_) => None,
            Entry::Free(_) => panic!("there is a slot"),
        }
    }

    #[test]
    fn slots_then_a_queue_then_refusals() {
        let mut lane = Lane::new(2, 20 * MS, 100 * MS);
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
        let mut lane = Lane::new(1, 20 * MS, 100 * MS);
        assert!(is_free(&mut lane));
        drop(waits(&mut lane, 1));
        let stays = waits(&mut lane, 7).unwrap();
        lane.leave(20 * MS);
        assert_eq!(lane.next().unwrap().0, stays);
    }

    #[test]
    fn one_that_was_interrupted_refuses_nobody() {
        let short = Duration::from_micros(40);
        let mut lane = Lane::new(4, short, 100 * MS);
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
        assert!(0.0008 < lane.held && lane.held < 0.001, "{}", lane.held);
    }

    #[test]
    fn a_queue_that_stays_gets_short_and_long_requests_may_wait_for_two() {
        let mut lane: Lane<Numbered> = Lane::new(1, 2 * MS, 100 * MS);
        assert!(is_free(&mut lane));
        let burst: Vec<_> = (0..).map_while(|_| waits(&mut lane, 1)).collect();
        assert_eq!(burst.len(), 50);
        drop(burst);
        let standing: Vec<_> = (0..).map_while(|_| waits(&mut lane, 1)).collect();
        assert_eq!(standing.len(), 5);
        lane.refused = lane.refused.map(|refused| refused - 200 * MS);
        let burst: Vec<_> = (0..).map_while(|_| waits(&mut lane, 1)).collect();
        assert_eq!(burst.len(), 45, "there was no refusal for some time");
        let mut long: Lane<Numbered> = Lane::new(2, 10_000 * MS, 100 * MS);
        assert!(is_free(&mut long));
        assert!(is_free(&mut long));
        let waiting: Vec<_> = (0..).map_while(|_| waits(&mut long, 1)).collect();
        assert_eq!(waiting.len(), 4);
    }
}
