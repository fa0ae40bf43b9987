//! Connections that say nothing, drip, never read, or are too many.

use super::program::Program;
use super::watch::Watch;
use super::wire::Line;
use std::io::Read;
use std::net::SocketAddr;
use std::thread::sleep;
use std::time::{Duration, Instant};

const MS: Duration = Duration::from_millis(1);

const SECOND: Duration = Duration::from_secs(1);

/// What a server of these tests has open without any connection, and a few of the watching client.
const OWN_DESCRIPTORS: usize = 40;

/// Times that a test can wait for.
pub(super) const BRIEF: [&str; 10] = [
    "--connection",
    "header=1500ms",
    "--connection",
    "stall=1500ms",
    "--connection",
    "idle=2s",
    "--connection",
    "body=4s",
    "--connection",
    "rate=1KiB",
];

fn connect_all(address: SocketAddr, count: usize) -> Vec<Line> {
    (0..count).map(|_| Line::connect(address)).collect()
}

/// Waits until it holds.
pub(super) fn eventually(what: &str, holds: impl Fn() -> bool) {
    let end = Instant::now() + 30 * SECOND;
    while !holds() {
        assert!(Instant::now() < end, "{what}");
        sleep(20 * MS);
    }
}

#[test]
fn silent_connections_shut_nobody_out() {
    let mut server = Program::start("ulimit -n 1024;", &["--connection", "header=10s"]);
    let watch = Watch::start(server.address, 20 * MS, None);
    let silent = connect_all(server.address, 600);
    eventually("all are accepted", || 600 <= server.descriptors());
    let open = server.descriptors();
    assert!(open <= 600 + OWN_DESCRIPTORS, "{open} descriptors for 600 connections");
    sleep(500 * MS);
    assert_eq!(server.connect().get("/health").status, 200);
    eventually("they are closed in time", || server.descriptors() <= OWN_DESCRIPTORS);
    let seen = watch.stop();
    seen.check("silent connections", 2 * SECOND);
    drop(silent);
    server.check_alive();
}

#[test]
fn a_thousand_connections_give_way_or_are_told() {
    let mut server = Program::start("ulimit -n 1024;", &["--connection", "header=60s"]);
    let mut lines = connect_all(server.address, 1000);
    // 1024 descriptors, an eighth of them kept: 896 slots. Each line is answered, told that there
    // is no slot, or has given way to a later one.
    let (mut answered, mut refused, mut closed) = (0, 0, 0);
    for line in &mut lines {
        match line.try_get("/health") {
            Ok(reported) if reported.status == 200 => answered += 1,
            Ok(reported)
                if reported.status == 503 && reported.text().contains("`connection most`") =>
            {
                refused += 1
            }
            Ok(reported) => panic!("{} {}", reported.status, reported.text()),
            Err(_) => closed += 1,
        }
    }
    assert!(700 <= answered, "{answered} answered, {refused} refused, {closed} closed");
    assert!(server.descriptors() <= 1024 - 64, "{}", server.descriptors());
    // Those that are idle give way to who comes.
    sleep(600 * MS);
    let mut late = server.connect();
    assert_eq!(late.get("/health").status, 200);
    assert_eq!(late.get("/health").status, 200);
    let reported = server.log();
    assert!(
        refused == 0 || reported.contains("is refused: there are 896 connections"),
        "{reported}"
    );
    assert!(reported.lines().count() <= 30, "at most a line a second: {reported}");
    server.check_alive();
}

#[test]
fn without_descriptors_those_that_are_there_go_on() {
    let mut server = Program::start("", &[]);
    let mut there = server.connect();
    assert_eq!(there.get("/health").status, 200);
    server.limit_descriptors(server.descriptors());
    let waiting: Vec<Line> = (0..3).map(|_| server.connect()).collect();
    eventually("it is logged", || server.log().contains("no connection can be accepted"));
    sleep(SECOND);
    assert_eq!(there.get("/health").status, 200);
    let lines = server.log().lines().count();
    assert!(lines <= 4, "{}", server.log());
    server.limit_descriptors(1024);
    for mut line in waiting {
        assert_eq!(line.get("/health").status, 200);
    }
    server.check_alive();
}

