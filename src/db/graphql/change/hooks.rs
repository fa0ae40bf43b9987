//! What the lambda server is reported after mutations: `@lambdaOnMutate`. Nobody waits for it, and
//! nobody is reported when it fails.

use arc_swap::ArcSwapOption;
use hexgraph_graphql::remote::{Fetch, Outgoing};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::{panic, process, thread};

/// The largest number of events that wait to be sent. Events that arrive while the queue is full
/// are lost.
const WAITING_MAX: usize = 1_024;

/// The most bytes of events that wait to be sent: an event may be as long as a request. One that is
/// longer is sent where none waits.
const BYTES_MAX: usize = 64 << 20;

type Event = (Arc<dyn Fetch>, Outgoing, Held);

/// Bytes that wait, until it is dropped.
struct Held {
    waiting: Arc<AtomicUsize>,
    bytes: usize,
}

impl Held {
    fn new(waiting: &Arc<AtomicUsize>, bytes: usize) -> Option<Held> {
        let more = |now: usize| {
            let all = now.saturating_add(bytes);
            (now == 0 || all <= BYTES_MAX).then_some(all)
        };
        // The number guards no other data.
        waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        Some(Held { waiting: Arc::clone(waiting), bytes })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.waiting.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// The queue of the sending thread.
struct Queue {
    /// The process whose thread it is: a forked child has none of the threads of its parent.
    process: u32,
    sender: SyncSender<Event>,
    /// The bytes that wait.
    waiting: Arc<AtomicUsize>,
}

/// The queue of events for the lambda server, in the order of their commits. One thread sends them:
/// it starts with the first event and exits when the queue is empty.
#[derive(Default)]
pub(in crate::db::graphql) struct Hooks {
    queue: ArcSwapOption<Queue>,
    /// A lock that is held while the thread is started.
    starting: Mutex<()>,
}

impl Hooks {
    /// Queues an event to be sent, and returns at once. Returns false when the queue is full and
    /// the event is lost.
    pub(in crate::db::graphql) fn send(&self, client: Arc<dyn Fetch>, event: Outgoing) -> bool {
        let queue = self.queue().or_else(|| {
            let _starting = self.starting.lock().unwrap_or_else(PoisonError::into_inner);
            self.queue().or_else(|| {
                self.queue.store(start().map(Arc::new));
                self.queue()
            })
        });
        let Some(queue) = queue else { return false };
        let Some(held) = Held::new(&queue.waiting, length_of(&event)) else { return false };
        queue.sender.try_send((client, event, held)).is_ok()
    }

    fn queue(&self) -> Option<Arc<Queue>> {
        self.queue.load_full().filter(|queue| queue.process == process::id())
    }
}

/// The bytes of an event, but for what each has.
fn length_of(event: &Outgoing) -> usize {
    let headers = event.headers.iter().map(|(name, value)| name.len() + value.len());
    headers.sum::<usize>() + event.body.as_ref().map_or(0, |body| body.len())
}

fn start() -> Option<Queue> {
    let (sender, receiver) = sync_channel(WAITING_MAX);
    let started =
        thread::Builder::new().name("hexgraph-hooks".to_owned()).spawn(move || send_all(&receiver));
    started.ok().map(|_| Queue { process: process::id(), sender, waiting: Arc::default() })
}

fn send_all(receiver: &Receiver<Event>) {
    for (client, event, _held) in receiver {
        // Whoever sends may be anybody's code, and the next event is another one.
        let _ = panic::catch_unwind(AssertUnwindSafe(|| client.fetch(&event)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hexgraph_graphql::model::HttpMethod;
    use hexgraph_graphql::remote::{Incoming, Unanswered};
    use std::time::Duration;

    /// Answers when the lock is free.
    struct Stuck(Mutex<()>, SyncSender<String>);

    impl Fetch for Stuck {
        fn fetch(&self, outgoing: &Outgoing) -> Result<Incoming, Unanswered> {
            let _free = self.0.lock();
            self.1.send(outgoing.url.clone()).expect("somebody listens");
            Ok(Incoming::default())
        }
    }

    #[test]
    fn events_wait_in_order_and_are_lost_when_too_many_do() {
        let (sender, receiver) = sync_channel(2 * WAITING_MAX);
        let client = Arc::new(Stuck(Mutex::new(()), sender));
        let hooks = Hooks::default();
        let held = client.0.lock().unwrap();
        let event = |url: String| Outgoing {
            method: HttpMethod::Post,
            url,
            headers: Vec::new(),
            body: None,
            timeout: Duration::from_secs(1),
            bytes_max: 0,
        };
        let sent = (0..2 * WAITING_MAX)
            .filter(|number| hooks.send(Arc::clone(&client) as _, event(number.to_string())))
            .count();
        assert!((WAITING_MAX..WAITING_MAX + 2).contains(&sent), "{sent}");
        drop(held);
        let first: Vec<String> = receiver.iter().take(3).collect();
        assert_eq!(first, ["0", "1", "2"]);
    }

    #[test]
    fn long_events_that_wait_are_bounded_by_their_bytes() {
        let (sender, receiver) = sync_channel(WAITING_MAX);
        let client = Arc::new(Stuck(Mutex::new(()), sender));
        let hooks = Hooks::default();
        let held = client.0.lock().unwrap();
        let event = |bytes: usize| Outgoing {
            method: HttpMethod::Post,
            url: bytes.to_string(),
            headers: Vec::new(),
            body: Some(vec![b' '; bytes]),
            timeout: Duration::from_secs(1),
            bytes_max: 0,
        };
        let send = |bytes: usize| hooks.send(Arc::clone(&client) as _, event(bytes));
        assert!(send(BYTES_MAX + 1), "nothing waits before it");
        assert!(!send(1), "the one that is being sent counts");
        drop(held);
        assert_eq!(receiver.recv().unwrap(), (BYTES_MAX + 1).to_string());
        while !send(BYTES_MAX / 2) {
            std::thread::yield_now();
        }
        assert_eq!(receiver.recv().unwrap(), (BYTES_MAX / 2).to_string());
    }
}
