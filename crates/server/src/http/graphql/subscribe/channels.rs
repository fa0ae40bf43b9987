//! One question for all who ask the same: subscriptions with one identity share a channel, on which one task publishes
//! each answer that differs from the one before.
//!
//! ```text
//! commit → wake (one flag: commits meanwhile are one) → desk → ask → differs? → published → each client's feed
//! ```
//!
//! Who joins asks for an answer at least as new as the moment when he was let in: the task does not wait out its pause
//! then. All who join meanwhile get the same one.

use crate::http::graphql::extensions::extensions;
use crate::http::router::App;
use axum::body::Bytes;
use hexgraph::db::graphql::{Fault, Identity, Subscribable, Subscription, Update};
use hexgraph::db::{Canceller, Control};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;
use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;

/// What subscribers of one identity are told.
#[derive(Clone)]
pub(crate) enum News {
    /// Nothing was asked yet.
    None,
    /// The newest answer.
    Answer(Answer),
    /// There will be no more.
    Ended,
}

/// An answer as JSON, and what tells it from others of its channel.
#[derive(Clone)]
pub(crate) struct Answer {
    /// The text.
    pub json: Bytes,
    /// Differs where the answer does, whatever stands beside the data.
    pub fingerprint: Option<[u64; 2]>,
}

/// The channels that somebody listens to.
#[derive(Default)]
pub(crate) struct Channels {
    list: Mutex<HashMap<Identity, Weak<Channel>>>,
}

/// A question that is asked as long as somebody listens.
pub(crate) struct Channel {
    news: watch::Receiver<News>,
    /// The commit by which the newest answer was found.
    asked: watch::Receiver<u64>,
    /// Somebody does not want to wait.
    hurry: Arc<Notify>,
    canceller: Canceller,
    task: AbortHandle,
    identity: Identity,
    channels: Weak<Channels>,
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.canceller.cancel();
        self.task.abort();
        if let Some(channels) = self.channels.upgrade() {
            let mut list = channels.lock();
            // Another one may have taken its place.
            if list.get(&self.identity).is_some_and(|known| known.strong_count() == 0) {
                list.remove(&self.identity);
            }
        }
    }
}

impl Channels {
    /// The channel of a subscription, which begins if nobody listens to it yet.
    ///
    /// # Errors
    ///
    /// When it can't begin.
    pub(crate) fn join(
        self: &Arc<Channels>,
        app: &Arc<App>,
        wanted: Subscribable,
    ) -> Result<Arc<Channel>, Vec<Fault>> {
        let identity = wanted.identity().clone();
        let mut list = self.lock();
        if let Some(known) = list.get(&identity).and_then(Weak::upgrade) {
            return Ok(known);
        }
        let channel = Arc::new(Channel::start(app, Arc::downgrade(self), wanted)?);
        list.insert(identity, Arc::downgrade(&channel));
        Ok(channel)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Identity, Weak<Channel>>> {
        // Nothing that runs under the lock panics halfway.
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Channel {
    fn start(
        app: &Arc<App>,
        channels: Weak<Channels>,
        wanted: Subscribable,
    ) -> Result<Channel, Vec<Fault>> {
        let identity = wanted.identity().clone();
        let changed = Arc::new(Notify::new());
        let wake = Arc::clone(&changed);
        let subscription = wanted.begin(move || wake.notify_one())?;
        let (news_out, news) = watch::channel(News::None);
        let (asked_out, asked) = watch::channel(0);
        let (hurry, canceller) = (Arc::new(Notify::new()), Control::new().canceller());
        let source = Source {
            app: Arc::clone(app),
            changed,
            hurry: Arc::clone(&hurry),
            canceller: canceller.clone(),
            news: news_out,
            asked: asked_out,
        };
        let task = tokio::spawn(source.run(subscription)).abort_handle();
        Ok(Channel { news, asked, hurry, canceller, task, identity, channels })
    }

    /// What is published, beginning with an answer at least as new as a commit.
    pub(crate) async fn listen(&self, commit: u64) -> watch::Receiver<News> {
        let mut asked = self.asked.clone();
        loop {
            let newest = *asked.borrow_and_update();
            let is_first = matches!(*self.news.borrow(), News::None);
            if commit <= newest && !is_first {
                break;
            }
            if !is_first {
                self.hurry.notify_one();
            }
            // An error means that it has ended, which is among the news.
            if asked.changed().await.is_err() {
                break;
            }
        }
        self.news.clone()
    }
}

/// Where the answers of a channel come from.
struct Source {
    app: Arc<App>,
    changed: Arc<Notify>,
    hurry: Arc<Notify>,
    canceller: Canceller,
    news: watch::Sender<News>,
    asked: watch::Sender<u64>,
}

impl Source {
    /// Asks, and asks again whenever something has changed, until the subscription ends or nobody listens.
    async fn run(self, mut subscription: Subscription) {
        let interval = self.app.feeds.options.interval;
        loop {
            let started = Instant::now();
            let control = self.control();
            let app = Arc::clone(&self.app);
            let ask = move || {
                let update = subscription.ask(&control);
                let json = match &update {
                    Update::Next(response) => {
                        response.to_json(&extensions(&app, response, started))
                    }
                    Update::Same | Update::Ended => Vec::new(),
                };
                (subscription, update, json)
            };
            let (asked, update, json) = self.app.feeds.desks.carry_out(ask).await;
            subscription = asked;
            match update {
                Update::Next(_) => {
                    let fingerprint = subscription.fingerprint();
                    self.news.send_replace(News::Answer(Answer { json: json.into(), fingerprint }));
                }
                Update::Same => {}
                Update::Ended => break,
            }
            self.asked.send_replace(subscription.commit());
            let pause = interval.saturating_sub(started.elapsed());
            let news = async {
                tokio::time::sleep(pause).await;
                self.changed.notified().await;
            };
            tokio::select! {
                () = news => {}
                () = self.hurry.notified() => {}
            }
        }
        self.news.send_replace(News::Ended);
        self.asked.send_replace(u64::MAX);
    }

    /// Ends a question when nobody listens any more or the server stops.
    fn control(&self) -> Control {
        let (canceller, app) = (self.canceller.clone(), Arc::clone(&self.app));
        Control::new().with_poll(move || canceller.check().is_err() || app.is_stopping())
    }
}
