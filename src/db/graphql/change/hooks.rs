//! What the lambda server is told after mutations: `@lambdaOnMutate`. Nobody waits for it, and nobody is told when it fails.

use arc_swap::ArcSwapOption;
use hexgraph_graphql::remote::{Fetch, Outgoing};
use std::panic::AssertUnwindSafe;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::{panic, process, thread};

/// The largest number of events that wait to be sent. Events that arrive while the queue is full are lost.
const WAITING_MAX: usize = 1_024;

type Event = (Arc<dyn Fetch>, Outgoing);

/// The queue of events for the lambda server, in the order of their commits. One thread sends them: it starts with the
/// first event and ends when the queue is empty.
#[derive(Default)]
pub(in crate::db::graphql) struct Hooks {
    /// With the process whose thread takes them: a forked child has none of the threads of its parent.
    sender: ArcSwapOption<(u32, SyncSender<Event>)>,
    /// A lock that is held while the thread is started.
    starting: Mutex<()>,
}

impl Hooks {
    /// Queues an event to be sent, and returns at once. Returns false when the queue is full and the event is lost.
    pub(in crate::db::graphql) fn send(&self, client: Arc<dyn Fetch>, event: Outgoing) -> bool {
        let sender = self.sender().or_else(|| {
            let _starting = self.starting.lock().unwrap_or_else(PoisonError::into_inner);
            let started = || Some(Arc::new((process::id(), start()?)));
            self.sender().or_else(|| {
                self.sender.store(started());
                self.sender()
            })
        });
        sender.is_some_and(|sender| sender.1.try_send((client, event)).is_ok())
    }

    fn sender(&self) -> Option<Arc<(u32, SyncSender<Event>)>> {
        self.sender.load_full().filter(|sender| sender.0 == process::id())
    }
}

fn start() -> Option<SyncSender<Event>> {
    let (sender, receiver) = sync_channel(WAITING_MAX);
    let started =
        thread::Builder::new().name("hexgraph-hooks".to_owned()).spawn(move || send_all(&receiver));
    started.ok().map(|_| sender)
}

fn send_all(receiver: &Receiver<Event>) {
    for (client, event) in receiver {
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
}
