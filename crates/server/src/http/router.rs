//! From the table of routes to a router, and what all requests have in common.

use super::admission::{Asked, Lanes, OVERLOADED, Overloaded, likeness};
use super::connections::Peer;
use super::graphql::Feeds;
use super::routes::{ROUTES, Role, Route, Work};
use super::{admission, graphql};
use crate::http::guard::origins;
use crate::http::guard::security::Security;
use crate::http::guard::switches::Switches;
use crate::http::message::incoming;
use crate::http::message::incoming::{Bodies, Incoming, Unreadable};
use crate::http::message::reply::Reply;
use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::any;
use hexgraph::db::graphql::{Folder, Tasks};
use hexgraph::db::{Canceller, Control, Database, guarded};
use hexgraph_base::types::Error;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Semaphore;
use tokio::task;

/// What every request may use.
pub(super) struct App {
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
    /// Places for answers that are written while they are sent.
    pub streams: Arc<Semaphore>,
    /// What bodies draw of.
    pub bodies: Bodies,
    /// Which requests run, and which wait.
    pub lanes: Arc<Lanes>,
    /// What an operator may switch.
    pub switches: Arc<Switches>,
    /// What requests had begun that take longer than they.
    pub tasks: Arc<Tasks>,
    /// Fails its check once the server is stopped.
    pub stopping: Canceller,
}

impl App {
    /// True once requests that run have to end.
    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.check().is_err()
    }
}

/// Answers one request. Runs where it may take its time.
pub(super) type Answerer = fn(&App, &Incoming, &Control) -> Reply;

/// What answers all requests: those that the table of routes has, and nothing else.
pub(super) fn router(app: App) -> Router {
    let app = Arc::new(app);
    let mut router = Router::new();
    for route in ROUTES {
        let serve = move |State(app): State<Arc<App>>, request: Request| serve(app, route, request);
        router = router.route(route.path, any(serve).layer(origins::layer(&app, route)));
    }
    let nothing = |State(app): State<Arc<App>>, request: Request| async move {
        let keys = &app.security.keys;
        let refusal = keys.refusal(Role::Client, request.headers());
        let reply = refusal.unwrap_or_else(Reply::not_found);
        without_the_body(reply, &request)
    };
    let guard = from_fn_with_state(Arc::clone(&app), guard);
    router.fallback(nothing).layer(guard).with_state(app)
}

/// Lets through what no page of a foreign origin asks. Answers OPTIONS, too, but for what browsers ask before they send
/// a request of a page: that goes on to [`origins::layer`], which answers it. So no OPTIONS comes to a route.
async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let (headers, method) = (request.headers(), request.method());
    if let Some(refusal) = app.security.origins.refusal(&app, (headers, request.uri())) {
        return without_the_body(refusal, &request);
    }
    if method != Method::OPTIONS || origins::is_preflight(method, headers) {
        return next.run(request).await;
    }
    let route = Route::of(request.uri().path());
    let role = route.map_or(Role::Client, |route| route.role);
    let reply = match (app.security.keys.refusal(role, headers), route) {
        (Some(refusal), _) => refusal,
        (None, None) => Reply::not_found(),
        (None, Some(route)) => Reply::empty().with_header("allow", route.allow()),
    };
    without_the_body(reply, &request)
}

/// Answers a request whose body nobody read: the client is told that the connection ends with it.
fn without_the_body(reply: Reply, request: &Request) -> Response {
    match request.body().is_end_stream() {
        true => reply.into_response(false),
        false => reply.with_header("connection", "close").into_response(false),
    }
}

/// Has a request carried out that may be, by the table.
async fn serve(app: Arc<App>, route: &'static Route, request: Request) -> Response {
    if let Some(refusal) = refusal(&app, route, &request) {
        return without_the_body(refusal, &request);
    }
    match route.work {
        Work::Answer(answer) => receive(app, route, request, answer).await,
        Work::AtOnce(answer) => answer(&app, request.uri().query()).into_response(false),
        Work::Graphql => graphql::receive(app, route, request).await,
        Work::Admin => graphql::receive_admin(app, route, request).await,
    }
}

