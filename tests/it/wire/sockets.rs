//! Conversations over WebSocket, frame by frame: what is malformed, out of order or said twice.

use super::site::Site;
use hexgraph::db::{Database, Memory, OpenOptions};
use hexgraph_server::http::{ServeOptions, SubscribeOptions};
use serde_json::{Value, json};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};
use tungstenite::client::IntoClientRequest;
use tungstenite::protocol::frame::Frame;
use tungstenite::protocol::frame::coding::{Data, OpCode};
use tungstenite::{Message, WebSocket};

const SCHEMA: &str = "type Note @withSubscription { id: ID! text: String! rank: Int @search }";

const NOTES: &str = "subscription { queryNote { text } }";

const MODERN: &str = "graphql-transport-ws";

const LEGACY: &str = "graphql-ws";

/// How long something may take that has to happen.
const PATIENCE: Duration = Duration::from_secs(20);

struct Client {
    socket: WebSocket<TcpStream>,
}

impl Client {
    fn of(site: &Site, protocol: &str) -> Client {
        let stream = TcpStream::connect(site.server.address().unwrap()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut request = format!("ws://{}/graphql", site.server.address().unwrap())
            .into_client_request()
            .unwrap();
        request.headers_mut().insert("sec-websocket-protocol", protocol.parse().unwrap());
        Client { socket: tungstenite::client(request, stream).unwrap().0 }
    }

    /// One of the newer protocol that has begun.
    fn begun(site: &Site) -> Client {
        let mut client = Client::of(site, MODERN);
        client.say(json!({ "type": "connection_init" }));
        assert_eq!(client.hear(), json!({ "type": "connection_ack" }));
        client
    }

    fn say(&mut self, message: Value) {
        self.socket.send(Message::text(message.to_string())).unwrap();
    }

    fn send(&mut self, text: &str) {
        self.socket.send(Message::text(text)).unwrap();
    }

    /// The next message without `extensions`, which hold times.
    fn hear(&mut self) -> Value {
        loop {
            match self.socket.read().unwrap() {
                Message::Text(text) => {
                    let mut message: Value = serde_json::from_str(&text).unwrap();
                    if let Some(payload) = message["payload"].as_object_mut() {
                        payload.remove("extensions");
                    }
                    // Asking for a member makes one that is null.
                    message.as_object_mut().unwrap().retain(|_, value| !value.is_null());
                    return message;
                }
                Message::Ping(_) | Message::Pong(_) => {}
                other => panic!("expected a text, got {other:?}"),
            }
        }
    }

    /// The code and the reason with which the server closes.
    fn end(&mut self) -> (u16, String) {
        loop {
            if let Message::Close(frame) = self.socket.read().unwrap() {
                let frame = frame.expect("a code comes with it");
                return (frame.code.into(), frame.reason.to_string());
            }
        }
    }

    /// What the server answers is what is asked next.
    fn is_there(&mut self) {
        self.say(json!({ "type": "ping" }));
        assert_eq!(self.hear(), json!({ "type": "pong" }));
    }
}

fn next(id: &str, texts: &[&str]) -> Value {
    let notes: Vec<Value> = texts.iter().map(|text| json!({ "text": text })).collect();
    json!({ "id": id, "type": "next", "payload": { "data": { "queryNote": notes } } })
}

fn subscribe(id: &str) -> Value {
    json!({ "id": id, "type": "subscribe", "payload": { "query": NOTES } })
}

#[test]
fn malformed_messages() {
    let site = Site::new(SCHEMA);
    for text in [
        "",
        "what",
        "{",
        "null",
        "[]",
        "\"ping\"",
        "{}",
        r#"{"type":null}"#,
        r#"{"type":1}"#,
        r#"{"type":"PING"}"#,
        r#"{"type":"start","id":"a","payload":{"query":"subscription { queryNote { text } }"}}"#,
        r#"{"type":"next","id":"a","payload":{}}"#,
        r#"{"type":"connection_ack"}"#,
        r#"{"type":"ping","payload":1}"#,
        r#"{"type":"pong","payload":"a"}"#,
        r#"{"type":"complete"}"#,
        r#"{"type":"complete","id":1}"#,
        r#"{"type":"subscribe","id":1,"payload":{"query":"{ a }"}}"#,
        r#"{"type":"subscribe","id":"","payload":{"query":"{ a }"}}"#,
        r#"{"type":"subscribe","id":"a"}"#,
        r#"{"type":"subscribe","id":"a","payload":null}"#,
        r#"{"type":"subscribe","id":"a","payload":{}}"#,
        r#"{"type":"subscribe","id":"a","payload":{"query":null}}"#,
        r#"{"type":"subscribe","id":"a","payload":{"query":"{ a }","variables":[]}}"#,
        r#"{"type":"subscribe","id":"a","payload":{"query":"{ a }","operationName":1}}"#,
        r#"{"type":"subscribe","id":"a","payload":{"query":"{ a }","extensions":1}}"#,
    ] {
        let mut client = Client::begun(&site);
        client.send(text);
        let (code, reason) = client.end();
        assert_eq!(code, 4400, "{text}: {reason}");
        assert!(!reason.is_empty(), "{text}");
    }
    // Of a long reason a close frame holds the beginning.
    let mut client = Client::begun(&site);
    client.say(json!({ "type": "ö".repeat(100) }));
    let (code, reason) = client.end();
    assert!(code == 4400 && reason.ends_with('ö') && reason.len() <= 123, "{reason}");
}

#[test]
fn frames_that_are_no_text() {
    let subscriptions = SubscribeOptions { message_len_max: 100, ..SubscribeOptions::default() };
    let site = Site::with(SCHEMA, ServeOptions { subscriptions, ..ServeOptions::default() });
    for protocol in [MODERN, LEGACY] {
        let mut client = Client::of(&site, protocol);
        client.socket.send(Message::binary(b"{}".to_vec())).unwrap();
        assert_eq!(client.end().0, 1003);
        let mut client = Client::of(&site, protocol);
        client.send(&"x".repeat(101));
        assert_eq!(client.end().0, 1009);
        let mut client = Client::of(&site, protocol);
        let frame = Frame::message(vec![0xff, 0xfe], OpCode::Data(Data::Text), true);
        client.socket.send(Message::Frame(frame)).unwrap();
        assert_eq!(client.end().0, 1007);
        let mut client = Client::of(&site, protocol);
        let frame = Frame::message(Vec::new(), OpCode::Data(Data::Reserved(5)), true);
        client.socket.send(Message::Frame(frame)).unwrap();
        assert_eq!(client.end().0, 1002);
    }
    // A message in chunks is one message.
    let mut client = Client::of(&site, MODERN);
    let chunks = [
        Frame::message(&b"{\"type\":\"pi"[..], OpCode::Data(Data::Text), false),
        Frame::message(&b"ng\"}"[..], OpCode::Data(Data::Continue), true),
    ];
    for chunk in chunks {
        client.socket.send(Message::Frame(chunk)).unwrap();
    }
    assert_eq!(client.hear(), json!({ "type": "pong" }));
}

#[test]
fn pings_come_whenever() {
    let site = Site::new(SCHEMA);
    let mut client = Client::of(&site, MODERN);
    client.is_there();
    client.say(json!({ "type": "ping", "payload": { "a": [1] } }));
    assert_eq!(client.hear(), json!({ "type": "pong", "payload": { "a": [1] } }));
    client.say(json!({ "type": "pong", "payload": { "nobody": "asked" } }));
    client.say(json!({ "type": "pong", "payload": null }));
    client.say(json!({ "type": "connection_init", "payload": null }));
    assert_eq!(client.hear(), json!({ "type": "connection_ack" }));
    client.is_there();
    client.socket.send(Message::Ping(b"raw".to_vec().into())).unwrap();
    assert_eq!(client.socket.read().unwrap(), Message::Pong(b"raw".to_vec().into()));
}

#[test]
fn operations_before_the_beginning() {
    let site = Site::new(SCHEMA);
    let mut client = Client::of(&site, MODERN);
    client.say(subscribe("a"));
    assert_eq!(client.end(), (4401, "Unauthorized".to_owned()));
    // There is nothing that could be ended.
    let mut client = Client::of(&site, MODERN);
    client.say(json!({ "id": "a", "type": "complete" }));
    client.is_there();
}

#[test]
fn names_of_operations() {
    let site = Site::new(SCHEMA);
    let mut client = Client::begun(&site);
    client.say(json!({ "id": "never", "type": "complete" }));
    client.say(subscribe("a"));
    assert_eq!(client.hear(), next("a", &[]));
    // Nothing answers the end that a client wants; a second end of it is nothing.
    client.say(json!({ "id": "a", "type": "complete" }));
    client.say(json!({ "id": "a", "type": "complete" }));
    client.is_there();
    // The name is free again, as is that of one that failed or was answered.
    client.say(subscribe("a"));
    assert_eq!(client.hear(), next("a", &[]));
    for _ in 0..2 {
        client.say(json!({ "id": "b", "type": "subscribe", "payload": { "query": "{ what }" } }));
        let reported = client.hear();
        assert_eq!((&reported["id"], &reported["type"]), (&json!("b"), &json!("error")));
        assert_eq!(reported["payload"][0]["locations"], json!([{ "line": 1, "column": 3 }]));
        client.say(json!({ "id": "b", "type": "subscribe", "payload": { "query": "{ queryNote { text } }" } }));
        assert_eq!(client.hear(), next("b", &[]));
        assert_eq!(client.hear(), json!({ "id": "b", "type": "complete" }));
    }
    site.ask("mutation { addNote(input: [{text: \"one\"}]) { numUids } }");
    assert_eq!(client.hear(), next("a", &["one"]));
    client.say(subscribe("a"));
    assert_eq!(client.end(), (4409, "Subscriber for a already exists".to_owned()));
}

#[test]
fn variables_and_names() {
    let site = Site::new(SCHEMA);
    site.ask(
        "mutation { addNote(input: [{text: \"a\", rank: 1}, {text: \"b\", rank: 2}]) { numUids } }",
    );
    let query = "subscription A($n: Int!) { queryNote(filter: {rank: {eq: $n}}) { text } } subscription B { queryNote { text } }";
    for (protocol, begin, kind) in [(MODERN, "subscribe", "next"), (LEGACY, "start", "data")] {
        let mut client = Client::of(&site, protocol);
        client.say(json!({ "type": "connection_init", "payload": {} }));
        assert_eq!(client.hear(), json!({ "type": "connection_ack" }));
        let payload = json!({ "query": query, "operationName": "A", "variables": { "n": 2 } });
        client.say(json!({ "id": "1", "type": begin, "payload": payload }));
        let reported = client.hear();
        assert_eq!(reported["type"], kind);
        assert_eq!(reported["payload"]["data"], json!({ "queryNote": [{ "text": "b" }] }));
        let payload = json!({ "query": query, "operationName": "C" });
        client.say(json!({ "id": "2", "type": begin, "payload": payload }));
        let reported = client.hear();
        assert_eq!((&reported["id"], &reported["type"]), (&json!("2"), &json!("error")));
        assert!(
            reported["payload"].to_string().contains("operation name C isn't present"),
            "{reported}"
        );
    }
}

#[test]
fn the_older_protocol() {
    let site = Site::new(SCHEMA);
    let mut client = Client::of(&site, LEGACY);
    let start = json!({ "id": "1", "type": "start", "payload": { "query": NOTES } });
    let data = |texts: &[&str]| {
        let mut reported = next("1", texts);
        reported["type"] = json!("data");
        reported
    };
    client.say(start.clone());
    assert_eq!(client.hear(), data(&[]));
    // The one that runs goes on.
    client.say(start.clone());
    let message = |text: &str| json!({ "message": text });
    let duplicate = message("duplicate message ID for start operation");
    assert_eq!(client.hear(), json!({ "type": "connection_error", "payload": duplicate }));
    site.ask("mutation { addNote(input: [{text: \"one\"}]) { numUids } }");
    assert_eq!(client.hear(), data(&["one"]));
    for _ in 0..2 {
        client.say(json!({ "id": "1", "type": "stop" }));
        assert_eq!(client.hear(), json!({ "id": "1", "type": "complete" }));
    }
    client.say(json!({ "type": "stop" }));
    assert_eq!(client.hear(), json!({ "type": "complete" }));
    client.say(start);
    assert_eq!(client.hear(), data(&["one"]));
    for payload in
        [json!(1), json!([]), json!({ "query": 1 }), json!({ "query": "{ a }", "variables": 1 })]
    {
        client.say(json!({ "id": "2", "type": "start", "payload": payload }));
        let payload = message("invalid payload for type: start");
        assert_eq!(
            client.hear(),
            json!({ "id": "2", "type": "connection_error", "payload": payload })
        );
    }
    client.say(json!({ "id": "3", "type": "subscribe" }));
    let payload = message("unknown operation message of type: subscribe");
    assert_eq!(client.hear(), json!({ "id": "3", "type": "error", "payload": payload }));
    for text in ["what", "[]"] {
        client.send(text);
        assert_eq!(client.hear()["type"], "error");
    }
    // Who he is may be said again: it is for what is begun later.
    for _ in 0..2 {
        client.say(json!({ "type": "connection_init", "payload": { "X-Any": "thing" } }));
        assert_eq!(client.hear(), json!({ "type": "connection_ack" }));
    }
    client.say(json!({ "id": "1", "type": "connection_terminate" }));
    assert_eq!(client.end().0, 1000);
}

#[test]
fn protocols_that_are_not_spoken() {
    let site = Site::new(SCHEMA);
    for lines in [
        vec!["Upgrade: websocket", "Sec-WebSocket-Protocol: other"],
        vec!["Upgrade: websocket"],
        // No key: not a whole handshake.
        vec!["Upgrade: websocket", "Sec-WebSocket-Protocol: graphql-ws"],
    ] {
        let answer = site.send("GET", "/graphql", &lines, b"");
        let want = json!({ "errors": [{ "message": "no query string supplied in request" }] });
        assert_eq!((answer.status, answer.json()), (200, want));
    }
}

#[test]
fn messages_take_memory_for_as_long_as_what_they_begin() {
    let memory = Memory::Work(48 << 20);
    let database = Database::in_memory_with(OpenOptions { memory, ..OpenOptions::default() });
    database.set_graphql_schema(SCHEMA).unwrap();
    let site = Site::of(database.clone(), ServeOptions::default());
    let requested = |values: usize| {
        let values = vec![json!({ "a": 0 }); values];
        json!({ "query": NOTES, "variables": { "a": values } })
    };
    let clean = |most: u64| {
        let since = Instant::now();
        while most < database.budget().reserved() {
            assert!(since.elapsed() < PATIENCE, "{}", database.budget().reserved());
            thread::sleep(Duration::from_millis(5));
        }
    };
    let mut client = Client::begun(&site);
    // What has 80 KB takes 15 MB once it is read.
    for id in ["a", "b"] {
        client.say(json!({ "id": id, "type": "subscribe", "payload": requested(10_000) }));
        assert_eq!(client.hear(), next(id, &[]));
    }
    assert!(28 << 20 < database.budget().reserved(), "{}", database.budget().reserved());
    client.say(json!({ "id": "a", "type": "complete" }));
    clean(20 << 20);
    let mut other = Client::begun(&site);
    other.say(json!({ "id": "c", "type": "subscribe", "payload": requested(60_000) }));
    let (code, reason) = other.end();
    assert_eq!(code, 1013, "{reason}");
    client.is_there();
    drop(client);
    clean(1 << 20);
    // Each operation has a copy of what the connection began with.
    let mut client = Client::of(&site, MODERN);
    client.say(json!({ "type": "connection_init", "payload": { "x": "y".repeat(100_000) } }));
    assert_eq!(client.end().0, 4400);
}
