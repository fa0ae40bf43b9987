//! `POST /query_many`: one query for each line of arguments, answered line by line.
//!
//! Lines are answered in rounds. A round has a slot in a pool of `admission`, like any other
//! request. It is over when its fragment of the answer is large enough, or its time is used up; the
//! next one begins when the client has read the fragment. So a client that reads nothing occupies
//! neither a thread nor a slot, and a million lines do not block other requests.

use crate::http::admission::{OVERLOADED, Overloaded, likeness};
use crate::http::answering::{Running, admitted, packed, received};
use crate::http::app::App;
use crate::http::connections::Peer;
use crate::http::message::coding::{Coding, Compressor};
use crate::http::message::incoming::{Incoming, Unreadable};
use crate::http::message::json_lines::{BYTES_PER_BYTE, JsonLine, LINES, LineReader};
use crate::http::message::reply::Reply;
use crate::http::message::request_error::RequestError;
use crate::http::route::Route;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, Request};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use futures_util::stream;
use hexgraph::db::{PreparedQuery, RequestContext, guarded};
use hexgraph_base::budget::{Held, json_weight};
use hexgraph_base::types::{Error, Result as EngineResult, bounded};
use serde_json::json;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A round is over when its fragment has so many bytes.
const CHUNK_LEN: usize = 64 << 10;

/// A round is over with the current line after this time.
const CHUNK_TIME: Duration = Duration::from_millis(50);

/// Answers a request, or begins to: what is longer than a fragment is computed while it is sent.
pub(in crate::http) async fn receive(
    app: Arc<App>,
    route: &'static Route,
    request: Request,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let peer = parts.extensions.remove::<ConnectInfo<Peer>>();
    let coding = Coding::accepted(&parts.headers);
    let packer = coding.and_then(Coding::packer);
    let packed_as = coding.filter(|_| packer.is_some());
    let begun = match received(&app, route, (parts, body), &peer).await {
        Ok(incoming) => begin(app, peer, incoming, packer).await,
        Err(Unreadable::Wrong(wrong)) => Err(refused(wrong)),
        Err(Unreadable::Starved(error)) => Err(Box::new(Reply::failed(&error).later())),
    };
    match begun {
        Ok((chunk, rest)) => answer_of(chunk, rest, packed_as),
        Err(refusal) => packed(*refusal, coding),
    }
}

/// A running request.
struct Asking {
    app: Arc<App>,
    peer: Option<ConnectInfo<Peer>>,
    kind: u64,
    started: Instant,
    timeout: Option<Duration>,
    lines: Arc<Mutex<Lines>>,
}

/// How far the lines of a request are answered.
struct Lines {
    reader: LineReader,
    /// The query; `None` before the first round.
    prepared: Option<PreparedQuery>,
    packer: Option<Compressor>,
}

/// A part of the answer, and the memory reserved until it is sent.
struct Chunk {
    bytes: Vec<u8>,
    _held: Option<Held>,
}

impl AsRef<[u8]> for Chunk {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// What is left of a request after a round.
type Rest = Option<(Asking, Incoming)>;

/// What ended a request: the reply where nothing is sent yet, and the message for where something
/// is.
type Ended = (Box<Reply>, String);

/// The message of an error that concerns one line, or an error that stops the request.
enum Fault {
    OfLine(String),
    OfAll(Error),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::OfAll(error)
    }
}

fn refused(wrong: impl std::fmt::Display) -> Box<Reply> {
    Box::new(Reply::invalid_request(wrong))
}

