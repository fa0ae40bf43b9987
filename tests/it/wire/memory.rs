//! Memory that requests over the wire take together, and answers that are longer than what is
//! retained of them.

use super::site::{Site, full_of, message};
use flate2::read::GzDecoder;
use hexgraph::db::{
    Database, LoadOptions, Memory, OpenOptions, QueryRequest, RequestContext, Source,
};
use hexgraph_server::http::ServeOptions;
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

const DQL: &str = "Content-Type: application/dql";

/// Each of the five thousand nodes shows some four thousand bytes, unless a test says otherwise.
const ALL: &str = "{ q(func: has(name)) { uid name } }";

/// A hundred megabytes: more than what the system keeps for a client that does not read.
const MUCH: &str = "{ q(func: has(name)) { uid name a: name b: name c: name d: name } }";

fn database(
    memory: Memory,
    limits: &[(&str, &str)],
    (nodes, name_len): (usize, usize),
) -> Database {
    let mut options = OpenOptions { memory, ..OpenOptions::default() };
    for (name, value) in limits {
        options.limits.set(name, value).unwrap();
    }
    let database = Database::in_memory_with(options);
    let mut lines = String::new();
    for uid in 1..=nodes {
        writeln!(lines, "<{uid}> <name> \"{}{uid:06}\" .", "n".repeat(name_len)).unwrap();
    }
    let source = Source::Bytes(lines.into_bytes().into());
    let schema = Some("name: string .");
    database.load_with(source, schema, LoadOptions::default(), &RequestContext::new()).unwrap();
    database
}

fn clean(database: &Database, bytes: u64) {
    let started = Instant::now();
    while bytes < database.budget().reserved() {
        assert!(started.elapsed() < Duration::from_secs(20), "{}", database.budget().reserved());
        thread::sleep(Duration::from_millis(5));
    }
}

