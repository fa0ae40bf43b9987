//! Which path does what, and what all of them have in common.

use super::admin;
use super::alter;
use super::commit;
use super::graphql;
use super::graphql::Feeds;
use super::health;
use super::incoming;
use super::incoming::Incoming;
use super::keys;
use super::mutate;
use super::peer::Peer;
use super::query;
use super::reply::Reply;
use super::security::Security;
use super::switches::Switches;
use crate::db::Canceller;
use crate::db::Control;
use crate::db::Database;
use crate::db::graphql::Folder;
use crate::db::graphql::Tasks;
use axum::Router;
use axum::body::to_bytes;
use axum::extract::ConnectInfo;
use axum::extract::Request;
use axum::extract::State;
use axum::http::Method;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::any;
use axum::routing::get;
use std::net::IpAddr;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;
use tokio::task;

/// What every request may use.
pub struct App {
    /// The data.
    pub database: Database,
    /// Where the server listens.
    pub address: SocketAddr,
    /// When the server started.
    pub started: Instant,
    /// Whether slow queries are printed to standard error.
    pub prints_slow: bool,
    /// The subscriptions of its clients.
    pub feeds: Arc<Feeds>,
    /// Who may alter and administer.
    pub security: Security,
    /// Where exports and backups go.
    pub exports: Option<Folder>,
    /// What an operator may switch.
    pub switches: Arc<Switches>,
    /// What requests had begun that take longer than they.
    pub tasks: Arc<Tasks>,
    /// Fails its check once the server is stopped.
    pub stopping: Canceller,
}

impl App {
    /// True once requests that run have to end.
    pub fn is_stopping(&self) -> bool {
        self.stopping.check().is_err()
    }
}

/// Answers one request. Runs where it may take its time.
pub type Answerer = fn(&App, &Incoming, &Control) -> Reply;

/// The routes of a server.
pub fn router(app: App) -> Router {
    let app = Arc::new(app);
    let post = |answer: Answerer| {
        any(move |State(app): State<Arc<App>>, request: Request| receive(app, request, answer))
    };
    Router::new()
        .route("/query", post(query::answer))
        .route("/mutate", post(mutate::answer))
        .route("/commit", post(commit::answer))
        .route("/assign", any(move |State(app), request| receive_any(app, request, commit::assign)))
        .route("/alter", post(alter::answer))
        .route("/health", get(report_health))
        .route("/state", get(report_state))
        .route("/login", post(log_in))
        .merge(graphql::routes())
        .merge(admin::routes())
        .fallback(|| async { Reply::not_found().into_response(false) })
        .layer(from_fn_with_state(Arc::clone(&app), keys::guard))
        .with_state(app)
}

async fn report_health(State(app): State<Arc<App>>, request: Request) -> Response {
    let parameters = request.uri().query().unwrap_or_default();
    let asks_only_live = parameters.split('&').any(|name| name == "live" || name == "live=");
    health::answer(&app, asks_only_live).into_response(false)
}

async fn report_state(State(app): State<Arc<App>>) -> Response {
    health::state(&app).into_response(false)
}

/// There are no users, so none is known.
fn log_in(_app: &App, _incoming: &Incoming, _control: &Control) -> Reply {
    Reply::internal_error("invalid username or password")
}

async fn receive(app: Arc<App>, request: Request, answer: Answerer) -> Response {
    let method = request.method();
    if method == Method::OPTIONS {
        return Reply::empty().into_response(false);
    }
    if method != Method::POST && method != Method::PUT {
        let wants_gzip = incoming::accepts_gzip(request.headers());
        return Reply::invalid_method().into_response(wants_gzip);
    }
    receive_any(app, request, answer).await
}

/// As [`receive`], whatever the method.
pub async fn receive_any(app: Arc<App>, request: Request, answer: Answerer) -> Response {
    let (mut parts, body) = request.into_parts();
    let wants_gzip = incoming::accepts_gzip(&parts.headers);
    let peer = parts.extensions.remove::<ConnectInfo<Peer>>();
    let reply = match to_bytes(body, incoming::BODY_LEN_MAX).await {
        Ok(body) => match Incoming::new(parts.headers, parts.uri.query(), body) {
            Ok(incoming) => {
                let incoming = incoming.with_method(parts.method).with_client(address_of(&peer));
                run(&app, peer, &incoming, answer)
            }
            Err(message) => Reply::invalid_request(&message),
        },
        Err(error) => Reply::invalid_request(&format!("while reading the body: {error}")),
    };
    reply.into_response(wants_gzip)
}

/// Where a request comes from.
pub fn address_of(peer: &Option<ConnectInfo<Peer>>) -> Option<IpAddr> {
    peer.as_ref().map(|ConnectInfo(peer)| peer.address)
}

/// Answers on this thread, which other connections leave for another one meanwhile: that costs
/// less than to hand the request over, and a long query holds up nobody. A query is cancelled when
/// its client goes away or the server stops.
pub fn run(
    app: &App,
    peer: Option<ConnectInfo<Peer>>,
    incoming: &Incoming,
    answer: Answerer,
) -> Reply {
    let timeout = match incoming.timeout() {
        Ok(timeout) => timeout,
        Err(message) => return Reply::invalid_request(&message),
    };
    task::block_in_place(|| {
        let mut control = Control::new();
        if let Some(timeout) = timeout {
            control = control.with_timeout(timeout);
        }
        let stopping = app.stopping.clone();
        control = control.with_poll(move || {
            let is_gone = peer.as_ref().is_some_and(|ConnectInfo(peer)| peer.is_gone());
            is_gone || stopping.check().is_err()
        });
        answer(app, incoming, &control)
    })
}
