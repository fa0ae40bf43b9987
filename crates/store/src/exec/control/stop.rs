//! Stops a running request: when it was cancelled from outside, is past its deadline, or has used
//! up its memory.

use super::limits::{Limits, past_limit};
use super::passwords::Computed;
use super::trace::{Doubt, Doubts, Trace};
use crate::algo::GraphCache;
use crate::exec::cost::CostModel;
use crate::graph::Passwords;
use hexgraph_base::budget::{Budget, Held, Reservation};
use hexgraph_base::types::pool::Pool;
use hexgraph_base::types::{Error, Result, Value, before_waiting, holds_lock};
use rayon::ThreadPool;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, OnceLock, mpsc};
use std::thread::ThreadId;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::{panic, thread};

/// The time between two calls of the caller's own question by [`RequestContext::check`]: well below
/// the 200 ms within which Ctrl-C has to stop a request.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The units of a second in which a request has the time, and the nanoseconds of each, rounded up.
const TICKS: f64 = 1024.0;
const NANOS_OF_TICK: u32 = (1e9 / TICKS) as u32 + 1;

/// Everything that may stop a request: its deadline, its cancellation, its limits. Whoever does the
/// work calls [`RequestContext::check`] between batches.
pub struct RequestContext {
    cancelled: Arc<AtomicBool>,
    started: Instant,
    timeout: Option<Duration>,
    poll: Option<Poll>,
    admission_hook: Option<Arc<AdmissionHook>>,
    trace: OnceLock<Trace>,
    limits: OnceLock<Limits>,
    costs: CostModel,
    /// The bytes that were charged so far.
    charged: AtomicU64,
    /// The reservation from the budget of the process for what the request was charged.
    reservation: OnceLock<Arc<Reservation>>,
    /// True when the budget refused to give more.
    starved: AtomicBool,
    /// The bytes that were charged before the change that is attempted.
    charged_before: AtomicU64,
    /// The bytes that were reserved before it.
    reserved_before: AtomicU64,
    passwords: Computed,
    /// The threads that large work is shared with.
    pool: OnceLock<Arc<Pool>>,
    /// The compact graphs that algorithms on the database have made before.
    graphs: OnceLock<Arc<GraphCache>>,
    /// The uses of variables that are likely meant otherwise.
    doubts: Doubts,
    /// The moment that the request calls now.
    now: OnceLock<f64>,
}

/// Stops the request of the [`RequestContext`] that it came from, from any thread.
#[derive(Clone)]
pub struct Canceller {
    cancelled: Arc<AtomicBool>,
}

/// How long a gate lets a request run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Onward {
    /// For this long; then the gate is called again.
    For(Duration),
    /// To its end.
    ForGood,
}

/// Called with true if the request is about to compute on many threads.
type Pass = Box<dyn Fn(bool) -> Result<Onward> + Send + Sync>;

struct AdmissionHook {
    pass: Pass,
    owner: ThreadId,
    next_nanos: AtomicU64,
}

struct Poll {
    expects_stop: Arc<dyn Fn() -> bool + Send + Sync>,
    owner: ThreadId,
    next_nanos: AtomicU64,
}

impl RequestContext {
    /// A context that nothing stops but its [`Canceller`].
    pub fn new() -> RequestContext {
        let cancelled = Arc::new(AtomicBool::new(false));
        RequestContext {
            cancelled,
            started: Instant::now(),
            timeout: None,
            poll: None,
            admission_hook: None,
            trace: OnceLock::new(),
            limits: OnceLock::new(),
            costs: CostModel::default(),
            charged: AtomicU64::new(0),
            charged_before: AtomicU64::new(0),
            reserved_before: AtomicU64::new(0),
            passwords: Computed::default(),
            reservation: OnceLock::new(),
            starved: AtomicBool::new(false),
            pool: OnceLock::new(),
            graphs: OnceLock::new(),
            doubts: Doubts::default(),
            now: OnceLock::new(),
        }
    }

