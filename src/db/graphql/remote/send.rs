//! Sends requests to other servers, some at a time, on threads of their own, so that threads that
//! compute never wait for a network.
//!
//! The thread of the client's request looks at its context meanwhile. When it has to stop it does
//! not wait for the others: they end with the answer that they wait for, or with its timeout.

use hexgraph_base::types::{Error, Result, before_waiting};
use hexgraph_graphql::remote::{Fetch, Incoming, Outgoing, Unanswered};
use hexgraph_store::exec::RequestContext;
use std::collections::{HashMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::mpsc::{RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;
use std::{panic, thread};

/// The time between two looks at the context.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

/// The result of a request.
pub(in crate::db::graphql) type Answered = std::result::Result<Incoming, Unanswered>;

/// Sends requests, at most `parallel` at once. `consume` gets each result with the number of its
/// request, in the order in which they come.
///
/// Once nobody listens at an address, no more requests are sent there.
///
/// # Errors
///
/// When the context says stop; the error of `consume`.
pub(in crate::db::graphql) fn send(
    fetch: &Arc<dyn Fetch>,
    requests: Vec<Outgoing>,
    parallel: usize,
    context: &RequestContext,
    mut consume: impl FnMut(usize, Answered) -> Result<()>,
) -> Result<()> {
    let count = requests.len();
    let queue = Arc::new(Mutex::new(Queue {
        waiting: requests.into_iter().enumerate().collect(),
        dead: HashMap::new(),
    }));
    let (sender, receiver) = mpsc::channel();
    for _ in 0..parallel.clamp(1, count.max(1)) {
        let (fetch, queue, sender) = (Arc::clone(fetch), Arc::clone(&queue), sender.clone());
        let started = thread::Builder::new()
            .name("hexgraph-send".to_owned())
            .spawn(move || work(&*fetch, &queue, &sender));
        if let Err(error) = started {
            let message = format!("no thread for requests to other servers: {error}");
            return Err(Error::Limit { message });
        }
    }
    // The channel is closed by the last thread.
    drop(sender);
    before_waiting();
    let mut left = count;
    let ended = loop {
        if left == 0 {
            break Ok(());
        }
        if let Err(error) = context.check() {
            break Err(error);
        }
        match receiver.recv_timeout(LOOK_INTERVAL) {
            Ok((number, answered)) => {
                left -= 1;
                if let Err(error) = consume(number, answered) {
                    break Err(error);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                break Err(Error::Limit { message: "requests were not sent".to_owned() });
            }
        }
    };
    lock(&queue).waiting.clear();
    ended
}

/// The requests that are not sent yet.
struct Queue {
    waiting: VecDeque<(usize, Outgoing)>,
    /// Where nobody listens, and how that was reported.
    dead: HashMap<String, Unanswered>,
}

/// Sends requests until none is left, or nobody takes the results.
fn work(fetch: &dyn Fetch, queue: &Mutex<Queue>, sender: &Sender<(usize, Answered)>) {
    loop {
        let mut held = lock(queue);
        let Some((number, outgoing)) = held.waiting.pop_front() else { return };
        let dead = held.dead.get(origin(&outgoing.url)).cloned();
        drop(held);
        let answered = match dead {
            Some(reported) => Err(reported),
            None => attempt(fetch, &outgoing),
        };
        if let Err(reported) = &answered
            && reported.unreachable
        {
            let origin = origin(&outgoing.url).to_owned();
            lock(queue).dead.insert(origin, reported.clone());
        }
        if sender.send((number, answered)).is_err() {
            return;
        }
    }
}

/// Sends one request.
fn attempt(fetch: &dyn Fetch, outgoing: &Outgoing) -> Answered {
    // Whoever sends may be anybody's code: a panic of it is one request's.
    panic::catch_unwind(AssertUnwindSafe(|| fetch.fetch(outgoing)))
        .unwrap_or_else(|_| Err(Unanswered::new("it could not be sent")))
}

fn lock(queue: &Mutex<Queue>) -> std::sync::MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Scheme, host and port of an address.
fn origin(url: &str) -> &str {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..].find(['/', '?', '#']).map_or(url.len(), |at| start + at);
    &url[..end]
}
