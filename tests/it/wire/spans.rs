//! Spans for a collector: what arrives there by OTLP, and what requests do while none answers.

use super::site::{Answer, Site};
use hexgraph::db::Database;
use hexgraph_server::http::{LogOptions, Security, ServeOptions, SpanOptions};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::any_value;
use opentelemetry_proto::tonic::trace::v1::{Span, status::StatusCode};
use prost::Message;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

const PARENT: &str = "00f067aa0ba902b7";

/// What a collector answers.
#[derive(Clone, Copy)]
enum Behaviour {
    Accepts,
    /// It accepts all but this number.
    Rejects(i64),
    /// It reads, and never answers.
    Hangs,
}

/// A collector, which ends with the process.
struct Collector {
    url: String,
    requests: Arc<Mutex<Vec<(String, Vec<u8>)>>>,
}

impl Collector {
    fn start(behaviour: Behaviour) -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&requests);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let noted = Arc::clone(&noted);
                thread::spawn(move || while answer(&stream, behaviour, &noted).is_some() {});
            }
        });
        Collector { url, requests }
    }

    /// The spans that came, with the attributes of the resource.
    fn spans(&self) -> (Vec<Span>, BTreeMap<String, String>) {
        let (mut spans, mut resource) = (Vec::new(), BTreeMap::new());
        for (head, body) in self.requests.lock().unwrap().iter() {
            assert!(head.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{head}");
            assert!(head.to_lowercase().contains("content-type: application/x-protobuf"), "{head}");
            let request = ExportTraceServiceRequest::decode(&body[..]).unwrap();
            for of_resource in request.resource_spans {
                let attributes = of_resource.resource.unwrap().attributes;
                resource = attributes.into_iter().map(|it| (it.key, shown(it.value))).collect();
                spans.extend(of_resource.scope_spans.into_iter().flat_map(|scope| scope.spans));
            }
        }
        (spans, resource)
    }
}

fn shown(value: Option<opentelemetry_proto::tonic::common::v1::AnyValue>) -> String {
    match value.and_then(|value| value.value) {
        Some(any_value::Value::StringValue(text)) => text,
        Some(any_value::Value::IntValue(number)) => number.to_string(),
        other => format!("{other:?}"),
    }
}

/// Reads a request, and answers it.
fn answer(
    stream: &TcpStream,
    behaviour: Behaviour,
    noted: &Mutex<Vec<(String, Vec<u8>)>>,
) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        (0 < reader.read_line(&mut head).ok()?).then_some(())?;
    }
    let lower = head.to_lowercase();
    let length = lower.split("content-length: ").nth(1)?.split("\r\n").next()?.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    noted.lock().unwrap().push((head, body));
    let rejected_spans = match behaviour {
        Behaviour::Accepts => 0,
        Behaviour::Rejects(spans) => spans,
        Behaviour::Hangs => {
            thread::sleep(Duration::from_secs(600));
            return None;
        }
    };
    let partial = ExportTracePartialSuccess { rejected_spans, error_message: String::new() };
    let body = ExportTraceServiceResponse { partial_success: Some(partial) }.encode_to_vec();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
    let mut stream = stream;
    stream.write_all(&[head.as_bytes(), &body].concat()).ok()
}

fn site(url: &str, options: ServeOptions) -> Site {
    let spans = Some(SpanOptions::new(url).unwrap());
    Site::of(Database::in_memory(), ServeOptions { spans, ..options })
}

fn attributes(span: &Span) -> BTreeMap<&str, String> {
    span.attributes.iter().map(|it| (it.key.as_str(), shown(it.value.clone()))).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

const QUERY: &str = r#"{"query": "query q($n: string) { q(func: eq(hunter_name, $n)) { uid } }",
    "variables": {"$n": "hunter-value"}}"#;

fn ask(site: &Site, headers: &[&str], body: &str) -> Answer {
    let headers = [&["Content-Type: application/json"], headers].concat();
    site.send("POST", "/query", &headers, body.as_bytes())
}

/// The value of a metric without labels.
fn metric(site: &Site, name: &str) -> u64 {
    let answer = site.send("GET", "/metrics", &["X-Auth-Token: hunter-key"], b"");
    let line = answer.text().lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap().parse().unwrap()
}