    /// A context of work that goes on after the request itself was answered: it ends at the same
    /// deadline, has the same limits and the reservation, and is cancelled with it. It does not
    /// poll.
    pub fn successor(&self) -> RequestContext {
        let mut next = RequestContext::new();
        next.cancelled = Arc::clone(&self.cancelled);
        (next.started, next.timeout) = (self.started, self.timeout);
        if let Some(limits) = self.limits.get() {
            next.set_limits(*limits);
        }
        if let Some(pool) = self.pool.get() {
            next.set_pool(pool);
        }
        if let Some(graphs) = self.graphs.get() {
            next.set_graphs(graphs);
        }
        match self.reservation.get() {
            Some(reservation) => next.with_reservation(Arc::clone(reservation)),
            None => next,
        }
    }

    /// A context of a part of the request that is over before the request is, on whatever thread:
    /// it ends at the same deadline, is cancelled with it and has the same limits, and what it
    /// reserves is released when it and its answer are dropped. It does not poll.
    pub fn part(&self) -> RequestContext {
        let mut part = RequestContext::new().with_costs(self.costs);
        part.cancelled = Arc::clone(&self.cancelled);
        (part.started, part.timeout) = (self.started, self.timeout);
        if let Some(limits) = self.limits.get() {
            part.set_limits(*limits);
        }
        if let Some(pool) = self.pool.get() {
            part.set_pool(pool);
        }
        if let Some(graphs) = self.graphs.get() {
            part.set_graphs(graphs);
        }
        if let Some(reservation) = self.reservation.get() {
            part.set_budget(reservation.budget());
        }
        part.now.get_or_init(|| self.now());
        part
    }

    /// As [`RequestContext::part`], and it calls the poll and the gate of this context as long as
    /// it is used on their threads.
    pub fn watched_part(&self) -> RequestContext {
        RequestContext { admission_hook: self.admission_hook.clone(), ..self.part().polling(self) }
    }

    /// As [`RequestContext::part`], with a time of its own that begins now.
    pub fn afresh(&self, timeout: Option<Duration>) -> RequestContext {
        RequestContext { started: Instant::now(), timeout, now: OnceLock::new(), ..self.part() }
    }

    /// The same, which calls the poll of another context that belongs to this thread.
    pub fn polling(self, other: &RequestContext) -> RequestContext {
        let owner = thread::current().id();
        let poll = other.poll.as_ref().filter(|poll| poll.owner == owner).map(|poll| Poll {
            expects_stop: Arc::clone(&poll.expects_stop),
            owner,
            next_nanos: AtomicU64::new(POLL_INTERVAL.as_nanos() as u64),
        });
        RequestContext { poll, ..self }
    }

    /// The same, whose time began at another moment: it is the next part of a request that came
    /// then.
    pub fn since(self, started: Instant) -> RequestContext {
        RequestContext { started, ..self }
    }

    /// Sets a deadline, counted from [`RequestContext::new`].
    pub fn with_timeout(self, timeout: Duration) -> RequestContext {
        RequestContext { timeout: Some(timeout), ..self }
    }

    /// The same with a poll that is called at most every 50 ms, and only on the thread that
    /// calls this; it says true when the request has to stop.
    pub fn with_poll(
        self,
        expects_stop: impl Fn() -> bool + Send + Sync + 'static,
    ) -> RequestContext {
        let poll = Poll {
            expects_stop: Arc::new(expects_stop),
            owner: thread::current().id(),
            next_nanos: AtomicU64::new(POLL_INTERVAL.as_nanos() as u64),
        };
        RequestContext { poll: Some(poll), ..self }
    }

    /// The same with a gate: a function that is called on the thread that calls this, once the
    /// request has run for `first` and then as often as it says itself. It may block the request,
    /// or refuse it by an error.
    pub fn with_admission_hook(
        self,
        first: Duration,
        pass: impl Fn(bool) -> Result<Onward> + Send + Sync + 'static,
    ) -> RequestContext {
        let admission_hook = AdmissionHook {
            pass: Box::new(pass),
            owner: thread::current().id(),
            next_nanos: AtomicU64::new(first.as_nanos() as u64),
        };
        RequestContext { admission_hook: Some(Arc::new(admission_hook)), ..self }
    }

