//! When a running request has to stop: cancelled from outside, or past its deadline.

use super::settings::Limits;
use super::settings::past_limit;
use super::trace::Trace;
use crate::types::Error;
use crate::types::Result;
use rayon::ThreadPool;
use std::panic;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::sync::mpsc::RecvTimeoutError;
use std::thread;
use std::thread::ThreadId;
use std::time::Duration;
use std::time::Instant;

/// How often [`Control::check`] asks the caller's own question: well below the 200 ms within
/// which Ctrl-C has to stop a request.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// What may stop one request. Whoever does the work calls [`Control::check`] between batches.
pub struct Control {
    cancelled: Arc<AtomicBool>,
    started: Instant,
    timeout: Option<Duration>,
    poll: Option<Poll>,
    trace: OnceLock<Trace>,
    limits: OnceLock<Limits>,
    /// The bytes that were charged so far.
    charged: AtomicU64,
}

/// Stops the request of the [`Control`] that it came from, from any thread.
#[derive(Clone)]
pub struct Canceller {
    cancelled: Arc<AtomicBool>,
}

struct Poll {
    wants_stop: Box<dyn Fn() -> bool + Send + Sync>,
    owner: ThreadId,
    next_nanos: AtomicU64,
}

impl Control {
    /// A control that nothing stops but its [`Canceller`].
    pub fn new() -> Control {
        let cancelled = Arc::new(AtomicBool::new(false));
        Control {
            cancelled,
            started: Instant::now(),
            timeout: None,
            poll: None,
            trace: OnceLock::new(),
            limits: OnceLock::new(),
            charged: AtomicU64::new(0),
        }
    }

    /// The same with a deadline, counted from [`Control::new`].
    pub fn with_timeout(self, timeout: Duration) -> Control {
        Control { timeout: Some(timeout), ..self }
    }

    /// The same with a question that is asked at most every 50 ms, and only on the thread that
    /// calls this; it says true when the request has to stop.
    pub fn with_poll(self, wants_stop: impl Fn() -> bool + Send + Sync + 'static) -> Control {
        let poll = Poll {
            wants_stop: Box::new(wants_stop),
            owner: thread::current().id(),
            next_nanos: AtomicU64::new(POLL_INTERVAL.as_nanos() as u64),
        };
        Control { poll: Some(poll), ..self }
    }

    /// Notes each step from now on and what it took: costs about a microsecond a step.
    pub fn start_trace(&self) {
        self.trace.get_or_init(Trace::default);
    }

    /// The steps that were noted since [`Control::start_trace`].
    pub fn trace(&self) -> Option<&Trace> {
        self.trace.get()
    }

    /// Sets the limits of the request, unless it has some already.
    pub fn set_limits(&self, limits: Limits) {
        self.limits.get_or_init(|| limits);
    }

    /// The limits of the request.
    pub fn limits(&self) -> &Limits {
        self.limits.get_or_init(Limits::default)
    }

    /// Counts memory that the request keeps to its end: sets, lists, variables. Costs an atomic
    /// addition: call it once for a whole list.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] when all that was charged is more than the limit `memory`.
    pub fn charge(&self, bytes: usize) -> Result<()> {
        let bytes = bytes as u64;
        let charged = self.charged.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let most = self.limits().memory;
        if charged <= most {
            return Ok(());
        }
        Err(past_limit(&format!("the request needs more than {most} bytes of memory"), "memory"))
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
        if timeout.is_none() && self.poll.is_none() {
            return Ok(());
        }
        let elapsed = self.started.elapsed();
        match timeout {
            Some(timeout) if timeout <= elapsed => Err(timed_out(timeout)),
            _ => self.ask_poll(elapsed),
        }
    }

    /// Whether somebody cancelled the request: one relaxed load, for inner loops.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Runs `job` in `pool` while the calling thread keeps asking its poll, which a thread that is
    /// blocked in the pool's own `install` could not. On a thread of the pool it runs in place.
    pub fn install<T: Send>(&self, pool: &ThreadPool, job: impl FnOnce() -> T + Send) -> T {
        if self.poll.is_none() || pool.current_thread_index().is_some() {
            return pool.install(job);
        }
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
                // The job finds out by itself: a poll that says stop also sets the flag.
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
    /// Those of `job`; [`Error::Limit`] as [`Control::check`]; [`Error::Io`] when the system gives
    /// no thread.
    pub fn run_detached<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Canceller) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (sender, done) = mpsc::channel();
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

    fn ask_poll(&self, elapsed: Duration) -> Result<()> {
        let Some(poll) = &self.poll else { return Ok(()) };
        let now = elapsed.as_nanos() as u64;
        let is_early = now < poll.next_nanos.load(Ordering::Relaxed);
        if is_early || thread::current().id() != poll.owner {
            return Ok(());
        }
        poll.next_nanos.store(now + POLL_INTERVAL.as_nanos() as u64, Ordering::Relaxed);
        if !(poll.wants_stop)() {
            return Ok(());
        }
        self.canceller().cancel();
        Err(Error::Limit { message: "the request was interrupted".to_owned() })
    }
}

impl Default for Control {
    fn default() -> Control {
        Control::new()
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
    let message = format!(
        "query timeout: not done within {timeout:?}, ask for less or raise the `timeout` \
         (context deadline exceeded)"
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
    fn a_cancelled_request_stops() {
        let control = Control::new();
        assert!(control.check().is_ok());
        control.canceller().cancel();
        assert!(matches!(control.check(), Err(Error::Limit { .. })));
    }

    #[test]
    fn a_late_request_stops_and_names_the_setting() {
        let control = Control::new().with_timeout(Duration::ZERO);
        assert!(control.check().unwrap_err().to_string().contains("query timeout"));
    }

    #[test]
    fn the_poll_is_asked_rarely_and_only_by_its_thread() {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let control = Control::new().with_poll(move || count.fetch_add(1, Ordering::Relaxed) == 1);
        control.check().unwrap();
        thread::sleep(Duration::from_millis(60));
        thread::scope(|scope| {
            scope.spawn(|| control.check().unwrap());
        });
        assert_eq!(asked.load(Ordering::Relaxed), 0, "another thread, or too early");
        control.check().unwrap();
        control.check().unwrap();
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        thread::sleep(Duration::from_millis(60));
        assert!(control.check().is_err());
        assert!(control.is_cancelled());
    }

    #[test]
    fn a_job_in_the_pool_is_stopped_by_the_waiting_thread() {
        let control = Control::new().with_poll(|| true);
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
        let control = Control::new().with_timeout(Duration::from_millis(1));
        let (sender, receiver) = mpsc::channel();
        let job = move |canceller: &Canceller| {
            while canceller.check().is_ok() {
                thread::sleep(Duration::from_millis(1));
            }
            sender.send(()).unwrap();
            Ok(())
        };
        assert!(control.run_detached(job).is_err());
        receiver.recv().unwrap();
        assert_eq!(Control::new().run_detached(|_| Ok(7)).unwrap(), 7);
    }

    #[test]
    #[should_panic(expected = "inside the job")]
    fn a_panic_in_the_pool_reaches_the_caller() {
        let control = Control::new().with_poll(|| false);
        control.install(&pool(), || panic!("inside the job"));
    }
}
