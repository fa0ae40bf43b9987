//! The bounded set of connections. When it is full, the connection that has been idle for longest
//! is closed for a new one.

use super::phase::{Line, Phase};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// The time that a connection has to be idle, or in the middle of sending a request, before it may
/// be closed for a new one. A client that has just got its answer is likely to send the next
/// request within that time.
const IDLE_LEAST: Duration = Duration::from_millis(500);

/// The longest wait for the connection slot of a connection that was reported to close. Nothing
/// else is accepted at the same port meanwhile.
const PATIENCE: Duration = Duration::from_millis(100);

/// The connection slots of a server, one for each connection that may be open, at whichever port.
pub(super) struct Slots {
    most: usize,
    free: Arc<Semaphore>,
    used: Mutex<Used>,
}

/// The connections that are open.
#[derive(Default)]
struct Used {
    /// Their states, by number.
    lines: HashMap<u64, Arc<Line>>,
    /// The number that was given last.
    last: u64,
}

/// Lists a connection as open until this is dropped.
pub(super) struct Listed {
    slots: Arc<Slots>,
    number: u64,
}

impl Slots {
    /// Creates `most` connection slots, all free.
    pub(super) fn new(most: usize) -> Slots {
        let most = most.min(Semaphore::MAX_PERMITS);
        Slots { most, free: Arc::new(Semaphore::new(most)), used: Mutex::default() }
    }

    /// The number of used connection slots.
    pub(super) fn used_count(&self) -> usize {
        self.most.saturating_sub(self.free.available_permits())
    }

    /// Acquires a connection slot, which is released with the permit. `None` when no connection is
    /// closed in time. O(1), and O(connections) when no connection slot is free.
    pub(super) async fn take(&self) -> Option<OwnedSemaphorePermit> {
        let free = Arc::clone(&self.free);
        if let Ok(slot) = free.clone().try_acquire_owned() {
            return Some(slot);
        }
        // The connection that is reported to close may need a moment for that, so its connection
        // slot is waited for.
        self.remove_longest_idle()?.leave.notify_one();
        timeout(PATIENCE, free.acquire_owned()).await.ok()?.ok()
    }

    /// Adds an open connection to the list of those that may be closed for a new one.
    pub(super) fn list(self: &Arc<Slots>, line: Arc<Line>) -> Listed {
        let mut used = self.lock();
        used.last += 1;
        let number = used.last;
        used.lines.insert(number, line);
        Listed { slots: Arc::clone(self), number }
    }

    /// Takes the connection that has waited longest for a request, or for the rest of one, off the
    /// list: whoever looks next, at another port, finds another one. `None` when none has waited
    /// for [`IDLE_LEAST`].
    fn remove_longest_idle(&self) -> Option<Arc<Line>> {
        let mut used = self.lock();
        let idle = used.lines.iter().filter_map(|(number, line)| match line.phase() {
            Phase::Idle(since) | Phase::Head(since) => Some((since, *number)),
            Phase::Busy => None,
        });
        let (since, number) = idle.min()?;
        if since.elapsed() < IDLE_LEAST { None } else { used.lines.remove(&number) }
    }

    fn lock(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        self.slots.lock().lines.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::sleep;

    #[tokio::test]
    async fn two_that_come_at_once_get_two_slots() {
        let slots = Arc::new(Slots::new(2));
        let (line, other) = (Arc::new(Line::new()), Arc::new(Line::new()));
        let sits = |line: &Arc<Line>| {
            let (slots, line) = (Arc::clone(&slots), Arc::clone(line));
            async move {
                let _slot = slots.take().await;
                let _listed = slots.list(Arc::clone(&line));
                line.leave.notified().await;
            }
        };
        let sitting = [tokio::spawn(sits(&line)), tokio::spawn(sits(&other))];
        sleep(IDLE_LEAST + Duration::from_millis(50)).await;
        assert_eq!(slots.used_count(), 2);
        let (first, second) = tokio::join!(slots.take(), slots.take());
        assert!(first.is_some() && second.is_some());
        for one in sitting {
            one.await.unwrap();
        }
        assert!(slots.take().await.is_none(), "nobody is idle");
    }
}
