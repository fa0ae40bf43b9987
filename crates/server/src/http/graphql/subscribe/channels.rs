//! One query for all callers: subscriptions with one identity have one channel, on which one task
//! publishes each answer that differs from the one before.
//!
//! ```text
//! commit → wake (one flag: commits meanwhile are one) → worker → query → differs? → published → each client's feed
//! ```
//!
//! Who joins requests an answer at least as new as his subscription: the task does not
//! wait out its pause then. All who join meanwhile get the same one. The task is in
//! [`super::source`].

use axum::body::Bytes;
use dashmap::DashMap;
use hexgraph::db::Canceller;
use hexgraph::db::graphql::Identity;
use std::sync::{Arc, Weak};
use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;

/// The state of a channel that all its subscribers see.
#[derive(Clone)]
pub(crate) enum News {
    /// The question has not been answered yet.
    None,
    /// The newest answer.
    Answer(Answer),
    /// The channel has ended, so no further answers come.
    Ended,
}

/// An answer as JSON, with a fingerprint of its data.
#[derive(Clone)]
pub(crate) struct Answer {
    /// The JSON text.
    pub json: Bytes,
    /// A hash of the data alone. Answers that differ only in what stands next to the data, such as
    /// times, have the same one.
    pub fingerprint: Option<[u64; 2]>,
}

/// The channels that have at least one subscriber, by the identity of their question. Subscribers
/// of other questions do not wait for each other, while one of them begins a channel.
#[derive(Default)]
pub(crate) struct Channels {
    pub(super) by_identity: DashMap<Identity, Weak<Channel>>,
}

/// A query that runs again after commits, for as long as it has subscribers.
pub(crate) struct Channel {
    pub(super) news: watch::Receiver<News>,
    /// The commit of the version that the newest answer was computed on.
    pub(super) requested: watch::Receiver<u64>,
    /// Notified when a new subscriber waits for an answer, so that the query runs at once.
    pub(super) hurry: Arc<Notify>,
    pub(super) canceller: Canceller,
    pub(super) task: AbortHandle,
    pub(super) identity: Identity,
    pub(super) channels: Weak<Channels>,
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.canceller.cancel();
        self.task.abort();
        if let Some(channels) = self.channels.upgrade() {
            // A newer channel may have replaced it.
            channels
                .by_identity
                .remove_if(&self.identity, |_, existing| existing.strong_count() == 0);
        }
    }
}

impl Channel {
    /// Returns what the channel publishes, beginning with an answer that is at least as new as a
    /// commit.
    pub(crate) async fn listen(&self, commit: u64) -> watch::Receiver<News> {
        let mut requested = self.requested.clone();
        loop {
            let newest = *requested.borrow_and_update();
            let is_first = matches!(*self.news.borrow(), News::None);
            // Before the first answer there is nothing to show, whatever the commit.
            if commit <= newest && !is_first {
                break;
            }
            if !is_first {
                self.hurry.notify_one();
            }
            // An error means that it has ended, which is among the news.
            if requested.changed().await.is_err() {
                break;
            }
        }
        self.news.clone()
    }
}
