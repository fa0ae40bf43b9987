//! WebSockets: their buffers, and messages that do not end.

use super::site::{Attack, Row, Site, row};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread::sleep;
use std::time::Duration;

const UPGRADE: &str = "GET /graphql HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
    Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n";

/// A first message, masked by zeros.
const INIT: &[u8] = b"\x81\x9a\0\0\0\0{\"type\":\"connection_init\"}";

/// How long the server has to read what was sent.
const A_WHILE: Duration = Duration::from_millis(500);

/// So many sockets, each of which sends these bytes after its first message and stays open.
fn sockets(count: usize, bytes: Vec<u8>) -> Attack {
    Box::new(move |site| {
        let mut open = Vec::with_capacity(count);
        for _ in 0..count {
            let mut stream = TcpStream::connect(site.address).unwrap();
            stream.write_all(UPGRADE.as_bytes()).unwrap();
            let mut reported = [0; 512];
            let read = stream.read(&mut reported).unwrap();
            assert!(reported[..read].starts_with(b"HTTP/1.1 101"));
            stream.write_all(INIT).unwrap();
            assert!(0 < stream.read(&mut reported).unwrap());
            // One that is closed on the way has had its answer.
            let _ = stream.write_all(&bytes);
            open.push(stream);
        }
        sleep(A_WHILE);
        format!("{} sockets", open.len())
    })
}

/// The head of a message of 2 MiB, and all of it but its last byte.
fn endless() -> Vec<u8> {
    let len: u64 = 2 << 20;
    let mut bytes = vec![0x81, 0x80 | 127];
    bytes.extend(len.to_be_bytes());
    bytes.extend([0; 4]);
    bytes.extend(vec![b' '; len as usize - 1]);
    bytes
}

#[test]
fn sockets_and_their_messages() {
    let rows: Vec<Row> = vec![
        row("500 sockets", "500 sockets", |_| sockets(500, Vec::new())),
        row("80 messages without an end", "80 sockets", |_| sockets(80, endless())),
    ];
    Site::new().measure(rows);
}
