//! What do subscribers cost? Thousands of them over real sockets, of one query or each of its own,
//! beside a writer that wants to make a thousand commits a second: what the writer gets, what the
//! subscribers get, what it costs.
//!
//! Clients live in the same process; they count the messages and do nothing else.

use hexgraph::db::Database;
use hexgraph_server::http::{ServeOptions, Server};
use std::io::{ErrorKind, Read};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::thread;
use std::time::{Duration, Instant};
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket};

const SCHEMA: &str = "type Note @withSubscription {
    id: ID!
    text: String! @search(by: [hash])
    stars: Int @search
}";

/// How many notes there are.
const NOTES: u64 = 10_000;

/// The most subscriptions of a connection.
const PER_CONNECTION: usize = 100;

/// So many commits a second are requested.
const COMMITS: u32 = 1_000;

const SPAN: Duration = Duration::from_secs(5);

fn main() {
    let expected = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    // Each is measured best in a process of its own.
    let runs = |name: &str| expected.as_ref().is_none_or(|expected| name == expected);
    let top = |_: usize| {
        "subscription { queryNote(order: {desc: stars}, first: 10) { id text stars } }".to_owned()
    };
    let own = |number: usize| {
        format!(
            "subscription {{ queryNote(filter: {{text: {{eq: \"note {number}\"}}}}) {{ id stars }} }}"
        )
    };
    println!("subscribers | commits/s | commit p50, p99 µs | messages/s | CPU s/s | bytes each");
    if runs("nobody") {
        scenario("nobody", 0, top);
    }
    if runs("same-1000") {
        scenario("1,000 of one query", 1_000, top);
    }
    if runs("same-10000") {
        scenario("10,000 of one query", 10_000, top);
    }
    if runs("distinct-1000") {
        scenario("1,000 of their own", 1_000, own);
    }
}

fn scenario(name: &str, count: usize, text: impl Fn(usize) -> String) {
    let database = Database::in_memory();
    database.set_graphql_schema(SCHEMA).expect("a valid schema");
    let note = |note: u64| {
        let uid = note + 0x100;
        format!(
            "<{uid:#x}> <dgraph.type> \"Note\" .\n<{uid:#x}> <Note.text> \"note {note}\" .\n<{uid:#x}> <Note.stars> \"{note}\" .\n"
        )
    };
    database.mutate(&(0..NOTES).map(note).collect::<String>(), "").expect("valid N-Quads");
    let options = ServeOptions { port: Some(0), ..ServeOptions::default() };
    let server = Server::start(database.clone(), options).expect("a port is free");
    let before = resident();
    let mut clients: Vec<Client> = (0..count.div_ceil(PER_CONNECTION))
        .map(|client| {
            let first = client * PER_CONNECTION;
            Client::new(
                server.address().unwrap(),
                (first..count.min(first + PER_CONNECTION)).map(&text),
            )
        })
        .collect();
    let (messages, ends) = (AtomicU64::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !ends.load(Relaxed) {
                let read: u64 = clients.iter_mut().map(Client::read).sum();
                messages.fetch_add(read, Relaxed);
                if read == 0 {
                    thread::sleep(Duration::from_millis(1));
                }
            }
        });
        while messages.load(Relaxed) < count as u64 {
            thread::sleep(Duration::from_millis(10));
        }
        thread::sleep(Duration::from_millis(200));
        let each = (resident().saturating_sub(before)) / count.max(1) as u64;
        let (reported, used, started) = (messages.load(Relaxed), cpu(), Instant::now());
        let mut took = write(&database);
        let span = started.elapsed().as_secs_f64();
        let reported = (messages.load(Relaxed) - reported) as f64 / span;
        let used = (cpu() - used) / span;
        ends.store(true, Relaxed);
        took.sort_unstable();
        let at = |fraction: f64| took[((took.len() - 1) as f64 * fraction) as usize].as_micros();
        let rate = took.len() as f64 / span;
        println!(
            "{name} | {rate:.0} | {}, {} | {reported:.0} | {used:.2} | {each}",
            at(0.5),
            at(0.99)
        );
    });
}

/// Gives notes stars, at the wanted pace or as fast as it goes; how long each commit took.
fn write(database: &Database) -> Vec<Duration> {
    let (started, mut took) = (Instant::now(), Vec::new());
    while started.elapsed() < SPAN {
        let number = took.len() as u64;
        let due = Duration::from_secs(1) / COMMITS * number as u32;
        if let Some(early) = due.checked_sub(started.elapsed()) {
            thread::sleep(early);
        }
        let uid = number.wrapping_mul(2_654_435_761) % NOTES + 0x100;
        let set = format!("<{uid:#x}> <Note.stars> \"{}\" .", NOTES + number);
        let began = Instant::now();
        database.mutate(&set, "").expect("a valid mutation");
        took.push(began.elapsed());
    }
    took
}

/// A connection whose messages are counted.
struct Client {
    socket: WebSocket<TcpStream>,
    /// What was read of a frame that is not whole yet.
    rest: Vec<u8>,
    buffer: Vec<u8>,
}

impl Client {
    fn new(address: SocketAddr, texts: impl Iterator<Item = String>) -> Client {
        let stream = TcpStream::connect(address).expect("the server listens");
        let mut request =
            format!("ws://{address}/graphql").into_client_request().expect("a valid address");
        let protocol = "graphql-transport-ws".parse().expect("a valid header");
        request.headers_mut().insert("sec-websocket-protocol", protocol);
        let (mut socket, _) = tungstenite::client(request, stream).expect("it is accepted");
        let mut say = |text: String| socket.send(Message::text(text)).expect("it is connected");
        say("{\"type\":\"connection_init\"}".to_owned());
        for (id, text) in texts.enumerate() {
            let text = text.replace('"', "\\\"");
            say(format!(
                "{{\"type\":\"subscribe\",\"id\":\"{id}\",\"payload\":{{\"query\":\"{text}\"}}}}"
            ));
        }
        socket.get_mut().set_nonblocking(true).expect("a socket can be");
        Client { socket, rest: Vec::new(), buffer: vec![0; 1 << 16] }
    }

    /// How many answers have come since.
    fn read(&mut self) -> u64 {
        match self.socket.get_mut().read(&mut self.buffer) {
            Ok(len) => self.rest.extend_from_slice(&self.buffer[..len]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return 0,
            Err(error) => panic!("{error}"),
        }
        let (mut at, mut count) = (0, 0);
        while let Some((start, len)) = frame(&self.rest[at..])
            && at + start + len <= self.rest.len()
        {
            let text = &self.rest[at + start..at + start + len];
            count += u64::from(text.ends_with(b"\"type\":\"next\"}"));
            at += start + len;
        }
        self.rest.drain(..at);
        count
    }
}

/// Where the text of a frame starts, and its length.
fn frame(bytes: &[u8]) -> Option<(usize, usize)> {
    match *bytes.get(1)? & 127 {
        126 => Some((4, usize::from(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?)))),
        127 => Some((10, u64::from_be_bytes(bytes.get(2..10)?.try_into().ok()?) as usize)),
        len => Some((2, usize::from(len))),
    }
}

/// Bytes of memory in use.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("it is Linux");
    let pages: u64 = text.split(' ').nth(1).and_then(|it| it.parse().ok()).expect("a number");
    pages * 4096
}

/// Seconds of processor time that were used.
fn cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").expect("it is Linux");
    let behind = text.rsplit(')').next().expect("the name ends");
    let ticks = behind.split(' ').skip(12).take(2).map(|it| it.parse::<f64>().unwrap_or(0.0));
    ticks.sum::<f64>() / 100.0
}
