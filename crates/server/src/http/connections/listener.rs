//! Accepts connections and answers their requests until the server stops.
//!
//! hyper reads requests and writes answers; what it leaves open is here: how many connections there
//! may be, their timeouts, and what happens when the system has no descriptors left. A refusal is
//! reported on the connection and, at most once a second, in the log.

use super::connection_options::ConnectionOptions;
use super::handed_over::HandedOver;
use super::handshake::{REFUSED_FOR, refuse, shake_hands};
use super::lent_wire::{Home, LentWire};
use super::log::Log;
use super::phase::{Line, Peer, SHARED_START};
use super::slots::Slots;
use super::socket::{Caller, Listener, Socket};
use super::timed_body::{Report, TimedBody, Verdict};
use super::timed_stream::Stream;
use super::wire::Wire;
use crate::http::metrics::ServerMetrics;
use crate::http::tls::Certificates;
use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderValue, Request, Response, StatusCode, Version, header};
use hexgraph_base::budget::Budget;
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, sleep, timeout};
use tower::ServiceExt;

/// The size of the read buffer of a connection, in bytes; it bounds the head of a request too.
const BUFFER_LEN_MAX: usize = 128 << 10;

/// The most bytes of the head of a request in HTTP/2, counted as it does: each field has 32 more.
const HEAD_LEN_MAX: u32 = 32 << 10;

/// The number of requests that may run on one connection in HTTP/2.
const STREAMS_MAX: u32 = 100;

/// The bytes that a client in HTTP/2 may send before they are looked at, and that wait to be sent
/// for each answer.
const WINDOW_LEN: u32 = 256 << 10;

/// About how much is freed with the buffers of a connection in HTTP/1.1.
const BUFFERS_LEN: u64 = 24 << 10;

/// The number of connections that are being refused with an answer at the same time; further ones
/// are closed without one.
const REFUSED_MOST: usize = 32;

/// The time without a request after which a connection in HTTP/1.1 has no buffers, and that where
/// there are more of them than a crowd: thousands that come at once would all have theirs.
const AWAKE: Duration = Duration::from_secs(2);
const AWAKE_IN_CROWD: Duration = Duration::from_millis(500);
const CROWD: usize = 1000;

/// The first and the longest pause in accepting after the system had no descriptor left.
const PAUSES: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(500));

/// A listener, and what answers on its connections.
pub(crate) struct BoundListener {
    /// Where connections come in.
    pub listener: Listener,
    /// What answers requests.
    pub router: Router,
    /// By which TLS is spoken; without them connections are not encrypted.
    pub certificates: Option<Arc<Certificates>>,
}

/// The state common to all connections.
struct House {
    options: ConnectionOptions,
    slots: Arc<Slots>,
    most: usize,
    /// Permits for connections that are refused with an answer.
    refused: Arc<Semaphore>,
    /// Records the buffers that connections free: of thousands the allocator would retain the
    /// pages.
    budget: Budget,
    metrics: Arc<ServerMetrics>,
    /// Becomes true when the server stops.
    ending: watch::Receiver<bool>,
}

impl House {
    /// The time without a request after which a connection that begins to wait now has no buffers.
    fn awake(&self) -> Duration {
        if CROWD < self.slots.used_count() { AWAKE_IN_CROWD } else { AWAKE }
    }
}

/// The common state of the connections of one listener.
struct Capacity {
    house: Arc<House>,
    router: Router,
    certificates: Option<Arc<Certificates>>,
    /// For errors of handshakes.
    log: Log,
}

/// Accepts connections at all listeners and answers requests until `end` returns; then waits for
/// running requests. All listeners use one set of connection slots.
pub(crate) async fn serve(
    listeners: Vec<BoundListener>,
    options: ConnectionOptions,
    (budget, metrics): (Budget, Arc<ServerMetrics>),
    end: impl Future<Output = ()>,
) {
    let most = options.slots();
    let (closing, ending) = watch::channel(false);
    let refused = Arc::new(Semaphore::new(REFUSED_MOST));
    let slots = Arc::new(Slots::new(most));
    let house = Arc::new(House { options, slots, most, refused, budget, metrics, ending });
    let listeners: Vec<_> = listeners
        .into_iter()
        .map(|listener| tokio::spawn(retain(listener, Arc::clone(&house))))
        .collect();
    end.await;
    // The listeners are closed with their tasks.
    for listener in listeners {
        listener.abort();
        let _ = listener.await;
    }
    // Each connection has a receiver by its room, as `house` has: `closed` returns when the last of
    // them is closed.
    drop(house);
    closing.send_replace(true);
    closing.closed().await;
}

