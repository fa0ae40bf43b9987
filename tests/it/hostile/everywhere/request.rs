//! The carriers of requests: what is asked by HTTP/1.1, HTTP/2, a call of gRPC or gRPC-Web, or a
//! subscription, and what comes back.

use super::door::{BoundListener, Yard};
use super::http2;
use crate::grpc::messages::{Request as Query, Response};
use axum::body::Body;
use axum::http::Request;
use prost::Message;
use serde_json::{Value, json};
use std::io::Write as _;
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message as Frame, WebSocket};

/// How a request is carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    Http1,
    Http2,
    Call,
    WebCall,
    Socket,
}

impl Carrier {
    /// Those of a text in DQL.
    pub const OF_DQL: [Carrier; 4] =
        [Carrier::Http1, Carrier::Http2, Carrier::Call, Carrier::WebCall];

    /// Those of a request in GraphQL.
    pub const OF_GRAPHQL: [Carrier; 3] = [Carrier::Http1, Carrier::Http2, Carrier::Socket];

    /// The listeners at which it is answered.
    pub fn listeners(self) -> [BoundListener; 3] {
        match self {
            Carrier::Call | Carrier::WebCall => BoundListener::OF_CALLS,
            _ => BoundListener::OF_HTTP,
        }
    }
}

/// A request: a body for a path, and what stands in its head.
#[derive(Debug, Clone, Default)]
pub struct RequestedQuery<'a> {
    pub path: &'a str,
    pub kind: &'a str,
    pub body: Vec<u8>,
    pub fields: Vec<(&'a str, String)>,
}

impl<'a> RequestedQuery<'a> {
    /// A text in DQL.
    pub fn dql(text: impl AsRef<[u8]>) -> RequestedQuery<'a> {
        let body = text.as_ref().to_vec();
        RequestedQuery { path: "/query", kind: "application/dql", body, fields: Vec::new() }
    }

    /// A request in GraphQL, as the JSON that it comes in.
    pub fn graphql(body: impl AsRef<[u8]>) -> RequestedQuery<'a> {
        RequestedQuery { path: "/graphql", kind: "application/json", ..RequestedQuery::dql(body) }
    }

    /// With one more field in its head.
    pub fn with(mut self, name: &'a str, value: impl Into<String>) -> RequestedQuery<'a> {
        self.fields.push((name, value.into()));
        self
    }

    /// The same as a call, of its text in DQL.
    pub fn as_call(&self) -> Vec<u8> {
        // A message has its text in UTF-8, which the attack may not: so the field is written by
        // hand.
        let mut message = vec![0x22];
        prost::encoding::encode_varint(self.body.len() as u64, &mut message);
        message.extend_from_slice(&self.body);
        framed(0, &message)
    }
}

/// A message of gRPC with what stands before it.
pub fn framed(flag: u8, message: &[u8]) -> Vec<u8> {
    [&[flag][..], &(message.len() as u32).to_be_bytes(), message].concat()
}

/// What came back.
#[derive(Debug)]
pub struct Reply {
    /// The body, or the message of the call; of a subscription the reason for its end, too.
    pub text: String,
    /// Whether it is a refusal.
    pub is_refused: bool,
}

/// Sends a request, and reads what comes back.
pub fn send(
    yard: &Yard,
    (carrier, listener): (Carrier, BoundListener),
    requested: &RequestedQuery<'_>,
) -> Reply {
    match carrier {
        Carrier::Http1 => by_http1(yard, listener, requested),
        Carrier::Http2 => by_http2(yard, listener, requested),
        Carrier::Call => call(yard, listener, (requested, requested.as_call())),
        Carrier::WebCall => web_call(yard, listener, (requested, requested.as_call())),
        Carrier::Socket => by_socket(yard, listener, requested),
    }
}

fn reply(status: u16, body: &[u8]) -> Reply {
    let text = String::from_utf8_lossy(body).into_owned();
    let is_refused = status != 200 || text.contains("\"errors\"");
    Reply { text, is_refused }
}

/// The bytes of a request in HTTP/1.1.
pub fn bytes(yard: &Yard, listener: BoundListener, requested: &RequestedQuery<'_>) -> Vec<u8> {
    let head = head(yard, listener, requested, (requested.path, requested.kind));
    [format!("{head}Content-Length: {}\r\n\r\n", requested.body.len()).as_bytes(), &requested.body]
        .concat()
}