/// Begins to answer: errors of the request are detected in the first round, before anything is
/// sent.
async fn begin(
    app: Arc<App>,
    peer: Option<ConnectInfo<Peer>>,
    incoming: Incoming,
    packer: Option<Compressor>,
) -> Result<(Chunk, Rest), Box<Reply>> {
    if !LINES.contains(&incoming.content_type().map_err(refused)?.as_str()) {
        let supported = "application/x-ndjson, application/jsonl";
        return Err(refused(RequestError::ContentType { supported }));
    }
    let kind = likeness(receive as *const () as usize, "", incoming.bytes());
    let (started, timeout) = (Instant::now(), incoming.timeout().map_err(refused)?);
    let lines = Lines { reader: LineReader::default(), prepared: None, packer };
    let lines = Arc::new(Mutex::new(lines));
    let asking = Asking { app, peer, kind, started, timeout, lines };
    match asking.next_chunk(incoming).await {
        Ok(Ok(inverted)) => Ok(inverted),
        Ok(Err((reply, _))) => Err(reply),
        Err(Overloaded) => Err(Box::new(Reply::overloaded())),
    }
}

/// The response, whose first fragment is there. Each one after it is made when the client has read
/// the one before.
fn answer_of(chunk: Chunk, rest: Rest, coding: Option<Coding>) -> Response {
    let body = match rest {
        None => Body::from(Bytes::from_owner(chunk)),
        rest => {
            // The first part is there; each later one is made when it is requested.
            let state = Some((Some(chunk), rest));
            Body::from_stream(stream::unfold(state, |state| async {
                let (chunk, rest) = match state? {
                    (Some(chunk), rest) => (chunk, rest),
                    (None, rest) => next(rest?).await,
                };
                let state = rest.map(|rest| (None, Some(rest)));
                Some((Ok::<_, Infallible>(Bytes::from_owner(chunk)), state))
            }))
        }
    };
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(LINES[0]));
    if let Some(coding) = coding {
        headers.insert(header::CONTENT_ENCODING, coding.name());
    }
    response
}

/// The next round. An error of the request is the last line then.
async fn next((asking, incoming): (Asking, Incoming)) -> (Chunk, Rest) {
    let lines = Arc::clone(&asking.lines);
    let message = match asking.next_chunk(incoming).await {
        Ok(Ok(inverted)) => return inverted,
        Ok(Err((_, message))) => message,
        Err(Overloaded) => OVERLOADED.to_owned(),
    };
    let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
    let last = format!("{{\"errors\":{}}}\n", errors(&message));
    (Chunk { bytes: lines.pack(last.into_bytes(), true), _held: None }, None)
}

fn errors(message: &str) -> String {
    let message = bounded(message);
    json!([{ "message": message, "extensions": { "code": "ErrorInvalidRequest" } }]).to_string()
}

impl Asking {
    /// Answers lines until there is a fragment.
    async fn next_chunk(
        self,
        incoming: Incoming,
    ) -> Result<Result<(Chunk, Rest), Ended>, Overloaded> {
        let running = Running {
            peer: self.peer.clone(),
            kind: self.kind,
            timeout: self.timeout,
            since: Some(self.started),
        };
        let (app, lines) = (Arc::clone(&self.app), Arc::clone(&self.lines));
        let work = move |app: &App, incoming: Incoming, control: &RequestContext| {
            let inverted = guarded(|| {
                let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
                if lines.prepared.is_none()
                    && let Err(refusal) = lines.begin(app, &incoming, control)
                {
                    return Ok(Err(refusal));
                }
                lines.answer(&incoming, control).map(Ok)
            });
            match inverted {
                Ok(Ok((chunk, goes_on))) => Ok((chunk, goes_on.then_some(incoming))),
                Ok(Err(refusal)) => Err((refusal, String::new())),
                Err(error) => {
                    let reply = Reply::failed(&error);
                    let reply = if control.is_starved() { reply.later() } else { reply };
                    Err((Box::new(reply), error.to_string()))
                }
            }
        };
        let done = admitted(&app, incoming, running, work).await?;
        Ok(done.map(|(chunk, incoming)| (chunk, incoming.map(|incoming| (self, incoming)))))
    }
}

