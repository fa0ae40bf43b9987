//! From a request to its response: its body is read and decompressed, it is queued, it is answered,
//! and the answer is compressed.

use super::admission;
use super::admission::{OVERLOADED, Overloaded, RequestedQuery, likeness};
use super::app::App;
use super::audit::{Slot, audited_text, without_literals};
use super::connections::Peer;
use super::route::{Answerer, Route};
use crate::http::message::coding::Coding;
use crate::http::message::incoming::{Incoming, Unreadable};
use crate::http::message::reply::Reply;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::http::request::Parts;
use axum::response::Response;
use hexgraph::db::{RequestContext, guarded};
use hexgraph_base::types::Error;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tokio::task;

/// Reads a request with its body, runs `answer`, and sends the reply, compressed if the client
/// accepts that.
pub(super) async fn receive(
    app: Arc<App>,
    route: &'static Route,
    request: Request,
    answer: Answerer,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let peer = parts.extensions.remove::<ConnectInfo<Peer>>();
    let coding = Coding::accepted(&parts.headers);
    let reply = match received(&app, route, (parts, body), &peer).await {
        Ok(incoming) => run(&app, peer, incoming, answer).await,
        Err(Unreadable::Wrong(error)) => Reply::invalid_request(&error).counted_as(error.refused()),
        Err(Unreadable::Starved(error)) => Reply::failed(&error).later(),
    };
    packed(reply, coding)
}

/// Receives the body of a request, bounded by what the route and the limit `body` allow. A
/// compressed body is decompressed under admission, since that takes computing time like any other
/// work.
///
/// # Errors
///
/// Errors of the body, or that there is no memory or no slot to decompress it.
pub(super) async fn received(
    app: &Arc<App>,
    route: &Route,
    (parts, body): (Parts, Body),
    peer: &Option<ConnectInfo<Peer>>,
) -> Result<Incoming, Unreadable> {
    let slot = parts.extensions.get::<Slot>().cloned();
    let incoming = received_full(app, route, (parts, body), peer).await?;
    if let Some(slot) = slot {
        let reported = || match incoming.bytes() {
            b"" => Some(without_literals(incoming.parameter("query"))),
            body => audited_text(route.path, &incoming.media_type(), body),
        };
        let reported = match incoming.bytes().len() {
            0..=READ_AT_ONCE_MAX => reported(),
            _ => task::block_in_place(reported),
        };
        // A request that is looked into twice is reported once.
        let _ = reported.filter(|reported| !reported.is_empty()).map(|reported| slot.set(reported));
    }
    Ok(incoming)
}

async fn received_full(
    app: &Arc<App>,
    route: &Route,
    (parts, body): (Parts, Body),
    peer: &Option<ConnectInfo<Peer>>,
) -> Result<Incoming, Unreadable> {
    let (method, parameters) = (parts.method, parts.uri.query());
    let limits = *app.unguarded.limits();
    let most = route.body_len_max.min(usize::try_from(limits.body).unwrap_or(usize::MAX));
    let incoming = Incoming::receive(&app.bodies, parts.headers, parameters, (body, most)).await?;
    let incoming = incoming.with_method(method).with_client(address_of(peer.as_ref()));
    // Without computing to do it needs no slot.
    if !incoming.is_packed() {
        return Ok(incoming);
    }
    let body_len = incoming.bytes().len();
    let kind = likeness(most, "packed", incoming.bytes());
    let requested = RequestedQuery {
        client: app.security.client_of(&app.unguarded, &incoming),
        kind,
        body_len,
    };
    let work = move |control: RequestContext| {
        control.set_limits(limits);
        incoming.unpacked(most, &control)
    };
    let done = admission::execute(&app.admission, requested, expected(app, peer), work).await;
    done.unwrap_or_else(|Overloaded| {
        Err(Unreadable::Starved(Error::Limit { message: OVERLOADED.to_owned() }))
    })
}

/// Returns a test whether the answer is still needed: the client is connected and the server is not
/// stopping.
fn expected(
    app: &App,
    peer: &Option<ConnectInfo<Peer>>,
) -> impl Fn() -> bool + Send + Sync + Clone + 'static {
    let (peer, stopping) = (peer.clone(), app.stopping.clone());
    move || {
        let is_gone = peer.as_ref().is_some_and(|ConnectInfo(peer)| peer.is_gone());
        !is_gone && stopping.check().is_ok()
    }
}

/// Converts a reply to a response, compressed optionally. Compression moves the other tasks of the
/// thread to another thread first, so it holds up no connection.
pub(super) fn packed(reply: Reply, coding: Option<Coding>) -> Response {
    match coding {
        Some(_) => task::block_in_place(|| reply.into_response(coding)),
        None => reply.into_response(None),
    }
}

/// The address of the client, if available.
pub(super) fn address_of(peer: Option<&ConnectInfo<Peer>>) -> Option<IpAddr> {
    peer.map(|ConnectInfo(peer)| peer.address)
}

/// The properties of a request that is to run.
pub(super) struct Running {
    /// Its client.
    pub peer: Option<ConnectInfo<Peer>>,
    /// The kind of the request, which says whether one like it was slow before.
    pub kind: u64,
    /// The timeout, if given.
    pub timeout: Option<Duration>,
    /// When that time began, where it is not now.
    pub since: Option<Instant>,
}

