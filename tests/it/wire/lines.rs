//! `/query_many`: lines of arguments, and lines of answers.

use super::site::{Answer, Site};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use hexgraph::db::{Database, Memory, OpenOptions};
use hexgraph_server::http::ServeOptions;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

const TYPE: &str = "Content-Type: application/x-ndjson";

const TEXT: &str =
    "query q($n: string, $most: int = 2) { q(func: eq(n, $n), first: $most) { uid n } }";

fn database(limits: &[(&str, &str)]) -> Database {
    let mut options = OpenOptions { memory: Memory::Work(64 << 20), ..OpenOptions::default() };
    for (name, value) in limits {
        options.limits.set(name, value).unwrap();
    }
    let db = Database::in_memory_with(options);
    db.alter("n: string @index(exact) .").unwrap();
    let lines: String = (1..=60).map(|uid| format!("<{uid}> <n> \"n{}\" .\n", uid % 20)).collect();
    db.mutate(&lines, "").unwrap();
    db
}

fn site() -> (Database, Site) {
    let db = database(&[]);
    (db.clone(), Site::of(db, ServeOptions::default()))
}

fn body(rows: impl IntoIterator<Item = String>) -> String {
    let mut body = json!({ "query": TEXT }).to_string();
    for row in rows {
        write!(body, "\n{row}").unwrap();
    }
    body
}

fn ask(site: &Site, path: &str, body: &str) -> Answer {
    site.send("POST", path, &[TYPE], body.as_bytes())
}

fn lines(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.header("content-type"), "application/x-ndjson", "{}", answer.text());
    answer.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn message(line: &Value) -> &str {
    line["errors"][0]["message"].as_str().unwrap()
}

#[test]
fn answers_are_those_of_one_request_each_and_in_order() {
    let (_, site) = site();
    // Several chunks; some names nobody has.
    let rows = |position: usize| json!({ "n": format!("n{}", position * 7 % 23), "$most": position % 4 + 1 });
    let answer =
        ask(&site, "/query_many", &body((0..2_000).map(|position| rows(position).to_string())));
    assert_eq!((answer.status, answer.header("transfer-encoding")), (200, "chunked"));
    let result = lines(&answer);
    assert_eq!(result.len(), 2_000);
    for (position, line) in result.iter().enumerate() {
        assert_eq!(line["row"], position);
        if position % 97 == 0 {
            let row = rows(position);
            let variables = json!({ "$n": row["n"], "$most": row["$most"].to_string() });
            let one = json!({ "query": TEXT, "variables": variables }).to_string();
            assert_eq!(line["data"], site.post("/query", &one).json()["data"], "{row}");
        }
    }
    let short = ask(&site, "/query_many", &body(["{\"n\":\"n1\"}".to_owned()]));
    assert_eq!((short.header("transfer-encoding"), lines(&short).len()), ("", 1));
    assert_eq!(ask(&site, "/query_many", &body([])).text(), "", "no row has no answer");
}

#[test]
fn all_are_of_one_moment() {
    let (db, site) = site();
    let start = site.post("/query", &json!({ "query": "{ q(func: uid(1)) { uid } }" }).to_string());
    let start: Value = serde_json::from_slice(&start.body).unwrap();
    let start = start["extensions"]["txn"]["start_ts"].as_u64().unwrap();
    db.mutate("<100> <n> \"new\" .", "").unwrap();
    let row = || body(["{\"n\":\"new\"}".to_owned()]);
    let count =
        |path: &str| lines(&ask(&site, path, &row()))[0]["data"]["q"].as_array().unwrap().len();
    assert_eq!(count("/query_many"), 1);
    assert_eq!(count(&format!("/query_many?startTs={start}")), 0);
}

