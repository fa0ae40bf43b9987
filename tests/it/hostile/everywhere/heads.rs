//! Requests in HTTP/1.1 that two readers may take for different ones, and what is no request: at
//! each listener one answer comes at most, the connection is closed, and nothing that follows is
//! taken for a request of its own.

use super::door::{BoundListener, Yard};
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

/// What is smuggled after: it would define a predicate, and be answered.
const TAIL: &str = "POST /alter HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/dql\r\nContent-Length: 16\r\n\r\nsmuggled: int . ";

/// How long a connection may stay that has to be closed.
const SOON: Duration = Duration::from_secs(10);

/// What has to become of a request.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Want {
    /// It is refused or the connection is closed; nothing after it is answered.
    Refused,
    /// It is answered, perhaps with a refusal in words, and the connection is closed; nothing after
    /// it is answered.
    Once,
    /// It is a request like others, and so is what follows.
    Fine,
}

use Want::{Fine, Once, Refused};

/// What tells how long a body is, with the body after it, and what happens to the request.
fn framings() -> Vec<(String, Want)> {
    let long = format!("0;{}\r\n\r\n", "x".repeat(1 << 20));
    let trailers = format!("0\r\n{}\r\n", "x: y\r\n".repeat(100_000));
    let mut rows = Vec::new();
    let mut add = |head: &str, body: &str, want| rows.push((format!("{head}\r\n\r\n{body}"), want));
    // Two lengths.
    add("Content-Length: 5\r\nTransfer-Encoding: chunked", "0\r\n\r\n", Once);
    add("Transfer-Encoding: chunked\r\nContent-Length: 5", "0\r\n\r\n", Once);
    add("Content-Length: 5\r\nContent-Length: 0", "{ q }", Refused);
    add("Content-Length: 0\r\nContent-Length: 5", "{ q }", Refused);
    add("Content-Length: 5, 0", "{ q }", Refused);
    add("Content-Length: 5\r\ncontent-length: 05\r\nCONTENT-LENGTH: 6", "{ q }", Refused);
    // Lengths that are none.
    for length in [
        "-1",
        "+5",
        "0x5",
        "5 5",
        "5;",
        "5.0",
        "five",
        "",
        "18446744073709551616",
        "99999999999999999999999999",
        "\u{b2}",
    ] {
        add(&format!("Content-Length: {length}"), "{ q }", Refused);
    }
    // Encodings that are none, or are hidden from one of two readers.
    for coding in [
        "identity",
        "chunked, identity",
        "xchunked",
        "chunked;q=1",
        "chunked\u{b}",
        "\u{b}chunked",
        "\"chunked\"",
        "gzip",
        "",
        "chunked\0",
    ] {
        add(&format!("Transfer-Encoding: {coding}"), "0\r\n\r\n", Refused);
    }
    for line in [
        "Transfer-Encoding : chunked",
        "Transfer-Encoding\t: chunked",
        " Transfer-Encoding: chunked",
        "Transfer-Encoding:\r\n chunked",
        "X: y\r\n Transfer-Encoding: chunked",
        "X: y\r\n\tContent-Length: 5",
        "X: y\rTransfer-Encoding: chunked",
        "Content-Length: 5\r\n 0",
        "Content-Length: 5\0",
        "Content-Length 5",
        ": 5",
        "(: 5",
        "Content\u{2028}Length: 5",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
    ] {
        add(line, "0\r\n\r\n", Refused);
    }
    // Chunks whose lengths are none, or not theirs.
    for body in [
        "-1\r\n\r\n",
        "0x0\r\n\r\n",
        "G\r\n\r\n",
        "\r\n\r\n",
        " \r\n\r\n",
        "10000000000000000\r\n",
        "FFFFFFFFFFFFFFFFF\r\n",
        "5\n{ q }\n0\n\n",
        "5\r{ q }\r\n0\r\n\r\n",
        "5\r\n{ q }0\r\n\r\n",
        "3\r\n{ q }\r\n0\r\n\r\n",
        "0\r\nx y\0: z\r\n\r\n",
        &long,
        &trailers,
    ] {
        add("Transfer-Encoding: chunked", body, Once);
    }
    // What both readers take for the same.
    add("Transfer-Encoding: chunked", "5;name=value\r\n{ q }\r\n0\r\n\r\n", Fine);
    add("Transfer-Encoding: CHUNKED", "0\r\n\r\n", Fine);
    add("Content-Length: 5\r\nContent-Length: 5", "{ q }", Fine);
    add("Content-Length: 5", "{ q }", Fine);
    rows
}

