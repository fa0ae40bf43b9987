//! WebSockets of attackers: as many as there may be, which never say who they are, or send messages
//! that never end.

use super::program::Program;
use super::wire::Line;
use crate::process::number_from_environment;
use std::io::Write;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

const MODERN: &str = "graphql-transport-ws";

const LEGACY: &str = "graphql-ws";

const INIT: &[u8] = br#"{"type":"connection_init"}"#;

const SECOND: Duration = Duration::from_secs(1);

/// A folder with the secret that signs tokens, and the flag that names it.
fn users() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("secret");
    std::fs::write(&path, "0123456789abcdef0123456789abcdef").unwrap();
    let flag = format!("secret-file={}", path.display());
    (folder, flag)
}

/// A socket that was upgraded; `None` where there is no slot.
fn upgraded(server: &Program, protocol: &str) -> Option<Line> {
    let mut line = server.connect();
    line.send(
        format!(
            "GET /graphql HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
             Sec-WebSocket-Protocol: {protocol}\r\n\r\n"
        )
        .as_bytes(),
    );
    let reported = line.read().ok()?;
    (reported.status == 101).then_some(line)
}

/// The head of a text frame of so many bytes, with a mask that changes nothing.
fn head(len: usize) -> Vec<u8> {
    let mut head = vec![0x81];
    match u8::try_from(len) {
        Ok(len @ 0..126) => head.push(0x80 | len),
        _ => {
            head.push(0x80 | 127);
            head.extend((len as u64).to_be_bytes());
        }
    }
    head.extend([0; 4]);
    head
}

fn text(line: &mut Line, bytes: &[u8]) {
    line.send(&[&head(bytes.len()), bytes].concat());
}

/// How long it takes until another client is answered.
fn answered(server: &Program) -> Duration {
    let started = Instant::now();
    loop {
        match server.connect().try_get("/health") {
            Ok(reported) if reported.status == 200 => return started.elapsed(),
            _ if started.elapsed() < 60 * SECOND => sleep(Duration::from_millis(50)),
            reported => panic!("{reported:?} after {:?}", started.elapsed()),
        }
    }
}

#[test]
fn sockets_that_never_log_in_shut_nobody_out() {
    let (_folder, users) = users();
    for (protocol, first) in
        [(LEGACY, None), (LEGACY, Some(INIT)), (MODERN, None), (MODERN, Some(INIT))]
    {
        let mut server = Program::start("", &["--acl", &users, "--connection", "most=50"]);
        let mut sockets: Vec<Line> = (0..50).filter_map(|_| upgraded(&server, protocol)).collect();
        assert_eq!(sockets.len(), 50);
        if let Some(first) = first {
            sockets.iter_mut().for_each(|socket| text(socket, first));
        }
        let waited = answered(&server);
        println!("{protocol}, {}: answered after {waited:?}", first.is_some());
        assert!(waited < 3 * SECOND, "{protocol}: {waited:?}");
        // All are closed in the time for logging in.
        let started = Instant::now();
        for socket in &mut sockets {
            socket.closed();
        }
        println!("{protocol}: all closed after {:?}", started.elapsed());
        assert!(started.elapsed() < 15 * SECOND, "{:?}", started.elapsed());
        server.check_alive();
    }
}

/// Where there are no users nobody logs in, and sockets that ask for nothing give way all the same.
#[test]
fn sockets_that_ask_for_nothing_give_way() {
    let mut server = Program::start("", &["--connection", "most=20"]);
    let mut sockets: Vec<Line> = (0..20).filter_map(|_| upgraded(&server, MODERN)).collect();
    sockets.iter_mut().for_each(|socket| text(socket, INIT));
    let waited = answered(&server);
    assert!(waited < 3 * SECOND, "{waited:?}");
    server.check_alive();
}

#[test]
fn the_bytes_of_sockets_count() {
    let (_folder, users) = users();
    let earnest = number_from_environment("HEXGRAPH_HOSTILE_SECONDS").is_some();
    let count = if earnest { 8000 } else { 300 };
    let arguments = ["--acl", &users, "--memory", "300MB", "--connection", "most=9000"];
    let mut server = Program::start("ulimit -n 20000;", &arguments);
    answered(&server);
    let before = server.anonymous();
    let mut sockets: Vec<Line> = (0..count).filter_map(|_| upgraded(&server, MODERN)).collect();
    let idle = server.anonymous().saturating_sub(before) / sockets.len() as u64;
    println!("{} sockets, {idle} bytes each", sockets.len());
    assert!(idle < 48 << 10, "{idle} bytes a socket");
    // A message of 2 MiB is announced and never ends: who has not logged in may send 128 KiB of it.
    let part = vec![b' '; 1 << 20];
    for socket in sockets.iter_mut().take(200) {
        // The server closes it on the way.
        let _ =
            socket.stream.write_all(&head(2 << 20)).and_then(|()| socket.stream.write_all(&part));
    }
    let taken = server.anonymous().saturating_sub(before);
    println!("{taken} bytes after 200 messages without an end");
    assert!(taken < 300_000_000, "{taken} bytes");
    for socket in sockets.iter_mut().take(200) {
        socket.closed();
    }
    answered(&server);
    server.check_alive();
}
