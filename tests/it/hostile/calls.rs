//! What attackers try at the port of gRPC: frames as they are not meant, messages that are none,
//! calls that are never finished, taken or wanted. After each the server answers.

use crate::grpc::client::{Client, Site, bytes, failed};
use crate::grpc::messages::{Mutation, Request, Response};
use crate::wire::site;
use hexgraph::db::{Database, Memory, OpenOptions};
use hexgraph_server::http::{ConnectionOptions, ROUTES, Role, Security, ServeOptions};
use prost::Message;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};
use tonic::Code;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RESET: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GO_AWAY: u8 = 7;
const WINDOW: u8 = 8;
const CONTINUATION: u8 = 9;

const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const NAMES: &str = "{ q(func: has(name)) { name } }";

/// A connection in HTTP/2 that says what it is told to.
struct Raw(TcpStream);

/// A frame that came.
#[derive(Debug)]
struct Frame {
    kind: u8,
    flags: u8,
    stream: u32,
    body: Vec<u8>,
}

impl Raw {
    fn connect(address: SocketAddr) -> Raw {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.set_nodelay(true).unwrap();
        Raw(stream)
    }

    /// Begins as clients do.
    fn greet(address: SocketAddr) -> Raw {
        let mut raw = Raw::connect(address);
        assert!(raw.send(PREFACE) && raw.frame((SETTINGS, 0, 0), b""));
        raw
    }

    /// False when the server has closed the connection.
    fn send(&mut self, bytes: &[u8]) -> bool {
        self.0.write_all(bytes).is_ok()
    }

    fn frame(&mut self, head: (u8, u8, u32), body: &[u8]) -> bool {
        self.send(&frame(head, body))
    }

    /// The next frame; `None` when the server has closed the connection.
    fn read(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        self.0.read_exact(&mut head).ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let stream = u32::from_be_bytes(head[5..].try_into().unwrap());
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).ok()?;
        Some(Frame { kind: head[3], flags: head[4], stream, body })
    }

    /// Reads until the server closes the connection, which it has to do soon. Returns what it said
    /// last.
    fn closes(&mut self) -> Option<Frame> {
        let begun = Instant::now();
        let mut last = None;
        while let Some(frame) = self.read() {
            last = Some(frame);
        }
        assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
        last
    }
}

fn frame((kind, flags, stream): (u8, u8, u32), body: &[u8]) -> Vec<u8> {
    let length = &(body.len() as u32).to_be_bytes()[1..];
    [length, &[kind, flags], &stream.to_be_bytes(), body].concat()
}

/// A head, each field a literal that is not indexed.
fn head(path: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let is_call = path != "/query";
    let fields = [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", path),
        (":authority", "localhost"),
        ("content-type", if is_call { "application/grpc" } else { "application/dql" }),
        ("te", "trailers"),
    ];
    let mut block = Vec::new();
    for (name, value) in fields.iter().chain(more) {
        block.push(0);
        for text in [name, value] {
            // Lengths of 127 and more go on in further bytes.
            match text.len() {
                short @ ..127 => block.push(short as u8),
                long => {
                    block.push(127);
                    let mut rest = long - 127;
                    while 127 < rest {
                        block.push((rest % 128) as u8 | 128);
                        rest /= 128;
                    }
                    block.push(rest as u8);
                }
            }
            block.extend_from_slice(text.as_bytes());
        }
    }
    block
}

/// A message with what stands before it.
fn message(message: &impl Message) -> Vec<u8> {
    let message = message.encode_to_vec();
    [&[0][..], &(message.len() as u32).to_be_bytes(), &message].concat()
}

/// A port, with a path that it answers and a body for it: both speak HTTP/2, the one of gRPC and
/// that of HTTP.
#[derive(Clone, Copy)]
struct BoundListener {
    address: SocketAddr,
    path: &'static str,
}

impl BoundListener {
    fn all(site: &Site) -> [BoundListener; 2] {
        let calls = site.server.grpc_address().unwrap();
        [
            BoundListener { address: calls, path: "/api.Dgraph/Query" },
            BoundListener { address: site.server.address().unwrap(), path: "/query" },
        ]
    }

    fn body(self, query: &str) -> Vec<u8> {
        match self.path {
            "/query" => query.as_bytes().to_vec(),
            _ => message(&Request { query: query.to_owned(), ..Request::default() }),
        }
    }

    fn head(self) -> Vec<u8> {
        head(self.path, &[])
    }
}

