//! One subscription of a client: a task that asks again when it is woken, and hands over what is new.
//!
//! ```text
//! commit → wake (one flag: commits meanwhile are one) → turn → desk → ask → differs? → queue → written: turn is free
//! ```
//!
//! The turn is free only when the answer before has been written to the client. So of each subscription at most one
//! answer waits to be written, and the next one is computed from what is newest then, however slow the client is.

use crate::db::Canceller;
use crate::db::Control;
use crate::db::graphql::Fault;
use crate::db::graphql::Headers;
use crate::db::graphql::OperationKind;
use crate::db::graphql::Request;
use crate::db::graphql::Response;
use crate::db::graphql::Subscription;
use crate::db::graphql::Update;
use crate::http::router::App;
use std::future::Future;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;
use std::time::Instant;
use std::time::SystemTime;
use tokio::sync::Notify;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::Sender;
use tokio::task::AbortHandle;

/// What a client wants.
pub struct Job {
    /// The client's name for it.
    pub id: Arc<str>,
    /// Ours: an id may be used again.
    pub serial: u64,
    /// The operation.
    pub request: Request,
    /// Who asks.
    pub headers: Headers,
    /// Whether queries and mutations are carried out too, once each.
    pub takes_all: bool,
}

/// Something for the client.
pub struct Delivery {
    /// Which job it belongs to.
    pub id: Arc<str>,
    /// Which job of that name.
    pub serial: u64,
    /// What it is.
    pub item: Item,
    /// To be dropped when it is written.
    pub turn: Option<OwnedSemaphorePermit>,
}

/// What a client is told.
pub enum Item {
    /// An answer, and how long it took.
    Next(Response, Duration),
    /// Nothing can be answered. It is the last.
    Failed(Vec<Fault>),
    /// There will be no more.
    Complete,
}

/// A running job; it ends when this is dropped.
pub struct Feed {
    canceller: Canceller,
    task: AbortHandle,
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.canceller.cancel();
        self.task.abort();
    }
}

impl Feed {
    /// Begins a job. What comes of it goes to `out`.
    pub fn start(app: &Arc<App>, job: Job, out: Sender<Delivery>) -> Feed {
        let canceller = Control::new().canceller();
        let source =
            Source { app: Arc::clone(app), id: job.id, serial: job.serial, canceller, out };
        let canceller = source.canceller.clone();
        let (request, headers, takes_all) = (job.request, job.headers, job.takes_all);
        let task = tokio::spawn(async move { source.run(request, headers, takes_all).await });
        Feed { canceller, task: task.abort_handle() }
    }
}

/// Where deliveries come from.
struct Source {
    app: Arc<App>,
    id: Arc<str>,
    serial: u64,
    canceller: Canceller,
    out: Sender<Delivery>,
}

impl Source {
    async fn run(self, request: Request, headers: Headers, takes_all: bool) {
        let feeds = &self.app.feeds;
        if let Some(refusal) = self.app.switches.refusal() {
            return self.fail(vec![Fault::new(refusal.to_string())]).await;
        }
        let Some(_place) = feeds.place() else {
            let total = feeds.options.total;
            let message = format!("there are {total} subscriptions already, and no more may be");
            return self.fail(vec![Fault::new(message)]).await;
        };
        let database = &self.app.database;
        let once = takes_all
            && match feeds.at_desk(|| database.graphql_kind(&request)).await {
                Ok(kind) => kind != OperationKind::Subscription,
                Err(faults) => return self.fail(faults).await,
            };
        if once {
            return self.answer_once(&request, &headers).await;
        }
        let news = Arc::new(Notify::new());
        let wake = Arc::clone(&news);
        let begin = || database.graphql_subscribe(&request, &headers, move || wake.notify_one());
        match feeds.at_desk(begin).await {
            Ok(subscription) => tokio::select! {
                biased;
                () = self.app.switches.drained() => self.deliver(Item::Complete, None).await,
                () = self.follow(subscription, &news) => {}
            },
            Err(faults) => self.fail(faults).await,
        }
    }

    async fn answer_once(&self, request: &Request, headers: &Headers) {
        let started = Instant::now();
        let answer = || self.app.database.graphql(request, headers, &self.control());
        let response = self.app.feeds.at_desk(answer).await;
        if response.data.is_none() {
            return self.fail(response.errors).await;
        }
        self.deliver(Item::Next(response, started.elapsed()), None).await;
        self.deliver(Item::Complete, None).await;
    }

    /// Asks, and asks again whenever there is news, until the subscription ends.
    async fn follow(&self, mut subscription: Subscription, news: &Notify) {
        let end = subscription.expires();
        let turns = Arc::new(Semaphore::new(1));
        while let Some(Ok(turn)) = until(end, Arc::clone(&turns).acquire_owned()).await {
            let started = Instant::now();
            let ask = || subscription.ask(&self.control());
            match self.app.feeds.at_desk(ask).await {
                Update::Next(response) => {
                    self.deliver(Item::Next(response, started.elapsed()), Some(turn)).await;
                }
                Update::Same => drop(turn),
                Update::Ended => break,
            }
            let pause = self.app.feeds.options.interval.saturating_sub(started.elapsed());
            let news = async {
                tokio::time::sleep(pause).await;
                news.notified().await;
            };
            if until(end, news).await.is_none() {
                break;
            }
        }
        self.deliver(Item::Complete, None).await;
    }

    /// Ends a question when the client lets go of the subscription or the server stops.
    fn control(&self) -> Control {
        let (canceller, app) = (self.canceller.clone(), Arc::clone(&self.app));
        Control::new().with_poll(move || canceller.check().is_err() || app.is_stopping())
    }

    async fn fail(&self, faults: Vec<Fault>) {
        self.deliver(Item::Failed(faults), None).await;
    }

    async fn deliver(&self, item: Item, turn: Option<OwnedSemaphorePermit>) {
        let delivery = Delivery { id: Arc::clone(&self.id), serial: self.serial, item, turn };
        // An error means that the client is gone; then this task is about to be ended.
        let _ = self.out.send(delivery).await;
    }
}

/// What `future` comes to, unless a moment comes before; that is looked for first.
async fn until<T>(end: Option<SystemTime>, future: impl Future<Output = T>) -> Option<T> {
    let over = async {
        match end.map(|end| end.duration_since(SystemTime::now()).unwrap_or_default()) {
            Some(left) => tokio::time::sleep(left).await,
            None => pending().await,
        }
    };
    tokio::select! {
        biased;
        () = over => None,
        value = future => Some(value),
    }
}
