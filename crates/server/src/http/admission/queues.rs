//! The fast and the slow pool, and the state of all requests.

use super::admission_options::AdmissionOptions;
use super::lane::{Client, Entry, Lane, LaneLoad, Waiter};
use super::likeness::Slow;
use super::quick::Quick;
use super::workers::Workers;
use std::cell::Cell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// The first estimate of the time of a slow request, before one was measured.
const SLOW_AT_FIRST: Duration = Duration::from_millis(20);

/// The first estimate of the time of a request in the fast pool is this fraction of its limit. Most
/// requests are quick: with the limit as the estimate, a burst of a thousand would be refused
/// before the first was measured.
const FAST_AT_FIRST: u32 = 20;

/// A time slice in the slow pool is so many times as long as the time in the fast pool.
const SLICE_RATIO: u32 = 10;

/// The pools of a server.
pub(crate) struct Queues {
    /// The limits of admission.
    pub options: AdmissionOptions,
    /// The threads on which requests compute.
    pub workers: Workers,
    /// The kinds that may stay on the threads of their connections.
    pub(super) quick: Quick,
    state: Mutex<State>,
}

struct State {
    fast: Lane<Waits>,
    slow: Lane<Waits>,
    /// The number of running requests, including those that wait for a lock or the disk.
    running: usize,
    /// The kinds that need a slot of the slow pool.
    slow_kinds: Slow,
    /// The kinds that need it for more than one time slice.
    long_kinds: Slow,
}

/// Names one of the two pools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// The pool of requests that have not computed for long.
    Fast,
    /// The pool of requests that have computed for longer than the fast pool allows.
    Slow,
}

/// A request that waits for a slot.
pub(super) struct Waits {
    who: Who,
    /// The time for which it has held slots of this pool.
    before: Duration,
}

enum Who {
    /// Its thread waits, and is sent the slot.
    Thread(oneshot::Sender<Position>),
    /// It has not begun yet: it is started with the slot by the thread that releases the slot. The
    /// thread that has read it may be busy with thousands of other connections, and the slot would
    /// be idle.
    Start(Start),
}

/// The start of a request.
pub(super) struct Start {
    /// Notified when it begins. The receiver is dropped when it is not needed any more.
    pub(super) begins: oneshot::Sender<()>,
    /// Starts it on another thread, and does not wait.
    pub(super) start: Box<dyn FnOnce(Position) + Send>,
}

/// A slot in a pool; dropping it gives the slot back.
pub(crate) struct Position {
    admission: Arc<Queues>,
    which: Which,
    since: Instant,
    /// The time for which the request has held slots of this pool before this one.
    before: Duration,
    /// The request waits for another time slice, and has returned this slot.
    is_paused: bool,
}

/// What a request does at the end of its time slice.
pub(super) enum SliceEnd {
    /// It retains its slot.
    Next(Position),
    /// It waits for another slot.
    Waits(oneshot::Receiver<Position>),
    /// It would have to wait for too long. The slot is still its own.
    Refused(Position),
}

/// Counts one request as running until it is dropped.
pub(crate) struct RunningRequest {
    admission: Arc<Queues>,
}

impl Queues {
    /// Creates both pools, with all slots free.
    pub(crate) fn new(options: AdmissionOptions) -> Queues {
        let slice = SLICE_RATIO * options.quick;
        let lane = |slots, held| Lane::new(slots, held, slice, options.queue);
        let state = State {
            fast: lane(options.fast_positions(), options.quick / FAST_AT_FIRST),
            slow: lane(options.slow_positions(), SLOW_AT_FIRST),
            running: 0,
            slow_kinds: Slow::default(),
            long_kinds: Slow::default(),
        };
        Queues { options, workers: Workers::new(), quick: Quick::new(), state: Mutex::new(state) }
    }

    /// Requests a slot in a pool for a thread that waits: returns a promise of one, or `None` if
    /// the wait would be too long.
    pub(super) fn enter(
        self: &Arc<Queues>,
        which: Which,
        client: Client,
    ) -> Option<oneshot::Receiver<Position>> {
        let (position, wait) = oneshot::channel();
        let waits = Waits { who: Who::Thread(position), before: Duration::ZERO };
        self.queue(which, client, waits).then_some(wait)
    }

