//! Server-sent events: a response that goes on, with one operation, as `graphql-sse` has it with
//! distinct connections.

use crate::http::app::App;
use crate::http::graphql::subscribe::feed::{Delivery, Feed, Item, Job};
use crate::http::graphql::subscribe::feeds::Closing;
use crate::http::graphql::subscribe::scheduled::Asker;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use futures_util::stream;
use hexgraph::db::graphql::{Headers, Request, Response as GraphqlResponse};
use hexgraph_base::budget::Held;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::sleep;

/// How often a comment is sent, so that no proxy closes the connection.
const KEEP_ALIVE: Duration = Duration::from_secs(12);

/// Says which requests of a client are answered with server-sent events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Requested {
    /// No request is.
    Never,
    /// Only subscriptions are. The client accepts JSON as well, and some clients name both types
    /// with every request.
    ForSubscriptions,
    /// Every request is.
    Always,
}

/// Reads from the `Accept` header which requests are to be answered with server-sent events.
pub(crate) fn expects_events(headers: &HeaderMap) -> Requested {
    let accepted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    let accepted = accepted.unwrap_or_default().to_ascii_lowercase();
    let takes = |expected: &[&str]| {
        let mut types = accepted.split(',').map(|one| one.split(';').next().unwrap_or(one).trim());
        types.any(|name| expected.contains(&name))
    };
    let json = ["application/json", "application/graphql-response+json", "application/*", "*/*"];
    match (takes(&["text/event-stream"]), takes(&json)) {
        (false, _) => Requested::Never,
        (true, true) => Requested::ForSubscriptions,
        (true, false) => Requested::Always,
    }
}

/// Converts `response` to a stream of events with the answers to a request, for which memory is
/// held. Its other headers stay.
pub(crate) fn answer(
    app: &Arc<App>,
    request: Request,
    (headers, asker): (Headers, Asker),
    (mut response, held): (Response, Held),
) -> Response {
    let (out, deliveries) = mpsc::channel(1);
    let job = Job {
        id: "".into(),
        serial: 0,
        request,
        headers,
        asker,
        takes_all: true,
        held,
        // The line of the request is enough: it has one operation.
        logged: None,
    };
    let _feed = Feed::start(app, job, out);
    let closing = app.feeds.closing();
    let events = Events { deliveries, closing, permit: None, is_done: false, _feed };
    let body = stream::unfold(events, |mut events| async move {
        let bytes = events.next().await?;
        Some((Ok::<Bytes, Infallible>(bytes), events))
    });
    *response.body_mut() = Body::from_stream(body);
    let headers = response.headers_mut();
    headers.remove(header::CONTENT_LENGTH);
    for (name, value) in [
        (header::CONTENT_TYPE, "text/event-stream; charset=utf-8"),
        (header::CACHE_CONTROL, "no-cache"),
        (header::CONNECTION, "keep-alive"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// The state of a stream of events.
struct Events {
    deliveries: mpsc::Receiver<Delivery>,
    closing: Closing,
    /// The permit of the event before. That event has been written when the next one is requested.
    permit: Option<OwnedSemaphorePermit>,
    is_done: bool,
    _feed: Feed,
}

impl Events {
    /// The next event as text; `None` after the last.
    async fn next(&mut self) -> Option<Bytes> {
        if self.is_done {
            return None;
        }
        self.permit = None;
        let delivery = tokio::select! {
            biased;
            () = self.closing.wait() => None,
            delivery = self.deliveries.recv() => delivery,
            () = sleep(KEEP_ALIVE) => return Some(Bytes::from_static(b":\n\n")),
        };
        let (text, permit) = match delivery.map(|delivery| (delivery.item, delivery.permit)) {
            Some((Item::Next(json), permit)) => (event(&json), permit),
            Some((Item::Failed(faults), _)) => {
                self.is_done = true;
                let answer = event(&GraphqlResponse::refused(faults).to_json(""));
                ([answer, COMPLETE.to_vec()].concat(), None)
            }
            Some((Item::Complete, _)) | None => {
                self.is_done = true;
                (COMPLETE.to_vec(), None)
            }
        };
        self.permit = permit;
        Some(text.into())
    }
}

/// The last event. It has empty data, since browsers do not pass on an event without data.
const COMPLETE: &[u8] = b"event: complete\ndata:\n\n";

/// Returns the event of an answer, whose JSON has no line breaks.
fn event(answer: &[u8]) -> Vec<u8> {
    [b"event: next\ndata: ", answer, b"\n\n"].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_wants_events() {
        for (accepted, want) in [
            ("", Requested::Never),
            ("*/*", Requested::Never),
            ("text/event-stream", Requested::Always),
            ("Text/Event-Stream; charset=utf-8", Requested::Always),
            ("application/json, text/event-stream;q=0.5", Requested::ForSubscriptions),
            ("text/event-stream, */*", Requested::ForSubscriptions),
            ("text/event-streams", Requested::Never),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, accepted.parse().unwrap());
            assert_eq!(expects_events(&headers), want, "{accepted}");
        }
    }
}
