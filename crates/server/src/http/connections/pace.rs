//! Whether a client sends or takes bytes fast enough.
//!
//! Time is cut into windows while the server waits for the client. In each of them so many bytes
//! have to move; a client that moves none, or a few now and then so as to stay, is reported apart
//! from one on a slow line.

use super::connection_options::ConnectionOptions;
use std::future::Future;
use std::pin::Pin;
use std::task::Context;
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until};

/// The pace of one direction of a connection.
pub(super) struct Pace {
    window: Duration,
    /// The number of bytes that have to move in each window.
    least: u64,
    /// The number of bytes that have moved in this window.
    moved: u64,
    /// The end of the window; `None` while nobody waits.
    end: Option<Instant>,
    /// The timer of the window, created at the first wait.
    timer: Option<Pin<Box<Sleep>>>,
}

impl Pace {
    /// Creates a pace with no window running.
    pub(super) fn new(options: &ConnectionOptions) -> Pace {
        Pace { window: options.stall, least: options.least(), moved: 0, end: None, timer: None }
    }

    /// Counts bytes that moved.
    pub(super) fn note(&mut self, bytes: usize) {
        self.moved = self.moved.saturating_add(bytes as u64);
    }

    /// Closes the window, since the server does not wait for the client any more.
    pub(super) fn rest(&mut self) {
        self.end = None;
        self.moved = 0;
    }

    /// Whether the client was too slow in the window that has ended. Otherwise the task is woken at
    /// the end of the next one.
    pub(super) fn is_overdue(&mut self, context: &mut Context<'_>) -> bool {
        loop {
            let end = *self.end.get_or_insert_with(|| Instant::now() + self.window);
            let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(end)));
            if timer.deadline() != end {
                timer.as_mut().reset(end);
            }
            if timer.as_mut().poll(context).is_pending() {
                return false;
            }
            // The window is over: the client was fast enough, or it is overdue.
            if self.moved < self.least {
                return true;
            }
            // The next round begins another window, and its timer wakes the task.
            self.rest();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::task::Poll;
    use tokio::time::sleep;

    /// How many windows a client stays that moves so many bytes in each third of one.
    async fn windows(bytes: usize) -> usize {
        let stall = Duration::from_millis(30);
        let options = ConnectionOptions { stall, rate: 1000, ..ConnectionOptions::default() };
        let mut pace = Pace::new(&options);
        for third in 0..12 {
            pace.note(bytes);
            let is_overdue = poll_fn(|context| Poll::Ready(pace.is_overdue(context))).await;
            if is_overdue {
                return third / 3;
            }
            sleep(stall / 3).await;
        }
        4
    }

    // The clock moves when all tasks wait, so a busy machine changes nothing.
    #[tokio::test(start_paused = true)]
    async fn a_client_that_drips_is_overdue() {
        assert_eq!(windows(0).await, 1);
        assert!(windows(5).await <= 2);
        assert_eq!(windows(100).await, 4);
    }
}