#[test]
fn requests_are_spans_without_secrets() {
    let collector = Collector::start(Behaviour::Accepts);
    let mut security = Security::default();
    security.set("admin-key=hunter-key").unwrap();
    let mut site = site(&collector.url, ServeOptions { security, ..ServeOptions::default() });
    let parent = format!("traceparent: 00-{TRACE}-{PARENT}-01");
    let key = "X-Auth-Token: hunter-key";
    let headers = [key, &parent, "X-Request-Id: mine", "tracestate: a=hunter-state"];
    let answered = ask(&site, &headers, QUERY);
    assert_eq!(answered.status, 200);
    let own = ask(&site, &[key], "{");
    let response = own.header("traceresponse").to_owned();
    assert_eq!(site.send("GRAB", "/hunter-path?q=hunter-query", &[key], b"").status, 404);
    assert_eq!(ask(&site, &[], QUERY).status, 401);
    // The caller does not record this one.
    ask(&site, &[key, &format!("traceparent: 00-{TRACE}-{PARENT}-00")], QUERY);
    site.server.stop();
    let (spans, resource) = collector.spans();
    assert_eq!(resource["service.name"], "hexgraph");
    assert_eq!(resource["service.version"], env!("CARGO_PKG_VERSION"));
    let names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(names, ["POST /query", "POST /query", "_OTHER none", "POST /query"]);
    let [named, wrong, missing, refused] = &spans[..] else { unreachable!() };
    assert_eq!((hex(&named.trace_id), hex(&named.parent_span_id)), (TRACE.into(), PARENT.into()));
    assert!(answered.header("traceresponse").contains(&hex(&named.span_id)));
    let mut shown = attributes(named);
    for (name, value) in [
        ("http.request.method", "POST"),
        ("http.route", "/query"),
        ("http.response.status_code", "200"),
        ("db.system.name", "hexgraph"),
        ("hexgraph.kind", "read"),
        ("hexgraph.outcome", "ok"),
        ("hexgraph.request.id", "mine"),
    ] {
        assert_eq!(shown.remove(name).as_deref(), Some(value), "{name}");
    }
    assert!(shown.is_empty(), "{shown:?}");
    assert!(named.start_time_unix_nano < named.end_time_unix_nano);
    // A trace that begins here has no parent.
    assert_eq!(hex(&wrong.parent_span_id), "");
    assert!(response.contains(&hex(&wrong.trace_id)), "{response}");
    let failed = |span: &Span| span.status.as_ref().unwrap().code == StatusCode::Error as i32;
    assert_eq!([named, wrong, missing, refused].map(failed), [false, true, false, false]);
    assert_eq!(attributes(refused)["http.response.status_code"], "401");
    for (_, body) in collector.requests.lock().unwrap().iter() {
        assert!(!String::from_utf8_lossy(body).contains("hunter"));
    }
}

#[test]
fn texts_are_exported_where_they_are_logged() {
    let collector = Collector::start(Behaviour::Accepts);
    let logs = LogOptions { queries: true, slow: Some(Duration::from_secs(600)) };
    let mut site = site(&collector.url, ServeOptions { logs, ..ServeOptions::default() });
    ask(&site, &[], QUERY);
    site.server.stop();
    let (spans, _) = collector.spans();
    let text = &attributes(&spans[0])["db.query.text"];
    assert!(text.contains("eq(hunter_name, $n)") && !text.contains("hunter-value"), "{text}");
}

/// Asks until the queue is full, and returns the longest time of a request.
fn fill(site: &Site) -> Duration {
    let longest = (0..2400).map(|_| {
        let begun = Instant::now();
        assert_eq!(site.send("GET", "/health", &[], b"").status, 200);
        begun.elapsed()
    });
    longest.max().unwrap()
}

/// A collector that hangs holds up no request, and spans beyond the bound are counted.
#[test]
fn a_collector_that_hangs_slows_nobody() {
    let collector = Collector::start(Behaviour::Hangs);
    let mut site = site(&collector.url, ServeOptions::default());
    let longest = fill(&site);
    assert!(longest < Duration::from_secs(5), "{longest:?}");
    let lost = metric(&site, "hexgraph_spans_lost_total");
    assert!((300..=1000).contains(&lost), "{lost}");
    assert_eq!(metric(&site, "hexgraph_spans_exported_total"), 0);
    let begun = Instant::now();
    site.server.stop();
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
}

#[test]
fn spans_are_lost_where_no_collector_is() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let site = site(&url, ServeOptions::default());
    ask(&site, &[], QUERY);
    let begun = Instant::now();
    while metric(&site, "hexgraph_spans_lost_total") == 0 {
        assert!(begun.elapsed() < Duration::from_secs(20));
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(metric(&site, "hexgraph_spans_exported_total"), 0);
    for wrong in ["localhost:4318", "http://me:hunter@c", "http://c?key=hunter"] {
        let error = SpanOptions::new(wrong).unwrap_err().to_string();
        assert!(error.contains("--otlp-endpoint") && !error.contains("hunter"), "{error}");
    }
}

#[test]
fn spans_that_a_collector_rejects_are_lost() {
    let collector = Collector::start(Behaviour::Rejects(1));
    let site = site(&collector.url, ServeOptions::default());
    for _ in 0..3 {
        ask(&site, &[], QUERY);
    }
    let (lost, exported) = ("hexgraph_spans_lost_total", "hexgraph_spans_exported_total");
    let begun = Instant::now();
    while metric(&site, lost) == 0 || metric(&site, exported) < 2 {
        assert!(begun.elapsed() < Duration::from_secs(20));
        thread::sleep(Duration::from_millis(50));
    }
}
