//! Clients that speak something else, or nothing, or too slowly.

use super::site::{Manner, Site, connect};
use crate::hostile::wire::Line;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread::sleep;
use std::time::{Duration, Instant};

const SECOND: Duration = Duration::from_secs(1);

/// Times that a test can wait for.
const BRIEF: [&str; 6] =
    ["--connection", "header=1500ms", "--connection", "stall=1500ms", "--connection", "idle=3s"];

/// The first message of a client that speaks a version of TLS or SSL, by its number, and none
/// later: without the extension that lists newer ones.
fn hello(version: u16) -> Vec<u8> {
    let suites: [u16; 4] = [0xc02b, 0xc009, 0x002f, 0x000a];
    let mut hello = version.to_be_bytes().to_vec();
    hello.extend([7; 32]);
    hello.push(0);
    hello.extend((2 * suites.len() as u16).to_be_bytes());
    hello.extend(suites.iter().flat_map(|suite| suite.to_be_bytes()));
    hello.extend([1, 0]);
    // The groups and the schemes of signatures that every server knows.
    let extensions = [0, 10, 0, 4, 0, 2, 0, 23, 0, 13, 0, 6, 0, 4, 4, 3, 8, 4];
    hello.extend((extensions.len() as u16).to_be_bytes());
    hello.extend(extensions);
    let length = (hello.len() as u32).to_be_bytes();
    let mut message = vec![1];
    message.extend(&length[1..]);
    message.extend(hello);
    let mut record = vec![22, 3, 1];
    record.extend((message.len() as u16).to_be_bytes());
    record.extend(message);
    record
}

#[test]
fn versions_before_1_2_are_refused() {
    let mut site = Site::new(&[]);
    for address in [site.program.address, site.grpc] {
        // SSL 3.0, TLS 1.0 and 1.1.
        for version in [0x0300, 0x0301, 0x0302] {
            let mut line = Line::connect(address);
            line.send(&hello(version));
            let (took, reported) = line.closed();
            assert!(took < 10 * SECOND, "{took:?}");
            // An alert, fatal: the version of the protocol.
            assert!(
                reported.len() == 7 && reported[0] == 21 && reported[5..] == [2, 70],
                "{version:x}: {reported:?}"
            );
        }
        // The same message with another number is answered by a handshake.
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(&hello(0x0303)).unwrap();
        let mut first = [0; 1];
        stream.read_exact(&mut first).unwrap();
        assert_eq!(first, [22]);
    }
    site.logs("its TLS handshake failed: peer is incompatible");
    site.is_well();
}