fn requested() -> Request {
    Request { query: NAMES.to_owned(), ..Request::default() }
}

fn impatient() -> ServeOptions {
    let mut connections = ConnectionOptions::default();
    for (name, value) in [("header", "1s"), ("body", "2s"), ("stall", "500ms"), ("idle", "1s")] {
        connections.set(name, value).unwrap();
    }
    ServeOptions { connections, ..ServeOptions::default() }
}

fn site(options: ServeOptions) -> (Site, SocketAddr) {
    let site = Site::with(options);
    site.client.set("_:a <name> \"Ann\" .");
    let address = site.server.grpc_address().unwrap();
    (site, address)
}

#[track_caller]
fn check_alive(site: &Site) {
    let begun = Instant::now();
    let client = Client::new(site.server.grpc_address().unwrap());
    let reported = client.ask(requested()).unwrap();
    assert_eq!(&reported.json[..], br#"{"q":[{"name":"Ann"}]}"#);
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

/// The key that each method needs, whatever is asked.
#[test]
fn every_call_asks_for_the_key_that_the_table_names() {
    let mut security = Security::default();
    security.set("admin-key=root; client-key=app").unwrap();
    let site = Site::with(ServeOptions { security, ..ServeOptions::default() });
    let address = site.server.grpc_address().unwrap();
    for route in ROUTES.iter().filter(|route| route.is_call()) {
        for (key, holds) in [
            ("", Role::Anyone),
            ("wrong", Role::Anyone),
            ("app", Role::Client),
            ("root", Role::Admin),
        ] {
            for (origin, may_ask) in [
                ("X-Nothing: 1", true),
                ("Origin: https://evil.example", false),
                ("Sec-Fetch-Site: cross-site", false),
            ] {
                for content in
                    ["application/grpc-web", "application/grpc-web-text", "application/grpc"]
                {
                    let content = format!("Content-Type: {content}");
                    let key = format!("X-Auth-Token: {key}");
                    let key = if key.ends_with(' ') { "X-No-Key: 1" } else { &key };
                    let reported =
                        site::send(address, ("POST", route.path), &[&content, key, origin], b"");
                    let status = reported.header("grpc-status").to_owned();
                    let want = match holds {
                        _ if !may_ask => Some("7"),
                        _ if route.role <= holds => None,
                        Role::Anyone => Some("16"),
                        _ => Some("7"),
                    };
                    let is_refusal = ["7", "16"].contains(&status.as_str());
                    let is_as_said = want.map_or(!is_refusal, |want| status == want);
                    assert!(is_as_said, "{} {key} {origin}: {reported:?}", route.path);
                }
            }
        }
    }
}

#[test]
fn frames_as_they_are_not_meant() {
    let (site, _) = site(impatient());
    BoundListener::all(&site).into_iter().for_each(|listener| wrong_frames(&site, listener));
}

fn wrong_frames(site: &Site, listener: BoundListener) {
    let address = listener.address;
    let call = |raw: &mut Raw| raw.frame((HEADERS, END_HEADERS, 1), &listener.head());
    let tries: [(&str, &dyn Fn(&mut Raw)); 12] = [
        ("a frame longer than agreed", &|raw| {
            raw.send(&[0xff, 0xff, 0xff, DATA, 0, 0, 0, 0, 1]);
        }),
        ("data on a stream that there is not", &|raw| {
            raw.frame((DATA, 0, 1), b"x");
        }),
        ("a head that can't be read", &|raw| {
            raw.frame((HEADERS, END_HEADERS, 1), &[0xff; 64]);
        }),
        ("a head on a stream of the server", &|raw| {
            raw.frame((HEADERS, END_HEADERS, 2), &head("/", &[]));
        }),
        ("more of a head that there is not", &|raw| {
            raw.frame((CONTINUATION, 0, 1), b"x");
        }),
        ("a head that never ends", &|raw| {
            raw.frame((HEADERS, 0, 1), &listener.head());
            while raw.frame((CONTINUATION, 0, 1), &head("", &[("x", &"y".repeat(8000))])) {}
        }),
        ("a ping of a wrong length", &|raw| {
            raw.frame((PING, 0, 0), b"x");
        }),
        ("settings of a wrong length", &|raw| {
            raw.frame((SETTINGS, 0, 0), b"x");
        }),
        ("a window that is too large", &|raw| {
            raw.frame((WINDOW, 0, 0), &0x7fff_ffff_u32.to_be_bytes());
        }),
        ("a stream that is older than the last", &|raw| {
            raw.frame((HEADERS, END_HEADERS, 9), &listener.head());
            raw.frame((HEADERS, END_HEADERS, 3), &listener.head());
        }),
        ("more than the window holds", &|raw| {
            call(raw);
            while raw.frame((DATA, 0, 1), &[0; 16_384]) {}
        }),
        ("what is no HTTP", &|raw| {
            raw.send(&[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]);
        }),
    ];
    for (name, attempt) in tries {
        println!("{name}");
        let mut raw = Raw::greet(address);
        attempt(&mut raw);
        raw.closes();
        check_alive(site);
    }
    // Not even the beginning.
    for start in [
        &b""[..],
        b"PRI * HT",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\0\0\0",
        b"GET / HTTP/1.1\r\nHost: ",
    ] {
        let mut raw = Raw::connect(address);
        raw.send(start);
        raw.closes();
    }
    // A head that is begun and left.
    let mut raw = Raw::greet(address);
    raw.frame((HEADERS, 0, 1), &listener.head());
    raw.closes();
    check_alive(site);
}

#[test]
fn bytes_that_are_no_message() {
    let (site, address) = site(ServeOptions::default());
    let call = |body: &[u8]| {
        let reported = site::send(
            address,
            ("POST", "/api.Dgraph/Query"),
            &["Content-Type: application/grpc-web"],
            body,
        );
        (
            reported.status,
            reported.header("grpc-status").to_owned(),
            reported.header("grpc-message").to_owned(),
        )
    };
    let framed =
        |flag: u8, length: u32, body: &[u8]| [&[flag][..], &length.to_be_bytes(), body].concat();
    for (body, code, why) in [
        (framed(0, 4, b"\x22\x02\xff\xfe"), "3", "invalid string value"),
        (framed(0, u32::MAX, b"x"), "3", "4294967295 bytes are announced, 1 came"),
        (framed(7, 1, b"x"), "3", "the byte before the message is 7"),
        (framed(1, 1, b"x"), "12", "messages packed with"),
        (framed(0, 0, b"more"), "3", "4 bytes come behind it"),
        (b"x".to_vec(), "3", "has no message"),
    ] {
        let (status, reported, message) = call(&body);
        assert!(
            (status, reported.as_str()) == (200, code) && message.contains(why),
            "{reported} {message}"
        );
    }
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let full = message(&Request {
        vars: [("$a".to_owned(), "1".to_owned())].into(),
        mutations: vec![Mutation {
            set_nquads: bytes("_:a <other> \"x\" ."),
            cond: "@if(eq(1, 1))".to_owned(),
            ..Mutation::default()
        }],
        ..requested()
    });
    for _ in 0..500 {
        // Random bytes, or a message with a few of them changed.
        let mut body = match random.bool() {
            true => (0..random.usize(..200)).map(|_| random.u8(..)).collect(),
            false => full[5..].to_vec(),
        };
        for _ in 0..random.usize(..4) {
            if !body.is_empty() {
                let at = random.usize(..body.len());
                body[at] = random.u8(..);
            }
        }
        let (status, reported, message) = call(&framed(0, body.len() as u32, &body));
        // It is answered, or refused as what can't be read or executed.
        assert!(
            status == 200 && ["", "2", "3"].contains(&reported.as_str()),
            "{reported} {message} {body:?}"
        );
    }
    check_alive(&site);
}

#[test]
fn messages_that_are_more_than_they_look() {
    let mut options = OpenOptions { memory: Memory::Process(1 << 30), ..OpenOptions::default() };
    options.limits.set("body", "32MiB").unwrap();
    let site = Site::of(Database::in_memory_with(options), ServeOptions::default());
    site.client.set("_:a <name> \"Ann\" .");
    // Fifteen million empty statements of two bytes each.
    let quads = [0x2a, 0].repeat(15_000_000);
    let mut request = vec![0x62];
    prost::encoding::encode_varint(quads.len() as u64, &mut request);
    request.extend(quads);
    // So many keys of a transaction, and variables without name and value.
    let keys = [&[0x08, 1][..], &[0x22, 0].repeat(15_000_000)].concat();
    let variables = [0x12, 0].repeat(15_000_000);
    for (path, message) in [("Query", request), ("CommitOrAbort", keys), ("RunDQL", variables)] {
        let framed = [&[0][..], &(message.len() as u32).to_be_bytes(), &message].concat();
        let reported = site::send(
            site.server.grpc_address().unwrap(),
            ("POST", &format!("/api.Dgraph/{path}")),
            &["Content-Type: application/grpc-web"],
            &framed,
        );
        assert_eq!(reported.header("grpc-status"), "14", "{path}: {reported:?}");
        assert!(reported.header("grpc-message").contains("memory"), "{path}: {reported:?}");
    }
    check_alive(&site);
    // JSON that is deep, in a mutation and as a query.
    for depth in [1_000, 1_000_000] {
        let set_json = bytes(&"{\"a\":".repeat(depth));
        let mutations = vec![Mutation { set_json, ..Mutation::default() }];
        failed(
            site.client.ask(Request { mutations, ..Request::default() }),
            Code::Unknown,
            "line 1",
        );
        let query = "{ q(func: has(name)) ".to_owned() + &"{ knows ".repeat(depth);
        assert!(site.client.ask(Request { query, ..Request::default() }).is_err());
    }
    check_alive(&site);
}

#[test]
fn calls_that_are_reset_as_they_come() {
    let (site, _) = site(ServeOptions::default());
    BoundListener::all(&site).into_iter().for_each(|listener| reset_calls(&site, listener));
}

fn reset_calls(site: &Site, listener: BoundListener) {
    let begun = Instant::now();
    let mut streams = 0;
    // With and without a body: the former are begun and executed, the latter never leave the
    // connection.
    for has_body in [true, false] {
        let mut raw = Raw::greet(listener.address);
        let mut goes_on = true;
        for stream in (1..40_000_u32).step_by(2) {
            let mut frames = frame((HEADERS, END_HEADERS, stream), &listener.head());
            if has_body {
                frames.extend(frame((DATA, END_STREAM, stream), &listener.body(NAMES)));
            }
            frames.extend(frame((RESET, 0, stream), &8_u32.to_be_bytes()));
            goes_on = raw.send(&frames);
            streams += 1;
            if !goes_on {
                break;
            }
        }
        if goes_on {
            raw.closes();
        }
    }
    println!("{streams} streams in {:?}", begun.elapsed());
    check_alive(site);
}

#[test]
fn a_flood_of_resets_is_no_matter_of_others() {
    let (site, _) = site(ServeOptions::default());
    let (client, listeners) = (&site.client, BoundListener::all(&site));
    client.ask(requested()).unwrap();
    let end = Instant::now() + Duration::from_secs(2);
    let slowest = std::thread::scope(|scope| {
        for listener in listeners {
            scope.spawn(move || {
                while Instant::now() < end {
                    let mut raw = Raw::greet(listener.address);
                    for stream in (1..2_000_u32).step_by(2) {
                        let call = frame((HEADERS, END_HEADERS, stream), &listener.head());
                        let body = frame((DATA, END_STREAM, stream), &listener.body(NAMES));
                        let reset = frame((RESET, 0, stream), &8_u32.to_be_bytes());
                        if !raw.send(&[call, body, reset].concat()) {
                            break;
                        }
                    }
                }
            });
        }
        let mut slowest = Duration::ZERO;
        while Instant::now() < end {
            let begun = Instant::now();
            client.ask(requested()).unwrap();
            slowest = slowest.max(begun.elapsed());
        }
        slowest
    });
    // Other tests run beside this one.
    assert!(slowest < Duration::from_secs(1), "{slowest:?}");
}

#[test]
fn calls_that_are_never_finished() {
    let (site, _) = site(impatient());
    BoundListener::all(&site).into_iter().for_each(|listener| unfinished_calls(&site, listener));
}

fn unfinished_calls(site: &Site, listener: BoundListener) {
    let mut raw = Raw::greet(listener.address);
    // Far more than may be under way on one connection, each with a message that is announced and
    // does not come.
    for stream in (1..1_000_u32).step_by(2) {
        raw.frame((HEADERS, END_HEADERS, stream), &listener.head());
        raw.frame((DATA, 0, stream), b"\0\x03\xff\xff\xff");
    }
    check_alive(site);
    let (mut refused, mut ended) = (0, 0);
    while let Some(frame) = raw.read() {
        match frame.kind {
            // REFUSED_STREAM
            RESET if frame.body == 7_u32.to_be_bytes() => refused += 1,
            HEADERS | DATA if 0 < frame.flags & END_STREAM => ended += 1,
            _ => {}
        }
    }
    assert!(300 < refused && 50 < ended, "{refused} refused, {ended} ended");
    check_alive(site);
}

#[test]
fn answers_that_nobody_takes() {
    let (site, address) = site(impatient());
    let note = "x".repeat(4 << 20);
    site.client.set(&format!("<7> <note> \"{note}\" ."));
    BoundListener::all(&site).into_iter().for_each(|listener| answers_left(&site, listener));
    // Whoever takes it slowly gets it.
    let client = Client::new(address);
    let query = NOTE.to_owned();
    let reported: Response = client.ask(Request { query, ..Request::default() }).unwrap();
    assert!(4 << 20 < reported.json.len());
}

/// Asks for an answer of 4 MiB.
const NOTE: &str = "{ q(func: uid(7)) { note } }";

fn answers_left(site: &Site, listener: BoundListener) {
    let mut raw = Raw::greet(listener.address);
    let begun = Instant::now();
    for stream in (1..40_u32).step_by(2) {
        let body = listener.body(NOTE);
        raw.frame((HEADERS, END_HEADERS, stream), &listener.head());
        raw.frame((DATA, END_STREAM, stream), &body);
    }
    // All is read that may be sent, 64 KiB, and no more is asked for. That the client is there is
    // told.
    let mut pings = 0;
    while let Some(Frame { kind, flags, body, .. }) = raw.read() {
        if kind == PING && flags == 0 {
            raw.frame((PING, 1, 0), &body);
            pings += 1;
        }
        assert!(begun.elapsed() < Duration::from_secs(15), "it stays, after {pings} pings");
    }
    println!("{pings} pings in {:?}", begun.elapsed());
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    check_alive(site);
}

#[test]
fn pings_and_settings_without_end() {
    let (site, _) = site(ServeOptions::default());
    let listeners = BoundListener::all(&site);
    for (listener, (kind, body)) in listeners.into_iter().flat_map(|listener| {
        [(PING, &[0; 8][..]), (SETTINGS, b""), (WINDOW, &[0, 0, 0, 1])].map(|kind| (listener, kind))
    }) {
        let mut raw = Raw::greet(listener.address);
        raw.0.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
        let frames = frame((kind, 0, 0), body).repeat(1000);
        for _ in 0..200 {
            // Nobody reads what comes back, so there may be an end to what is taken.
            if !raw.send(&frames) {
                break;
            }
        }
        check_alive(&site);
    }
}

#[test]
fn connections_without_calls_are_closed() {
    let (site, _) = site(impatient());
    BoundListener::all(&site).into_iter().for_each(idle_connections);
}

fn idle_connections(listener: BoundListener) {
    let begun = Instant::now();
    let mut raw = Raw::greet(listener.address);
    let last = raw.closes().unwrap();
    assert_eq!((last.kind, last.stream), (GO_AWAY, 0));
    assert!(Duration::from_millis(900) < begun.elapsed(), "{:?}", begun.elapsed());
    // One with calls stays.
    let mut raw = Raw::greet(listener.address);
    let begun = Instant::now();
    let mut stream = 1;
    while begun.elapsed() < Duration::from_secs(3) {
        raw.frame((HEADERS, END_HEADERS, stream), &listener.head());
        assert!(raw.frame((DATA, END_STREAM, stream), &listener.body(NAMES)));
        stream += 2;
        std::thread::sleep(Duration::from_millis(300));
    }
}

#[test]
fn requests_share_a_connection() {
    let (site, _) = site(ServeOptions::default());
    let [_, listener] = BoundListener::all(&site);
    let mut raw = Raw::greet(listener.address);
    let streams: Vec<u32> = (1..40).step_by(2).collect();
    for stream in &streams {
        raw.frame((HEADERS, END_HEADERS, *stream), &listener.head());
        raw.frame((DATA, END_STREAM, *stream), &listener.body(NAMES));
    }
    let mut reported = std::collections::BTreeMap::<u32, Vec<u8>>::new();
    let mut ended = 0;
    while ended < streams.len() {
        let frame = raw.read().expect("it goes on");
        if frame.kind == DATA {
            reported.entry(frame.stream).or_default().extend(&frame.body);
            ended += usize::from(0 < frame.flags & END_STREAM);
        }
    }
    assert_eq!(reported.keys().copied().collect::<Vec<_>>(), streams);
    for body in reported.values() {
        let reported = String::from_utf8_lossy(body);
        assert!(reported.starts_with(r#"{"data":{"q":[{"name":"Ann"}]}"#), "{reported}");
    }
}