/// Sends a byte now and then until the server closes; how long that took.
fn drip(line: &mut Line, bytes: &[u8]) -> Duration {
    let started = Instant::now();
    line.stream.set_nonblocking(true).unwrap();
    for byte in bytes.iter().cycle() {
        assert!(started.elapsed() < 20 * SECOND, "it is still open");
        sleep(100 * MS);
        use std::io::Write;
        let is_open = line.stream.write_all(&[*byte]).is_ok();
        let end = line.stream.read(&mut [0; 4096]).map(|count| count == 0);
        if !is_open || end.is_ok() {
            break;
        }
    }
    line.stream.set_nonblocking(false).unwrap();
    started.elapsed()
}

#[test]
fn heads_bodies_and_readers_have_their_time() {
    let server = Program::start("", &BRIEF);
    let long = "x".repeat(100_000);
    let facts: String = (1..=30).map(|node| format!("<{node}> <text> \"{long}\" .\n")).collect();
    server.fill("text: string .", &facts);
    let server = &server;
    let within = |least: u32, most: u32, took: Duration, what: &str| {
        assert!(least * MS <= took && took < most * MS, "{what}: closed after {took:?}");
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut line = server.connect();
            line.send(b"POST /query HTTP/1.1\r\nHost: l");
            within(1000, 6000, line.closed().0, "half a head");
        });
        scope.spawn(|| {
            let mut line = server.connect();
            line.send(b"GET /health HTTP/1.1\r\nX-Slow: ");
            within(1000, 6000, drip(&mut line, b"a"), "a head that drips");
        });
        scope.spawn(|| {
            let mut line = server.connect();
            line.send(b"POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/dql\r\nContent-Length: 100000\r\n\r\n{");
            let (took, reported) = line.closed();
            within(1000, 8000, took, "a body that stalls");
            let reported = String::from_utf8_lossy(&reported).into_owned();
            assert!(reported.starts_with("HTTP/1.1 408") && reported.contains("`stall`"), "{reported}");
        });
        scope.spawn(|| {
            let mut line = server.connect();
            line.send(b"POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/dql\r\nContent-Length: 100000\r\n\r\n");
            within(1000, 8000, drip(&mut line, b"{"), "a body that drips");
        });
        scope.spawn(|| {
            let mut line = server.connect();
            assert_eq!(line.get("/health").status, 200);
            within(1500, 8000, line.closed().0, "an idle connection");
        });
        scope.spawn(|| {
            let mut line = server.connect();
            let fields: String = (0..14).map(|at| format!("t{at}: text ")).collect();
            let query = format!("{{ q(func: has(text)) {{ {fields} }} }}");
            let length = query.len();
            line.send(format!("POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/dql\r\nContent-Length: {length}\r\n\r\n{query}").as_bytes());
            // 42 MB are more than sockets hold, and nobody reads them. What the sockets held can be
            // read later.
            sleep(8 * SECOND);
            let (_, reported) = line.closed();
            assert!(reported.len() < 39_000_000, "{} bytes came", reported.len());
        });
    });
    eventually("all of them are gone", || server.descriptors() <= OWN_DESCRIPTORS);
}

#[test]
fn slow_readers_leave_slots_to_other_clients() {
    let mut server = Program::start("", &["--connection", "stall=60s"]);
    let long = "x".repeat(100_000);
    let facts: String = (1..=30).map(|node| format!("<{node}> <text> \"{long}\" .\n")).collect();
    server.fill("text: string .", &facts);
    let fields: String = (0..14).map(|at| format!("t{at}: text ")).collect();
    let query = format!("{{ q(func: has(text)) {{ {fields} }} }}");
    // 42 MB are more than sockets hold. Nobody reads more than the start of the head. Each connects
    // when it asks: one that has sent no head for ten seconds is closed, and on a busy machine
    // those before it take as long.
    let ask = |line: &mut Line| {
        let length = query.len();
        line.send(format!("POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/dql\r\nContent-Length: {length}\r\n\r\n{query}").as_bytes());
        line.start()
    };
    let mut readers: Vec<Line> = Vec::new();
    let connected = (0..70).map(|_| {
        let mut line = Line::connect(server.address);
        let head = ask(&mut line);
        readers.push(line);
        head
    });
    let heads: Vec<String> = connected.collect();
    let streaming = heads.iter().filter(|head| head.contains(" 200 ")).count();
    assert_eq!(streaming, 32, "half of 64 slots: {heads:?}");
    assert!(heads.iter().all(|head| head.contains(" 200 ") || head.contains(" 503 ")), "{heads:?}");
    // Another client gets an entire answer; small ones are for everybody.
    let started = Instant::now();
    let answer = Line::connect_from([127, 0, 0, 2], server.address).query(&query);
    assert!(answer.status == 200 && 42_000_000 < answer.body.len(), "{}", answer.body.len());
    assert!(started.elapsed() < 20 * SECOND, "{:?}", started.elapsed());
    assert_eq!(server.connect().query("{ q(func: uid(1)) { uid } }").status, 200);
    // A slot is free when its reader leaves.
    drop(readers);
    eventually("the slots are free", || server.connect().query(&query).status == 200);
    server.check_alive();
}

