//! The path of one request: into a pool, onto a thread, from the fast pool into the slow one, or
//! back with a refusal.

use super::lane::Client;
use super::queues::{Position, Queues, RunningRequest, SliceEnd, Start, Which};
use super::quick::{Stay, time_that_counts};
use super::workers::lower_priority;
use hexgraph::db::{Onward, RequestContext};
use hexgraph_base::types::{Error, Result as EngineResult, before_waiting, with_notice};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::thread::{Result as Caught, Thread};
use std::time::{Duration, Instant};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::oneshot;
use tokio::task::block_in_place;
use tokio::time::sleep;

/// The interval at which a request in the queue of the slow pool checks whether its client is still
/// there.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// A request with a body of more than this many bytes begins in the queue of the slow pool.
const LONG_BODY: usize = 1 << 20;

/// The longest time for moving the connections of this thread to another one, after which the
/// request goes on nevertheless.
const HAND_OVER_MAX: Duration = Duration::from_millis(20);

/// The properties of a request before it runs.
#[derive(Clone, Copy)]
pub(crate) struct RequestedQuery {
    /// The key of the client in the fair queues.
    pub client: Client,
    /// The kind of the request, which says whether one like it was slow before.
    pub kind: u64,
    /// The length of its body in bytes.
    pub body_len: usize,
}

/// The error of a request that was refused, or stopped halfway, because the server has too much to
/// do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Overloaded;

/// A running request: its slot in a pool, and whether it was slow or refused.
struct Ticket {
    admission: Arc<Queues>,
    requested: RequestedQuery,
    /// It computes on the thread of its connection.
    stays: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    position: Option<Position>,
    /// It has computed for longer than the fast pool allows, and its kind was reported so.
    was_slow: bool,
    /// It has computed for longer than one time slice in the slow pool, and its kind was reported
    /// so.
    was_long: bool,
    is_refused: bool,
    /// It has left the fast pool.
    has_left: bool,
}

/// Runs `work` on a thread that may block, when its slot is free. `work` gets a control and has to
/// check it; `is_expected` says whether the answer is still needed.
///
/// # Errors
///
/// [`Overloaded`] where it would have to wait for too long.
pub(crate) async fn execute<T: Send + 'static>(
    queues: &Arc<Queues>,
    requested: RequestedQuery,
    is_expected: impl Fn() -> bool + Send + Sync + Clone + 'static,
    work: impl FnOnce(RequestContext) -> T + Send + 'static,
) -> Result<T, Overloaded> {
    let begins_slow = LONG_BODY < requested.body_len || queues.was_slow(requested.kind);
    if !begins_slow && let Some(stay) = stay(queues, requested.kind) {
        return execute_here((queues, stay), requested, is_expected, work);
    }
    let which = if begins_slow { Which::Slow } else { Which::Fast };
    let ticket = Arc::new(Ticket {
        admission: Arc::clone(queues),
        requested,
        stays: false,
        state: Mutex::default(),
    });
    let (out, mut done) = oneshot::channel();
    let here = Arc::clone(&ticket);
    let start = Box::new(move |position| here.start(position, out, is_expected, work));
    let (begins, begun) = oneshot::channel();
    let is_long = begins_slow && queues.was_long(requested.kind);
    if !queues.start(which, is_long, requested.client, Start { begins, start }) {
        return Err(Overloaded);
    }
    // A client that goes away drops this, and its request goes on until it notices.
    let _leaves = Leaves(Arc::clone(&ticket));
    begun.await.map_err(|_| Overloaded)?;
    let done = tokio::select! {
        done = &mut done => done,
        () = sleep(queues.options.quick), if which == Which::Fast => {
            // It may wait for a lock or the disk: that does not occupy the fast pool.
            ticket.leave_fast_lane();
            done.await
        }
    };
    // A thread sends its result always. Where the system gave none, this is an error.
    done.map_err(|_| Overloaded).and_then(|done| ticket.outcome(done))
}