/// Accepts connections at one listener.
async fn retain(port: BoundListener, house: Arc<House>) {
    let BoundListener { listener, router, certificates } = port;
    let log = Log::default();
    let capacity = Arc::new(Capacity { house, router, certificates, log });
    let log = Log::default();
    let mut pause = PAUSES.0;
    loop {
        match listener.accept().await {
            Ok((socket, caller)) => {
                pause = PAUSES.0;
                admit(&capacity, socket, caller, &log).await;
            }
            // The client is gone already.
            Err(error) if is_of_client(&error) => {}
            Err(error) => {
                log.say(&format!(
                    "no connection can be accepted: {error}; those that are there go on"
                ));
                sleep(pause).await;
                pause = (pause * 2).min(PAUSES.1);
            }
        }
    }
}

/// Gives a connection its connection slot and a task, or refuses it.
async fn admit(capacity: &Arc<Capacity>, socket: Socket, caller: Caller, log: &Log) {
    let house = &capacity.house;
    match house.slots.take().await {
        Some(slot) => {
            tokio::spawn(attend(Arc::clone(capacity), socket, caller, slot));
        }
        None => {
            let most = house.most;
            house.metrics.connections_refused();
            log.say(&format!(
                "{caller} is refused: there are {most} connections (setting `connection most`, \
                 as far as there are descriptors)"
            ));
            // A handshake costs more than an answer, so where TLS is spoken the connection is only
            // closed.
            if capacity.certificates.is_none()
                && let Ok(position) = Arc::clone(&house.refused).try_acquire_owned()
            {
                tokio::spawn(async move {
                    // Who does not listen is closed like the others.
                    let _ = timeout(REFUSED_FOR, refuse_connection(socket, most)).await;
                    drop(position);
                });
            }
        }
    }
}

/// Answers that the server has no connection slot, and waits for the client to read it.
async fn refuse_connection(socket: Socket, most: usize) -> io::Result<()> {
    let body = format!(
        r#"{{"errors":[{{"message":"the server has {most} connections, which is its most (setting `connection most`): try again later","extensions":{{"code":"ErrorUnavailable"}}}}]}}"#
    );
    const STATUS: &str = "503 Service Unavailable";
    match socket {
        Socket::Tcp(stream) => refuse(stream, STATUS, &body).await,
        #[cfg(unix)]
        Socket::Unix(stream) => refuse(stream, STATUS, &body).await,
    }
}

/// Serves one connection until it is closed.
async fn attend(
    capacity: Arc<Capacity>,
    socket: Socket,
    caller: Caller,
    slot: OwnedSemaphorePermit,
) {
    socket.hurry();
    let (socket, line) = (Arc::new(socket), Arc::new(Line::new()));
    let house = &capacity.house;
    let _open = house.metrics.connected();
    // With the socket, for which a protocol that it is handed over to may hold the connection slot.
    let slot = (slot, house.slots.list(Arc::clone(&line)));
    let peer = Peer::new(&socket, caller.ip());
    let stream = Stream::new(socket, Arc::clone(&line), &house.options, slot);
    let mut ending = house.ending.clone();
    let wire = tokio::select! {
        // Without TLS it is there at once.
        biased;
        wire = Box::pin(open(&capacity, &line, stream, caller)) => wire,
        () = line.leave.notified() => None,
        _ = ending.wait_for(|ending| *ending) => None,
    };
    match wire {
        Some((wire, Spoken::Http1)) => attend_http1(&capacity, &line, peer, wire).await,
        // Boxed, or each idle connection would have space for what serves it.
        Some((wire, Spoken::Http2)) => Box::pin(attend_http2(&capacity, &line, peer, wire)).await,
        None => {}
    }
}

/// The version of HTTP that a connection speaks.
enum Spoken {
    Http1,
    Http2,
}