/// Why a request is not carried out; `None` when it is.
fn refusal(app: &App, route: &Route, request: &Request) -> Option<Reply> {
    let method = request.method();
    if let Some(refusal) = app.security.keys.refusal(route.role, request.headers()) {
        return Some(refusal);
    }
    if !route.has(method) {
        let reply = match route.work {
            Work::Graphql => graphql::wrong_method(),
            _ => Reply::invalid_method(),
        };
        return Some(reply.with_status(route.wrong_method).with_header("allow", route.allow()));
    }
    let refusal = app.security.origins.get_refusal().filter(|_| route.changes_by_get(method))?;
    let reply = Reply::errors(refusal, "ErrorInvalidMethod");
    Some(reply.with_status(StatusCode::METHOD_NOT_ALLOWED).with_header("allow", "POST, OPTIONS"))
}

/// There are no users, so none is known.
pub(super) fn log_in(_app: &App, _incoming: &Incoming, _control: &Control) -> Reply {
    Reply::internal_error("invalid username or password")
}

/// Reads a request, and answers it.
async fn receive(
    app: Arc<App>,
    route: &'static Route,
    request: Request,
    answer: Answerer,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let peer = parts.extensions.remove::<ConnectInfo<Peer>>();
    let wants_gzip = incoming::accepts_gzip(&parts.headers);
    let reply = match received(&app, route, (parts, body), &peer).await {
        Ok(incoming) => run(&app, peer, incoming, answer).await,
        Err(Unreadable::Wrong(message)) => Reply::invalid_request(&message),
        Err(Unreadable::Starved(error)) => Reply::failed(&error).later(),
    };
    packed(reply, wants_gzip)
}

/// A request with its body, which is as long as the route lets it be. A packed one is unpacked when it is its turn: that is
/// work as any other.
pub(super) async fn received(
    app: &Arc<App>,
    route: &Route,
    (parts, body): (Parts, Body),
    peer: &Option<ConnectInfo<Peer>>,
) -> Result<Incoming, Unreadable> {
    let (method, parameters) = (parts.method, parts.uri.query());
    let limits = *app.database.limits();
    let most = route.body_len_max.min(usize::try_from(limits.body).unwrap_or(usize::MAX));
    let incoming = Incoming::receive(&app.bodies, parts.headers, parameters, (body, most)).await?;
    let incoming = incoming.with_method(method).with_client(address_of(peer));
    if !incoming.is_packed() {
        return Ok(incoming);
    }
    let body_len = incoming.bytes().len();
    let kind = likeness(most, "packed", incoming.bytes());
    let asked = Asked { client: app.security.client_of(&incoming), kind, body_len };
    let work = move |control: Control| {
        control.set_limits(limits);
        incoming.unpacked(most, &control)
    };
    let done = admission::carry_out(&app.lanes, asked, wanted(app, peer), work).await;
    done.unwrap_or_else(|Overloaded| {
        Err(Unreadable::Starved(Error::Limit { message: OVERLOADED.to_owned() }))
    })
}

/// Says whether a client is there still, and the server goes on.
fn wanted(
    app: &App,
    peer: &Option<ConnectInfo<Peer>>,
) -> impl Fn() -> bool + Send + Sync + Clone + 'static {
    let (peer, stopping) = (peer.clone(), app.stopping.clone());
    move || {
        let is_gone = peer.as_ref().is_some_and(|ConnectInfo(peer)| peer.is_gone());
        !is_gone && stopping.check().is_ok()
    }
}

/// An answer, packed where it is to be, which holds up no other connection either.
pub(super) fn packed(reply: Reply, wants_gzip: bool) -> Response {
    match wants_gzip {
        true => task::block_in_place(|| reply.into_response(true)),
        false => reply.into_response(false),
    }
}

