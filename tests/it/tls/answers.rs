//! Requests over TLS are answered as without it.

use super::site::{Encrypted, Manner, Site, connect};
use crate::grpc::messages::{Mutation, Operation, Request, Response};
use crate::hostile::wire::Line;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{ErrorKind, Write as _};
use std::time::{Duration, Instant};
use tokio::runtime::Builder;
use tokio_rustls::rustls::ProtocolVersion;
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tonic::client::Grpc;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic_prost::ProstCodec;
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket};

#[test]
fn both_versions_and_long_bodies() {
    let site = Site::new(&[]);
    let mut first = site.connect();
    let done = first.post("/alter", "application/dql", b"text: string .");
    assert!(done.text().contains("Success"), "{}", done.text());
    // Both ways more than a record of TLS, 16 KiB, and than sockets hold.
    let text = "0123456789abcdef".repeat(200_000);
    let body = format!("{{ set {{ <1> <text> \"{text}\" . }} }}");
    let done = first.post("/mutate?commitNow=true", "application/rdf", body.as_bytes());
    assert!(done.text().contains("Success"), "{}", done.text());
    for (version, name) in [(&TLS12, ProtocolVersion::TLSv1_2), (&TLS13, ProtocolVersion::TLSv1_3)]
    {
        let manner = Manner { versions: &[version], ..Manner::default() };
        let mut line = site.try_connect(manner).unwrap();
        assert_eq!(line.stream.conn.protocol_version(), Some(name));
        for _ in 0..2 {
            let reported = line.query("{ q(func: uid(1)) { text } }");
            let answer: Value = serde_json::from_slice(&reported.body).unwrap();
            assert!(answer["data"] == json!({ "q": [{ "text": text }] }), "{name:?}");
        }
    }
    let log = site.program.log();
    assert!(log.is_empty(), "{log}");
}

#[test]
fn each_port_agrees_on_what_it_speaks() {
    let site = Site::new(&[]);
    let (http, grpc) = (site.program.address, site.grpc);
    for (address, offered, agreed) in [
        (http, &["http/1.1"][..], Some("http/1.1")),
        (http, &["h2", "http/1.1"], Some("h2")),
        (http, &["h2"], Some("h2")),
        (http, &[], None),
        (grpc, &["h2"], Some("h2")),
        (grpc, &["http/1.1", "h2"], Some("h2")),
        (grpc, &["http/1.1"], Some("http/1.1")),
        (grpc, &[], None),
    ] {
        let manner = Manner { protocols: offered, ..Manner::default() };
        let stream = connect(address, &site.authority, manner).unwrap();
        assert_eq!(stream.conn.alpn_protocol(), agreed.map(str::as_bytes), "{offered:?}");
    }
    let manner = Manner { protocols: &["h3"], ..Manner::default() };
    let error = connect(http, &site.authority, manner).unwrap_err().to_string();
    assert!(error.contains("NoApplicationProtocol"), "{error}");
}

async fn call(channel: &Channel, path: &'static str, request: Request) -> Response {
    let mut client = Grpc::new(channel.clone());
    client.ready().await.unwrap();
    let codec = ProstCodec::<Request, Response>::default();
    client
        .unary(tonic::Request::new(request), path.parse().unwrap(), codec)
        .await
        .unwrap()
        .into_inner()
}