/// Begins to encrypt a connection, at a listener where that is done, and finds out which version of
/// HTTP its client speaks; `None` if it came to nothing. With TLS both have agreed on the version,
/// or the client says by its first bytes that it is the second, as it does without TLS.
async fn open(
    capacity: &Capacity,
    line: &Arc<Line>,
    mut stream: Stream,
    caller: Caller,
) -> Option<(Wire, Spoken)> {
    let line = Arc::clone(line);
    let Some(certificates) = &capacity.certificates else {
        let spoken = match stream.begins_with(SHARED_START).await.ok()? {
            true => Spoken::Http2,
            false => Spoken::Http1,
        };
        return Some((Wire::plain(stream, line), spoken));
    };
    match shake_hands(certificates.acceptor(), stream).await {
        Ok(stream) => {
            let wire = Wire::encrypted(stream, line);
            let spoken = if wire.has_agreed_on_http1() { Spoken::Http1 } else { Spoken::Http2 };
            Some((wire, spoken))
        }
        Err(reason) => {
            if let Some(reason) = reason {
                capacity.log.say(&format!("{caller} is refused: {reason}"));
            }
            None
        }
    }
}

/// Serves a connection in HTTP/1.1. What serves it has buffers of 16 kB; so a connection that has
/// been idle for a while is left without, until something comes.
async fn attend_http1(capacity: &Arc<Capacity>, line: &Arc<Line>, peer: Peer, mut wire: Wire) {
    let home = Home::default();
    loop {
        // Boxed, so that nothing of it is left while the connection rests: next to long-lived data
        // the allocator could free none of the pages of its buffers.
        let awake = Box::pin(attend_awake(capacity, line, &peer, home.lend(wire)));
        let may_rest = awake.await;
        let Some(back) = home.take().filter(|_| may_rest) else { return };
        wire = back;
        capacity.house.budget.note_freed(BUFFERS_LEN);
        let waited = line.clean_idle().map_or(AWAKE, |since| since.elapsed());
        let rest = capacity.house.options.idle.saturating_sub(waited);
        let mut ending = capacity.house.ending.clone();
        tokio::select! {
            readable = timeout(rest, wire.readable()) => if !matches!(readable, Ok(Ok(()))) { return },
            () = line.leave.notified() => return,
            _ = ending.wait_for(|ending| *ending) => return,
        }
    }
}

/// Serves a connection in HTTP/1.1 until it has been idle for a while: then true is returned. False
/// is the end.
async fn attend_awake(
    capacity: &Arc<Capacity>,
    line: &Arc<Line>,
    peer: &Peer,
    wire: LentWire,
) -> bool {
    let service =
        service_fn(|request| answer(Arc::clone(capacity), Arc::clone(line), peer.clone(), request));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        // hyper counts from when it begins to wait, so this is for connections that are idle.
        .header_read_timeout(capacity.house.options.idle)
        .max_buf_size(BUFFER_LEN_MAX)
        .serve_connection(TokioIo::new(wire), service)
        .with_upgrades();
    tokio::pin!(connection);
    let mut ending = capacity.house.ending.clone();
    tokio::select! {
        // Arrived data are checked before timeouts.
        biased;
        // A broken connection is the client's doing, and the client can't be informed.
        _ = connection.as_mut() => return false,
        () = line.leave.notified() => return false,
        _ = ending.wait_for(|ending| *ending) => {}
        () = idle_for(capacity.house.awake(), || line.clean_idle()) => return true,
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
    false
}

/// Serves a connection in HTTP/2 where its client begins with that, else in HTTP/1.1.
async fn attend_http2(capacity: &Arc<Capacity>, line: &Arc<Line>, peer: Peer, wire: Wire) {
    let options = &capacity.house.options;
    let service = service_fn(|request| {
        let (capacity, line) = (Arc::clone(capacity), Arc::clone(line));
        answer(capacity, line, peer.clone(), request)
    });
    let builder = both_versions(options);
    let connection = builder.serve_connection_with_upgrades(TokioIo::new(wire), service);
    tokio::pin!(connection);
    let stalled = stalled(line, options);
    tokio::pin!(stalled);
    let mut ending = capacity.house.ending.clone();
    let has_to_end = tokio::select! {
        _ = connection.as_mut() => return,
        () = line.leave.notified() => return,
        () = stalled.as_mut() => return,
        () = idle_for(options.idle, || line.shared_idle()) => false,
        _ = ending.wait_for(|ending| *ending) => true,
    };
    connection.as_mut().graceful_shutdown();
    // When the server stops, running requests may finish. One that only was idle may be left by its
    // client within that of a stall.
    let patience = async {
        match has_to_end {
            true => std::future::pending().await,
            false => sleep(options.stall).await,
        }
    };
    tokio::select! {
        _ = connection.as_mut() => {}
        () = line.leave.notified() => {}
        () = stalled.as_mut() => {}
        () = patience => {}
    }
}

/// What serves a connection in HTTP/2 where its client begins with that, else in HTTP/1.1.
fn both_versions(options: &ConnectionOptions) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(options.idle)
        .max_buf_size(BUFFER_LEN_MAX);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(HEAD_LEN_MAX)
        .initial_stream_window_size(WINDOW_LEN)
        .initial_connection_window_size(WINDOW_LEN)
        .max_send_buf_size(WINDOW_LEN as usize)
        // Whether a client whose answer takes long is still there.
        .keep_alive_interval(options.stall)
        .keep_alive_timeout(options.stall);
    builder
}

