//! One subscription of a client: a task that listens to its channel, and hands over what is new to
//! the client.
//!
//! ```text
//! published → permit → differs from what the client has? → queue → written: permit is free
//! ```
//!
//! The permit is free only when the answer before has been written to the client. So of each
//! subscription at most one answer waits to be written, and the next one is what is newest then,
//! however slow the client is.

use crate::http::admission::{self, OVERLOADED, RequestedQuery};
use crate::http::app::App;
use crate::http::audit::{Noted, without_literals};
use crate::http::graphql::extensions::extensions;
use crate::http::graphql::subscribe::channels::News;
use crate::http::graphql::subscribe::scheduled::Asker;
use crate::http::logs::LoggedOperation;
use crate::http::message::reply::Reply;
use axum::body::Bytes;
use axum::http::{Method, StatusCode};
use hexgraph::db::graphql::{GraphqlError, Headers, OperationKind, Request, Subscribable};
use hexgraph::db::{Canceller, RequestContext};
use hexgraph_base::budget::{Held, json_weight};
use hexgraph_base::types::Error;
use std::future::{Future, pending};
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime};
use tokio::sync::mpsc::Sender;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;

/// An operation that a client has sent over a connection.
pub(super) struct Job {
    /// The id that the client has given the operation.
    pub id: Arc<str>,
    /// The server's own number of the operation, since a client may use an id again.
    pub serial: u64,
    /// The operation.
    pub request: Request,
    /// The headers, which identify the caller.
    pub headers: Headers,
    /// The caller.
    pub asker: Asker,
    /// True if queries and mutations are allowed as well; each of them is executed once.
    pub takes_all: bool,
    /// The memory that it takes to its end.
    pub held: Held,
    /// Its line in the log of requests, which comes with its first message.
    pub logged: Option<LoggedOperation>,
}

/// Reserves the memory of an operation in JSON: for the text as received, for the operation, and
/// for the text that identifies subscriptions.
///
/// # Errors
///
/// `Limit` when there is none.
pub(in crate::http) fn hold(app: &App, text: &[u8]) -> Result<Held, Error> {
    let bytes = json_weight(text).saturating_mul(2).saturating_add(text.len() as u64);
    Held::reserve(&Arc::new(app.unguarded.budget().reservation()), bytes)
}

/// A message for the client.
pub(super) struct Delivery {
    /// The id of the job that it belongs to.
    pub id: Arc<str>,
    /// The number of that job.
    pub serial: u64,
    /// The content of the message.
    pub item: Item,
    /// The permit of the job to have one message queued. It is dropped when the message has been
    /// written.
    pub permit: Option<OwnedSemaphorePermit>,
}

/// The content of a message.
pub(super) enum Item {
    /// An answer as JSON.
    Next(Bytes),
    /// The job has failed; no further message follows.
    Failed(Vec<GraphqlError>),
    /// The job is complete; no further message follows.
    Complete,
}

/// The handle of a running job. Dropping it stops the job.
pub(super) struct Feed {
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
    /// Starts a job in a task of its own. Its messages are sent to `out`.
    pub(super) fn start(app: &Arc<App>, job: Job, out: Sender<Delivery>) -> Feed {
        let canceller = RequestContext::new().canceller();
        let (app, asker) = (Arc::clone(app), job.asker);
        let id = Arc::clone(&job.id);
        let Job { serial, request, headers, takes_all, held, logged, .. } = job;
        let logged = Mutex::new(logged);
        let source = Source { app, id, serial, asker, canceller, out, logged };
        let canceller = source.canceller.clone();
        let task = tokio::spawn(async move {
            source.run(request, headers, takes_all).await;
            drop(held);
        });
        Feed { canceller, task: task.abort_handle() }
    }
}

/// The task of a job, which produces its messages.
struct Source {
    app: Arc<App>,
    id: Arc<str>,
    serial: u64,
    asker: Asker,
    canceller: Canceller,
    out: Sender<Delivery>,
    /// The line in the log of requests, until it is written.
    logged: Mutex<Option<LoggedOperation>>,
}

impl Source {
    async fn run(self, request: Request, headers: Headers, takes_all: bool) {
        let feeds = &self.app.feeds;
        if let Some(refusal) = self.app.switches.refusal() {
            let fault = GraphqlError::new(refusal.to_string());
            return self.refuse(StatusCode::SERVICE_UNAVAILABLE, vec![fault]).await;
        }
        let Some(_position) = feeds.position() else {
            let total = feeds.options.total;
            let message = format!("there are {total} subscriptions already, and no more may be");
            let fault = GraphqlError::new(message);
            return self.refuse(StatusCode::TOO_MANY_REQUESTS, vec![fault]).await;
        };
        self.note(&request, &headers).await;
        let (expected, role) = (Arc::new((request, headers)), self.asker.role);
        if takes_all {
            let kind = move |app: &Arc<App>, request: &Request, headers: &Headers| {
                app.database_for_subscriber(headers, role).graphql_kind(request)
            };
            match self.at_worker(&expected, kind).await {
                Ok(OperationKind::Subscription) => {}
                Ok(kind) => {
                    self.log_kind(kind);
                    return self.answer_once(&expected).await;
                }
                Err(faults) => return self.fail(faults).await,
            }
        }
        let check = move |app: &Arc<App>, request: &Request, headers: &Headers| {
            app.database_for_subscriber(headers, role).graphql_subscribable(request, headers)
        };
        let checked = self.at_worker(&expected, check).await;
        if checked.is_ok() {
            self.log_kind(OperationKind::Subscription);
        }
        let requested = self.asker.request(&expected.0.query);
        drop(expected);
        match checked {
            Ok(expected) => tokio::select! {
                biased;
                () = self.app.switches.drained() => self.deliver(Item::Complete, None).await,
                () = self.follow(expected, requested) => {}
            },
            Err(faults) => self.fail(faults).await,
        }
    }

