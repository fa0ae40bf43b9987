//! Takes connections and answers what comes on them, until the server ends.
//!
//! hyper reads requests and writes answers; what it leaves open is here: how many connections there may be, how long
//! each may take, and what happens when the system has no descriptors left. A refusal is told on the connection and,
//! at most once a second, in the log.

use super::connection_options::ConnectionOptions;
use super::phase::{Line, Peer};
use super::seats::Seats;
use super::timed_body::{TimedBody, Told, Verdict};
use super::timed_stream::Stream;
use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderValue, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, sleep, timeout};
use tower::ServiceExt;

/// The size of the read buffer of a connection, in bytes; it bounds the head of a request too.
const BUFFER_LEN_MAX: usize = 128 << 10;

/// The number of connections that are being refused with an answer at the same time; further ones are closed without one.
const REFUSED_MOST: usize = 32;

/// The time for which a refused connection is kept open, so that the client can read the answer.
const REFUSED_FOR: Duration = Duration::from_millis(250);

/// The first and the longest pause in accepting after the system had no descriptor left.
const PAUSES: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(500));

/// The state that all connections share.
struct House {
    router: Router,
    options: ConnectionOptions,
    seats: Arc<Seats>,
    most: usize,
    /// Permits for connections that are refused with an answer.
    refused: Arc<Semaphore>,
    /// Becomes true when the server ends.
    ending: watch::Receiver<bool>,
}

/// Accepts connections and answers requests with `router` until `end` returns; then waits for the requests under way.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    options: ConnectionOptions,
    end: impl Future<Output = ()>,
) {
    let most = options.seats();
    let (closing, ending) = watch::channel(false);
    let refused = Arc::new(Semaphore::new(REFUSED_MOST));
    let seats = Arc::new(Seats::new(most));
    let house = Arc::new(House { router, options, seats, most, refused, ending });
    tokio::pin!(end);
    let mut log = Log::default();
    let mut pause = PAUSES.0;
    loop {
        let accepted = tokio::select! {
            () = &mut end => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((socket, address)) => {
                pause = PAUSES.0;
                admit(&house, socket, address, &mut log).await;
            }
            // The client is gone already.
            Err(error) if is_of_client(&error) => {}
            Err(error) => {
                log.say(&format!(
                    "no connection can be accepted: {error}; those that are there go on"
                ));
                tokio::select! {
                    () = &mut end => break,
                    () = sleep(pause) => {}
                }
                pause = (pause * 2).min(PAUSES.1);
            }
        }
    }
    drop((listener, house));
    closing.send_replace(true);
    closing.closed().await;
}

/// Gives a connection its seat and a task, or refuses it.
async fn admit(house: &Arc<House>, socket: TcpStream, address: SocketAddr, log: &mut Log) {
    match house.seats.take().await {
        Some(seat) => {
            let house = Arc::clone(house);
            tokio::spawn(attend(house, socket, address, seat));
        }
        None => {
            let most = house.most;
            log.say(&format!(
                "{address} is refused: there are {most} connections (setting `connection most`, \
                 as far as there are descriptors)"
            ));
            if let Ok(place) = Arc::clone(&house.refused).try_acquire_owned() {
                tokio::spawn(async move {
                    // Who does not listen is closed like the others.
                    let _ = timeout(REFUSED_FOR, refuse(socket, most)).await;
                    drop(place);
                });
            }
        }
    }
}

/// Answers that the server has no seat, and waits for the client to read it.
async fn refuse(mut socket: TcpStream, most: usize) -> io::Result<()> {
    let body = format!(
        r#"{{"errors":[{{"message":"the server has {most} connections, which is its most (setting `connection most`): try again later","extensions":{{"code":"ErrorUnavailable"}}}}]}}"#
    );
    let length = body.len();
    let head = "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\nconnection: close\r\n";
    socket.write_all(format!("{head}content-length: {length}\r\n\r\n{body}").as_bytes()).await?;
    socket.shutdown().await?;
    let mut rest = [0; 4096];
    while 0 < socket.read(&mut rest).await? {}
    Ok(())
}

/// Serves one connection until it is closed.
async fn attend(
    house: Arc<House>,
    socket: TcpStream,
    address: SocketAddr,
    seat: OwnedSemaphorePermit,
) {
    // Without this an answer may wait 40 ms for the client's acknowledgement. Where it can't be had the
    // answers are only slower.
    let _ = socket.set_nodelay(true);
    let (socket, line) = (Arc::new(socket), Arc::new(Line::new()));
    let _listed = house.seats.list(Arc::clone(&line));
    let peer = Peer::new(Arc::clone(&socket), address.ip());
    let stream = Stream::new(socket, Arc::clone(&line), &house.options, seat);
    let mut ending = house.ending.clone();
    let service =
        service_fn(|request| answer(Arc::clone(&house), Arc::clone(&line), peer.clone(), request));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        // hyper counts from when it begins to wait, so this is for connections that are idle.
        .header_read_timeout(house.options.idle)
        .max_buf_size(BUFFER_LEN_MAX)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    tokio::pin!(connection);
    tokio::select! {
        // What ends a connection badly is the client's doing, and it is not there to be told.
        _ = connection.as_mut() => return,
        () = line.leave.notified() => return,
        _ = ending.wait_for(|ending| *ending) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

async fn answer(
    house: Arc<House>,
    line: Arc<Line>,
    peer: Peer,
    request: Request<Incoming>,
) -> Result<Response<Told>, Infallible> {
    line.begin();
    let verdict = Verdict::default();
    let (mut parts, body) = request.into_parts();
    parts.extensions.insert(ConnectInfo(peer));
    let body = TimedBody::new(body, &house.options, Arc::clone(&verdict));
    let request = Request::from_parts(parts, Body::new(body));
    let Ok(mut response) = house.router.clone().oneshot(request).await;
    if verdict.get().is_some() {
        *response.status_mut() = StatusCode::REQUEST_TIMEOUT;
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    let stays = response.status() != StatusCode::SWITCHING_PROTOCOLS;
    Ok(response.map(|body| Told::new(body, stays.then_some(line))))
}

/// Whether accepting failed because of that one connection, so that the next one may succeed.
fn is_of_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// Logs a message for the operator, at most once a second.
#[derive(Default)]
struct Log {
    last: Option<Instant>,
    kept: u64,
}

impl Log {
    fn say(&mut self, message: &str) {
        if self.last.is_some_and(|last| last.elapsed() < Duration::from_secs(1)) {
            self.kept += 1;
            return;
        }
        match self.kept {
            0 => eprintln!("{message}"),
            kept => eprintln!("{message} ({kept} more since the last line)"),
        }
        (self.last, self.kept) = (Some(Instant::now()), 0);
    }
}
