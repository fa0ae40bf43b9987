//! The common state of all subscriptions of a server: their limits, and the shutdown signal.

use crate::http::graphql::subscribe::channels::Channels;
use crate::http::graphql::subscribe::workers::SubscriptionWorkers;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::timeout;

/// The limits and intervals of subscriptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubscribeOptions {
    /// The largest number of subscriptions on one connection.
    pub per_connection: usize,
    /// The largest number of subscriptions of the entire server.
    pub total: usize,
    /// The least time between two answers to one of them: commits that come faster are answered
    /// together.
    pub interval: Duration,
    /// How long a client of `graphql-transport-ws` may need to authenticate.
    pub init_timeout: Duration,
    /// The interval of pings. A client that misses three pings is disconnected.
    pub ping_every: Duration,
    /// How long a client may leave a message unread before it is let go.
    pub write_timeout: Duration,
    /// The largest length of a message of a client, in bytes.
    pub message_len_max: usize,
}

impl Default for SubscribeOptions {
    fn default() -> SubscribeOptions {
        SubscribeOptions {
            per_connection: 100,
            total: 10_000,
            interval: Duration::from_millis(20),
            init_timeout: Duration::from_secs(10),
            ping_every: Duration::from_secs(20),
            write_timeout: Duration::from_secs(30),
            // As bodies at paths that need no long ones: messages come in without a position in the
            // budget.
            message_len_max: 2 << 20,
        }
    }
}

/// The subscriptions of a server.
pub(crate) struct Feeds {
    /// The limits and intervals.
    pub options: SubscribeOptions,
    /// The running queries. Many subscriptions may listen to one channel.
    pub channels: Arc<Channels>,
    /// The permits, one for each subscription that may exist.
    permits: Arc<Semaphore>,
    /// The threads that compute answers.
    pub workers: SubscriptionWorkers,
    /// Becomes true when the server stops. Every connection has a receiver as long as it lives.
    closing: watch::Sender<bool>,
}

impl Feeds {
    /// Creates the state of a server that has no subscriptions yet.
    pub(crate) fn new(options: SubscribeOptions) -> Feeds {
        Feeds {
            options,
            channels: Arc::default(),
            permits: Arc::new(Semaphore::new(options.total.min(Semaphore::MAX_PERMITS))),
            workers: SubscriptionWorkers::default(),
            closing: watch::Sender::new(false),
        }
    }

    /// The number of subscriptions.
    pub(crate) fn count(&self) -> usize {
        let most = self.options.total.min(Semaphore::MAX_PERMITS);
        most.saturating_sub(self.permits.available_permits())
    }

    /// Takes the permit for one more subscription, which holds until it is dropped. Returns `None`
    /// when there are too many.
    pub(crate) fn position(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.permits).try_acquire_owned().ok()
    }

    /// Returns a receiver of the shutdown signal.
    pub(crate) fn closing(&self) -> Closing {
        Closing(self.closing.subscribe())
    }

    /// Closes all connections, and waits for at most `grace` until they are closed.
    pub(crate) async fn close(&self, grace: Duration) {
        self.closing.send_replace(true);
        // Slower ones are cut off.
        let _ = timeout(grace, self.closing.closed()).await;
    }
}

/// A receiver of the signal that the server stops.
pub(crate) struct Closing(watch::Receiver<bool>);

impl Closing {
    /// Returns when the server stops.
    pub(crate) async fn wait(&mut self) {
        // An error means that the server is gone already.
        let _ = self.0.wait_for(|closing| *closing).await;
    }
}
