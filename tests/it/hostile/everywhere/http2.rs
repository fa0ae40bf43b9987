//! Requests in HTTP/2, by hyper: what comes back with them is read whole, trailers as well.

use super::door::{BoundListener, PATIENCE, Yard};
use axum::body::Body;
use axum::http::{HeaderMap, Request};
use http_body::Body as _;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::time::{Duration, Instant};
use tokio::runtime::Builder;
use tokio::time::{sleep, timeout};

/// What came back.
#[derive(Debug)]
pub struct Report {
    pub status: u16,
    /// The fields of the head, and of what comes after the body.
    pub fields: HeaderMap,
    pub body: Vec<u8>,
}

impl Report {
    /// A field of the head or the trailers; empty where there is none.
    pub fn field(&self, name: &str) -> &str {
        self.fields.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// Sends a request on a connection of its own.
pub fn ask(yard: &Yard, listener: BoundListener, request: Request<Body>) -> io::Result<Report> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let late = |_| io::Error::from(io::ErrorKind::TimedOut);
    runtime
        .block_on(async { timeout(PATIENCE, send(yard, listener, request)).await.map_err(late)? })
}

/// Sends a request and gives it up after a while: the stream is reset, or the connection closed.
/// Returns when that was.
pub fn give_up(
    yard: &Yard,
    listener: BoundListener,
    request: Request<Body>,
    (after, resets): (Duration, bool),
) -> Instant {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let reported = timeout(after, send(yard, listener, request)).await;
        assert!(reported.is_err(), "it was answered: {reported:?}");
        let left = Instant::now();
        if resets {
            // The connection goes on, and tells that the stream does not.
            sleep(Duration::from_millis(200)).await;
        }
        left
    })
}

async fn send(yard: &Yard, listener: BoundListener, request: Request<Body>) -> io::Result<Report> {
    let stream = yard.reach(listener).await?;
    let hello = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await;
    let (mut sender, connection) = hello.map_err(io::Error::other)?;
    tokio::spawn(connection);
    let response = sender.send_request(request).await.map_err(io::Error::other)?;
    let (parts, body) = response.into_parts();
    let mut reported =
        Report { status: parts.status.as_u16(), fields: parts.headers, body: Vec::new() };
    let mut body = pin!(body);
    while let Some(frame) = poll_fn(|context| body.as_mut().poll_frame(context)).await {
        let frame = frame.map_err(io::Error::other)?;
        match frame.into_data() {
            Ok(data) => reported.body.extend_from_slice(&data),
            Err(frame) => reported.fields.extend(frame.into_trailers().unwrap_or_default()),
        }
    }
    Ok(reported)
}