#[test]
fn events_outlive_the_time_of_idle_connections() {
    let server = Program::start("", &BRIEF);
    let mut line = server.connect();
    let schema = "type Note @withSubscription { id: ID! text: String }";
    let done = line.post("/admin/schema", "text/plain", schema.as_bytes());
    assert!(done.text().contains("Success"), "{}", done.text());
    let mut events = server.connect();
    let body = r#"{"query":"subscription { queryNote { text } }"}"#;
    let length = body.len();
    events.send(format!("POST /graphql HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}").as_bytes());
    sleep(5 * SECOND);
    let mut line = server.connect();
    let body = r#"{"query":"mutation { addNote(input: [{text: \"late\"}]) { numUids } }"}"#;
    assert!(line.post("/graphql", "application/json", body.as_bytes()).text().contains("numUids"));
    let mut reported = String::new();
    let mut buffer = [0; 4096];
    while !reported.contains("late") {
        let count = events.stream.read(&mut buffer).unwrap();
        assert!(0 < count, "{reported}");
        reported += &String::from_utf8_lossy(&buffer[..count]);
    }
}

/// A connection that is idle for two seconds gives its buffers back. Nothing that its client has
/// sent or not yet read may be lost by that.
#[test]
fn a_connection_that_was_at_rest_goes_on() {
    let server = Program::start("", &[]);
    let long = "x".repeat(100_000);
    let facts: String = (1..=30).map(|node| format!("<{node}> <text> \"{long}\" .\n")).collect();
    server.fill("text: string .", &facts);
    let server = &server;
    let ask = |query: &str| {
        let length = query.len();
        format!(
            "POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/dql\r\nContent-Length: {length}\r\n\r\n{query}"
        )
    };
    let read_until = |line: &mut Line, end: &str| {
        let mut reported = Vec::new();
        let mut buffer = vec![0; 1 << 16];
        while !reported.ends_with(end.as_bytes()) && !reported.ends_with(b"}}\r\n0\r\n\r\n") {
            let read = line.stream.read(&mut buffer);
            let tail = String::from_utf8_lossy(&reported[reported.len().saturating_sub(20)..]);
            let count = read
                .unwrap_or_else(|error| panic!("{error} after {} bytes: {tail}", reported.len()));
            assert!(0 < count, "closed after {} bytes: {tail}", reported.len());
            reported.extend_from_slice(&buffer[..count]);
        }
        reported
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut line = server.connect();
            for _ in 0..3 {
                assert_eq!(line.get("/health").status, 200);
                sleep(3 * SECOND);
            }
            line.send(ask("{ q(func: uid(1)) { uid } }").as_bytes());
            assert!(read_until(&mut line, "}}").starts_with(b"HTTP/1.1 200"));
        });
        scope.spawn(|| {
            let mut line = server.connect();
            let (one, two) =
                (ask("{ a(func: uid(1)) { uid } }"), ask("{ b(func: uid(2)) { uid } }"));
            let both = format!("{one}{two}");
            let half = one.len() + 20;
            line.send(&both.as_bytes()[..half]);
            assert!(read_until(&mut line, "}}").starts_with(b"HTTP/1.1 200"));
            sleep(4 * SECOND);
            line.send(&both.as_bytes()[half..]);
            let reported = String::from_utf8(read_until(&mut line, "}}")).unwrap();
            assert!(
                reported.starts_with("HTTP/1.1 200") && reported.contains("\"b\""),
                "{reported}"
            );
        });
        scope.spawn(|| {
            let mut line = server.connect();
            let fields: String = (0..14).map(|at| format!("t{at}: text ")).collect();
            line.send(ask(&format!("{{ q(func: has(text)) {{ {fields} }} }}")).as_bytes());
            sleep(5 * SECOND);
            let reported = read_until(&mut line, "}}");
            assert!(42_000_000 < reported.len(), "{} bytes came", reported.len());
            assert_eq!(line.get("/health").status, 200);
        });
    });
}