    /// Notes each step from now on and what it took: costs about a microsecond a step.
    pub fn start_trace(&self) {
        self.trace.get_or_init(Trace::default);
    }

    /// The steps that were noted since [`RequestContext::start_trace`].
    pub fn trace(&self) -> Option<&Trace> {
        self.trace.get()
    }

    /// Sets the limits of the request, unless it has some already.
    pub fn set_limits(&self, limits: Limits) {
        self.limits.get_or_init(|| limits);
    }

    /// The same with the model by which strategies are chosen.
    pub fn with_costs(self, costs: CostModel) -> RequestContext {
        RequestContext { costs, ..self }
    }

    /// The model by which strategies are chosen.
    pub(crate) fn costs(&self) -> &CostModel {
        &self.costs
    }

    /// Has large work shared with the threads of a pool, unless the request has some already.
    pub fn set_pool(&self, pool: &Arc<Pool>) {
        self.pool.get_or_init(|| Arc::clone(pool));
    }

    /// The threads that large work is shared with; `None` when it all stays on the thread of the
    /// caller.
    pub fn pool(&self) -> Option<&Arc<Pool>> {
        self.pool.get()
    }

    /// Reads compact graphs from a cache, and stores them there, unless the request has one
    /// already.
    pub fn set_graphs(&self, graphs: &Arc<GraphCache>) {
        self.graphs.get_or_init(|| Arc::clone(graphs));
    }

    /// The compact graphs that were made before; `None` where each is made anew.
    pub(crate) fn graphs(&self) -> Option<&GraphCache> {
        self.graphs.get().map(AsRef::as_ref)
    }

    /// The limits of the request.
    pub fn limits(&self) -> &Limits {
        self.limits.get_or_init(Limits::default)
    }

    /// The same with what the request has reserved already, as for its text.
    pub fn with_reservation(self, reservation: Arc<Reservation>) -> RequestContext {
        self.reservation.get_or_init(|| reservation);
        self
    }

    /// Reserves what is charged from a budget, unless it has one already.
    pub fn set_budget(&self, budget: &Budget) {
        self.reservation.get_or_init(|| Arc::new(budget.reservation()));
    }

    /// The reservation of the request; it is released when the last clone is dropped. `None` before
    /// the request has a budget.
    pub fn reservation(&self) -> Option<&Arc<Reservation>> {
        self.reservation.get()
    }

    /// Notes that variables are used as is likely not intended.
    pub(crate) fn note_doubt(&self, doubt: Doubt) {
        self.doubts.add(doubt);
    }

    /// Takes what was noted of variables so far.
    pub(crate) fn take_doubts(&self) -> Vec<Doubt> {
        self.doubts.take()
    }

    /// The seconds from 1970 to the time of the request, which is the same everywhere in it. They
    /// are a multiple of 1/1024, so that a float has the time from any datetime in whole seconds to
    /// it without an error.
    pub(crate) fn now(&self) -> f64 {
        *self.now.get_or_init(|| {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            since.as_secs() as f64 + f64::from(since.subsec_nanos() / NANOS_OF_TICK) / TICKS
        })
    }

    /// How many passwords were compared with hashes: the work of a login, which has to be the same
    /// whoever logs in.
    pub fn compared_passwords(&self) -> usize {
        self.passwords.compared()
    }

    /// True when the request was refused memory that others had: it may succeed later.
    pub fn is_starved(&self) -> bool {
        self.starved.load(Ordering::Relaxed)
    }

    /// Notes that the request was refused memory that others had.
    pub fn note_starved(&self) {
        self.starved.store(true, Ordering::Relaxed);
    }

    /// Counts memory that the request holds to its end: sets, lists, variables. Call it before the
    /// memory is allocated, once for an entire list: it costs two atomic additions.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] when all that was charged is more than the limit `memory`, or the process
    /// has no more to give.
    pub fn charge(&self, bytes: usize) -> Result<()> {
        let bytes = bytes as u64;
        let charged = self.charged.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        let most = self.limits().memory;
        if most < charged {
            let what =
                format!("the request needs at least {charged} bytes of memory, more than {most}");
            return Err(past_limit(&what, "memory"));
        }
        self.reserve(bytes)
    }