    /// Starts a request in a pool, at once or queued; returns whether the wait is acceptable.
    /// `is_long` says that one time slice will not be enough.
    pub(super) fn start(
        self: &Arc<Queues>,
        which: Which,
        is_long: bool,
        client: Client,
        start: Start,
    ) -> bool {
        let before = if is_long { self.slice() } else { Duration::ZERO };
        self.queue(which, client, Waits { who: Who::Start(start), before })
    }

    /// Called when the time slice of a request in the slow pool is over: the request goes on unless
    /// one that has computed for less time waits.
    pub(super) fn end_slice(
        self: &Arc<Queues>,
        mut position: Position,
        client: Client,
    ) -> SliceEnd {
        let (sender, wait) = oneshot::channel();
        let held = position.held();
        let waits = Waits { who: Who::Thread(sender), before: held };
        let entry = self.lock().slow.pause(client, held, waits);
        match entry {
            Entry::Free(_) => SliceEnd::Next(position.begin_slice()),
            Entry::Full(_) => SliceEnd::Refused(position),
            Entry::Queued => {
                position.is_paused = true;
                self.hand_out();
                SliceEnd::Waits(wait)
            }
        }
    }

    /// The length of a time slice in the slow pool.
    pub(super) fn slice(&self) -> Duration {
        SLICE_RATIO * self.options.quick
    }

    fn queue(self: &Arc<Queues>, which: Which, client: Client, waiter: Waits) -> bool {
        let entry = {
            let mut state = self.lock();
            // Who has begun is let go on, however many there are.
            let is_open = which == Which::Slow || state.running < self.options.running;
            state.lane(which).enter(client, waiter.before, is_open, waiter)
        };
        match entry {
            Entry::Free(waiter) => waiter.give(self, which),
            Entry::Queued => {}
            Entry::Full(_) => return false,
        }
        true
    }

    /// How busy the fast and the slow lane are.
    pub(crate) fn loads(&self) -> (LaneLoad, LaneLoad) {
        let state = self.lock();
        (state.fast.load(), state.slow.load())
    }

    /// Counts one more request as running, until the result is dropped.
    pub(crate) fn begin(self: &Arc<Queues>) -> RunningRequest {
        self.lock().running += 1;
        RunningRequest { admission: Arc::clone(self) }
    }

    /// Whether the last requests of this kind needed a slot of the slow pool.
    pub(crate) fn was_slow(&self, kind: u64) -> bool {
        self.lock().slow_kinds.has(kind)
    }

    /// Whether the last requests of this kind needed more than one time slice in the slow pool.
    pub(super) fn was_long(&self, kind: u64) -> bool {
        self.lock().long_kinds.has(kind)
    }

    /// Records whether a request of this kind was slow.
    pub(crate) fn note(&self, kind: u64, is_slow: bool) {
        let mut state = self.lock();
        state.slow_kinds.note(kind, is_slow);
        if !is_slow {
            state.long_kinds.note(kind, false);
        }
    }

    /// Records whether a request of this kind needed more than one time slice.
    pub(super) fn note_long(&self, kind: u64, is_long: bool) {
        self.lock().long_kinds.note(kind, is_long);
    }

    /// Gives free slots to the requests that wait.
    fn hand_out(self: &Arc<Queues>) {
        // A slot that is given may come back at once, in here: the loop gives it to the next,
        // instead of a call within a call for each.
        if HANDS_OUT.replace(true) {
            return;
        }
        let _guard = HandsOut;
        while let Some((which, waiter)) = self.next() {
            waiter.give(self, which);
        }
    }