#[test]
fn calls_of_grpc() {
    let site = Site::new(&[]);
    let authority = Certificate::from_pem(&site.authority.certificate);
    let tls = ClientTlsConfig::new().ca_certificate(authority).domain_name("localhost");
    let endpoint = Endpoint::from_shared(format!("https://{}", site.grpc)).unwrap();
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let channel = endpoint.tls_config(tls).unwrap().connect().await.unwrap();
        let mut client = Grpc::new(channel.clone());
        client.ready().await.unwrap();
        let codec = ProstCodec::<Operation, crate::grpc::messages::Payload>::default();
        let operation = Operation { schema: "name: string .".to_owned(), ..Operation::default() };
        let path = "/api.Dgraph/Alter".parse().unwrap();
        client.unary(tonic::Request::new(operation), path, codec).await.unwrap();
        let set_nquads = crate::grpc::client::bytes("<1> <name> \"Ada\" .");
        let mutations = vec![Mutation { set_nquads, ..Mutation::default() }];
        let request = Request { mutations, commit_now: true, ..Request::default() };
        call(&channel, "/api.Dgraph/Query", request).await;
        let query = "{ q(func: has(name)) { name } }".to_owned();
        let requested = (0..50).map(|_| {
            let request = Request { query: query.clone(), read_only: true, ..Request::default() };
            call(&channel, "/api.Dgraph/Query", request)
        });
        for answer in futures_util::future::join_all(requested).await {
            assert_eq!(&answer.json[..], br#"{"q":[{"name":"Ada"}]}"#);
        }
    });
}

fn heard(socket: &mut WebSocket<Encrypted>) -> Value {
    loop {
        if let Message::Text(text) = socket.read().unwrap() {
            return serde_json::from_str(&text).unwrap();
        }
    }
}