/// Runs a request on this thread. It needs no slot in the fast pool: the rights to stay are as few.
fn execute_here<T>(
    (queues, stay): (&Arc<Queues>, Stay<'_>),
    requested: RequestedQuery,
    is_expected: impl Fn() -> bool + Send + Sync + Clone + 'static,
    work: impl FnOnce(RequestContext) -> T,
) -> Result<T, Overloaded> {
    let state = Mutex::default();
    let ticket = Arc::new(Ticket { admission: Arc::clone(queues), requested, stays: true, state });
    let (here, running) = (Arc::clone(&ticket), queues.begin());
    // A panic is held back until the right to stay is given back, and goes on in `outcome`.
    let done = catch_unwind(AssertUnwindSafe(|| here.run(running, is_expected, work)));
    drop(stay);
    ticket.outcome(done)
}

/// The right of a request to be executed on this thread, the runtime's.
fn stay(queues: &Queues, kind: u64) -> Option<Stay<'_>> {
    // Only a runtime of several threads can go on without one of them.
    let can_hand_over =
        || Handle::try_current().is_ok_and(|it| it.runtime_flavor() == RuntimeFlavor::MultiThread);
    queues.quick.stay(kind).filter(|_| can_hand_over())
}

/// Moves the connections of this thread to another one, which belongs to the runtime and is to be
/// blocked for longer.
fn hand_over() {
    block_in_place(|| {
        // The thread that takes over was requested when this closure began, and threads begin in
        // the order of the requests.
        let (begun, has_begun) = sync_channel(1);
        Handle::current().spawn_blocking(move || begun.send(()));
        // Where there is none in time, the connections wait for this request. An error means that
        // the runtime shuts down.
        let _ = has_begun.recv_timeout(HAND_OVER_MAX);
    });
}

/// Takes a request out of the fast pool when it is dropped.
struct Leaves(Arc<Ticket>);

impl Drop for Leaves {
    fn drop(&mut self) {
        self.0.leave_fast_lane();
    }
}

