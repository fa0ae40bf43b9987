//! From a call to its answer: the body is received, is queued, is decompressed and decoded, and
//! executed.

use super::audited_call::audited_call;
use super::call::{Call, CallAnswer};
use super::deadline::timeout_of;
use super::dialect::CallFraming;
use super::frame::{HEAD_LEN, message_of};
use super::methods::weight::message_weight;
use super::sent_message::SentMessage;
use super::status::{Code, Status};
use crate::http::admission::{OVERLOADED, Overloaded, likeness};
use crate::http::answering;
use crate::http::answering::{Running, address_of};
use crate::http::app::App;
use crate::http::audit::Slot;
use crate::http::connections::Peer;
use crate::http::message::incoming::{Incoming, Unreadable};
use crate::http::message::reply::Reply;
use crate::http::message::request_error::RequestError;
use crate::http::metrics::Refused;
use crate::http::route::{Route, Scheduling};
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use hexgraph::db::{RequestContext, guarded};
use hexgraph_base::budget::Reservation;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time;

/// Answers below this length release their reservation.
const RESERVED_ANSWER_MIN: usize = 4 << 10;

/// What a call ended with.
struct Done {
    answer: CallAnswer,
    reservation: Option<Arc<Reservation>>,
}

/// Receives a call and answers it, in the time that its client waits.
pub(in crate::http) async fn receive(
    app: Arc<App>,
    route: &'static Route,
    request: Request,
    (call, scheduling): (Call, Scheduling),
) -> Response {
    let Some(dialect) = CallFraming::of(request.headers()) else {
        let message = "Unsupported Content-Type. Calls are of application/grpc, application/grpc-web or application/grpc-web-text";
        return Reply::invalid_request(message)
            .with_status(StatusCode::UNSUPPORTED_MEDIA_TYPE)
            .into_response(None);
    };
    let done = match timeout_of(request.headers()) {
        Ok(timeout) => {
            let work = execute(&app, route, (dialect, request), (call, scheduling), timeout);
            match timeout {
                Some(timeout) => {
                    // What was begun notices that nobody waits for it.
                    time::timeout(timeout, work).await.unwrap_or_else(|_| Err(overdue(timeout)))
                }
                None => work.await,
            }
        }
        Err(status) => Err(status),
    };
    match done {
        Ok(Done { answer, reservation }) => answered(dialect, answer, reservation),
        Err(status) => failed(dialect, &status),
    }
}

/// Answers a call with what refuses it before anything of it is read.
pub(in crate::http) fn refused(reply: &Reply, headers: &HeaderMap) -> Option<Response> {
    let dialect = CallFraming::of(headers)?;
    let status = Status::of_http(reply.status(), reply.message());
    Some(failed(dialect, &status.counted_as(reply.refusal())))
}

fn overdue(timeout: Duration) -> Status {
    let message = format!("context deadline exceeded: the call had {timeout:?}");
    Status::new(Code::DeadlineExceeded, message)
}