    /// Takes a free slot for the next request that waits.
    fn next(&self) -> Option<(Which, Waits)> {
        let mut state = self.lock();
        let is_open = state.running < self.options.running;
        let fast = if is_open { state.fast.next() } else { None };
        match fast {
            Some(waiter) => Some((Which::Fast, waiter)),
            None => state.slow.next().map(|waiter| (Which::Slow, waiter)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

thread_local! {
    /// Whether this thread is giving free slots to others.
    static HANDS_OUT: Cell<bool> = const { Cell::new(false) };
}

/// Stops this thread from handing out slots when it is dropped.
struct HandsOut;

impl Drop for HandsOut {
    fn drop(&mut self) {
        HANDS_OUT.set(false);
    }
}

impl Waits {
    fn give(self, queues: &Arc<Queues>, which: Which) {
        let position = Position {
            admission: Arc::clone(queues),
            which,
            since: Instant::now(),
            before: self.before,
            is_paused: false,
        };
        match self.who {
            // Who went away just now gives the slot back by dropping it.
            Who::Thread(sender) => drop(sender.send(position)),
            Who::Start(it) => {
                if it.begins.send(()).is_ok() {
                    (it.start)(position);
                }
            }
        }
    }
}

impl Waiter for Waits {
    fn is_gone(&self) -> bool {
        match &self.who {
            Who::Thread(sender) => sender.is_closed(),
            Who::Start(it) => it.begins.is_closed(),
        }
    }
}

impl State {
    fn lane(&mut self, which: Which) -> &mut Lane<Waits> {
        match which {
            Which::Fast => &mut self.fast,
            Which::Slow => &mut self.slow,
        }
    }
}

impl Position {
    /// Where it is.
    pub(crate) fn which(&self) -> Which {
        self.which
    }

    /// The time for which the request has held slots of this pool.
    pub(super) fn held(&self) -> Duration {
        self.before + self.since.elapsed()
    }

    /// What is left of this time slice.
    pub(super) fn rest(&self) -> Duration {
        self.admission.slice().saturating_sub(self.since.elapsed())
    }

    fn begin_slice(mut self) -> Position {
        let now = Instant::now();
        self.before += now - self.since;
        self.since = now;
        self
    }
}

impl Drop for Position {
    fn drop(&mut self) {
        if self.is_paused {
            return;
        }
        let held = self.held();
        // The lock is free at the end of this statement: `hand_out` takes it again.
        self.admission.lock().lane(self.which).leave(held);
        self.admission.hand_out();
    }
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        self.admission.lock().running -= 1;
        self.admission.hand_out();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(wait: Option<oneshot::Receiver<Position>>) -> Position {
        wait.unwrap().try_recv().unwrap()
    }

    #[test]
    fn what_is_given_back_goes_to_who_waits() {
        let options = AdmissionOptions { slow: 1, ..AdmissionOptions::default() };
        let queues = Arc::new(Queues::new(options));
        let first = position(queues.enter(Which::Slow, 1));
        let gone = queues.enter(Which::Slow, 1).unwrap();
        let mut waits = queues.enter(Which::Slow, 1).unwrap();
        drop(gone);
        let (fast, slow) = queues.loads();
        assert_eq!((fast.running, fast.waiting, slow.running, slow.waiting), (0, 0, 1, 2));
        let quick = position(queues.enter(Which::Fast, 1));
        assert_eq!(quick.which(), Which::Fast);
        assert!(waits.try_recv().is_err());
        drop(first);
        let second = waits.try_recv().unwrap();
        assert_eq!(second.which(), Which::Slow);
        drop(second);
        drop(position(queues.enter(Which::Slow, 2)));
    }

    #[test]
    fn so_many_are_running() {
        let options = AdmissionOptions { running: 1, ..AdmissionOptions::default() };
        let queues = Arc::new(Queues::new(options));
        let running = queues.begin();
        let mut waits = queues.enter(Which::Fast, 1).unwrap();
        assert!(waits.try_recv().is_err(), "one is enough");
        drop(running);
        assert!(waits.try_recv().is_ok());
    }

    /// Where the system gives no thread, each start gives its slot back at once: thousands of them
    /// need no stack.
    #[test]
    fn starts_that_fail_are_no_calls_within_calls() {
        let queue = Duration::from_secs(1_000);
        let options = AdmissionOptions { slow: 1, queue, ..AdmissionOptions::default() };
        let queues = Arc::new(Queues::new(options));
        let first = position(queues.enter(Which::Slow, 1));
        let tried = Arc::new(Mutex::new(0));
        let starts = (0..10_000).map(|_| {
            let (begins, begun) = oneshot::channel();
            let tried = Arc::clone(&tried);
            let start = move |position: Position| {
                *tried.lock().unwrap() += 1;
                drop(position);
            };
            assert!(queues.start(Which::Slow, false, 1, Start { begins, start: Box::new(start) }));
            begun
        });
        let begun: Vec<_> = starts.collect();
        assert_eq!(*tried.lock().unwrap(), 0);
        let threads = std::thread::Builder::new().stack_size(64 << 10);
        threads.spawn(move || drop(first)).unwrap().join().unwrap();
        assert_eq!((*tried.lock().unwrap(), begun.len()), (10_000, 10_000));
    }
}
