//! Both lanes, and what all requests share.

use super::lane::{Client, Entry, Lane};
use super::likeness::Slow;
use super::options::AdmissionOptions;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What a slow request is taken to take as long as nobody has seen one.
const SLOW_AT_FIRST: Duration = Duration::from_millis(20);

/// The lanes of a server.
pub(crate) struct Lanes {
    /// How much there may be of what.
    pub options: AdmissionOptions,
    state: Mutex<State>,
}

struct State {
    fast: Lane<Place>,
    slow: Lane<Place>,
    /// The requests under way, whatever they wait for.
    running: usize,
    known: Slow,
}

/// Which lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// For what has not computed for long.
    Fast,
    /// For what has.
    Slow,
}

/// A place in a lane, until it is dropped.
pub(crate) struct Place {
    lanes: Arc<Lanes>,
    which: Which,
    since: Instant,
}

/// One more request under way, until it is dropped.
pub(crate) struct Running {
    lanes: Arc<Lanes>,
}

impl Lanes {
    /// Empty ones.
    pub(crate) fn new(options: AdmissionOptions) -> Lanes {
        let state = State {
            fast: Lane::new(options.fast_places(), options.quick, options.queue),
            slow: Lane::new(options.slow_places(), SLOW_AT_FIRST, options.queue),
            running: 0,
            known: Slow::default(),
        };
        Lanes { options, state: Mutex::new(state) }
    }

    /// Asks for a place: one, or one that will come, or `None` where it would take too long.
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

    /// Counts one more request under way.
    pub(crate) fn begin(self: &Arc<Lanes>) -> Running {
        self.lock().running += 1;
        Running { lanes: Arc::clone(self) }
    }

    /// Whether such a request was slow the last time.
    pub(crate) fn was_slow(&self, kind: u64) -> bool {
        self.lock().known.has(kind)
    }

    /// Notes what a request was.
    pub(crate) fn note(&self, kind: u64, is_slow: bool) {
        self.lock().known.note(kind, is_slow);
    }

    /// Sends what is free to those who wait.
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

/// What [`Lanes::enter`] gives.
pub(crate) enum Wait {
    /// A place.
    Over(Place),
    /// One that will be sent.
    For(tokio::sync::oneshot::Receiver<Place>),
}

impl Wait {
    /// The place, when it is there; `None` when the server ends.
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
