//! GraphQL subscriptions over real sockets: order of messages, endings, limits, slow clients.

use hexgraph::db::Database;
use hexgraph::db::graphql::{Headers, Request};
use hexgraph_server::http::{ServeOptions, Server, SubscribeOptions};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket};

const SCHEMA: &str = "
    type Note @withSubscription { id: ID! text: String! @search(by: [hash]) stars: Int seen: Int }
    type Other @withSubscription { id: ID! name: String! }
";

/// How long something may take that has to happen.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long is waited for what must not happen.
const QUIET: Duration = Duration::from_millis(150);

struct Site {
    database: Database,
    server: Server,
}

impl Site {
    fn new() -> Site {
        Site::with(SubscribeOptions::default())
    }

    fn with(subscriptions: SubscribeOptions) -> Site {
        let database = Database::in_memory();
        database.set_graphql_schema(SCHEMA).unwrap();
        let options = ServeOptions { port: Some(0), subscriptions, ..ServeOptions::default() };
        let server = Server::start(database.clone(), options).unwrap();
        Site { database, server }
    }

    fn run(&self, text: &str) -> Value {
        let control = hexgraph::db::RequestContext::new();
        let answer = self.database.graphql_with(&Request::new(text), &Headers::new(), &control);
        let answer: Value = serde_json::from_slice(&answer.to_json("")).unwrap();
        assert!(answer.get("errors").is_none(), "{answer}");
        answer
    }

    fn add_note(&self, text: &str) {
        self.run(&format!("mutation {{ addNote(input: [{{text: \"{text}\"}}]) {{ numUids }} }}"));
    }

    fn connect(&self, protocol: &str) -> Client {
        let stream = TcpStream::connect(self.server.address().unwrap()).unwrap();
        let mut request = format!("ws://{}/graphql", self.server.address().unwrap())
            .into_client_request()
            .unwrap();
        request.headers_mut().insert("sec-websocket-protocol", protocol.parse().unwrap());
        let (socket, response) = tungstenite::client(request, stream).unwrap();
        assert_eq!(response.headers()["sec-websocket-protocol"], protocol);
        Client { socket }
    }

    /// A client of the newer protocol that has said who it is.
    fn greeted(&self) -> Client {
        let mut client = self.connect("graphql-transport-ws");
        client.say(json!({ "type": "connection_init" }));
        assert_eq!(client.hear(), json!({ "type": "connection_ack" }));
        client
    }
}

struct Client {
    socket: WebSocket<TcpStream>,
}

impl Client {
    fn say(&mut self, message: Value) {
        self.socket.send(Message::text(message.to_string())).unwrap();
    }

    fn subscribe(&mut self, id: &str, query: &str) {
        self.say(json!({ "id": id, "type": "subscribe", "payload": { "query": query } }));
    }

    /// The next message without `extensions`, which hold times.
    fn hear(&mut self) -> Value {
        self.hear_within(PATIENCE).expect("a message was due")
    }

    fn hear_within(&mut self, patience: Duration) -> Option<Value> {
        match self.receive(patience)? {
            Message::Text(text) => {
                let mut message: Value = serde_json::from_str(&text).unwrap();
                if let Some(payload) = message.get_mut("payload").and_then(Value::as_object_mut) {
                    payload.remove("extensions");
                }
                Some(message)
            }
            other => panic!("expected a text, got {other:?}"),
        }
    }