#[test]
fn a_subscription_over_websocket() {
    let site = Site::new(&[]);
    let mut line = site.connect();
    let schema = b"type Note @withSubscription { id: ID! text: String! }";
    let done = line.post("/admin/schema", "text/plain", schema);
    assert!(done.text().contains("Success"), "{}", done.text());
    let url = format!("wss://localhost:{}/graphql", site.program.address.port());
    let mut request = url.into_client_request().unwrap();
    let origin = format!("https://localhost:{}", site.program.address.port());
    request.headers_mut().insert("origin", origin.parse().unwrap());
    request.headers_mut().insert("sec-websocket-protocol", "graphql-transport-ws".parse().unwrap());
    let (mut socket, _) = tungstenite::client(request, site.connect().stream).unwrap();
    socket.send(Message::text(r#"{"type":"connection_init"}"#)).unwrap();
    assert_eq!(heard(&mut socket)["type"], "connection_ack");
    let payload = json!({ "query": "subscription { queryNote { text } }" });
    let subscribe = json!({ "id": "1", "type": "subscribe", "payload": payload });
    socket.send(Message::text(subscribe.to_string())).unwrap();
    assert_eq!(heard(&mut socket)["payload"]["data"], json!({ "queryNote": [] }));
    for text in ["one", "two"] {
        let query = format!("mutation {{ addNote(input: [{{text: \"{text}\"}}]) {{ numUids }} }}");
        let body = json!({ "query": query }).to_string();
        let reported = line.post("/graphql", "application/json", body.as_bytes());
        assert!(reported.text().contains("numUids"), "{}", reported.text());
        let notes = heard(&mut socket)["payload"]["data"]["queryNote"].to_string();
        assert!(notes.contains(text), "{notes}");
    }
}

#[test]
fn pages_of_the_server_come_by_https() {
    let site =
        Site::new(&["--allow-origin", "http://app.example", "--allow-host", "graph.example"]);
    let port = site.program.address.port();
    for (host, origin, want) in [
        ("localhost", String::new(), 200),
        ("localhost", format!("https://localhost:{port}"), 403),
        (&format!("localhost:{port}"), format!("https://localhost:{port}"), 200),
        (&format!("localhost:{port}"), format!("http://localhost:{port}"), 403),
        ("graph.example", "https://graph.example".to_owned(), 200),
        ("graph.example", "http://graph.example".to_owned(), 403),
        ("graph.example", "http://app.example".to_owned(), 200),
        ("elsewhere.example", String::new(), 403),
    ] {
        let mut line = site.connect();
        let origin = if origin.is_empty() { origin } else { format!("Origin: {origin}\r\n") };
        line.send(format!("GET /health HTTP/1.1\r\nHost: {host}\r\n{origin}\r\n").as_bytes());
        assert_eq!(line.read().unwrap().status, want, "{host} {origin}");
    }
}

/// A query that computes for long.
fn slow_text(blocks: usize) -> String {
    let mut text = "{".to_owned();
    for block in 0..blocks {
        write!(text, " var(func: has(next)) {{ r{block} as rank next {{ next {{ next {{ next {{ x{block} as math(r{block} + {block}) }} }} }} }} }}")
            .unwrap();
        write!(text, " q{block}() {{ max(val(x{block})) }}").unwrap();
    }
    text + " }"
}

fn request(query: &str) -> Vec<u8> {
    let length = query.len();
    format!("POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/dql\r\nContent-Length: {length}\r\n\r\n{query}").into_bytes()
}

/// How long nodes are asked for that take long, at least, and within which time that ends when
/// nobody waits for them.
const SLOW: Duration = Duration::from_secs(30);
const SOON: Duration = Duration::from_secs(10);

/// Names that differ in their letters.
fn names() -> impl Iterator<Item = String> {
    let letter = |digit: u8| char::from(digit - b'0' + b'a');
    (0_u64..).map(move |number| number.to_string().bytes().map(letter).collect())
}

/// Asks for what is quick until that has to wait, and gives the one that waits.
///
/// Each request has a name of its own: of a kind that was quick twice before the slow one began,
/// all would be answered beside it from then on.
fn behind(site: &Site, names: &mut impl Iterator<Item = String>) -> Line<Encrypted> {
    let started = Instant::now();
    while started.elapsed() < SOON {
        let mut next = site.connect();
        next.stream.sock.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
        let name = names.next().unwrap();
        next.send(&request(&format!("{{ q_{name}(func: uid(1)) {{ rank }} }}")));
        match next.read() {
            Ok(reported) => assert_eq!(reported.status, 200, "{}", reported.text()),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                return next;
            }
        }
    }
    panic!("the slow one does not run");
}

#[test]
fn who_leaves_has_nothing_computed_for_them() {
    // One request at a time, so that the next one is answered when the one before has ended.
    let site = Site::new(&["--admission", "running=1", "--limit", "timeout=10m"]);
    let mut line = site.connect();
    line.post("/alter", "application/dql", b"next: [uid] .\nrank: int .");
    let mut facts = String::new();
    for node in 1..=2000 {
        let (one, other) = (1 + node % 2000, 1 + node * 7 % 2000);
        writeln!(
            facts,
            "<{node}> <rank> \"{node}\" .\n<{node}> <next> <{one}> .\n<{node}> <next> <{other}> ."
        )
        .unwrap();
    }
    let body = format!("{{ set {{ {facts} }} }}");
    let done = line.post("/mutate?commitNow=true", "application/rdf", body.as_bytes());
    assert!(done.text().contains("Success"), "{}", done.text());
    let started = Instant::now();
    let reported = line.query(&slow_text(10));
    assert_eq!(reported.status, 200, "{}", reported.text());
    let blocks = (SLOW.as_secs_f64() / started.elapsed().as_secs_f64() * 10.0).ceil() as usize;
    let slow_request = request(&slow_text(blocks));
    assert!(slow_request.len() < 4 << 20, "{blocks} blocks are longer than a query may be");
    let mut names = names();
    // Whatever lies unread before the end, and whether the end is announced or not.
    for (more, is_announced) in [(0, true), (1, true), (4000, true), (0, false), (4000, false)] {
        let mut slow = site.connect();
        slow.send(&slow_request);
        for _ in 0..more {
            slow.send(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
        }
        let mut next = behind(&site, &mut names);
        if is_announced {
            slow.stream.conn.send_close_notify();
            slow.stream.flush().unwrap();
        }
        drop(slow);
        next.stream.sock.set_read_timeout(Some(SOON)).unwrap();
        let left = Instant::now();
        let reported = next.read().expect("the slow one has ended");
        assert_eq!(reported.status, 200, "{}", reported.text());
        println!("{more} requests behind it, announced {is_announced}: {:?}", left.elapsed());
    }
}