fn open(site: &Site, body: &str, length: usize) -> TcpStream {
    let mut stream = TcpStream::connect(site.server.address().unwrap()).unwrap();
    write!(
        stream,
        "POST /query HTTP/1.1\r\nHost: localhost\r\n{DQL}\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    stream
}

#[test]
fn a_long_answer_is_the_same_written_whole_and_while_it_is_sent() {
    let database = database(Memory::Work(256 << 20), &[], (5_000, 4_000));
    let site = Site::of(database.clone(), ServeOptions::default());
    let request = QueryRequest { text: ALL.to_owned(), ..QueryRequest::default() };
    let answer = database.query_with(&request, &RequestContext::new()).unwrap();
    let (full, _) = answer.to_json().unwrap();
    assert!(19 << 20 < full.len());
    drop(answer);
    let sent = site.send("POST", "/query", &[DQL], ALL.as_bytes());
    assert_eq!((sent.status, sent.header("transfer-encoding")), (200, "chunked"));
    assert_eq!(sent.header("dgraph-toucheduids"), "15000");
    let (data, beside) = sent.text().split_once(",\"extensions\":").unwrap();
    assert!(data == format!("{{\"data\":{full}"), "{} bytes", data.len());
    let beside: Value = serde_json::from_str(&beside[..beside.len() - 1]).unwrap();
    assert!(0 < beside["server_latency"]["encoding_ns"].as_u64().unwrap());
    let zstd = "Accept-Encoding: zstd";
    let packed = site.send("POST", "/query", &[DQL, zstd], ALL.as_bytes());
    assert_eq!(packed.header("content-encoding"), "zstd");
    let unpacked = zstd::decode_all(&packed.body[..]).unwrap();
    let answered = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap()["data"].clone();
    assert!(
        answered(&unpacked) == answered(&site.send("POST", "/query", &[DQL], ALL.as_bytes()).body)
    );
    let gzip = "Accept-Encoding: gzip";
    let packed = site.send("POST", "/query", &[DQL, gzip], ALL.as_bytes());
    assert_eq!(packed.header("content-encoding"), "gzip");
    let mut unpacked = String::new();
    GzDecoder::new(&packed.body[..]).read_to_string(&mut unpacked).unwrap();
    assert!(unpacked.starts_with(data), "{} bytes", unpacked.len());
    let short = "{ q(func: has(name), first: 10) { name } }";
    let short = site.send("POST", "/query", &[DQL], short.as_bytes());
    assert_eq!((short.status, short.header("transfer-encoding")), (200, ""));
    clean(&database, 2 << 20);
}

#[test]
fn who_reads_nothing_of_a_long_answer_holds_a_few_pieces_and_leaves_nothing() {
    let database = database(Memory::Work(128 << 20), &[("timeout", "8s")], (5_000, 4_000));
    let site = Site::of(database.clone(), ServeOptions::default());
    let slow: Vec<_> = (0..2).map(|_| open(&site, MUCH, MUCH.len())).collect();
    thread::sleep(Duration::from_millis(1500));
    // The levels of each, and its chunks; the answers are 100 MB each.
    assert!(
        (1 << 20..9 << 20).contains(&database.budget().reserved()),
        "{}",
        database.budget().reserved()
    );
    let beside = site.send("POST", "/query", &[DQL], ALL.as_bytes());
    assert_eq!(beside.status, 200);
    // Past the deadline the writers give up, and the bodies have no end.
    clean(&database, 2 << 20);
    for mut stream in slow {
        let mut sent = Vec::new();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        // It may be reset, too.
        let _ = stream.read_to_end(&mut sent);
        let start = sent.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
        assert_eq!(full_of(&sent[start..]), None);
    }
}

#[test]
fn bodies_and_answers_that_find_no_memory_are_refused_and_may_come_again() {
    let database = database(Memory::Work(48 << 20), &[], (100_000, 20));
    let site = Site::of(database.clone(), ServeOptions::default());
    let ask = |text: &str| site.send("POST", "/query", &[DQL], text.as_bytes());
    // Half of a body each, and nothing more.
    let half = " ".repeat(7 << 20);
    let unfinished: Vec<_> = (0..3).map(|_| open(&site, &half, 2 * half.len())).collect();
    let started = Instant::now();
    while database.budget().reserved() < 14 << 20 {
        assert!(started.elapsed() < Duration::from_secs(20), "{}", database.budget().reserved());
        thread::sleep(Duration::from_millis(5));
    }
    let others = database.budget().reservation();
    while others.reserve(1 << 20).is_ok() {}
    let refused = ask("{ q(func: has(name), orderdesc: name) { uid name } }");
    assert_eq!((refused.status, refused.header("retry-after")), (503, "1"));
    let said = refused.json();
    assert!(message(&said).contains("raise the setting `memory`"), "{said}");
    assert_eq!(ask("{ q(func: uid(7)) { uid } }").status, 200);
    let refused = site.post("/graphql", &format!("{{\"query\": \"{}\"}}", "x".repeat(20 << 20)));
    assert_eq!((refused.status, refused.header("retry-after")), (503, "1"));
    assert!(message(&refused.json()).contains("`memory`"));
    drop((unfinished, others));
    clean(&database, 2 << 20);
    assert_eq!(ask("{ q(func: has(name), orderdesc: name, first: 5) { uid name } }").status, 200);
}

#[test]
fn short_texts_of_many_values_are_refused_before_they_are_read() {
    let database = database(Memory::Work(128 << 20), &[], (1, 20));
    database.set_graphql_schema("type Note { text: String }").unwrap();
    let site = Site::of(database.clone(), ServeOptions::default());
    // Four megabytes, and 350 once they are read.
    let many = r#"{"a":0},"#.repeat(500_000);
    let few = r#"{"a":0},"#;
    let body = |path: &str, values: &str| {
        let values = values.trim_end_matches(',');
        match path {
            "/query" => {
                format!(
                    r#"{{"query":"{{ q(func: uid(1)) {{ uid }} }}","variables":{{"$a":[{values}]}}}}"#
                )
            }
            "/commit?startTs=1" => format!(r#"{{"keys":[{values}]}}"#),
            "/alter" => format!(r#"{{"drop_attr":"a","other":[{values}]}}"#),
            _ => format!(r#"{{"query":"{{ __typename }}","variables":{{"a":[{values}]}}}}"#),
        }
    };
    for path in ["/query", "/graphql", "/admin", "/commit?startTs=1", "/alter"] {
        let refused = site.post(path, &body(path, &many));
        assert_eq!((refused.status, refused.header("retry-after")), (503, "1"), "{path}");
        assert!(message(&refused.json()).contains("`memory`"), "{path}");
        assert_ne!(site.post(path, &body(path, few)).status, 503, "{path}");
    }
    clean(&database, 2 << 20);
}
