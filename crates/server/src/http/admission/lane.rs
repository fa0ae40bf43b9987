//! One lane: its places, the queue for them, and the decision whether another request may wait.
//!
//! The time that a request will wait is estimated from how long places were held lately. A burst may wait for the whole time that the setting
//! `queue` says. Once a request was refused it is no burst any more but a load that stays, until that time has passed without
//! a refusal; then a tenth of it is the most, since a longer queue would only have those who are let in wait longer, and
//! serve no more of them (after CoDel, Nichols and Jacobson 2012).

use super::fair_queue::FairQueue;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// The weight of the newest sample in the moving average of the times that places are held.
const WEIGHT: f64 = 0.1;

/// The key of a client in the fair queue: requests with the same key wait for each other.
pub(super) type Client = u64;

/// One lane; `P` is the type of a place in it.
pub(super) struct Lane<P> {
    free: usize,
    places: usize,
    /// The moving average of the time that a place is held, in seconds.
    held: f64,
    queue: FairQueue<Client, oneshot::Sender<P>>,
    /// The time of the last refusal.
    refused: Option<Instant>,
    patience: Duration,
}

/// The answer to a request for a place.
pub(super) enum Entry<P> {
    /// A place is free, and taken now.
    Free,
    /// The request is queued; its place will be sent.
    Wait(oneshot::Receiver<P>),
    /// The wait would be too long, so the request is refused.
    Full,
}

impl<P> Lane<P> {
    /// Creates a lane with so many free places, and `held` as the first estimate of the time that one is held.
    pub(super) fn new(places: usize, held: Duration, patience: Duration) -> Lane<P> {
        let (queue, held) = (FairQueue::new(), held.as_secs_f64());
        Lane { free: places, places, held, queue, refused: None, patience }
    }

    /// Asks for a place. A free one belongs to the caller at once; `is_open` says whether places may be given out now.
    pub(super) fn enter(&mut self, client: Client, is_open: bool) -> Entry<P> {
        let now = Instant::now();
        if self.queue.is_empty() && is_open && 0 < self.free {
            self.free -= 1;
            return Entry::Free;
        }
        if self.is_too_long(client, now) {
            self.queue.retain(|waiter| !waiter.is_closed());
            if self.is_too_long(client, now) {
                self.refused = Some(now);
                return Entry::Full;
            }
        }
        let (place, wait) = oneshot::channel();
        self.queue.push(client, place);
        Entry::Wait(wait)
    }

    fn is_too_long(&self, client: Client, now: Instant) -> bool {
        let rounds = (self.queue.ahead_of(client) + 1) as f64 / self.places as f64;
        let is_burst = self.refused.is_none_or(|refused| self.patience <= now - refused);
        let patience = self.patience.as_secs_f64() * if is_burst { 1.0 } else { 0.1 };
        let most = patience.max(2.0 * self.held);
        let oldest = self.queue.oldest().map_or(0.0, |since| (now - since).as_secs_f64());
        most < rounds * self.held || 2.0 * most < oldest
    }

    /// Returns a place, which was held for the given time.
    pub(super) fn leave(&mut self, held: Duration) {
        self.free += 1;
        self.held += WEIGHT * (held.as_secs_f64() - self.held);
    }

    /// Takes a free place for the next request in the queue, if there are both. The caller sends it after unlocking.
    pub(super) fn next(&mut self) -> Option<oneshot::Sender<P>> {
        if self.free == 0 {
            return None;
        }
        while let Some(waiter) = self.queue.pop() {
            if !waiter.is_closed() {
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

    const MS: Duration = Duration::from_millis(1);

    fn waits(lane: &mut Lane<()>, client: Client) -> Option<oneshot::Receiver<()>> {
        match lane.enter(client, true) {
            Entry::Wait(wait) => Some(wait),
            Entry::Full => None,
            Entry::Free => panic!("there is a place"),
        }
    }

    #[test]
    fn places_then_a_queue_then_refusals() {
        let mut lane: Lane<()> = Lane::new(2, 20 * MS, 100 * MS);
        assert!(matches!(lane.enter(1, true), Entry::Free));
        assert!(matches!(lane.enter(1, true), Entry::Free));
        // 20 ms each on two places: ten of them take 100 ms.
        let waiting: Vec<_> = (0..).map_while(|_| waits(&mut lane, 1)).collect();
        assert_eq!(waiting.len(), 10);
        assert!(waits(&mut lane, 2).is_some(), "another client has a queue of its own");
        lane.leave(20 * MS);
        assert!(lane.next().is_some_and(|place| place.send(()).is_ok()));
        assert!(lane.next().is_none(), "there was one place");
    }

    #[test]
    fn who_went_away_takes_no_place() {
        let mut lane: Lane<()> = Lane::new(1, 20 * MS, 100 * MS);
        assert!(matches!(lane.enter(1, true), Entry::Free));
        drop(waits(&mut lane, 1));
        let stays = waits(&mut lane, 1).unwrap();
        lane.leave(20 * MS);
        lane.next().unwrap().send(()).unwrap();
        assert_eq!(stays.blocking_recv(), Ok(()));
    }

    #[test]
    fn a_queue_that_stays_gets_short_and_long_requests_may_wait_for_two() {
        let mut lane: Lane<()> = Lane::new(1, 2 * MS, 100 * MS);
        assert!(matches!(lane.enter(1, true), Entry::Free));
        let burst: Vec<_> = (0..).map_while(|_| waits(&mut lane, 1)).collect();
        assert_eq!(burst.len(), 50);
        drop(burst);
        let standing: Vec<_> = (0..).map_while(|_| waits(&mut lane, 1)).collect();
        assert_eq!(standing.len(), 5);
        lane.refused = lane.refused.map(|refused| refused - 200 * MS);
        let burst: Vec<_> = (0..).map_while(|_| waits(&mut lane, 1)).collect();
        assert_eq!(burst.len(), 45, "there was no refusal for some time");
        let mut long: Lane<()> = Lane::new(2, 10_000 * MS, 100 * MS);
        assert!(matches!(long.enter(1, true), Entry::Free));
        assert!(matches!(long.enter(1, true), Entry::Free));
        let waiting: Vec<_> = (0..).map_while(|_| waits(&mut long, 1)).collect();
        assert_eq!(waiting.len(), 4);
    }
}
