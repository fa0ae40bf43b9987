//! The threads that compute for subscriptions: as many as there are cores, from the first question
//! on.
//!
//! A commit that wakes thousands of subscriptions gives these threads much to do and starts none.
//! Threads of the runtime would be hundreds then, each with memory of its own.

use crossbeam::channel::{SendError, Sender, unbounded};
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::OnceLock;
use std::thread;
use tokio::sync::oneshot;

type Work = Box<dyn FnOnce() + Send>;

/// The queue of work for the threads. The threads end when this is dropped and the queue is empty.
#[derive(Default)]
pub(crate) struct SubscriptionWorkers {
    queue: OnceLock<Sender<Work>>,
}

impl SubscriptionWorkers {
    /// Runs `work`, which may be slow, when a worker is free. When the caller is gone by then, it
    /// is not executed.
    pub(crate) async fn execute<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        let (out, done) = oneshot::channel();
        let work = move || {
            if !out.is_closed() {
                // An error means that the caller is gone.
                let _ = out.send(catch_unwind(AssertUnwindSafe(work)));
            }
        };
        if let Err(SendError(work)) = self.queue.get_or_init(start).send(Box::new(work)) {
            // There are no threads: the system gave none.
            work();
        }
        match done.await {
            Ok(Ok(done)) => done,
            Ok(Err(panic)) => resume_unwind(panic),
            Err(_) => pending().await,
        }
    }
}

fn start() -> Sender<Work> {
    let (queue, work) = unbounded::<Work>();
    for _ in 0..thread::available_parallelism().map_or(4, usize::from) {
        let work = work.clone();
        let worker = thread::Builder::new().name("hexgraph-feeds".to_owned());
        // Where the system gives fewer threads, fewer do it.
        let _ = worker.spawn(move || work.into_iter().for_each(|work| work()));
    }
    queue
}
