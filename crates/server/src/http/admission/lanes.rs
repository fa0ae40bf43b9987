//! The fast and the slow lane, and the state that all requests share.

use super::admission_options::AdmissionOptions;
use super::lane::{Client, Entry, Lane};
use super::likeness::Slow;
use super::quick::Quick;
use super::workers::Workers;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The first estimate of the time of a slow request, before one was measured.
const SLOW_AT_FIRST: Duration = Duration::from_millis(20);

/// The first estimate of the time of a request in the fast lane is so much of what it may take at most. Most requests are quick:
/// with the most as the estimate, a burst of a thousand would be refused before the first was measured.
const FAST_AT_FIRST: u32 = 20;

/// The lanes of a server.
pub(crate) struct Lanes {
    /// The limits of admission.
    pub options: AdmissionOptions,
    /// The threads on which requests compute.
    pub workers: Workers,
    /// The kinds that may stay on the threads of their connections.
    pub(super) quick: Quick,
    state: Mutex<State>,
}

struct State {
    fast: Lane<Place>,
    slow: Lane<Place>,
    /// The number of requests under way, including those that wait for a lock or the disk.
    running: usize,
    known: Slow,
}

/// Names one of the two lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// The lane of requests that have not computed for long.
    Fast,
    /// The lane of requests that have computed for longer than the fast lane allows.
    Slow,
}

/// A place in a lane; dropping it gives the place back.
pub(crate) struct Place {
    lanes: Arc<Lanes>,
    which: Which,
    since: Instant,
}

/// Counts one request as under way until it is dropped.
pub(crate) struct Running {
    lanes: Arc<Lanes>,
}

impl Lanes {
    /// Creates both lanes, with all places free.
    pub(crate) fn new(options: AdmissionOptions) -> Lanes {
        let state = State {
            fast: Lane::new(options.fast_places(), options.quick / FAST_AT_FIRST, options.queue),
            slow: Lane::new(options.slow_places(), SLOW_AT_FIRST, options.queue),
            running: 0,
            known: Slow::default(),
        };
        Lanes { options, workers: Workers::new(), quick: Quick::new(), state: Mutex::new(state) }
    }

    /// Asks for a place in a lane: returns it, or a promise of one, or `None` if the wait would be too long.
    pub(crate) fn enter(self: &Arc<Lanes>, which: Which, client: Client) -> Option<Wait> {
        let entry = {
            let mut state = self.lock();
            // Who has begun is let go on, however many there are.
            let is_open = which == Which::Slow || state.running < self.options.running;
            state.lane(which).enter(client, is_open)
        };
        match entry {
            Entry::Free => Some(Wait::Over(Place::new(self, which))),
            Entry::Wait(place) => Some(Wait::For(place)),
            Entry::Full => None,
        }
    }

    /// Counts one more request as under way, until the result is dropped.
    pub(crate) fn begin(self: &Arc<Lanes>) -> Running {
        self.lock().running += 1;
        Running { lanes: Arc::clone(self) }
    }

    /// Whether the last request of this kind was slow.
    pub(crate) fn was_slow(&self, kind: u64) -> bool {
        self.lock().known.has(kind)
    }

    /// Records whether a request of this kind was slow.
    pub(crate) fn note(&self, kind: u64, is_slow: bool) {
        self.lock().known.note(kind, is_slow);
    }

    /// Gives free places to the requests that wait.
    fn hand_out(self: &Arc<Lanes>) {
        for which in [Which::Fast, Which::Slow] {
            loop {
                let waiter = {
                    let mut state = self.lock();
                    let is_open = which == Which::Slow || state.running < self.options.running;
                    if is_open { state.lane(which).next() } else { None }
                };
                let Some(waiter) = waiter else { break };
                // Who went away just now gives the place back by dropping it, which hands out again.
                drop(waiter.send(Place::new(self, which)));
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The result of [`Lanes::enter`].
pub(crate) enum Wait {
    /// A place, held already.
    Over(Place),
    /// A place that will be sent when it is free.
    For(tokio::sync::oneshot::Receiver<Place>),
}

impl Wait {
    /// Waits for the place; `None` when the server ends first.
    pub(crate) async fn place(self) -> Option<Place> {
        match self {
            Wait::Over(place) => Some(place),
            Wait::For(place) => place.await.ok(),
        }
    }
}

impl State {
    fn lane(&mut self, which: Which) -> &mut Lane<Place> {
        match which {
            Which::Fast => &mut self.fast,
            Which::Slow => &mut self.slow,
        }
    }
}

impl Place {
    fn new(lanes: &Arc<Lanes>, which: Which) -> Place {
        Place { lanes: Arc::clone(lanes), which, since: Instant::now() }
    }

    /// Where it is.
    pub(crate) fn which(&self) -> Which {
        self.which
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.lanes.lock().lane(self.which).leave(self.since.elapsed());
        self.lanes.hand_out();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.lanes.lock().running -= 1;
        self.lanes.hand_out();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(wait: Option<Wait>) -> Place {
        match wait {
            Some(Wait::Over(place)) => place,
            _ => panic!("there is no place"),
        }
    }

    #[test]
    fn what_is_given_back_goes_to_who_waits() {
        let options = AdmissionOptions { slow: 1, ..AdmissionOptions::default() };
        let lanes = Arc::new(Lanes::new(options));
        let first = place(lanes.enter(Which::Slow, 1));
        let Some(Wait::For(gone)) = lanes.enter(Which::Slow, 1) else { panic!("it is taken") };
        let Some(Wait::For(waits)) = lanes.enter(Which::Slow, 1) else { panic!("it is taken") };
        drop(gone);
        let quick = place(lanes.enter(Which::Fast, 1));
        assert_eq!(quick.which(), Which::Fast);
        drop(first);
        let second = waits.blocking_recv().unwrap();
        assert_eq!(second.which(), Which::Slow);
        drop(second);
        drop(place(lanes.enter(Which::Slow, 2)));
    }

    #[test]
    fn so_many_are_under_way() {
        let options = AdmissionOptions { running: 1, ..AdmissionOptions::default() };
        let lanes = Arc::new(Lanes::new(options));
        let running = lanes.begin();
        let Some(Wait::For(waits)) = lanes.enter(Which::Fast, 1) else { panic!("one is enough") };
        drop(running);
        assert!(waits.blocking_recv().is_ok());
    }
}
