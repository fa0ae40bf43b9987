//! What a server logs of requests, and what it never does: a line of JSON each, no secret, no id
//! that a stranger could break a line with.

use super::program::Program;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use tungstenite::Message;
use tungstenite::client::IntoClientRequest;

const SECRETS: [&str; 5] =
    ["hunter-key", "hunter-token", "hunter-name", "hunter-body", "hunter-path"];

/// Sends a request with these headers, and returns the head of the response.
fn send(server: &Program, line: &str, headers: &[&str], body: &str) -> String {
    let mut stream = TcpStream::connect(server.address).unwrap();
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let text = format!(
        "{line} HTTP/1.1\r\nHost: localhost\r\nX-Auth-Token: hunter-key\r\nX-Dgraph-AuthToken: hunter-token\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n{body}",
        body.len()
    );
    stream.write_all(text.as_bytes()).unwrap();
    let mut response = Vec::new();
    // A refused body may reset the connection after the response.
    let _ = stream.read_to_end(&mut response);
    String::from_utf8_lossy(&response).into_owned()
}

fn header<'a>(response: &'a str, name: &str) -> Option<&'a str> {
    let head = response.split("\r\n\r\n").next()?;
    head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

/// The lines of the log about requests, once there are so many.
fn lines(server: &Program, count: usize) -> Vec<Value> {
    super::connections::eventually("the lines are there", || count <= server.log().lines().count());
    let log = server.log();
    for secret in SECRETS {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
    let lines = log.lines().map(|line| serde_json::from_str(line).expect(line));
    lines.filter(|line: &Value| line.get("id").is_some()).collect()
}

const QUERY: &str = r#"{"query": "query q($n: string) { q(func: eq(name, $n)) { name } }",
    "variables": {"$n": "hunter-name"}}"#;

#[test]
fn each_line_is_json_without_secrets() {
    let options = ["--log-format", "json", "--log-queries"];
    let keys = ["--security", "client-key=hunter-key", "--security", "token=hunter-token"];
    let server = Program::start("", &[options.as_slice(), &keys].concat());
    let mut ids = Vec::new();
    for id in ["X-Request-Id: mine-1", "X-Request-Id: {\"level\":\"\"}", "X-Other: 1", "X-Other: 2"]
    {
        let response = send(&server, "POST /query", &[id], QUERY);
        assert!(response.starts_with("HTTP/1.1 200"), "{response}");
        ids.push(header(&response, "x-request-id").expect(&response).to_owned());
    }
    assert_eq!(ids[0], "mine-1");
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 4);
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let parent = format!("traceparent: 00-{trace}-00f067aa0ba902b7-01");
    let response = send(&server, "POST /query", &[&parent], QUERY);
    assert!(header(&response, "traceresponse").unwrap().starts_with(&format!("00-{trace}-")));
    // Nothing but HTTP is answered to an id that would be two lines of a log.
    send(&server, "GET /health", &["X-Request-Id: a\nmine-2: {\"level\":\"error\"}"], "");
    send(&server, "GET /hunter-path?auth=hunter-token", &[], "");
    send(&server, "POST /query", &[], "{ hunter-body: \"hunter-name\"");
    let lines = lines(&server, 7);
    assert!(lines.iter().all(|line| !line["id"].as_str().unwrap().contains(['\n', '{', ' '])));
    let of = |id: &str| lines.iter().find(|line| line["id"] == id).unwrap();
    assert_eq!(of("mine-1")["route"], "/query");
    assert_eq!(of("mine-1")["status"], 200);
    assert!(of("mine-1")["query"].as_str().unwrap().contains("eq(name"), "{}", of("mine-1"));
    assert!(
        lines
            .iter()
            .any(|line| line["trace_id"] == trace && line["parent_id"] == "00f067aa0ba902b7")
    );
}

/// Without an option no request is logged, and an id is answered to those who send one.
#[test]
fn nothing_is_logged_unless_requested() {
    let server = Program::start("", &["--log-format", "json"]);
    let query = r#"{"query": "{ q(func: uid(1)) { uid } }"}"#;
    assert_eq!(header(&send(&server, "POST /query", &[], query), "x-request-id"), None);
    let response = send(&server, "POST /query", &["X-Request-Id: mine"], query);
    assert_eq!(header(&response, "x-request-id"), Some("mine"));
    assert_eq!(server.log(), "");
}