impl Lines {
    /// Reads the query, and determines the version that it reads.
    fn begin(
        &mut self,
        app: &App,
        incoming: &Incoming,
        control: &RequestContext,
    ) -> Result<(), Box<Reply>> {
        if let Some(refusal) = app.switches.refusal() {
            return Err(Box::new(Reply::failed(&refusal)));
        }
        let start = incoming.number("startTs").map_err(refused)?;
        let mark = incoming.parameter("hash");
        let database = app.database_within(incoming, start, mark).map_err(refused)?;
        let starved = |error: Error| Box::new(Reply::failed(&error).later());
        let _held =
            control.hold(json_weight(self.reader.head(incoming.bytes()))).map_err(starved)?;
        let text = self.reader.query(incoming.bytes()).map_err(refused)?;
        let prepared = database.prepare_query_at(start, &text, control);
        self.prepared = Some(prepared.map_err(|error| Box::new(Reply::failed(&error)))?);
        Ok(())
    }

    /// Answers lines until there is a fragment. Returns it, and whether there may be more lines.
    ///
    /// # Errors
    ///
    /// What stops the request: the deadline, no memory for the fragment, a fault of ours.
    fn answer(
        &mut self,
        incoming: &Incoming,
        control: &RequestContext,
    ) -> EngineResult<(Chunk, bool)> {
        let began = Instant::now();
        self.prepared.as_ref().map_or(Ok(()), PreparedQuery::check_caller)?;
        let (mut bytes, mut held) = (Vec::new(), control.hold(CHUNK_LEN as u64)?);
        // At least one line is answered in each round, however slow.
        while bytes.len() < CHUNK_LEN && (bytes.is_empty() || began.elapsed() < CHUNK_TIME) {
            control.check()?;
            let Some((row, line)) = self.reader.row(incoming.bytes()) else { break };
            let answer = match self.answer_line(line, control) {
                Ok(data) => format!("{{\"row\":{row},\"data\":{data}}}\n"),
                Err(Fault::OfLine(message)) => {
                    format!("{{\"row\":{row},\"errors\":{}}}\n", errors(&message))
                }
                Err(Fault::OfAll(error)) => return Err(error),
            };
            // The first `CHUNK_LEN` bytes were reserved at the start of the round.
            if let Some(held) = &mut held
                && CHUNK_LEN < bytes.len() + answer.len()
            {
                held.grow(answer.len() as u64)?;
            }
            bytes.extend_from_slice(answer.as_bytes());
        }
        // A round that stops after the last line is the last one, also if it stops because of its
        // time.
        let goes_on = !self.reader.head(incoming.bytes()).is_empty();
        Ok((Chunk { bytes: self.pack(bytes, !goes_on), _held: held }, goes_on))
    }

    fn answer_line(&self, line: JsonLine<'_>, control: &RequestContext) -> Result<String, Fault> {
        let prepared = self.prepared.as_ref().expect("a chunk begins by reading the query");
        let part = control.part();
        let _held = control.hold(BYTES_PER_BYTE.saturating_mul(line.bytes.len() as u64))?;
        let variables = line.variables().map_err(Fault::OfLine)?;
        let answered =
            prepared.query_with(&variables, &part).and_then(|answer| answer.to_json_with(&part));
        answered.map(|(json, _)| json).map_err(|error| {
            if let Err(end) = control.check() {
                return Fault::OfAll(end);
            }
            match error {
                Error::Closed | Error::Internal { .. } => Fault::OfAll(error),
                error => Fault::OfLine(format!("line {}: {error}", line.number)),
            }
        })
    }

    /// Compresses a fragment, if the answer is compressed.
    fn pack(&mut self, bytes: Vec<u8>, is_last: bool) -> Vec<u8> {
        let Some(mut packer) = self.packer.take() else { return bytes };
        let why = "a vector takes what is written to it";
        packer.write(&bytes).expect(why);
        if is_last {
            return packer.finish().expect(why);
        }
        packer.flush().expect(why);
        let chunk = std::mem::take(packer.ready());
        self.packer = Some(packer);
        chunk
    }
}
