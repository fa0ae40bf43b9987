//! The threads on which requests compute.
//!
//! A request in the slow pool computes at a lower priority than the rest of the server, so that on
//! a machine whose cores are all busy a quick request, or the refusal of another, is computed
//! first. A thread may always lower its priority but, without rights, not raise it again: such a
//! thread exits after its request. This is why these threads are not those of the runtime, which
//! never exit early. Starting a thread costs some 20 µs, the slow request that pays for it at least
//! 2 ms.
//!
//! A thread begins with the priority of the one that starts it. So a thread of low priority lets
//! another one start further threads.

use crossbeam::channel::{Receiver, Sender, TrySendError, bounded, unbounded};
use std::cell::Cell;
use std::io;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

/// The time after which a thread without work exits.
const IDLE: Duration = Duration::from_secs(10);

type Work = Box<dyn FnOnce() + Send>;

thread_local! {
    static IS_LOW: Cell<bool> = const { Cell::new(false) };
}

/// Threads that are started when they are needed. Admission bounds their number.
pub(crate) struct Workers {
    /// A channel without capacity: a send succeeds only if a thread waits.
    hand_over: (Sender<Work>, Receiver<Work>),
    /// The channel to a thread of normal priority that starts others. It exits with this value.
    starter: OnceLock<Sender<Work>>,
    busy: Arc<Busy>,
}

/// The number of threads at work.
#[derive(Default)]
struct Busy {
    count: Mutex<usize>,
    changed: Condvar,
}

impl Workers {
    /// Creates them without any thread.
    pub(super) fn new() -> Workers {
        Workers { hand_over: bounded(0), starter: OnceLock::new(), busy: Arc::default() }
    }

    /// Runs `work`, which does not panic, on a thread that waits, or else on a new one.
    ///
    /// # Errors
    ///
    /// Those of the system, when it gives no thread; `work` is dropped then. From a thread of low
    /// priority, it is dropped without an error.
    pub(super) fn start(&self, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let at_work = AtWork::new(&self.busy);
        let work: Work = Box::new(move || {
            let _at_work = at_work;
            work();
        });
        let work = match self.hand_over.0.try_send(work) {
            Ok(()) => return Ok(()),
            Err(TrySendError::Full(work) | TrySendError::Disconnected(work)) => work,
        };
        // The first request is started by a thread of the server, so it is there before any thread
        // has a low priority.
        if self.starter.get().is_none() {
            // Of two that were made at once one is dropped, and its thread exits with its channel.
            let _ = self.starter.set(starter(&self.hand_over.1)?);
        }
        match self.starter.get().filter(|_| IS_LOW.get()) {
            // It exits after this value only.
            Some(starter) => starter.send(work).map_err(|_| io::ErrorKind::BrokenPipe.into()),
            None => spawn(work, self.hand_over.1.clone()),
        }
    }

    /// Waits until no thread is at work, for at most so long.
    pub(crate) fn wait(&self, patience: Duration) {
        let count = self.busy.count.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.busy.changed.wait_timeout_while(count, patience, |count| 0 < *count);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

fn starter(next: &Receiver<Work>) -> io::Result<Sender<Work>> {
    let (sender, works) = unbounded::<Work>();
    let next = next.clone();
    let start = move || {
        for work in works {
            // An error drops the work, and whoever waits for its result learns of it.
            let _ = spawn(work, next.clone());
        }
    };
    thread::Builder::new().name("hexgraph-starter".to_owned()).spawn(start)?;
    Ok(sender)
}

fn spawn(first: Work, next: Receiver<Work>) -> io::Result<()> {
    let thread = thread::Builder::new().name("hexgraph-request".to_owned());
    thread.spawn(move || run(first, &next)).map(drop)
}

fn run(first: Work, next: &Receiver<Work>) {
    let mut work = first;
    loop {
        work();
        if IS_LOW.get() {
            break;
        }
        let Ok(another) = next.recv_timeout(IDLE) else { break };
        work = another;
    }
}

/// Counts a thread as at work until it is dropped.
struct AtWork(Arc<Busy>);

impl AtWork {
    fn new(busy: &Arc<Busy>) -> AtWork {
        *busy.count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        AtWork(Arc::clone(busy))
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        *self.0.count.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.changed.notify_all();
    }
}

/// Lowers the priority of this thread for the rest of its life, for a slow request: it exits after
/// it.
pub(in crate::http) fn lower_priority() {
    if !IS_LOW.replace(true) {
        hexgraph_base::types::lower_priority();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::thread::ThreadId;

    const SECOND: Duration = Duration::from_secs(1);

    /// Has a thread do `work`, and returns which one that was.
    fn thread_of(workers: &Workers, work: fn()) -> ThreadId {
        let (sender, receiver) = mpsc::channel();
        let work = move || {
            work();
            sender.send(thread::current().id()).unwrap();
        };
        workers.start(work).unwrap();
        receiver.recv_timeout(10 * SECOND).unwrap()
    }

    #[test]
    fn a_thread_is_used_again_unless_its_priority_is_low() {
        let workers = Workers::new();
        let first = thread_of(&workers, || ());
        // A thread that has done its work waits for more a moment later; until then there is
        // another one.
        let is_used_again = (0..200).any(|_| {
            thread::sleep(SECOND / 100);
            thread_of(&workers, || ()) == first
        });
        assert!(is_used_again);
        let low = thread_of(&workers, lower_priority);
        for _ in 0..10 {
            thread::sleep(SECOND / 200);
            assert_ne!(thread_of(&workers, || ()), low);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_low_priority_is_not_handed_on() {
        let here = || rustix::process::getpriority_process(None).unwrap();
        let before = here();
        let workers = Arc::new(Workers::new());
        let (sender, receiver) = mpsc::channel();
        let again = Arc::clone(&workers);
        let low = move || {
            lower_priority();
            again.start(move || sender.send(here()).unwrap()).unwrap();
        };
        workers.start(low).unwrap();
        assert_eq!(receiver.recv_timeout(10 * SECOND), Ok(before));
    }

    #[test]
    fn waits_for_who_is_at_work() {
        let workers = Workers::new();
        let (sender, receiver) = mpsc::channel();
        workers.start(move || receiver.recv().unwrap()).unwrap();
        workers.wait(SECOND / 50);
        assert_eq!(*workers.busy.count.lock().unwrap(), 1);
        sender.send(()).unwrap();
        workers.wait(SECOND);
        assert_eq!(*workers.busy.count.lock().unwrap(), 0);
    }
}
