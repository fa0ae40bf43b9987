//! Messages for the operator about connections, of which many may come.

use crate::http::logs::{Level, log};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The least time between two messages.
const INTERVAL: Duration = Duration::from_secs(1);

/// Logs messages, at most one a second, and counts those that it suppresses.
#[derive(Default)]
pub(super) struct Log(Mutex<Cached>);

#[derive(Default)]
struct Cached {
    last: Option<Instant>,
    count: u64,
}

impl Log {
    /// Logs a message, or counts it.
    pub(super) fn say(&self, message: &str) {
        let mut retained = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if retained.last.is_some_and(|last| last.elapsed() < INTERVAL) {
            retained.count += 1;
            return;
        }
        match retained.count {
            0 => log(Level::Info, message, &[]),
            count => {
                let message = format!("{message} ({count} more since the last line)");
                log(Level::Info, &message, &[]);
            }
        }
        *retained = Cached { last: Some(Instant::now()), count: 0 };
    }
}