    fn receive(&mut self, patience: Duration) -> Option<Message> {
        let end = Instant::now() + patience;
        loop {
            let left = end.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
            self.socket.get_ref().set_read_timeout(Some(left)).unwrap();
            match self.socket.read() {
                Ok(Message::Ping(_) | Message::Pong(_)) => {}
                Ok(message) => return Some(message),
                Err(tungstenite::Error::Io(error))
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    return None;
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// Nothing comes for a while.
    fn is_quiet(&mut self) {
        assert_eq!(self.hear_within(QUIET), None);
    }

    /// The code and the reason with which the server closes.
    fn end(&mut self) -> (u16, String) {
        match self.receive(PATIENCE) {
            Some(Message::Close(Some(frame))) => (frame.code.into(), frame.reason.to_string()),
            other => panic!("expected the end, got {other:?}"),
        }
    }

    /// The notes of the next message.
    fn notes(&mut self, id: &str) -> Vec<String> {
        let message = self.hear();
        assert_eq!(message["id"], id, "{message}");
        let notes = message["payload"]["data"]["queryNote"].as_array();
        let notes = notes.unwrap_or_else(|| panic!("{message}"));
        notes.iter().map(|note| note["text"].as_str().unwrap().to_owned()).collect()
    }
}

const NOTES: &str = "subscription { queryNote(order: {asc: text}) { text } }";

#[test]
fn an_answer_comes_at_once_and_whenever_it_changes() {
    let site = Site::new();
    let mut client = site.greeted();
    client.subscribe("a", NOTES);
    let next = json!({ "id": "a", "type": "next", "payload": { "data": { "queryNote": [] } } });
    assert_eq!(client.hear(), next);
    site.add_note("one");
    assert_eq!(client.notes("a"), ["one"]);
    // Neither a predicate that it does not read nor a node that it does not show is news.
    site.run("mutation { updateNote(input: {filter: {}, set: {seen: 7}}) { numUids } }");
    site.run("mutation { addOther(input: [{name: \"x\"}]) { numUids } }");
    client.is_quiet();
    site.run("mutation { deleteNote(filter: {text: {eq: \"one\"}}) { numUids } }");
    assert_eq!(client.hear(), next);
    client.say(json!({ "id": "a", "type": "complete" }));
    client.say(json!({ "type": "ping" }));
    assert_eq!(client.hear(), json!({ "type": "pong" }));
    site.add_note("two");
    client.is_quiet();
    // The name is free again.
    client.subscribe("a", NOTES);
    assert_eq!(client.notes("a"), ["two"]);
}

#[test]
fn changes_by_another_language_are_news_too() {
    let site = Site::new();
    let mut client = site.greeted();
    client.subscribe("a", "subscription { queryNote(filter: {text: {eq: \"x\"}}) { text } }");
    assert!(client.notes("a").is_empty());
    let set = "_:n <Note.text> \"x\" .\n_:n <dgraph.type> \"Note\" .";
    site.database.mutate(set, "").unwrap();
    assert_eq!(client.notes("a"), ["x"]);
}

#[test]
fn several_on_one_connection() {
    let site = Site::new();
    let mut client = site.greeted();
    client.subscribe("notes", NOTES);
    assert!(client.notes("notes").is_empty());
    client.subscribe("others", "subscription { queryOther { name } }");
    assert_eq!(client.hear()["id"], "others");
    client.subscribe("count", "subscription { aggregateNote { count starsMax } }");
    assert_eq!(client.hear()["payload"]["data"]["aggregateNote"]["count"], 0);
    site.run("mutation { addOther(input: [{name: \"x\"}]) { numUids } }");
    let other = json!({ "queryOther": [{ "name": "x" }] });
    assert_eq!(client.hear()["payload"]["data"], other);
    site.add_note("one");
    let mut ids = [client.hear(), client.hear()].map(|message| message["id"].to_string());
    ids.sort_unstable();
    assert_eq!(ids, ["\"count\"", "\"notes\""]);
    client.is_quiet();
}

#[test]
fn queries_and_mutations_are_answered_once() {
    let site = Site::new();
    let mut client = site.greeted();
    client.subscribe("m", "mutation { addNote(input: [{text: \"one\"}]) { numUids } }");
    assert_eq!(client.hear()["payload"]["data"]["addNote"]["numUids"], 1);
    assert_eq!(client.hear(), json!({ "id": "m", "type": "complete" }));
    client.subscribe("q", "{ queryNote { text } }");
    assert_eq!(client.notes("q"), ["one"]);
    assert_eq!(client.hear(), json!({ "id": "q", "type": "complete" }));
}

#[test]
fn wrong_operations_end_with_an_error() {
    let site = Site::new();
    let mut client = site.greeted();
    client.subscribe("a", "subscription { queryNote { nothing } }");
    let message = client.hear();
    assert_eq!((&message["id"], &message["type"]), (&json!("a"), &json!("error")));
    let reported = message["payload"][0]["message"].as_str().unwrap();
    assert!(reported.starts_with("Cannot query field \"nothing\" on type \"Note\"."), "{reported}");
    client.subscribe("a", "subscription { queryNote { text } queryOther { name } }");
    assert_eq!(client.hear()["type"], "error");
    client.subscribe("a", NOTES);
    assert!(client.notes("a").is_empty());
}

#[test]
fn wrong_messages_close_with_a_code() {
    let site = Site::new();
    let mut client = site.connect("graphql-transport-ws");
    client.subscribe("a", NOTES);
    assert_eq!(client.end(), (4401, "Unauthorized".to_owned()));
    for wrong in [
        json!({ "type": "what" }),
        json!([1]),
        json!({ "type": "subscribe" }),
        json!({ "id": "a", "type": "subscribe", "payload": { "query": 1 } }),
        json!({ "type": "connection_init", "payload": 1 }),
    ] {
        let mut client = site.greeted();
        client.say(wrong);
        assert_eq!(client.end().0, 4400);
    }
    let mut client = site.greeted();
    client.subscribe("a", NOTES);
    assert!(client.notes("a").is_empty());
    client.subscribe("a", NOTES);
    assert_eq!(client.end(), (4409, "Subscriber for a already exists".to_owned()));
    let mut client = site.greeted();
    client.say(json!({ "type": "connection_init" }));
    assert_eq!(client.end(), (4429, "Too many initialisation requests".to_owned()));
}

#[test]
fn clients_have_to_begin_and_to_be_there() {
    let short = Duration::from_millis(100);
    let site = Site::with(SubscribeOptions { init_timeout: short, ..SubscribeOptions::default() });
    for dialect in ["graphql-transport-ws", "graphql-ws"] {
        let mut client = site.connect(dialect);
        assert_eq!(client.end(), (4408, "Connection initialisation timeout".to_owned()));
    }
    // The library answers pings when it reads, so one that does not read is gone.
    let site = Site::with(SubscribeOptions { ping_every: short, ..SubscribeOptions::default() });
    let mut there = site.greeted();
    there.is_quiet();
    there.is_quiet();
    there.is_quiet();
    thread::sleep(short * 8);
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| there.is_quiet()));
    let reported = ended.unwrap_err();
    let reported = reported.downcast_ref::<String>().map_or("no text", String::as_str);
    assert!(reported.starts_with("IO error: "), "{reported}");
}

#[test]
fn the_older_protocol() {
    let site = Site::new();
    site.add_note("one");
    let mut client = site.connect("graphql-ws");
    let start = |id: &str, query: &str| json!({ "id": id, "type": "start", "payload": { "query": query, "variables": null, "operationName": "" } });
    // Nobody has to say who he is.
    client.say(start("1", NOTES));
    let data = json!({ "data": { "queryNote": [{ "text": "one" }] } });
    assert_eq!(client.hear(), json!({ "id": "1", "type": "data", "payload": data }));
    client.say(json!({ "type": "connection_init", "payload": { "X-Any": "thing", "n": 1 } }));
    assert_eq!(client.hear(), json!({ "type": "connection_ack" }));
    client.say(json!({ "type": "ka" }));
    assert_eq!(client.hear(), json!({ "type": "ka" }));
    site.add_note("two");
    assert_eq!(client.notes("1"), ["one", "two"]);
    client.say(json!({ "id": "1", "type": "stop" }));
    assert_eq!(client.hear(), json!({ "id": "1", "type": "complete" }));
    for (said, kind, reported) in [
        (
            start("2", "{ queryNote { text } }"),
            "error",
            "given GraphQL operation is not a subscription",
        ),
        (json!({ "type": "foo" }), "error", "unknown operation message of type: foo"),
        (json!({ "type": "start" }), "connection_error", "missing ID for start operation"),
        (
            json!({ "type": "connection_init", "payload": 1 }),
            "connection_error",
            "invalid payload for type: connection_init",
        ),
    ] {
        let is_start = said["id"] == "2";
        client.say(said);
        let message = client.hear();
        assert_eq!(
            (&message["type"], &message["payload"]["message"]),
            (&json!(kind), &json!(reported))
        );
        if is_start {
            assert_eq!(client.hear(), json!({ "id": "2", "type": "complete" }));
        }
    }
    client.say(start("3", "subscription { queryNote { x } }"));
    let message = client.hear();
    let reported = message["payload"]["message"].as_str().unwrap();
    assert!(
        reported.starts_with("input:1: Cannot query field \"x\" on type \"Note\"."),
        "{reported}"
    );
    assert_eq!(client.hear(), json!({ "id": "3", "type": "complete" }));
    client.say(json!({ "type": "connection_terminate" }));
    client.end();
}

#[test]
fn a_new_schema_ends_all() {
    let site = Site::new();
    let mut new = site.greeted();
    new.subscribe("a", NOTES);
    assert!(new.notes("a").is_empty());
    let mut old = site.connect("graphql-ws");
    old.say(json!({ "id": "1", "type": "start", "payload": { "query": NOTES } }));
    assert!(old.notes("1").is_empty());
    site.database.set_graphql_schema(&format!("{SCHEMA} type More {{ a: Int }}")).unwrap();
    assert_eq!(new.hear(), json!({ "id": "a", "type": "complete" }));
    assert_eq!(old.hear(), json!({ "id": "1", "type": "complete" }));
    // The connections go on.
    new.subscribe("a", NOTES);
    assert!(new.notes("a").is_empty());
}

#[test]
fn a_server_that_stops_says_so() {
    let mut site = Site::new();
    let mut new = site.greeted();
    new.subscribe("a", NOTES);
    assert!(new.notes("a").is_empty());
    let mut old = site.connect("graphql-ws");
    let mut events = Events::open(&site, NOTES);
    assert_eq!(events.next().0, "next");
    let started = Instant::now();
    let stopping = thread::spawn(move || site.server.stop());
    assert_eq!(new.hear(), json!({ "id": "a", "type": "complete" }));
    assert_eq!(new.end(), (1001, "the server stops".to_owned()));
    assert_eq!(old.end().0, 1001);
    assert_eq!(events.next().0, "complete");
    drop((new, old));
    stopping.join().unwrap();
    assert!(started.elapsed() < Duration::from_secs(4));
}

#[test]
fn there_are_limits() {
    let options = SubscribeOptions { per_connection: 2, total: 3, ..SubscribeOptions::default() };
    let site = Site::with(options);
    let mut one = site.greeted();
    for id in ["a", "b"] {
        one.subscribe(id, NOTES);
        assert!(one.notes(id).is_empty());
    }
    one.subscribe("c", NOTES);
    let reported = one.hear();
    assert_eq!((&reported["id"], &reported["type"]), (&json!("c"), &json!("error")));
    let mut two = site.greeted();
    two.subscribe("a", NOTES);
    assert!(two.notes("a").is_empty());
    two.subscribe("b", NOTES);
    assert_eq!(two.hear()["type"], "error");
    // What ends gives its place back.
    one.say(json!({ "id": "a", "type": "complete" }));
    let end = Instant::now() + PATIENCE;
    loop {
        two.subscribe("b", NOTES);
        if two.hear()["type"] == "next" {
            break;
        }
        assert!(Instant::now() < end);
    }
}

#[test]
fn bursts_are_answered_together() {
    let interval = Duration::from_millis(200);
    let site = Site::with(SubscribeOptions { interval, ..SubscribeOptions::default() });
    let mut client = site.greeted();
    client.subscribe("a", NOTES);
    assert!(client.notes("a").is_empty());
    let started = Instant::now();
    for number in 0..50 {
        site.add_note(&format!("{number:02}"));
    }
    let mut answers = 0;
    while client.notes("a").len() < 50 {
        answers += 1;
    }
    let most = started.elapsed().as_millis() / interval.as_millis() + 1;
    assert!(answers <= most, "{answers} answers, {most} at most");
}

#[test]
fn a_slow_client_holds_up_nobody_and_gets_the_newest() {
    let interval = Duration::from_millis(1);
    let site = Site::with(SubscribeOptions { interval, ..SubscribeOptions::default() });
    // An answer is about a megabyte, more than a socket takes in.
    let long = "x".repeat(10_000);
    let inputs: Vec<String> =
        (0..100).map(|n| format!("{{text: \"{n}{long}\", stars: 0}}")).collect();
    site.run(&format!("mutation {{ addNote(input: [{}]) {{ numUids }} }}", inputs.join(",")));
    let query = "subscription { queryNote { text stars } }";
    let mut slow = site.greeted();
    slow.subscribe("a", query);
    slow.subscribe("b", query);
    let mut quick = site.greeted();
    quick.subscribe("a", "subscription { aggregateNote { starsMax } }");
    quick.hear();
    for stars in 1..=60 {
        site.run(&format!(
            "mutation {{ updateNote(input: {{filter: {{}}, set: {{stars: {stars}}}}}) {{ numUids }} }}"
        ));
        let started = Instant::now();
        while quick.hear()["payload"]["data"]["aggregateNote"]["starsMax"] != stars {}
        assert!(started.elapsed() < Duration::from_secs(5));
    }
    let mut newest = [0, 0];
    let mut answers = 0;
    while newest != [60, 60] {
        let message = slow.hear();
        let at = usize::from(message["id"] == "b");
        let stars = message["payload"]["data"]["queryNote"][0]["stars"].as_i64().unwrap();
        assert!(newest[at] <= stars, "they come in order");
        newest[at] = stars;
        answers += 1;
    }
    assert!(answers < 60, "{answers} answers were kept for somebody who did not read");
    slow.is_quiet();
}

/// A client of server-sent events.
struct Events {
    lines: BufReader<TcpStream>,
}

impl Events {
    fn open(site: &Site, query: &str) -> Events {
        let mut stream = TcpStream::connect(site.server.address().unwrap()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let body = json!({ "query": query }).to_string();
        let length = body.len();
        write!(
            stream,
            "POST /graphql HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut events = Events { lines: BufReader::new(stream) };
        assert_eq!(events.line(), "HTTP/1.1 200 OK");
        let mut head = String::new();
        loop {
            match events.line() {
                line if line.is_empty() => break,
                line => head += &format!("{}\n", line.to_ascii_lowercase()),
            }
        }
        assert!(head.contains("content-type: text/event-stream"), "{head}");
        assert!(!head.contains("\ncontent-length:"), "{head}");
        events
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Kind and data of the next event.
    fn next(&mut self) -> (String, Value) {
        let mut kind = String::new();
        loop {
            let line = self.line();
            if let Some(name) = line.strip_prefix("event: ") {
                kind = name.to_owned();
            } else if let Some(data) = line.strip_prefix("data:") {
                let mut data: Value = serde_json::from_str(data).unwrap_or_default();
                if let Some(members) = data.as_object_mut() {
                    members.remove("extensions");
                }
                return (kind, data);
            }
        }
    }
}

#[test]
fn who_joins_others_is_up_to_date() {
    let site = Site::new();
    let mut first = site.greeted();
    first.subscribe("all", "subscription { queryNote { text } }");
    assert_eq!(first.notes("all"), [""; 0]);
    for number in 0..30 {
        site.add_note(&number.to_string());
        let mut another = site.greeted();
        another.subscribe("all", "subscription { queryNote { text } }");
        assert_eq!(another.notes("all").len(), number + 1);
        // Who leaves takes nothing from the others.
        drop(another);
    }
    while first.notes("all").len() < 30 {}
    first.is_quiet();
}

#[test]
fn others_of_the_same_question_go_on() {
    let site = Site::new();
    let mut clients: Vec<Client> = (0..4).map(|_| site.greeted()).collect();
    for client in &mut clients {
        for id in ["a", "b"] {
            client.subscribe(id, "subscription { aggregateNote { count } }");
            assert_eq!(client.hear()["payload"]["data"]["aggregateNote"]["count"], 0);
        }
    }
    for number in 1..4 {
        drop(clients.remove(0));
        site.add_note("x");
        for client in &mut clients {
            for _ in ["a", "b"] {
                assert_eq!(client.hear()["payload"]["data"]["aggregateNote"]["count"], number);
            }
            client.is_quiet();
        }
    }
}

#[test]
fn the_root_says_what_it_is() {
    let site = Site::new();
    let mut client = site.greeted();
    client.subscribe("a", "subscription { __typename }");
    assert_eq!(client.hear()["payload"]["data"]["__typename"], "Subscription");
}

#[test]
fn server_sent_events() {
    let site = Site::new();
    let mut events = Events::open(&site, NOTES);
    assert_eq!(events.next(), ("next".to_owned(), json!({ "data": { "queryNote": [] } })));
    site.add_note("one");
    let data = json!({ "data": { "queryNote": [{ "text": "one" }] } });
    assert_eq!(events.next(), ("next".to_owned(), data.clone()));
    site.database.set_graphql_schema(&format!("{SCHEMA} type More {{ a: Int }}")).unwrap();
    assert_eq!(events.next(), ("complete".to_owned(), Value::Null));
    let mut events = Events::open(&site, "{ queryNote { text } }");
    assert_eq!(events.next(), ("next".to_owned(), data));
    assert_eq!(events.next().0, "complete");
    let mut events = Events::open(&site, "{ queryNote { what } }");
    let (kind, answer) = events.next();
    assert_eq!((kind.as_str(), answer["errors"].as_array().map(Vec::len)), ("next", Some(1)));
    assert_eq!(events.next().0, "complete");
}
