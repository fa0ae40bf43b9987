//! Clients that stop in the middle, at every listener: each connection is closed in time, and
//! others are answered meanwhile.

use super::door::{AnyStream, BoundListener, Yard};

use super::request::{RequestedQuery, open_socket};
use crate::hostile::connections::BRIEF;
use std::io::{Read, Write};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tungstenite::Message;

/// Until when each has to be closed.
const SOON: Duration = Duration::from_secs(15);

/// What HTTP/2 begins with: the preface, and settings that are empty.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

/// What is sent at once before nothing more is; the protocol that is agreed on where TLS is spoken.
fn root_paths() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let head = "POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/dql\r\n";
    let after = |start: &str| format!("{head}{start}").into_bytes();
    // A head of a stream in HTTP/2 that is not complete, and one whose body does not come.
    let frame = |kind: u8, flags: u8, body: &[u8]| {
        let length = &(body.len() as u32).to_be_bytes()[1..];
        [PREFACE, length, &[kind, flags, 0, 0, 0, 1], body].concat()
    };
    // POST, http, /, and a name that is known: of the table that both have.
    let fields = [&[0x83, 0x86, 0x84, 0x41, 9][..], b"localhost"].concat();
    vec![
        ("nothing", "http/1.1", Vec::new()),
        ("half a line", "http/1.1", b"GET /hea".to_vec()),
        ("half a head", "http/1.1", after("X: ")),
        ("a head without its body", "http/1.1", after("Content-Length: 100\r\n\r\n")),
        ("half a body", "http/1.1", after("Content-Length: 100\r\n\r\n{ q(")),
        ("half the length of a chunk", "http/1.1", after("Transfer-Encoding: chunked\r\n\r\nFF")),
        ("half a chunk", "http/1.1", after("Transfer-Encoding: chunked\r\n\r\nFF\r\n{ q")),
        ("no last chunk", "http/1.1", after("Transfer-Encoding: chunked\r\n\r\n3\r\n{ q\r\n")),
        (
            "who waits to go on",
            "http/1.1",
            after("Expect: 100-continue\r\nContent-Length: 100\r\n\r\n"),
        ),
        ("half a preface", "h2", PREFACE[..10].to_vec()),
        ("a preface", "h2", PREFACE.to_vec()),
        ("half a frame", "h2", [PREFACE, &[0, 0, 100, 1, 4]].concat()),
        ("half a head in HTTP/2", "h2", frame(1, 0, &fields)),
        ("a body that does not come in HTTP/2", "h2", frame(1, 4, &fields)),
    ]
}

/// How long it takes until the server closes a connection; more is sent now and then, if that is
/// so.
fn closed_after(mut stream: AnyStream, start: &[u8], drips: bool) -> Duration {
    let started = Instant::now();
    let _ = stream.write_all(start).and_then(|()| stream.flush());
    stream.set_patience(Duration::from_millis(100));
    let mut buffer = [0; 4096];
    while started.elapsed() < 2 * SOON {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error)
                if matches!(
                    error.kind(),
                    std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
                ) => {}
            Err(_) => break,
        }
        if drips && stream.write_all(b"x").and_then(|()| stream.flush()).is_err() {
            break;
        }
    }
    started.elapsed()
}

#[test]
fn who_stops_in_the_middle_is_let_go() {
    let _turn = crate::hostile::turn();
    let mut yard = Yard::new(&BRIEF[..BRIEF.len() - 2]);
    let watches = yard.watch("{ q(func: uid(1)) { uid } }");
    let rows = root_paths();
    let late: Vec<String> = std::thread::scope(|scope| {
        let tries: Vec<_> = BoundListener::ALL
            .into_iter()
            .flat_map(|listener| {
                rows.iter().flat_map(move |row| [(listener, row, false), (listener, row, true)])
            })
            // What drips after a whole preface is no frame, which is refused at once.
            .map(|(listener, (name, protocol, start), drips)| {
                let yard = &yard;
                scope.spawn(move || {
                    let took = closed_after(yard.connect(listener, protocol), start, drips);
                    (SOON < took).then(|| format!("{name} {listener:?}, drips: {drips}: {took:?}"))
                })
            })
            .collect();
        tries.into_iter().filter_map(|it| it.join().unwrap()).collect()
    });
    assert!(late.is_empty(), "{late:#?}");
    yard.is_well();
    for seen in watches.map(|watch| watch.stop()) {
        seen.check("those who stop", Duration::from_secs(2));
    }
}

/// A WebSocket whose client says nothing, says half a message, or speaks another protocol on it.
#[test]
fn sockets_that_say_nothing_are_let_go() {
    let mut yard = Yard::new(&[]);
    yard.fill(
        "name: string .",
        "type Note @withSubscription { id: ID! text: String }",
        "<1> <name> \"a\" .",
    );
    let says: [(&str, &[u8]); 4] = [
        ("nothing", b""),
        // The head of a frame with a mask that says that it has 2^62 bytes.
        ("a frame that is too long", b"\x81\xff\x40\0\0\0\0\0\0\0\0\0\0\0"),
        ("a frame without a mask", b"\x81\x02{}"),
        ("another request", b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    ];
    std::thread::scope(|scope| {
        for listener in BoundListener::OF_HTTP {
            for (name, bytes) in says {
                let yard = &yard;
                scope.spawn(move || {
                    let mut socket =
                        open_socket(yard, listener, &RequestedQuery::default()).unwrap();
                    let started = Instant::now();
                    let stream = socket.get_mut();
                    stream.write_all(bytes).and_then(|()| stream.flush()).unwrap();
                    // The server closes it, whatever it says before.
                    while let Ok(message) = socket.read() {
                        assert!(
                            !matches!(message, Message::Text(_)),
                            "{name} {listener:?}: {message}"
                        );
                    }
                    let took = started.elapsed();
                    assert!(took < SOON, "{name} {listener:?}: {took:?}");
                });
            }
        }
    });
    sleep(Duration::from_millis(100));
    yard.is_well();
}