impl Ticket {
    /// Starts a request that has not begun, on a thread for it. If the system gives none, all that
    /// was given is dropped.
    fn start<T: Send + 'static>(
        self: Arc<Ticket>,
        position: Position,
        out: oneshot::Sender<Caught<T>>,
        is_expected: impl Fn() -> bool + Send + Sync + Clone + 'static,
        work: impl FnOnce(RequestContext) -> T + Send + 'static,
    ) {
        let which = position.which();
        self.take(position);
        let running = self.admission.begin();
        let ticket = Arc::clone(&self);
        let begun = self.admission.workers.start(move || {
            if which == Which::Slow {
                lower_priority();
            }
            let done = catch_unwind(AssertUnwindSafe(|| ticket.run(running, is_expected, work)));
            // An error means that the client is gone.
            let _ = out.send(done);
        });
        if begun.is_err() {
            self.give_back();
        }
    }

    /// Takes a slot, unless it is one of the fast pool and the request has left that already.
    fn take(&self, position: Position) {
        let mut state = self.lock();
        if state.has_left && position.which() == Which::Fast {
            drop(state);
            drop(position);
        } else {
            state.position = Some(position);
        }
    }

    fn run<T>(
        self: Arc<Ticket>,
        running: RunningRequest,
        is_expected: impl Fn() -> bool + Send + Sync + Clone + 'static,
        work: impl FnOnce(RequestContext) -> T,
    ) -> T {
        let (start, started) = (busy_time(), Instant::now());
        let ticket = Arc::clone(&self);
        let expected = is_expected.clone();
        let quick = self.admission.options.quick;
        let admission_hook = move |must: bool| {
            if ticket.is_in_slow_pool() {
                return ticket.end_slice(&expected).map(Onward::For);
            }
            let busy = busy_time().saturating_sub(start);
            match quick.checked_sub(busy) {
                Some(rest) if !must && !rest.is_zero() => Ok(Onward::For(rest)),
                _ => ticket.change_queues(&expected).map(Onward::For),
            }
        };
        let control = RequestContext::new()
            .with_poll(move || !is_expected())
            .with_admission_hook(quick, admission_hook);
        let notice = if self.stays { hand_over } else { || () };
        let (done, has_waited) = with_notice(notice, || work(control));
        let elapsed = started.elapsed();
        let busy = || busy_time().saturating_sub(start);
        let counts = time_that_counts(elapsed, busy);
        self.admission.quick.note(self.requested.kind, counts, has_waited, self.stays);
        // Otherwise `change_queues` and `end_slice` have recorded it already.
        let State { was_slow, was_long, .. } = *self.lock();
        if !was_slow {
            let is_slow = quick < elapsed && quick < busy();
            self.admission.note(self.requested.kind, is_slow);
        }
        if was_slow && !was_long {
            self.admission.note_long(self.requested.kind, false);
        }
        // Before the answer is written to the client, so that it does not hold the slot.
        self.give_back();
        drop(running);
        done
    }

    /// The outcome of a request that has run.
    fn outcome<T>(&self, done: Caught<T>) -> Result<T, Overloaded> {
        match done {
            Ok(_) if self.lock().is_refused => Err(Overloaded),
            Ok(done) => Ok(done),
            Err(panic) => resume_unwind(panic),
        }
    }

    /// Gives the slot back, if it has one.
    fn give_back(&self) {
        // The lock is free again before others are started.
        let position = self.lock().position.take();
        drop(position);
    }

    fn leave_fast_lane(&self) {
        let mut state = self.lock();
        state.has_left = true;
        let position = state.position.take_if(|position| position.which() == Which::Fast);
        drop(state);
        drop(position);
    }

    fn is_in_slow_pool(&self) -> bool {
        self.lock().position.as_ref().is_some_and(|position| position.which() == Which::Slow)
    }

    /// Waits for a slot in the slow pool, and returns the length of its time slice there.
    fn change_queues(&self, is_expected: &impl Fn() -> bool) -> EngineResult<Duration> {
        self.lock().was_slow = true;
        self.admission.note(self.requested.kind, true);
        if !self.stays {
            // That of the runtime retains its priority.
            lower_priority();
        }
        self.before_waiting();
        self.leave_fast_lane();
        match self.admission.enter(Which::Slow, self.requested.client) {
            Some(wait) => self.wait(wait, is_expected),
            None => Err(self.refuse()),
        }
    }

    /// Lets others that have computed for less time go first, and returns the length of its next
    /// time slice in the slow pool.
    fn end_slice(&self, is_expected: &impl Fn() -> bool) -> EngineResult<Duration> {
        let mut state = self.lock();
        let Some(position) = state.position.take() else { return Ok(self.admission.slice()) };
        let rest = position.rest();
        if !rest.is_zero() {
            state.position = Some(position);
            return Ok(rest);
        }
        let was_noted = std::mem::replace(&mut state.was_long, true);
        drop(state);
        if !was_noted {
            self.admission.note_long(self.requested.kind, true);
        }
        match self.admission.end_slice(position, self.requested.client) {
            SliceEnd::Next(position) => {
                self.lock().position = Some(position);
                Ok(self.admission.slice())
            }
            SliceEnd::Waits(wait) => {
                self.before_waiting();
                self.wait(wait, is_expected)
            }
            SliceEnd::Refused(position) => {
                self.lock().position = Some(position);
                Err(self.refuse())
            }
        }
    }

    /// Before others are woken: they could be next on this thread.
    fn before_waiting(&self) {
        if self.stays {
            before_waiting();
        }
    }

    fn refuse(&self) -> Error {
        self.lock().is_refused = true;
        Error::Limit { message: OVERLOADED.to_owned() }
    }

    fn wait(
        &self,
        wait: oneshot::Receiver<Position>,
        is_expected: &impl Fn() -> bool,
    ) -> EngineResult<Duration> {
        match wait_here(wait, is_expected) {
            Some(Ok(position)) => {
                self.lock().position = Some(position);
                Ok(self.admission.slice())
            }
            // Either the answer is not needed any more, or the pools were dropped with the server.
            _ => Err(Error::Limit { message: "nobody waits for the answer".to_owned() }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Blocks this thread until a slot is free or the answer is not needed any more. Needs no runtime,
/// which may be shutting down.
fn wait_here<T>(future: impl Future<Output = T>, is_expected: &impl Fn() -> bool) -> Option<T> {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(done) => return Some(done),
            Poll::Pending if is_expected() => thread::park_timeout(LOOK_INTERVAL),
            Poll::Pending => return None,
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Unpark>) {
        self.0.unpark();
    }
}

/// The message for a refused request.
pub(crate) const OVERLOADED: &str = "the server has more to do than it can: try again later (settings \
     `admission slow`, `admission queue`)";

/// The processor time of this thread. Waiting for a lock, the disk or another server does not
/// count.
#[cfg(unix)]
pub(crate) fn busy_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

/// An upper bound on the processor time of this thread, for systems that do not report it: the time
/// that has passed.
#[cfg(not(unix))]
pub(crate) fn busy_time() -> Duration {
    use std::sync::OnceLock;
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

#[cfg(test)]
mod tests {
    use super::super::admission_options::AdmissionOptions;
    use super::*;
    use hexgraph_base::types::LockGuard;

    fn queues() -> Arc<Queues> {
        let queue = Duration::from_millis(1);
        Arc::new(Queues::new(AdmissionOptions { slow: 1, queue, ..AdmissionOptions::default() }))
    }

    fn requested(kind: u64) -> RequestedQuery {
        RequestedQuery { client: 1, kind, body_len: 0 }
    }

    /// Computes for so long, and looks at its control meanwhile.
    fn compute(control: &RequestContext, time: Duration) -> EngineResult<()> {
        let start = busy_time();
        while busy_time() - start < time {
            control.check()?;
        }
        Ok(())
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_slow_request_changes_its_queue_and_is_classified() {
        let queues = queues();
        let long = Duration::from_millis(10);
        let done = execute(&queues, requested(1), || true, move |control| compute(&control, long));
        assert_eq!(done.await.map(|done| done.is_ok()), Ok(true));
        let done = execute(&queues, requested(1), || true, move |control| compute(&control, long));
        assert_eq!(done.await.map(|done| done.is_ok()), Ok(true));
        assert!(queues.was_slow(1));
        let done = execute(&queues, requested(1), || true, |_| 7).await;
        assert_eq!(done, Ok(7));
        assert!(!queues.was_slow(1), "it was quick the last time");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_waiting_request_has_no_slot_and_is_not_slow() {
        let queues = queues();
        let (positions, long) = (queues.options.fast_positions(), Duration::from_millis(100));
        let blocked = (0..2 * positions).map(|_| {
            let queues = Arc::clone(&queues);
            tokio::spawn(async move {
                execute(&queues, requested(2), || true, move |_| std::thread::sleep(long)).await
            })
        });
        let blocked: Vec<_> = blocked.collect();
        let started = Instant::now();
        let mut done = Err(Overloaded);
        while done.is_err() {
            done = execute(&queues, requested(3), || true, |_| ()).await;
        }
        assert!(started.elapsed() < long, "{:?}", started.elapsed());
        for one in blocked {
            // Some may have been refused: the queue of this test is short.
            let _ = one.await.unwrap();
        }
        assert!(!queues.was_slow(2));
    }

    /// The only slot is held by one that computes for seconds, and another such one waits.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_slow_request_does_not_wait_for_the_end_of_longer_ones() {
        let options = AdmissionOptions { slow: 1, ..AdmissionOptions::default() };
        let queues = Arc::new(Queues::new(options));
        let is_over = Arc::new(std::sync::OnceLock::new());
        let begin = |kind, time| {
            let (queues, is_over) = (Arc::clone(&queues), Arc::clone(&is_over));
            let is_expected = move || is_over.get().is_none();
            let work = move |control: RequestContext| compute(&control, time).is_ok();
            tokio::spawn(async move { execute(&queues, requested(kind), is_expected, work).await })
        };
        let long = Duration::from_secs(60);
        let minutes = [begin(10, long), begin(11, long)];
        while queues.loads().1.waiting < 1 {
            sleep(Duration::from_millis(1)).await;
        }
        for kind in 20..25 {
            assert_eq!(begin(kind, 4 * queues.options.quick).await.unwrap(), Ok(true));
        }
        assert!(!minutes.iter().any(|one| one.is_finished()));
        assert!(!queues.was_long(20));
        for _ in 0..2 {
            assert_eq!(begin(12, 2 * queues.slice()).await.unwrap(), Ok(true));
        }
        assert!(queues.was_slow(12) && queues.was_long(12));
        is_over.set(()).unwrap();
        for one in minutes {
            assert_eq!(one.await.unwrap(), Ok(false));
        }
    }

    /// Counts the rounds of another task on a runtime of one thread, while a request of a kind that
    /// was quick does `work`.
    fn ticks_meanwhile(work: fn(RequestContext)) -> u32 {
        let runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = { runtime }.worker_threads(1).enable_all().build().unwrap();
        runtime.block_on(async move {
            let queues = queues();
            let threads = || {
                let queues = Arc::clone(&queues);
                async move {
                    let here = thread::current().id();
                    let there = |_| thread::current().id();
                    execute(&queues, requested(8), || true, there).await == Ok(here)
                }
            };
            let mut stayed = false;
            for _ in 0..1_000 {
                stayed = stayed || tokio::spawn(threads()).await.unwrap();
            }
            assert!(stayed, "none was executed on the thread of its connection");
            let ticks = Arc::new(Mutex::new(0));
            let count = Arc::clone(&ticks);
            let other = tokio::spawn(async move {
                loop {
                    sleep(Duration::from_millis(1)).await;
                    *count.lock().unwrap() += 1;
                }
            });
            let there = Arc::clone(&queues);
            let done =
                tokio::spawn(async move { execute(&there, requested(8), || true, work).await });
            assert!(done.await.unwrap().is_ok());
            other.abort();
            assert!(queues.quick.stay(8).is_none(), "it was not quick the last time");
            let counted = ticks.lock().unwrap();
            *counted
        })
    }

    /// Tries it a few times, since on a machine that is busy with other tests one of fifty gets its
    /// second thread too slowly.
    fn most_ticks_meanwhile(work: fn(RequestContext)) {
        let is_enough = (0..4).any(|_| 20 < ticks_meanwhile(work));
        assert!(is_enough, "20 ticks or fewer within 200 ms, four times");
    }

    #[test]
    fn a_request_that_proves_slow_holds_up_no_connection() {
        most_ticks_meanwhile(|control| {
            compute(&control, Duration::from_millis(200)).unwrap();
        });
    }

    #[test]
    fn who_waits_holds_up_no_connection() {
        most_ticks_meanwhile(|_| {
            before_waiting();
            thread::sleep(Duration::from_millis(200));
        });
    }

    /// One has what another waits for, who has the only slot for what is slow: the first goes on
    /// without one.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_request_with_a_lock_does_not_wait_for_a_slot() {
        let queues = Arc::new(Queues::new(AdmissionOptions {
            slow: 1,
            queue: Duration::from_secs(60),
            ..AdmissionOptions::default()
        }));
        let long = 2 * queues.options.quick;
        let lock = Arc::new(Mutex::new(()));
        let (is_held, held) = oneshot::channel();
        let (is_placed, placed) = std::sync::mpsc::channel();
        let holder = tokio::spawn({
            let (queues, lock) = (Arc::clone(&queues), Arc::clone(&lock));
            async move {
                let work = move |control: RequestContext| {
                    let _guard = LockGuard::new(lock.lock().unwrap());
                    is_held.send(()).unwrap();
                    placed.recv().unwrap();
                    compute(&control, long)
                };
                execute(&queues, requested(5), || true, work).await
            }
        });
        held.await.unwrap();
        let waiter = tokio::spawn({
            let (queues, lock) = (Arc::clone(&queues), Arc::clone(&lock));
            async move {
                let work = move |control: RequestContext| {
                    compute(&control, long).unwrap();
                    is_placed.send(()).unwrap();
                    drop(lock.lock().unwrap());
                };
                execute(&queues, requested(6), || true, work).await
            }
        });
        let both = async { (holder.await.unwrap(), waiter.await.unwrap()) };
        let (held, waited) = tokio::time::timeout(Duration::from_secs(20), both).await.unwrap();
        assert!(held.unwrap().is_ok());
        waited.unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn who_is_gone_does_not_wait() {
        let queue = Duration::from_secs(9);
        let options = AdmissionOptions { slow: 1, queue, ..AdmissionOptions::default() };
        let queues = Arc::new(Queues::new(options));
        let _taken = queues.enter(Which::Slow, 9);
        let long = Duration::from_millis(10);
        let done = execute(&queues, requested(4), || false, move |control| compute(&control, long));
        let error = done.await.unwrap().unwrap_err().to_string();
        assert!(error.contains("nobody waits") || error.contains("interrupted"), "{error}");
    }
}