/// Whole requests.
fn requests() -> Vec<(Vec<u8>, Want)> {
    let get =
        |line: &str, more: &str| format!("{line}\r\nHost: localhost\r\n{more}\r\n").into_bytes();
    let mut rows = vec![
        (get("GET /health HTTP/1.1", ""), Fine),
        ([&b"\r\n\r\n"[..], &get("GET /health HTTP/1.1", "")].concat(), Fine),
        // No version, or one that is not spoken.
        (b"GET /health\r\n\r\n".to_vec(), Refused),
        (get("GET /health HTTP/0.9", ""), Refused),
        (get("GET /health HTTP/1.2", ""), Refused),
        (get("GET /health HTTP/2.0", ""), Refused),
        (get("GET /health HTTP/1.1.1", ""), Refused),
        (get("GET /health http/1.1", ""), Refused),
        (get("GET /health ICE/1.0", ""), Refused),
        // Lines that are none.
        (get("GET  HTTP/1.1", ""), Refused),
        (get(" GET /health HTTP/1.1", ""), Refused),
        (get("GET\t/health\tHTTP/1.1", ""), Refused),
        (get("G(T /health HTTP/1.1", ""), Refused),
        (get("GET /he\0alth HTTP/1.1", ""), Refused),
        (get("GET /he alth HTTP/1.1", ""), Refused),
        (get("GET /\x7f HTTP/1.1", ""), Refused),
        (b"GET /\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(), Refused),
        (b"\xff\xfe\xfd\xfc\r\n\r\n".to_vec(), Refused),
        (get(&format!("GET /{} HTTP/1.1", "x".repeat(70_000)), ""), Refused),
        (get(&format!("{} /health HTTP/1.1", "X".repeat(1 << 20)), ""), Refused),
        // Fields that are none, or too many.
        (get("GET /health HTTP/1.1", "X\0: y\r\n"), Refused),
        (get("GET /health HTTP/1.1", "X: y\0\r\n"), Refused),
        (get("GET /health HTTP/1.1", "X: \x01\r\n"), Refused),
        (get("GET /health HTTP/1.1", "no colon\r\n"), Refused),
        (get("GET /health HTTP/1.1", &"X: y\r\n".repeat(1_000)), Refused),
        (get("GET /health HTTP/1.1", &format!("X: {}\r\n", "y".repeat(1 << 20))), Refused),
        (get("GET /health HTTP/1.1", &format!("{}: y\r\n", "X".repeat(1 << 20))), Refused),
        (get("POST /health HTTP/1.0", "Transfer-Encoding: chunked\r\n"), Refused),
    ];
    // The same as a record of TLS, and as what other services speak.
    rows.push((b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".repeat(20), Refused));
    rows.push((b"SSH-2.0-OpenSSH_9.0\r\n\r\n".to_vec(), Refused));
    rows.push((b"EHLO localhost\r\n\r\n".to_vec(), Refused));
    rows.push((b"*1\r\n$4\r\nPING\r\n\r\n".to_vec(), Refused));
    rows
}

/// What came on a connection on which this was sent: the statuses, and whether it was closed.
fn statuses(yard: &Yard, listener: BoundListener, bytes: &[u8]) -> (Vec<u16>, bool) {
    let mut stream = yard.connect(listener, "http/1.1");
    // Who is refused early may find it closed.
    let _ = stream.write_all(bytes).and_then(|()| stream.flush());
    stream.set_patience(Duration::from_millis(700));
    let (mut reported, mut buffer) = (Vec::new(), [0; 16 << 10]);
    let started = Instant::now();
    let is_closed = loop {
        match stream.read(&mut buffer) {
            Ok(0) => break true,
            Ok(count) => reported.extend_from_slice(&buffer[..count]),
            Err(error) if is_late(&error) && started.elapsed() < SOON && reported.is_empty() => {}
            Err(error) => break !is_late(&error),
        }
    };
    let text = String::from_utf8_lossy(&reported);
    let answers = text.split("HTTP/1.1 ").skip(1);
    (answers.filter_map(|answer| answer.get(..3)?.parse().ok()).collect(), is_closed)
}

fn is_late(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
}

fn check(yard: &Yard, listener: BoundListener, (bytes, want): (&[u8], Want), faults: &mut String) {
    let (result, is_closed) = statuses(yard, listener, &[bytes, TAIL.as_bytes()].concat());
    let is_as_wanted = match want {
        Refused => is_closed && (result.is_empty() || result.len() == 1 && 400 <= result[0]),
        Once => is_closed && result.len() <= 1,
        // What follows is answered, too.
        Fine => result.len() == 2,
    };
    if !is_as_wanted {
        let shown: String = String::from_utf8_lossy(bytes).chars().take(160).collect();
        writeln!(faults, "{listener:?} {want:?}: {result:?}, closed: {is_closed}; {shown:?}")
            .unwrap();
    }
}

#[test]
fn nothing_is_smuggled_behind_a_request() {
    let mut yard = Yard::new(&["--connection", "header=3s"]);
    let mut rows = requests();
    for (framing, want) in framings() {
        let head = "POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/dql\r\n";
        rows.push((format!("{head}{framing}").into_bytes(), want));
    }
    // Those that are fine define what follows them: they come last.
    rows.sort_by_key(|(_, want)| *want == Fine);
    let defined =
        |yard: &Yard, listener| yard.line(listener).query("schema {}").text().contains("smuggled");
    let mut faults = String::new();
    let watches = yard.watch("{ q(func: uid(1)) { uid } }");
    for (bytes, want) in rows.iter().filter(|(_, want)| *want != Fine) {
        std::thread::scope(|scope| {
            let tries = BoundListener::ALL.map(|listener| {
                let yard = &yard;
                scope.spawn(move || {
                    let mut faults = String::new();
                    check(yard, listener, (bytes, *want), &mut faults);
                    faults
                })
            });
            tries.into_iter().for_each(|it| faults += &it.join().unwrap());
        });
        yard.is_well();
    }
    for seen in watches.map(|watch| watch.stop()) {
        seen.check("requests in requests", Duration::from_secs(2));
    }
    for listener in BoundListener::OF_HTTP {
        assert!(!defined(&yard, listener), "{listener:?}\n{faults}");
    }
    for (bytes, want) in rows.iter().filter(|(_, want)| *want == Fine) {
        BoundListener::OF_HTTP
            .iter()
            .for_each(|listener| check(&yard, *listener, (bytes, *want), &mut faults));
    }
    assert!(faults.is_empty(), "{faults}");
    for listener in BoundListener::OF_HTTP {
        assert!(defined(&yard, listener), "what is fine was not carried out");
    }
}