/// Returns when a line has been idle for so long; `since` says since when it is.
async fn idle_for(idle: Duration, since: impl Fn() -> Option<Instant>) {
    loop {
        let rest = match since() {
            Some(since) => idle.saturating_sub(since.elapsed()),
            None => idle,
        };
        if rest.is_zero() {
            return;
        }
        sleep(rest).await;
    }
}

/// Returns when the client of a line reads too little of an answer.
async fn stalled(line: &Line, options: &ConnectionOptions) {
    loop {
        sleep(options.stall).await;
        if line.is_stalled(options.least()) {
            return;
        }
    }
}

async fn answer(
    capacity: Arc<Capacity>,
    line: Arc<Line>,
    peer: Peer,
    request: Request<Incoming>,
) -> Result<Response<Report>, Infallible> {
    // A body without a length has no known end.
    let begun = line.begin(request.body().size_hint().exact());
    let verdict = Verdict::default();
    let (mut parts, body) = request.into_parts();
    parts.extensions.insert(ConnectInfo(peer));
    if parts.headers.contains_key(header::UPGRADE) {
        parts.extensions.insert(HandedOver::new(line));
    }
    // HTTP/2 has the name of the server in the address. What looks at it finds it where HTTP/1.1
    // has it.
    if parts.version == Version::HTTP_2
        && !parts.headers.contains_key(header::HOST)
        && let Some(authority) = parts.uri.authority()
        && let Ok(host) = HeaderValue::from_str(authority.as_str())
    {
        parts.headers.insert(header::HOST, host);
    }
    let body = TimedBody::new(body, &capacity.house.options, Arc::clone(&verdict));
    let request = Request::from_parts(parts, Body::new(body));
    let Ok(mut response) = capacity.router.clone().oneshot(request).await;
    // A call has the end of its body in its own status.
    if verdict.get().is_some() && !response.headers().contains_key("grpc-status") {
        *response.status_mut() = StatusCode::REQUEST_TIMEOUT;
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    let request = match response.status() {
        StatusCode::SWITCHING_PROTOCOLS => {
            begun.mark_endless();
            None
        }
        _ => {
            begun.answered();
            Some(begun)
        }
    };
    Ok(response.map(|body| Report::new(body, request)))
}

/// Whether accepting failed because of that one connection, so that the next one may succeed.
fn is_of_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::{TcpListener, TcpStream};

    /// Thousands of idle connections need this and a few hundred bytes on the heap each.
    #[tokio::test]
    async fn the_task_of_a_connection_is_small() {
        let options = ConnectionOptions::default();
        let (_closing, ending) = watch::channel(false);
        let slots = Arc::new(Slots::new(1));
        let refused = Arc::new(Semaphore::new(1));
        let budget = Budget::new(1 << 20);
        let metrics = Arc::new(ServerMetrics::new());
        let house = Arc::new(House { options, slots, most: 1, refused, budget, metrics, ending });
        let slot = house.slots.take().await.unwrap();
        let log = Log::default();
        let capacity = Arc::new(Capacity { house, router: Router::new(), certificates: None, log });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (socket, address) = listener.accept().await.unwrap();
        let task = attend(capacity, Socket::Tcp(socket), Caller::At(address), slot);
        assert!(size_of_val(&task) <= 2048, "{} bytes", size_of_val(&task));
    }
}