/// The head of a request in HTTP/1.1, whose `Host` is that of the fields, or that of the listener.
fn head(
    yard: &Yard,
    listener: BoundListener,
    requested: &RequestedQuery<'_>,
    (path, kind): (&str, &str),
) -> String {
    let mut head = format!("POST {path} HTTP/1.1\r\nContent-Type: {kind}\r\n");
    if !requested.fields.iter().any(|(name, _)| *name == "host") {
        head += &format!("Host: {}\r\n", yard.host(listener));
    }
    for (name, value) in &requested.fields {
        head += &format!("{name}: {value}\r\n");
    }
    head
}

fn by_http1(yard: &Yard, listener: BoundListener, requested: &RequestedQuery<'_>) -> Reply {
    let mut line = yard.line(listener);
    // Who refuses a head may close before the body is there.
    let _ = line.stream.write_all(&bytes(yard, listener, requested));
    let reported = line.read().unwrap_or_else(|error| panic!("{listener:?}: {error}"));
    reply(reported.status, &reported.body)
}

/// The head and the body of a request in HTTP/2.
pub fn request(
    yard: &Yard,
    listener: BoundListener,
    requested: &RequestedQuery<'_>,
    body: Vec<u8>,
) -> Request<Body> {
    let authority = requested.fields.iter().find(|(name, _)| *name == ":authority");
    let authority = authority.map_or_else(|| yard.host(listener), |(_, value)| value.clone());
    let mut request = Request::post(format!("http://{authority}{}", requested.path));
    for (name, value) in requested.fields.iter().filter(|(name, _)| !name.starts_with(':')) {
        request = request.header(*name, value);
    }
    request.header("content-type", requested.kind).body(Body::from(body)).unwrap()
}

fn by_http2(yard: &Yard, listener: BoundListener, requested: &RequestedQuery<'_>) -> Reply {
    let request = request(yard, listener, requested, requested.body.clone());
    match http2::ask(yard, listener, request) {
        Ok(reported) => reply(reported.status, &reported.body),
        Err(error) => panic!("{listener:?}: {error}"),
    }
}

/// The reply of a call: the status of gRPC, and its message, or the JSON of the response.
fn of_call(status: &str, message: &str, body: &[u8]) -> Reply {
    let status: u16 = status.parse().unwrap_or_else(|_| panic!("no status: {message} {body:?}"));
    // Behind the message there may be another frame, with the status.
    let length = body.get(1..5).and_then(|length| length.try_into().ok()).map(u32::from_be_bytes);
    let answer = length.and_then(|length| body.get(5..5 + length as usize));
    let text = match answer.filter(|_| status == 0) {
        Some(answer) => Response::decode(answer).map(|reported| reported.json).unwrap_or_default(),
        None => message.as_bytes().to_vec().into(),
    };
    let text = String::from_utf8_lossy(&text).into_owned();
    Reply { text, is_refused: status != 0 }
}