    /// Whether the request could be charged so many bytes now. Of memory that is not needed but of
    /// use.
    pub fn affords(&self, bytes: usize) -> bool {
        let charged = self.charged.load(Ordering::Relaxed).saturating_add(bytes as u64);
        let has = |reservation: &Arc<Reservation>| Held::reserve(reservation, bytes as u64).is_ok();
        charged <= self.limits().memory && self.reservation.get().is_none_or(has)
    }

    /// True when the request was refused memory, by its own limit or by the budget of the process.
    pub fn is_out_of_memory(&self) -> bool {
        self.is_starved() || self.limits().memory < self.charged.load(Ordering::Relaxed)
    }

    /// Takes back what was charged for memory that is freed before the request ends.
    pub fn uncharge(&self, bytes: usize) {
        self.charged.fetch_sub(bytes as u64, Ordering::Relaxed);
        if let Some(reservation) = self.reservation.get() {
            reservation.give_back(bytes as u64);
        }
    }

    /// As [`RequestContext::charge`], for memory that is freed before the request ends: until what
    /// is returned is dropped.
    ///
    /// # Errors
    ///
    /// As [`RequestContext::charge`].
    pub fn charge_while(&self, bytes: usize) -> Result<Charged<'_>> {
        self.charge(bytes)?;
        Ok(Charged { control: self, bytes })
    }

    /// Reserves from the budget of the process what the limit `memory` does not count: texts,
    /// plans, answers, which have limits of their own.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] when the process has no more to give.
    pub fn reserve(&self, bytes: u64) -> Result<()> {
        let Some(reservation) = self.reservation.get() else { return Ok(()) };
        reservation.reserve(bytes).inspect_err(|_| self.note_starved())
    }

    /// Releases what was reserved.
    pub fn give_back(&self, bytes: u64) {
        if let Some(reservation) = self.reservation.get() {
            reservation.give_back(bytes);
        }
    }

    /// As [`RequestContext::reserve`], until what is returned is dropped.
    ///
    /// # Errors
    ///
    /// As [`RequestContext::reserve`].
    pub fn hold(&self, bytes: u64) -> Result<Option<Held>> {
        let Some(reservation) = self.reservation.get() else { return Ok(None) };
        let held = Held::reserve(reservation, bytes);
        held.map(Some).inspect_err(|_| self.note_starved())
    }

    /// Begins a change of data, in one attempt or several; the second and later ones are
    /// [`RequestContext::begin_again`].
    pub fn begin_change(&self) {
        self.charged_before.store(self.charged.load(Ordering::Relaxed), Ordering::Relaxed);
        let reserved = self.reservation.get().map_or(0, |reservation| reservation.used());
        self.reserved_before.store(reserved, Ordering::Relaxed);
        self.passwords.forget();
    }

    /// Begins another attempt of the same change, which gets the hashes of the one before. What
    /// that one was charged for is freed.
    pub fn begin_again(&self) {
        self.charged.store(self.charged_before.load(Ordering::Relaxed), Ordering::Relaxed);
        if let Some(reservation) = self.reservation.get() {
            reservation.retain_only(self.reserved_before.load(Ordering::Relaxed));
        }
        self.passwords.begin_again();
    }

    /// Calls a function under the writer lock, where no password is computed. `None` when it
    /// failed because one would have to be.
    ///
    /// # Errors
    ///
    /// Those of `work`.
    pub fn in_turn<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        self.passwords.in_turn(work)
    }

    /// What cancels this request from another thread.
    pub fn canceller(&self) -> Canceller {
        Canceller { cancelled: Arc::clone(&self.cancelled) }
    }

    /// Says whether the request may go on. Costs one relaxed load, and a look at the clock where
    /// there is a deadline or a poll: call it between batches, from any thread.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] when the request was cancelled or its timeout has passed.
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() {
            return Err(cancelled());
        }
        let timeout = self.timeout.or_else(|| self.limits().timeout);
        if timeout.is_none() && self.poll.is_none() && self.admission_hook.is_none() {
            return Ok(());
        }
        let elapsed = self.started.elapsed();
        match timeout {
            Some(timeout) if timeout <= elapsed => Err(timed_out(timeout)),
            _ => {
                self.run_admission_hook(elapsed, false)?;
                self.ask_poll(elapsed)
            }
        }
    }

    /// As [`RequestContext::check`], for a request that is about to compute on many threads. The
    /// gate is called now, and not on those threads: one that waits at the gate there would be
    /// missing to other requests.
    ///
    /// # Errors
    ///
    /// As [`RequestContext::check`], and those of the gate.
    pub fn check_spreading(&self) -> Result<()> {
        self.check()?;
        self.run_admission_hook(self.started.elapsed(), true)
    }

    /// True when the request was cancelled: one relaxed load, for inner loops.
    pub fn is_cancelled(&self) -> bool {
        // The flag says nothing of other memory: who sees it late does one more batch.
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Runs `job` in `pool` while the calling thread polls regularly, which a thread that is
    /// blocked in the pool's own `install` could not. On a thread of the pool it runs in place.
    pub fn install<T: Send>(&self, pool: &ThreadPool, job: impl FnOnce() -> T + Send) -> T {
        if self.poll.is_none() || pool.current_thread_index().is_some() {
            return pool.install(job);
        }
        before_waiting();
        let mut result = None;
        let slot = &mut result;
        pool.in_place_scope(|scope| {
            // The sender is dropped when the job ends, also by a panic, which the scope passes on.
            let (running, done) = mpsc::channel::<()>();
            scope.spawn(move |_| {
                *slot = Some(job());
                drop(running);
            });
            while done.recv_timeout(POLL_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                // The job detects it itself: a poll that says stop also sets the flag.
                let _ = self.check();
            }
        });
        result.expect("the scope waits for the job, and passes its panic on")
    }

    /// Runs `job` on a thread of its own and gives up waiting for it as soon as the request has to
    /// stop. The job is to call [`Canceller::check`] before it changes anything: then nothing
    /// comes of it. For work that is long between two checks. Its panic goes on unwinding here.
    ///
    /// # Errors
    ///
    /// Those of `job`; [`Error::Limit`] as [`RequestContext::check`]; [`Error::Io`] when the system
    /// gives no thread.
    pub fn run_detached<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Canceller) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.check()?;
        before_waiting();
        let (sender, done) = mpsc::channel();
        // The job gets its own handle: it may go on after this
        // request has given up, and then detects that it was cancelled.
        let canceller = self.canceller();
        let work = move || {
            // Nobody is waiting any more when it can't be sent.
            let _ = sender.send(panic::catch_unwind(AssertUnwindSafe(|| job(&canceller))));
        };
        let spawned = thread::Builder::new().name("hexgraph-load".to_owned()).spawn(work);
        spawned.map_err(|error| Error::io("starting a thread", error))?;
        loop {
            match done.recv_timeout(POLL_INTERVAL) {
                Ok(Ok(result)) => return result,
                Ok(Err(payload)) => panic::resume_unwind(payload),
                Err(RecvTimeoutError::Timeout) => {
                    self.check().inspect_err(|_| self.canceller().cancel())?;
                }
                Err(RecvTimeoutError::Disconnected) => unreachable!("the job sends its result"),
            }
        }
    }

    /// True for a request of a server, which decides how many of them go on.
    pub(super) fn has_admission_hook(&self) -> bool {
        self.admission_hook.is_some()
    }

    fn run_admission_hook(&self, elapsed: Duration, must: bool) -> Result<()> {
        let Some(admission_hook) = &self.admission_hook else { return Ok(()) };
        let next = admission_hook.next_nanos.load(Ordering::Relaxed);
        // `u64::MAX` represents a request that was let through for good.
        let is_early = next == u64::MAX || !must && (elapsed.as_nanos() as u64) < next;
        // Who holds what others wait for goes on: those may have the slots that the gate would have
        // it wait for.
        if is_early || holds_lock() || thread::current().id() != admission_hook.owner {
            return Ok(());
        }
        // Who is refused once must not go on by asking again.
        let onward = (admission_hook.pass)(must).inspect_err(|_| self.canceller().cancel())?;
        let next = match onward {
            Onward::For(time) => (elapsed + time).as_nanos() as u64,
            Onward::ForGood => u64::MAX,
        };
        admission_hook.next_nanos.store(next, Ordering::Relaxed);
        Ok(())
    }

    fn ask_poll(&self, elapsed: Duration) -> Result<()> {
        let Some(poll) = &self.poll else { return Ok(()) };
        let now = elapsed.as_nanos() as u64;
        let is_early = now < poll.next_nanos.load(Ordering::Relaxed);
        if is_early || holds_lock() || thread::current().id() != poll.owner {
            return Ok(());
        }
        // Only the thread that owns the poll comes here, so this store follows its own load.
        poll.next_nanos.store(now + POLL_INTERVAL.as_nanos() as u64, Ordering::Relaxed);
        if !(poll.expects_stop)() {
            return Ok(());
        }
        self.canceller().cancel();
        Err(Error::Limit { message: "the request was interrupted".to_owned() })
    }
}