/// Runs `work` on a thread that may block, when admission lets the request in. It is cancelled when
/// its client goes away, the server stops, or the result is not needed any more. The reservation of
/// its control accounts for the memory of the request.
///
/// # Errors
///
/// [`Overloaded`] where it would have to wait for too long.
pub(super) async fn admitted<T: Send + 'static>(
    app: &Arc<App>,
    incoming: Incoming,
    Running { peer, kind, timeout, since }: Running,
    work: impl FnOnce(&App, Incoming, &RequestContext) -> T + Send + 'static,
) -> Result<T, Overloaded> {
    let client = app.security.client_of(&app.unguarded, &incoming);
    let requested = RequestedQuery { client, kind, body_len: incoming.bytes().len() };
    // Dropped with this future: where one connection has several requests, this cancels one of
    // them.
    let (waits, _waiting) = oneshot::channel::<()>();
    let (waits, is_there) = (Arc::new(waits), expected(app, &peer));
    let is_expected = move || !waits.is_closed() && is_there();
    let there = Arc::clone(app);
    let work = move |mut control: RequestContext| {
        if let Some(timeout) = timeout {
            control = control.with_timeout(timeout);
        }
        if let Some(since) = since {
            control = control.since(since);
        }
        if let Some(reservation) = incoming.reservation() {
            control = control.with_reservation(Arc::clone(reservation));
        }
        work(&there, incoming, &control)
    };
    admission::execute(&app.admission, requested, is_expected, work).await
}

/// Bodies up to this length are read where they have come, within a fraction of a millisecond.
/// Longer ones are queued.
pub(super) const READ_AT_ONCE_MAX: usize = 16 << 10;

/// Has a body read before the request is answered: at once where it is short, else when admission
/// lets it in, as any other work. Returns the request with what `read` gives.
///
/// # Errors
///
/// That the server has too much to do.
pub(super) async fn looked_into<T: Send + 'static>(
    app: &Arc<App>,
    peer: &Option<ConnectInfo<Peer>>,
    incoming: Incoming,
    read: impl FnOnce(&App, &Incoming) -> T + Send + 'static,
) -> Result<(Incoming, T), Unreadable> {
    if incoming.bytes().len() <= READ_AT_ONCE_MAX {
        let result = task::block_in_place(|| read(app, &incoming));
        return Ok((incoming, result));
    }
    let kind = likeness(READ_AT_ONCE_MAX, "read", incoming.bytes());
    let running = Running { peer: peer.clone(), kind, timeout: None, since: None };
    let work = move |app: &App, incoming: Incoming, _: &RequestContext| {
        let result = read(app, &incoming);
        (incoming, result)
    };
    let done = admitted(app, incoming, running, work).await;
    let overloaded = || Error::Limit { message: OVERLOADED.to_owned() };
    done.map_err(|Overloaded| Unreadable::Starved(overloaded()))
}

/// Runs `answer` as [`admitted`] does.
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
    let kind = likeness(answer as usize, incoming.parameter("query"), incoming.bytes());
    let running = Running { peer, kind, timeout, since: None };
    let work = move |app: &App, incoming: Incoming, control: &RequestContext| {
        let done = guarded(|| Ok(answer(app, &incoming, control)));
        let reply = done.unwrap_or_else(|error| Reply::error(&error));
        // Where others have the memory that it needs, it may succeed when they are done.
        let reply = if control.is_starved() { reply.later() } else { reply };
        reply.with_reservation(control.reservation())
    };
    let done = admitted(app, incoming, running, work).await;
    done.unwrap_or_else(|Overloaded| Reply::overloaded())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::admission::{AdmissionOptions, Queues};
    use crate::http::graphql::{Feeds, SubscribeOptions};
    use crate::http::guard::security::Security;
    use crate::http::logs::{LogOptions, RequestLog};
    use crate::http::message::incoming::Bodies;
    use crate::http::message::stream_slots::StreamSlots;
    use crate::http::metrics::ServerMetrics;
    use axum::http::header;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use hexgraph::db::Database;
    use std::io::Write;
    use tokio::runtime::Builder;

    const LEN: usize = 8 << 20;

    fn app() -> App {
        let control = RequestContext::new();
        let database = Database::in_memory();
        App {
            bodies: Bodies::new(database.budget()),
            unguarded: database,
            address: "127.0.0.1:1".to_owned(),
            started: Instant::now(),
            logs: RequestLog::new(LogOptions::default()),
            feeds: Arc::new(Feeds::new(SubscribeOptions::default())),
            security: Security::default(),
            exports: None,
            streams: Arc::new(StreamSlots::new(1)),
            admission: Arc::new(Queues::new(AdmissionOptions::default())),
            metrics: Arc::new(ServerMetrics::new()),
            switches: Arc::default(),
            tasks: Arc::default(),
            audit: None,
            stopping: control.canceller(),
        }
    }

    fn long_answer(_app: &App, incoming: &Incoming, _control: &RequestContext) -> Reply {
        assert_eq!(incoming.bytes().len(), LEN);
        Reply::json(incoming.bytes().to_vec())
    }

    /// With a single thread for all connections another task goes on while a body is decompressed
    /// and an answer compressed.
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
        let (elapsed, ticks) = runtime.block_on(async move {
            let ticks = Arc::new(std::sync::Mutex::new(0_u32));
            let count = Arc::clone(&ticks);
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
            let ticks = *ticks.lock().unwrap();
            (started.elapsed(), ticks)
        });
        assert!(elapsed > Duration::from_millis(8), "too short to compare: {elapsed:?}");
        assert!(ticks > 2, "the other task ran {ticks} times within {elapsed:?}");
    }
}
