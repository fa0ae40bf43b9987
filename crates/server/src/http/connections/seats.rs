//! The bounded set of connections. When it is full, the connection that has been idle for longest is closed for a new one.

use super::phase::{Line, Phase};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// The time that a connection has to be idle, or without its first request, before it gives way.
const IDLE_LEAST: Duration = Duration::from_millis(500);

/// The longest wait for the seat of a connection that gives way.
const PATIENCE: Duration = Duration::from_millis(100);

/// The seats of a server, one for each connection that may be open.
pub(super) struct Seats {
    free: Arc<Semaphore>,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    lines: HashMap<u64, Arc<Line>>,
    last: u64,
}

/// A line in the list of those that are connected, until it is dropped.
pub(super) struct Listed {
    seats: Arc<Seats>,
    number: u64,
}

impl Seats {
    /// Creates so many seats, all free.
    pub(super) fn new(most: usize) -> Seats {
        let free = Arc::new(Semaphore::new(most.min(Semaphore::MAX_PERMITS)));
        Seats { free, taken: Mutex::default() }
    }

    /// Takes a seat; `None` when no connection gives way in time. O(1), and O(connections) when no seat is free.
    pub(super) async fn take(&self) -> Option<OwnedSemaphorePermit> {
        let free = Arc::clone(&self.free);
        if let Ok(seat) = free.clone().try_acquire_owned() {
            return Some(seat);
        }
        // Its task may be busy elsewhere for a moment, so the seat is waited for, and not for long.
        self.longest_idle()?.leave.notify_one();
        timeout(PATIENCE, free.acquire_owned()).await.ok()?.ok()
    }

    /// Puts a line on the list.
    pub(super) fn list(self: &Arc<Seats>, line: Arc<Line>) -> Listed {
        let mut taken = self.lock();
        taken.last += 1;
        let number = taken.last;
        taken.lines.insert(number, line);
        Listed { seats: Arc::clone(self), number }
    }

    fn longest_idle(&self) -> Option<Arc<Line>> {
        let taken = self.lock();
        let idle = taken.lines.values().filter_map(|line| match line.phase() {
            Phase::Idle(since) | Phase::Head(since) => Some((since, line)),
            Phase::Busy => None,
        });
        let (since, line) = idle.min_by_key(|(since, _)| *since)?;
        (IDLE_LEAST <= since.elapsed()).then(|| Arc::clone(line))
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        self.seats.lock().lines.remove(&self.number);
    }
}