    /// Writes the requests of a connection to the audit log, if there is one.
    async fn note(&self, request: &Request, headers: &Headers) {
        let Some(log) = &self.app.audit else { return };
        let database = self.app.database_for_subscriber(headers, self.asker.role);
        let address = self.asker.address;
        let noted = Noted::begin(log, &database, address, (&Method::GET, "/graphql")).await;
        let _ = noted.slot().set(without_literals(&request.query));
        noted.answered(&Reply::empty().into_response(None)).await;
    }

    async fn at_worker<T: Send + 'static>(
        &self,
        expected: &Arc<(Request, Headers)>,
        work: impl FnOnce(&Arc<App>, &Request, &Headers) -> T + Send + 'static,
    ) -> T {
        let (app, expected) = (Arc::clone(&self.app), Arc::clone(expected));
        self.app.feeds.workers.execute(move || work(&app, &expected.0, &expected.1)).await
    }

    /// Answers a query or a mutation like a separate request, queued.
    async fn answer_once(&self, expected: &Arc<(Request, Headers)>) {
        let started = Instant::now();
        let (app, expected) = (Arc::clone(&self.app), Arc::clone(expected));
        let (requested, role) = (self.asker.request(&expected.0.query), self.asker.role);
        let answer = move |control: RequestContext| {
            let (request, headers) = &*expected;
            app.database_for_subscriber(headers, role).graphql_with(request, headers, &control)
        };
        let done =
            admission::execute(&self.app.admission, requested, self.is_expected(), answer).await;
        let Ok(response) = done else {
            let faults = vec![GraphqlError::new(OVERLOADED)];
            return self.refuse(StatusCode::SERVICE_UNAVAILABLE, faults).await;
        };
        if response.data.is_none() {
            return self.fail(response.errors).await;
        }
        let json = response.to_json(&extensions(&self.app, &response, started));
        self.deliver(Item::Next(json.into()), None).await;
        self.deliver(Item::Complete, None).await;
    }

    /// Hands over what its channel publishes, until the channel is closed or the token expires.
    async fn follow(&self, expected: Subscribable, requested: RequestedQuery) {
        let (end, commit) = (expected.expires(), expected.commit());
        let channel = match self.app.feeds.channels.join(&self.app, expected, requested) {
            Ok(channel) => channel,
            Err(faults) => return self.fail(faults).await,
        };
        if let Some(mut news) = until(end, channel.listen(commit)).await {
            let permits = Arc::new(Semaphore::new(1));
            let mut last = None;
            while let Some(Ok(permit)) = until(end, Arc::clone(&permits).acquire_owned()).await {
                // Answers that came meanwhile are skipped: the channel has only the newest.
                let newest = news.borrow_and_update().clone();
                match newest {
                    News::Answer(answer) if last != answer.fingerprint => {
                        last = answer.fingerprint;
                        self.deliver(Item::Next(answer.json), Some(permit)).await;
                    }
                    News::Answer(_) | News::None => drop(permit),
                    News::Ended => break,
                }
                if !matches!(until(end, news.changed()).await, Some(Ok(()))) {
                    break;
                }
            }
        }
        self.deliver(Item::Complete, None).await;
    }

    /// Whether the client still has the subscription, and the server goes on.
    fn is_expected(&self) -> impl Fn() -> bool + Send + Sync + Clone + 'static {
        let (canceller, app) = (self.canceller.clone(), Arc::clone(&self.app));
        move || canceller.check().is_ok() && !app.is_stopping()
    }

    async fn fail(&self, faults: Vec<GraphqlError>) {
        self.refuse(StatusCode::BAD_REQUEST, faults).await;
    }

    async fn refuse(&self, status: StatusCode, faults: Vec<GraphqlError>) {
        self.log(status);
        self.deliver(Item::Failed(faults), None).await;
    }

    /// Notes the kind for the line in the log.
    fn log_kind(&self, kind: OperationKind) {
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(logged) = &mut *logged {
            logged.kind = Some(kind);
        }
    }

    /// Writes the line in the log, unless that is done.
    fn log(&self, status: StatusCode) {
        let logged = mem::take(&mut *self.logged.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some(logged) = logged {
            logged.answered(status);
        }
    }

    async fn deliver(&self, item: Item, permit: Option<OwnedSemaphorePermit>) {
        self.log(StatusCode::OK);
        let delivery = Delivery { id: Arc::clone(&self.id), serial: self.serial, item, permit };
        // An error means that the client is gone; then this task is about to be ended.
        let _ = self.out.send(delivery).await;
    }
}

/// Returns the output of `future`, or `None` when the time `until` comes first. The time is checked
/// before the future.
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