/// Each row: a line, and what is said of it; empty where it is answered. The ones around it are
/// answered, too.
#[test]
fn a_line_that_is_wrong_is_told_with_its_number() {
    let (_, site) = site();
    let huge = format!("{{\"n\":\"{}\"}}", "x".repeat(300 << 10));
    #[rustfmt::skip]
    let rows: Vec<(&str, &str)> = vec![
        ("{\"n\":\"n1\"", "line 3, byte 9: it is no JSON: EOF while parsing an object"),
        ("[\"n1\"]", "line 3: it is no object but a list"),
        ("{\"n\":{\"a\":1}}", "line 3: variable $n must be a text, a number, a boolean or a list of these, not an object"),
        ("{\"n\":\"n1\",\"most\":\"many\"}", "line 3: "),
        ("{\"other\":\"n1\"}", "line 3: "),
        ("\u{0}\u{1}", "line 3, byte 1: it is no JSON: expected value"),
        (&huge, ""),
    ];
    let good = "{\"n\":\"n1\"}".to_owned();
    for (line, said) in rows {
        let answer =
            ask(&site, "/query_many", &body([good.clone(), line.to_owned(), good.clone()]));
        let result = lines(&answer);
        assert_eq!(result.iter().map(|line| &line["row"]).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(result[0]["data"], result[2]["data"]);
        match said {
            "" => assert_eq!(result[1]["data"], json!({ "q": [] })),
            said => assert!(message(&result[1]).starts_with(said), "{}", result[1]),
        }
    }
}

#[test]
fn what_is_wrong_with_the_whole_is_a_reply_of_its_own() {
    let (_, site) = site();
    let reported = |headers: &[&str], path: &str, body: &str| {
        let answer = site.send("POST", path, headers, body.as_bytes());
        message(&serde_json::from_slice(&answer.body).unwrap()).to_owned()
    };
    let row = "\n{\"n\":\"n1\"}";
    assert!(reported(&[TYPE], "/query_many", "").contains("the body is empty"));
    assert!(reported(&[TYPE], "/query_many", "{ q }").starts_with("line 1, byte 3"));
    let broken = json!({ "query": "query q($n: string) { q(func: }" }).to_string() + row;
    let said = reported(&[TYPE], "/query_many", &broken);
    let alone = site.post("/query", broken.lines().next().unwrap()).json();
    assert_eq!(said, message(&alone), "as /query says it");
    assert!(reported(&[], "/query_many", &body([])).starts_with("Unsupported Content-Type"));
    assert!(reported(&[TYPE], "/query_many?startTs=x", &body([])).contains("startTs"));
    assert!(reported(&[TYPE], "/query_many?timeout=x", &body([])).contains("timeout"));
    let late = body([row.to_owned()]);
    assert!(reported(&[TYPE], "/query_many?timeout=0s", &late).contains("timeout of 0 s"));
}

#[test]
fn packed_on_both_ways() {
    let (_, site) = site();
    let plain = body((0..1_000).map(|row| format!("{{\"n\":\"n{}\"}}", row % 20)));
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(plain.as_bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    let headers = [TYPE, "Content-Encoding: gzip", "Accept-Encoding: gzip"];
    let answer = site.send("POST", "/query_many", &headers, &packed);
    assert_eq!(answer.header("content-encoding"), "gzip");
    let mut text = String::new();
    GzDecoder::new(&answer.body[..]).read_to_string(&mut text).unwrap();
    assert_eq!(text, ask(&site, "/query_many", &plain).text());
}

/// Many more rows than can be answered in time: those that were answered are there, and the last
/// line says why there are no more.
#[test]
fn the_deadline_is_of_the_whole() {
    let (_, site) = site();
    let rows = body((0..500_000).map(|_| "{\"n\":\"n1\"}".to_owned()));
    let answer = ask(&site, "/query_many?timeout=500ms", &rows);
    let result = lines(&answer);
    let (last, before) = result.split_last().unwrap();
    assert!(1 < before.len() && before.len() < 500_000, "{}", before.len());
    assert!(before.iter().enumerate().all(|(row, line)| line["row"] == row));
    assert_eq!(last["row"], Value::Null);
    assert!(message(last).contains("timeout of 0.5 s"), "{last}");
}

fn open(site: &Site, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(site.server.address().unwrap()).unwrap();
    let length = body.len();
    write!(
        stream,
        "POST /query_many HTTP/1.1\r\nHost: localhost\r\n{TYPE}\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    stream
}

/// A client that takes nothing holds its body and a few chunks, and neither a position nor a
/// thread; one that goes away leaves nothing.
#[test]
fn who_reads_nothing_keeps_nobody_waiting() {
    let (db, site) = site();
    // A hundred megabytes of answers.
    let fields: String = (0..40).map(|number| format!("f{number}: n ")).collect();
    let text = format!("query q($n: string) {{ q(func: has(n)) {{ {fields} }} }}");
    let mut rows = json!({ "query": text }).to_string();
    (0..4_000).for_each(|_| rows.push_str("\n{\"n\":\"n1\"}"));
    let slow: Vec<TcpStream> = (0..12).map(|_| open(&site, &rows)).collect();
    thread::sleep(Duration::from_secs(2));
    let began = Instant::now();
    let answer = ask(&site, "/query_many", &body((0..20).map(|_| "{\"n\":\"n1\"}".to_owned())));
    assert_eq!(lines(&answer).len(), 20);
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert!(db.budget().reserved() < 16 << 20, "{}", db.budget().reserved());
    drop(slow);
    let began = Instant::now();
    while 2 << 20 < db.budget().reserved() {
        assert!(began.elapsed() < Duration::from_secs(20), "{}", db.budget().reserved());
        thread::sleep(Duration::from_millis(5));
    }
}

/// An answer that is longer than the limit, or takes more memory, is an error of its row.
#[test]
fn limits_are_those_of_each_row() {
    let db = database(&[("result", "2000")]);
    let site = Site::of(db, ServeOptions::default());
    let text = "query q($most: int) { q(func: has(n), first: $most) { uid n a: n b: n } }";
    let body = json!({ "query": text }).to_string() + "\n{\"most\":1}\n{\"most\":60}\n{\"most\":2}";
    let result = lines(&ask(&site, "/query_many", &body));
    assert_eq!(result[0]["data"]["q"].as_array().unwrap().len(), 1);
    assert!(message(&result[1]).contains("`result`"), "{}", result[1]);
    assert!(message(&result[1]).starts_with("line 3: "), "{}", result[1]);
    assert_eq!(result[2]["data"]["q"].as_array().unwrap().len(), 2);
}