/// Memory that was charged for a while.
pub struct Charged<'a> {
    control: &'a RequestContext,
    bytes: usize,
}

impl Charged<'_> {
    /// Charges more for the same while.
    ///
    /// # Errors
    ///
    /// As [`RequestContext::charge`].
    pub fn grow(&mut self, bytes: usize) -> Result<()> {
        self.control.charge(bytes)?;
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for Charged<'_> {
    fn drop(&mut self) {
        self.control.uncharge(self.bytes);
    }
}

impl Passwords for RequestContext {
    fn hash(&self, plain: &str) -> Result<Value> {
        self.passwords.hash(plain, &|| self.check())
    }

    fn verify(&self, hash: &str, plain: &str) -> Result<bool> {
        self.passwords.verify(hash, plain, &|| self.check())
    }
}

impl Default for RequestContext {
    fn default() -> RequestContext {
        RequestContext::new()
    }
}

impl Canceller {
    /// Makes the next check of the request fail.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Says whether the request may go on.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] when it was cancelled.
    pub fn check(&self) -> Result<()> {
        if self.cancelled.load(Ordering::Relaxed) { Err(cancelled()) } else { Ok(()) }
    }
}

fn cancelled() -> Error {
    Error::Limit { message: "the request was cancelled".to_owned() }
}