async fn execute(
    app: &Arc<App>,
    route: &Route,
    (dialect, request): (CallFraming, Request),
    (call, scheduling): (Call, Scheduling),
    timeout: Option<Duration>,
) -> Result<Done, Status> {
    let (mut parts, body) = request.into_parts();
    let peer = parts.extensions.remove::<ConnectInfo<Peer>>();
    let slot = parts.extensions.remove::<Slot>();
    let limit = app.unguarded.limits().body;
    let most = route.body_len_max.min(usize::try_from(limit).unwrap_or(usize::MAX));
    let framed = match dialect {
        CallFraming::Grpc | CallFraming::Web => most.saturating_add(HEAD_LEN),
        // Base64 has four bytes for each three that are begun.
        CallFraming::WebText => (most.saturating_add(HEAD_LEN) / 3 + 1).saturating_mul(4),
    };
    let incoming = Incoming::receive(&app.bodies, parts.headers, None, (body, framed)).await;
    let incoming = incoming.map_err(|why| Status::unreadable(&bounded(why, most)))?;
    let incoming = incoming.with_client(address_of(peer.as_ref()));
    if scheduling == Scheduling::AtOnce {
        let control = RequestContext::new();
        return read_and_call(app, incoming, (dialect, most), (call, route.path, slot), &control);
    }
    let kind = likeness(call as usize, "", incoming.bytes());
    let running = Running { peer, kind, timeout, since: None };
    let path = route.path;
    let work = move |app: &App, incoming: Incoming, control: &RequestContext| {
        let started = Instant::now();
        let call = (call, path, slot);
        let done = guarded(|| Ok(read_and_call(app, incoming, (dialect, most), call, control)));
        let done = done.unwrap_or_else(|error| Err(Status::of(&error)));
        let limit = timeout.or(app.unguarded.limits().timeout);
        done.map_err(|status| match status.code {
            Code::ResourceExhausted if limit.is_some_and(|it| it <= started.elapsed()) => {
                Status { code: Code::DeadlineExceeded, ..status }
            }
            // Where others have the memory that it needs, it may succeed when they are done.
            Code::ResourceExhausted if control.is_starved() => {
                Status { code: Code::Unavailable, ..status }
            }
            _ => status,
        })
    };
    let done = answering::admitted(app, incoming, running, work).await;
    done.unwrap_or_else(|Overloaded| {
        Err(Status::new(Code::Unavailable, OVERLOADED).counted_as(Refused::ADMISSION))
    })
}

/// The bound that a client may know is the one without the frame.
fn bounded(why: Unreadable, most: usize) -> Unreadable {
    match why {
        Unreadable::Wrong(RequestError::LongBody { .. }) => {
            Unreadable::Wrong(RequestError::LongBody { most })
        }
        other => other,
    }
}

/// Reads the message of a request and executes its call.
fn read_and_call(
    app: &App,
    incoming: Incoming,
    (dialect, most): (CallFraming, usize),
    (call, path, slot): (Call, &str, Option<Slot>),
    control: &RequestContext,
) -> Result<Done, Status> {
    control.set_limits(*app.unguarded.limits());
    let incoming = message_of(dialect, incoming)?;
    if most < incoming.bytes().len() {
        let why = Unreadable::Wrong(RequestError::LongBody { most });
        return Err(Status::unreadable(&why));
    }
    let incoming = incoming.unpacked(most, control).map_err(|why| Status::unreadable(&why))?;
    // The audit log decodes the message too.
    let weight = message_weight(path, incoming.bytes());
    control.reserve(weight).map_err(|error| Status::of(&error))?;
    if let Some(slot) = slot {
        let _ = audited_call(path, &incoming).map(|reported| slot.set(reported));
    }
    let answer = call(app, &incoming, control)?;
    let length: usize = answer.parts.iter().map(|part| part.len()).sum();
    let reservation = control.reservation().filter(|_| RESERVED_ANSWER_MIN < length).cloned();
    if let Some(reservation) = &reservation {
        reservation.retain_only(length as u64);
    }
    Ok(Done { answer, reservation })
}

fn answered(
    dialect: CallFraming,
    answer: CallAnswer,
    reservation: Option<Arc<Reservation>>,
) -> Response {
    let body = SentMessage::new(dialect, answer.parts, reservation);
    let mut response = Response::new(Body::new(body));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(dialect.content_type()));
    if let Some(touched) = answer.touched {
        headers.insert("dgraph-toucheduids", HeaderValue::from(touched));
    }
    response
}

/// The answer that is only a status.
fn failed(dialect: CallFraming, status: &Status) -> Response {
    let mut response = Response::new(Body::empty());
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(dialect.content_type()));
    headers.insert("grpc-status", status.code.number());
    headers.insert("grpc-message", status.header_message());
    if let Some(refused) = status.refused {
        response.extensions_mut().insert(refused);
    }
    response
}
