//! The task of a channel: queries, publishes changed answers, and sleeps until something has
//! changed.

use crate::http::admission::{Overloaded, RequestedQuery};
use crate::http::app::App;
use crate::http::graphql::extensions::extensions;
use crate::http::graphql::subscribe::channels::{Answer, Channel, Channels, News};
use crate::http::graphql::subscribe::scheduled::run_scheduled;
use dashmap::Entry;
use hexgraph::db::graphql::{GraphqlError, Subscribable, Subscription, Update};
use hexgraph::db::{Canceller, RequestContext};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, watch};

impl Channels {
    /// The channel of a subscription, which begins if nobody listens to it yet.
    ///
    /// # Errors
    ///
    /// The faults for which the subscription can't begin.
    pub(crate) fn join(
        self: &Arc<Channels>,
        app: &Arc<App>,
        expected: Subscribable,
        requested: RequestedQuery,
    ) -> Result<Arc<Channel>, Vec<GraphqlError>> {
        // The entry is locked until this returns, so of subscribers that come at once one starts
        // the channel.
        let entry = self.by_identity.entry(expected.identity().clone());
        // A channel whose last subscriber is leaving can't be upgraded any more; a new one replaces
        // it.
        if let Entry::Occupied(existing) = &entry
            && let Some(channel) = existing.get().upgrade()
        {
            return Ok(channel);
        }
        let channel = Arc::new(Channel::start(app, Arc::downgrade(self), (expected, requested))?);
        entry.insert(Arc::downgrade(&channel));
        Ok(channel)
    }
}

impl Channel {
    fn start(
        app: &Arc<App>,
        channels: Weak<Channels>,
        (expected, requested_by): (Subscribable, RequestedQuery),
    ) -> Result<Channel, Vec<GraphqlError>> {
        let identity = expected.identity().clone();
        let changed = Arc::new(Notify::new());
        let wake = Arc::clone(&changed);
        let subscription = expected.begin(move || wake.notify_one())?;
        let (news_out, news) = watch::channel(News::None);
        let (requested_out, requested) = watch::channel(0);
        let (hurry, canceller) = (Arc::new(Notify::new()), RequestContext::new().canceller());
        let source = Source {
            app: Arc::clone(app),
            changed,
            hurry: Arc::clone(&hurry),
            canceller: canceller.clone(),
            requested_by,
            news: news_out,
            requested: requested_out,
        };
        let task = tokio::spawn(source.run(subscription)).abort_handle();
        Ok(Channel { news, requested, hurry, canceller, task, identity, channels })
    }
}

/// The time after which a query without a free slot is retried.
const AGAIN: Duration = Duration::from_secs(1);

/// The task of a channel, which runs its query and publishes the answers.
struct Source {
    app: Arc<App>,
    changed: Arc<Notify>,
    hurry: Arc<Notify>,
    canceller: Canceller,
    /// The request of the first subscriber.
    requested_by: RequestedQuery,
    news: watch::Sender<News>,
    requested: watch::Sender<u64>,
}

impl Source {
    /// Queries after each change, until the subscription is closed or has no listeners.
    async fn run(self, subscription: Subscription) {
        let interval = self.app.feeds.options.interval;
        let subscription = Arc::new(Mutex::new(subscription));
        loop {
            let started = Instant::now();
            // Where there is more to do than can be done, the news come later.
            let Ok(Outcome { update, json, fingerprint, commit }) = self.query(&subscription).await
            else {
                tokio::time::sleep(AGAIN).await;
                continue;
            };
            match update {
                Update::Next(_) => {
                    self.news.send_replace(News::Answer(Answer { json: json.into(), fingerprint }));
                }
                Update::Same => {}
                Update::Ended => break,
            }
            self.requested.send_replace(commit);
            let pause = interval.saturating_sub(started.elapsed());
            let news = async {
                tokio::time::sleep(pause).await;
                self.changed.notified().await;
            };
            // A new subscriber cuts the pause short, and waits for one answer instead of an
            // interval.
            tokio::select! {
                () = news => {}
                () = self.hurry.notified() => {}
            }
        }
        self.news.send_replace(News::Ended);
        // No commit is newer: whoever waits for one stops waiting.
        self.requested.send_replace(u64::MAX);
    }

    /// Queries once, queued with others.
    async fn query(&self, subscription: &Arc<Mutex<Subscription>>) -> Result<Outcome, Overloaded> {
        let (app, subscription) = (Arc::clone(&self.app), Arc::clone(subscription));
        let query = move |control: &RequestContext| {
            let started = Instant::now();
            let mut subscription = subscription.lock().unwrap_or_else(PoisonError::into_inner);
            let update = subscription.update(control);
            let json = match &update {
                Update::Next(response) => response.to_json(&extensions(&app, response, started)),
                Update::Same | Update::Ended => Vec::new(),
            };
            let (fingerprint, commit) = (subscription.fingerprint(), subscription.commit());
            Outcome { update, json, fingerprint, commit }
        };
        // Nobody listens any more, or the server stops.
        let (canceller, app) = (self.canceller.clone(), Arc::clone(&self.app));
        let is_expected = move || canceller.check().is_ok() && !app.is_stopping();
        run_scheduled(&self.app, self.requested_by, is_expected, query).await
    }
}

/// What came of a question.
struct Outcome {
    update: Update,
    json: Vec<u8>,
    fingerprint: Option<[u64; 2]>,
    commit: u64,
}