fn timed_out(timeout: Duration) -> Error {
    let seconds = timeout.as_secs_f64();
    let message = format!(
        "the request took longer than its timeout of {seconds} s: request less, or raise `timeout`"
    );
    Error::Limit { message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    fn pool() -> ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap()
    }

    #[test]
    fn what_is_charged_is_drawn_and_given_back() {
        let budget = Budget::new(12 << 20);
        let control = RequestContext::new();
        control.charge(5 << 20).unwrap();
        control.set_budget(&budget);
        control.charge(4 << 20).unwrap();
        {
            let mut while_it_lasts = control.charge_while(1 << 20).unwrap();
            while_it_lasts.grow(3 << 20).unwrap();
            let error = control.charge(3 << 20).unwrap_err();
            assert!(error.to_string().contains("there is no memory for another"), "{error}");
            assert!(control.is_starved());
        }
        let successor = control.successor();
        drop(control);
        assert_eq!(budget.reserved(), 4 << 20);
        drop(successor);
        assert_eq!(budget.reserved(), 0);
    }

    #[test]
    fn what_a_request_affords_is_not_charged() {
        let budget = Budget::new(12 << 20);
        let control = RequestContext::new();
        control.set_budget(&budget);
        assert!(control.affords(9 << 20));
        assert!(!control.affords(13 << 20));
        assert!(!control.is_starved());
        assert!(control.charge(9 << 20).is_ok());
        assert!(!control.affords(9 << 20));
    }

    #[test]
    fn a_cancelled_request_stops() {
        let control = RequestContext::new();
        assert!(control.check().is_ok());
        control.canceller().cancel();
        assert!(matches!(control.check(), Err(Error::Limit { .. })));
    }

    #[test]
    fn a_late_request_stops_and_names_the_setting() {
        let control = RequestContext::new().with_timeout(Duration::ZERO);
        assert!(control.check().unwrap_err().to_string().contains("longer than its timeout"));
    }

    #[test]
    fn the_poll_is_asked_rarely_and_only_by_its_thread() {
        let requested = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&requested);
        let control =
            RequestContext::new().with_poll(move || count.fetch_add(1, Ordering::Relaxed) == 1);
        control.check().unwrap();
        thread::sleep(Duration::from_millis(60));
        thread::scope(|scope| {
            scope.spawn(|| control.check().unwrap());
        });
        assert_eq!(requested.load(Ordering::Relaxed), 0, "another thread, or too early");
        control.check().unwrap();
        control.check().unwrap();
        assert_eq!(requested.load(Ordering::Relaxed), 1);
        thread::sleep(Duration::from_millis(60));
        assert_eq!(control.check().unwrap_err().to_string(), "the request was interrupted");
        assert!(control.is_cancelled());
    }

    #[test]
    fn the_gate_is_asked_in_time_and_a_refusal_stays() {
        let requested = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&requested);
        let first = Duration::from_millis(20);
        let pass = move |must| match (must, count.fetch_add(1, Ordering::Relaxed)) {
            (false, 0) => Ok(Onward::For(Duration::from_millis(20))),
            (true, _) => Ok(Onward::ForGood),
            _ => Err(Error::Limit { message: "no room".to_owned() }),
        };
        let control = RequestContext::new().with_admission_hook(first, pass.clone());
        control.check().unwrap();
        assert_eq!(requested.load(Ordering::Relaxed), 0);
        thread::sleep(first);
        thread::scope(|scope| {
            scope.spawn(|| control.check().unwrap());
        });
        control.check().unwrap();
        control.check().unwrap();
        assert_eq!(requested.load(Ordering::Relaxed), 1, "by another thread, or too early");
        thread::sleep(first);
        assert!(control.check().unwrap_err().to_string().contains("no room"));
        assert!(control.check().unwrap_err().to_string().contains("cancelled"));
        let control = RequestContext::new().with_admission_hook(first, pass);
        control.check_spreading().unwrap();
        thread::sleep(first);
        control.check().unwrap();
        assert_eq!(requested.load(Ordering::Relaxed), 3, "let through for good");
    }

    #[test]
    fn a_job_in_the_pool_is_stopped_by_the_waiting_thread() {
        let control = RequestContext::new().with_poll(|| true);
        let work = || {
            while control.check().is_ok() {
                thread::sleep(Duration::from_millis(1));
            }
            7
        };
        assert_eq!(control.install(&pool(), work), 7);
    }

    #[test]
    fn a_detached_job_is_left_alone_and_learns_of_it() {
        let control = RequestContext::new().with_timeout(Duration::from_millis(1));
        let (sender, receiver) = mpsc::channel();
        let job = move |canceller: &Canceller| {
            while canceller.check().is_ok() {
                thread::sleep(Duration::from_millis(1));
            }
            sender.send(()).unwrap();
            Ok(())
        };
        let error = control.run_detached(job).unwrap_err().to_string();
        assert!(error.contains("longer than its timeout of 0.001 s"), "{error}");
        receiver.recv().unwrap();
        assert_eq!(RequestContext::new().run_detached(|_| Ok(7)).unwrap(), 7);
    }

    #[test]
    #[should_panic(expected = "inside the job")]
    fn a_panic_in_the_pool_reaches_the_caller() {
        let control = RequestContext::new().with_poll(|| false);
        control.install(&pool(), || panic!("inside the job"));
    }
}