/// A slow request is logged without its text, a quick one is not.
#[test]
fn slow_requests_are_logged() {
    let query = r#"{"query": "{ q(func: uid(1)) { uid } }"}"#;
    let server =
        Program::start("export HEXGRAPH_LOG_FORMAT=json HEXGRAPH_LOG_SLOW_QUERIES=0s;", &[]);
    send(&server, "POST /query", &[], query);
    let logged = lines(&server, 1);
    assert_eq!(logged[0]["message"], "slow request");
    assert_eq!(logged[0].get("query"), None);
    // The limit says it as well, unless there is the option of its own.
    let server = Program::start("", &["--log-format", "json", "--limit", "slow=0s"]);
    send(&server, "POST /query", &[], query);
    let logged = lines(&server, 1);
    assert_eq!((&logged[0]["message"], logged[0].get("query")), (&"slow request".into(), None));
    let options = ["--limit", "slow=0s", "--log-slow-queries", "60s", "--log-queries"];
    let server = Program::start("", &options);
    send(&server, "POST /query", &[], query);
    assert_eq!(server.log(), "");
}

/// Says something over a WebSocket of one of the two dialects, and reads until so many messages of
/// each type have come.
fn over_a_socket(server: &Program, dialect: &str, id: &str, said: &[Value], due: &[(&str, usize)]) {
    let stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
    let mut request = format!("ws://{}/graphql", server.address).into_client_request().unwrap();
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    for (name, value) in [
        ("sec-websocket-protocol", dialect),
        ("x-request-id", id),
        ("x-auth-token", "hunter-key"),
        ("traceparent", trace),
    ] {
        request.headers_mut().insert(name, value.parse().unwrap());
    }
    let (mut socket, _) = tungstenite::client(request, stream).unwrap();
    for message in said {
        socket.send(Message::text(message.to_string())).unwrap();
    }
    let mut came: Vec<String> = Vec::new();
    let count = |came: &[String], kind: &str| came.iter().filter(|it| *it == kind).count();
    while due.iter().any(|(kind, due)| count(&came, kind) < *due) {
        let message = socket.read().unwrap();
        // What is pinged is no message.
        if let Message::Text(text) = message {
            let message: Value = serde_json::from_str(&text).unwrap();
            came.push(message["type"].as_str().unwrap().to_owned());
        }
    }
}

/// Each operation over a WebSocket has a line with the id of its connection, in both dialects.
#[test]
fn operations_over_sockets_are_logged() {
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("schema.graphql");
    std::fs::write(
        &schema,
        "type Note @withSubscription { id: ID! text: String @search(by: [hash]) }",
    )
    .unwrap();
    let schema = schema.to_str().unwrap();
    let options = ["--log-format", "json", "--log-queries", "--graphql-schema", schema];
    let server = Program::start("", &options);
    let hello =
        json!({ "type": "connection_init", "payload": { "X-Request-Id": "hunter-token\n" } });
    let operation = |id: &str, kind: &str, query: &str| json!({ "id": id, "type": kind, "payload": { "query": query } });
    let query = "{ queryNote(filter: { text: { eq: \"hunter-body\" } }) { text } }";
    let said = [
        hello.clone(),
        operation("hunter-name", "subscribe", query),
        operation(
            "b",
            "subscribe",
            "mutation { addNote(input: [{ text: \"hunter-body\" }]) { numUids } }",
        ),
        operation("c", "subscribe", "subscription { queryNote { text } }"),
        operation("d", "subscribe", "{ queryNote { nothing } }"),
    ];
    over_a_socket(
        &server,
        "graphql-transport-ws",
        "modern",
        &said,
        &[("next", 3), ("complete", 2), ("error", 1)],
    );
    let said = [hello, operation("1", "start", "subscription { queryNote { text } }")];
    over_a_socket(&server, "graphql-ws", "legacy", &said, &[("data", 1)]);
    let lines = lines(&server, 7);
    let operations = lines.iter().filter(|line| line["method"] == "WEBSOCKET");
    let mut operations: Vec<Value> = operations.cloned().collect();
    operations.sort_by_key(|line| line["id"].to_string());
    let facts: Vec<Value> = operations
        .iter()
        .map(|line| json!([line["id"], line["kind"], line["status"], line["trace_id"]]))
        .collect();
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let want = json!([
        ["legacy.1", "subscription", 200, trace],
        ["modern.1", "query", 200, trace],
        ["modern.2", "mutation", 200, trace],
        ["modern.3", "subscription", 200, trace],
        ["modern.4", null, 400, trace],
    ]);
    assert_eq!(json!(facts), want);
    assert!(operations.iter().all(|line| line["seconds"].is_f64() && line["route"] == "/graphql"));
    let text = operations[1]["query"].as_str().unwrap();
    assert_eq!(text, query.replace("hunter-body", "…"));
    let requests = lines.iter().filter(|line| line["status"] == 101);
    let ids: HashSet<&str> = requests.map(|line| line["id"].as_str().unwrap()).collect();
    assert_eq!(ids, HashSet::from(["legacy", "modern"]));
}