/// Sends a message as a call, whatever the message is.
pub fn call(
    yard: &Yard,
    listener: BoundListener,
    (requested, message): (&RequestedQuery<'_>, Vec<u8>),
) -> Reply {
    let call = RequestedQuery {
        path: "/api.Dgraph/Query",
        kind: "application/grpc",
        fields: requested.fields.clone(),
        body: Vec::new(),
    };
    let request = request(yard, listener, &call.with("te", "trailers"), message);
    let reported =
        http2::ask(yard, listener, request).unwrap_or_else(|error| panic!("{listener:?}: {error}"));
    of_call(reported.field("grpc-status"), reported.field("grpc-message"), &reported.body)
}

/// The same as gRPC-Web, by HTTP/1.1.
pub fn web_call(
    yard: &Yard,
    listener: BoundListener,
    (requested, message): (&RequestedQuery<'_>, Vec<u8>),
) -> Reply {
    let mut line = yard.line(listener);
    let head = head(yard, listener, requested, ("/api.Dgraph/Query", "application/grpc-web"));
    let head = format!("{head}Content-Length: {}\r\n\r\n", message.len());
    let _ = line.stream.write_all(&[head.as_bytes(), &message].concat());
    let reported = line.read().unwrap_or_else(|error| panic!("{listener:?}: {error}"));
    // A refusal stands in the head; else the status comes as a last frame of the body.
    let field = |text: &str, name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.map(|value| value.trim().to_owned())
    };
    let body = String::from_utf8_lossy(&reported.body).into_owned();
    let tail = body.rfind("grpc-status:").map_or("", |at| &body[at..]);
    let status = field(&reported.head, "grpc-status").or_else(|| field(tail, "grpc-status"));
    let message = field(&reported.head, "grpc-message").or_else(|| field(tail, "grpc-message"));
    of_call(&status.unwrap_or_default(), &message.unwrap_or_default(), &reported.body)
}

/// Asks for the request as an operation of a WebSocket.
fn by_socket(yard: &Yard, listener: BoundListener, requested: &RequestedQuery<'_>) -> Reply {
    let mut socket = match open_socket(yard, listener, requested) {
        Ok(socket) => socket,
        Err(status) => return Reply { text: format!("status {status}"), is_refused: true },
    };
    let _ = socket.send(Frame::text(r#"{"type":"connection_init"}"#));
    // What is no JSON is sent as it is: the reader has to refuse the message.
    let body = String::from_utf8(requested.body.clone()).unwrap_or_default();
    let start = format!("{{\"id\":\"1\",\"type\":\"subscribe\",\"payload\":{body}}}");
    let _ = socket.send(Frame::text(start));
    loop {
        match socket.read() {
            Ok(Frame::Text(text)) => {
                let reported: Value = serde_json::from_str(&text).unwrap();
                if reported["type"] == "connection_ack" || reported["type"] == "ping" {
                    continue;
                }
                let is_refused =
                    reported["type"] == "error" || !reported["payload"]["errors"].is_null();
                return Reply { text: text.to_string(), is_refused };
            }
            Ok(Frame::Close(frame)) => {
                let text = frame.map(|frame| frame.reason.to_string()).unwrap_or_default();
                return Reply { text, is_refused: true };
            }
            Ok(_) => {}
            Err(error) => {
                return Reply { text: error.to_string(), is_refused: true };
            }
        }
    }
}

/// A WebSocket for subscriptions.
///
/// # Errors
///
/// The status of a refusal.
pub fn open_socket(
    yard: &Yard,
    listener: BoundListener,
    requested: &RequestedQuery<'_>,
) -> Result<WebSocket<super::door::AnyStream>, u16> {
    let scheme = if listener == BoundListener::HttpByTls { "wss" } else { "ws" };
    let url = format!("{scheme}://{}/graphql", yard.host(listener));
    let mut request = url.into_client_request().unwrap();
    let headers = request.headers_mut();
    headers.insert("sec-websocket-protocol", "graphql-transport-ws".parse().unwrap());
    for (name, value) in &requested.fields {
        let name: axum::http::HeaderName = name.parse().unwrap();
        headers.insert(name, value.parse().unwrap());
    }
    match tungstenite::client(request, yard.connect(listener, "http/1.1")) {
        Ok((socket, _)) => Ok(socket),
        Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(reported))) => {
            Err(reported.status().as_u16())
        }
        Err(error) => panic!("{listener:?}: {error}"),
    }
}

/// A request that is fine, and what it is answered with.
pub fn check_answered(
    yard: &Yard,
    requested: (&RequestedQuery<'_>, &RequestedQuery<'_>),
    want: &str,
) {
    for (carriers, requested) in
        [(&Carrier::OF_DQL[..], requested.0), (&Carrier::OF_GRAPHQL, requested.1)]
    {
        for carrier in carriers {
            for listener in carrier.listeners() {
                let reported = send(yard, (*carrier, listener), requested);
                let is_fine = !reported.is_refused && reported.text.contains(want);
                assert!(is_fine, "{carrier:?} {listener:?}: {reported:?}");
            }
        }
    }
}

/// A request of GraphQL as JSON.
pub fn json_of(query: &str) -> String {
    json!({ "query": query }).to_string()
}

/// A message of a query, for those who look at it.
pub fn message_of(query: &str) -> Vec<u8> {
    Query { query: query.to_owned(), ..Query::default() }.encode_to_vec()
}