#[test]
fn requests_without_tls_are_told_and_closed() {
    let mut site = Site::new(&[]);
    let begun = Instant::now();
    for address in [site.program.address, site.grpc] {
        for text in
            ["GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]
        {
            for _ in 0..20 {
                let mut line = Line::connect(address);
                line.send(text.as_bytes());
                let reported = line.read().unwrap();
                assert_eq!(reported.status, 400, "{text}");
                assert!(reported.text().contains("this port speaks TLS"), "{}", reported.text());
                line.closed();
            }
        }
    }
    let most = begun.elapsed().as_secs() as usize + 2;
    site.logs("is refused: it does not speak TLS, as this port does");
    let log = site.program.log();
    // Each port has a line of its own.
    assert!(log.lines().count() <= 2 * most, "{log}");
    site.is_well();
}

#[test]
fn garbage_is_closed() {
    let mut site = Site::new(&BRIEF);
    let mut random = fastrand::Rng::with_seed(7);
    for at in 0..300 {
        let mut bytes: Vec<u8> = (0..random.usize(1..600)).map(|_| random.u8(..)).collect();
        match at % 4 {
            // The beginning of a record, of a handshake, and a handshake with wrong bytes in it.
            0 => bytes[0] = 22,
            1 => bytes.splice(0..0, [22, 3, 1, 0, 200, 1, 0, 0, 196]).for_each(drop),
            2 => {
                let mut hello = hello(0x0303);
                for _ in 0..3 {
                    let position = random.usize(5..hello.len());
                    hello[position] = random.u8(..);
                }
                bytes = hello;
            }
            _ => {}
        }
        let mut stream =
            TcpStream::connect(if at % 2 == 0 { site.program.address } else { site.grpc }).unwrap();
        // The server may have closed it before all was sent.
        let _ = stream.write_all(&bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut reported = Vec::new();
        stream.set_read_timeout(Some(10 * SECOND)).unwrap();
        let read = stream.read_to_end(&mut reported);
        let is_late = read.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock);
        assert!(!is_late, "{bytes:?} is not closed");
    }
    site.is_well();
}

/// Sends a byte now and then until the server closes; how long that took.
fn drip(stream: &mut TcpStream, bytes: &[u8]) -> Duration {
    let started = Instant::now();
    stream.set_nonblocking(true).unwrap();
    for byte in bytes {
        assert!(started.elapsed() < 20 * SECOND, "it is still open");
        sleep(SECOND / 10);
        let is_open = stream.write_all(&[*byte]).is_ok();
        let end = stream.read(&mut [0; 4096]).map(|count| count == 0);
        if !is_open || end.is_ok() {
            break;
        }
    }
    started.elapsed()
}

#[test]
fn handshakes_heads_bodies_and_readers_have_their_time() {
    let mut site = Site::new(&BRIEF);
    let long = "x".repeat(100_000);
    let mut line = site.connect();
    line.post("/alter", "application/dql", b"text: string .");
    let facts: String = (1..=30).map(|node| format!("<{node}> <text> \"{long}\" .\n")).collect();
    let body = format!("{{ set {{ {facts} }} }}");
    let done = line.post("/mutate?commitNow=true", "application/rdf", body.as_bytes());
    assert!(done.text().contains("Success"), "{}", done.text());
    let within = |least: u64, most: u64, took: Duration, what: &str| {
        let bounds = Duration::from_millis(least)..Duration::from_millis(most);
        assert!(bounds.contains(&took), "{what}: closed after {took:?}");
    };
    std::thread::scope(|scope| {
        for address in [site.program.address, site.grpc] {
            scope.spawn(move || within(1000, 6000, Line::connect(address).closed().0, "silence"));
            scope.spawn(move || {
                let mut line = Line::connect(address);
                line.send(&hello(0x0303)[..40]);
                within(1000, 6000, line.closed().0, "half a handshake");
            });
            scope.spawn(move || {
                // An answer to it is sent, and never taken up.
                let mut line = Line::connect(address);
                line.send(&hello(0x0303));
                within(1000, 6000, line.closed().0, "a handshake that stops");
            });
            scope.spawn(move || {
                let mut stream = TcpStream::connect(address).unwrap();
                within(
                    1000,
                    6000,
                    drip(&mut stream, &[&hello(0x0303)[..], &[0; 200]].concat()),
                    "one that drips",
                );
            });
        }
        let site = &site;
        scope.spawn(move || {
            let mut line = site.connect();
            within(1000, 6000, line.closed().0, "nothing after the handshake");
        });
        scope.spawn(move || {
            let mut line = site.connect();
            line.send(b"GET /health HTTP/1.1\r\nHost: l");
            within(1000, 6000, line.closed().0, "half a head");
        });
        scope.spawn(move || {
            let mut line = site.connect();
            assert_eq!(line.get("/health").status, 200);
            within(2000, 8000, line.closed().0, "an idle connection");
        });
        scope.spawn(move || {
            let manner = Manner { protocols: &["h2"], ..Manner::default() };
            let mut line = Line::over(connect(site.grpc, &site.authority, manner).unwrap());
            line.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
            within(2000, 10_000, line.closed().0, "an idle connection in HTTP/2");
        });
        scope.spawn(move || {
            let mut line = site.connect();
            line.send(b"POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/dql\r\nContent-Length: 100000\r\n\r\n{");
            let (took, reported) = line.closed();
            within(1000, 8000, took, "a body that stalls");
            let reported = String::from_utf8_lossy(&reported).into_owned();
            assert!(reported.starts_with("HTTP/1.1 408") && reported.contains("`stall`"), "{reported}");
        });
        scope.spawn(move || {
            let mut line = site.connect();
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
    site.is_well();
}

#[test]
fn silent_connections_give_way() {
    let mut site = Site::new(&["--connection", "most=4"]);
    let silent: Vec<Line> = (0..4).map(|_| Line::connect(site.program.address)).collect();
    sleep(SECOND);
    for _ in 0..4 {
        assert_eq!(site.connect().get("/health").status, 200);
    }
    drop(silent);
    site.is_well();
}