/// Where a request comes from.
pub(super) fn address_of(peer: &Option<ConnectInfo<Peer>>) -> Option<IpAddr> {
    peer.as_ref().map(|ConnectInfo(peer)| peer.address)
}

/// Answers on a thread where it may take its time, as soon as there is room for it. A request is cancelled when its
/// client goes away or the server stops.
pub(super) async fn run(
    app: &Arc<App>,
    peer: Option<ConnectInfo<Peer>>,
    incoming: Incoming,
    answer: Answerer,
) -> Reply {
    let timeout = match incoming.timeout() {
        Ok(timeout) => timeout,
        Err(message) => return Reply::invalid_request(&message),
    };
    let asked = Asked {
        client: app.security.client_of(&incoming),
        kind: likeness(answer as usize, incoming.parameter("query"), incoming.bytes()),
        body_len: incoming.bytes().len(),
    };
    let is_wanted = wanted(app, &peer);
    let there = Arc::clone(app);
    let work = move |mut control: Control| {
        if let Some(timeout) = timeout {
            control = control.with_timeout(timeout);
        }
        if let Some(share) = incoming.share() {
            control = control.with_share(Arc::clone(share));
        }
        let done = guarded(|| Ok(answer(&there, &incoming, &control)));
        let reply = done.unwrap_or_else(|error| Reply::error(&error));
        // Where others have the memory that it needs, it may succeed when they are done.
        let reply = if control.is_starved() { reply.later() } else { reply };
        reply.with_share(control.share())
    };
    let done = admission::carry_out(&app.lanes, asked, is_wanted, work).await;
    done.unwrap_or_else(|Overloaded| Reply::overloaded())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::header;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;
    use std::time::Duration;
    use tokio::runtime::Builder;

    const LEN: usize = 8 << 20;

    fn app() -> App {
        let control = Control::new();
        let database = Database::in_memory();
        App {
            bodies: Bodies::new(database.budget()),
            database,
            address: SocketAddr::from(([127, 0, 0, 1], 1)),
            started: Instant::now(),
            prints_slow: false,
            feeds: Arc::new(Feeds::new(graphql::SubscribeOptions::default())),
            security: Security::default(),
            exports: None,
            streams: Arc::new(Semaphore::new(1)),
            lanes: Arc::new(Lanes::new(admission::AdmissionOptions::default())),
            switches: Arc::default(),
            tasks: Arc::default(),
            stopping: control.canceller(),
        }
    }

    fn long_answer(_app: &App, incoming: &Incoming, _control: &Control) -> Reply {
        assert_eq!(incoming.bytes().len(), LEN);
        Reply::json(incoming.bytes().to_vec())
    }

    /// With a single thread for all connections another task goes on while a body is unpacked and an answer packed.
    #[test]
    fn packing_holds_up_nobody() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&vec![b' '; LEN]).unwrap();
        let body = encoder.finish().unwrap();
        let request = Request::post("/query")
            .header(header::CONTENT_ENCODING, "gzip")
            .header(header::ACCEPT_ENCODING, "gzip")
            .body(Body::from(body))
            .unwrap();
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let route = Route::of("/query").unwrap();
        let (took, turns) = runtime.block_on(async move {
            let turns = Arc::new(std::sync::Mutex::new(0_u32));
            let count = Arc::clone(&turns);
            let other = tokio::spawn(async move {
                loop {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    *count.lock().unwrap() += 1;
                }
            });
            let started = Instant::now();
            let answered = tokio::spawn(async move {
                let response = receive(Arc::new(app()), route, request, long_answer).await;
                assert_eq!(response.headers()[header::CONTENT_ENCODING], "gzip");
            });
            answered.await.unwrap();
            other.abort();
            let turns = *turns.lock().unwrap();
            (started.elapsed(), turns)
        });
        assert!(took > Duration::from_millis(8), "too little to tell: {took:?}");
        assert!(turns > 2, "the other task ran {turns} times within {took:?}");
    }
}
