//! A server in this process, requests to it, and what one of them takes.

use super::counting;
use hexgraph::db::access::{AccessOptions, LoginRequest};
use hexgraph::db::{
    Database, Memory, Mutation, MutationRequest, OpenOptions, RequestContext, Statements,
};
use hexgraph_server::http::{GrpcPort, ServeOptions, Server};
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

const MIB: usize = 1 << 20;

/// What may be live beside twice the highest reservation: stacks of threads, caches, and what is
/// small for each connection.
const SLACK: usize = 32 * MIB;

/// How much of an answer is retained to compare it; the rest is read and thrown away.
const START: usize = 2048;

/// The memory that requests have.
const MEMORY: u64 = 1 << 30;

const SECRET: &[u8] = b"0123456789abcdef0123456789abcdef";
const PASSWORD: &str = "longenough";

/// A server, alone: the counters are those of the process, so there is one at a time.
pub struct Site {
    /// Its database.
    pub database: Database,
    /// Where it answers over HTTP.
    pub address: SocketAddr,
    /// Where it answers over gRPC.
    pub grpc_address: SocketAddr,
    server: Server,
    _alone: MutexGuard<'static, ()>,
}

/// One request, all bytes of which exist before it is measured. Returns the start of the answer;
/// what it allocates itself counts.
pub type Attack = Box<dyn FnOnce(&Site) -> String>;

/// One row of a table: what is tried, and a part of the answer.
pub struct Row {
    /// What is tried.
    pub name: &'static str,
    /// Makes the request. It is not measured.
    pub make: Box<dyn FnOnce(&Site) -> Attack>,
    /// A part of what comes back: of the status, the headers or the start of the body.
    pub expects: &'static str,
}

/// A row.
pub fn row(
    name: &'static str,
    expects: &'static str,
    make: impl FnOnce(&Site) -> Attack + 'static,
) -> Row {
    Row { name, make: Box::new(make), expects }
}

impl Site {
    /// A server of an empty database.
    pub fn new() -> Site {
        Site::with(ServeOptions::default(), |_| {})
    }

    /// A server with settings, of a database that is filled first.
    pub fn with(options: ServeOptions, fill: impl FnOnce(&Database)) -> Site {
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let memory = Memory::Work(MEMORY);
        let database = Database::in_memory_with(OpenOptions { memory, ..OpenOptions::default() });
        fill(&database);
        let options = ServeOptions { port: Some(0), grpc: GrpcPort::Beside, ..options };
        let server = Server::start(database.clone(), options).unwrap();
        let address = server.address().unwrap();
        let grpc_address = server.grpc_address().unwrap();
        Site { database, address, grpc_address, server, _alone: alone }
    }

    /// A server with the user `eve`, who has no rights at all, and the guardian `groot`.
    pub fn with_users() -> Site {
        Site::with(ServeOptions::default(), |database| {
            database.enable_access(AccessOptions::new(SECRET.to_vec())).unwrap();
            let eve = format!(
                r#"{{"dgraph.xid":"eve","dgraph.type":"dgraph.type.User","dgraph.password":"{PASSWORD}"}}"#
            );
            let set = vec![Statements::Json(&eve)];
            let mutations = vec![Mutation { set, ..Mutation::default() }];
            let request = MutationRequest { mutations, ..MutationRequest::default() };
            database.mutate_with(&request, &RequestContext::new()).unwrap();
        })
    }

    /// The header with which a user sends requests.
    pub fn token(&self, user: &str) -> String {
        let password = if user == "groot" { "password" } else { PASSWORD };
        let (user, password) = (user.to_owned(), password.to_owned());
        let login = LoginRequest { user, password, ..LoginRequest::default() };
        let access = self.database.login_with(&login, &RequestContext::new()).unwrap().access;
        format!("X-Dgraph-AccessToken: {access}")
    }

    /// Sends the requests of a table, one at a time, and measures each.
    pub fn measure(self, rows: Vec<Row>) {
        let mut faults = String::new();
        for row in rows {
            self.settle();
            let attack = (row.make)(&self);
            let (before, reserved_before) = (counting::live(), self.database.budget().reserved());
            counting::forget_peak();
            self.database.budget().forget_peak();
            let started = Instant::now();
            let answer = attack(&self);
            let took = started.elapsed();
            if std::env::var_os("HEXGRAPH_MEMORY_ANSWERS").is_some() {
                println!("{answer}");
            }
            let live = counting::peak().saturating_sub(before);
            let peak = self.database.budget().peak();
            let reserved = peak.saturating_sub(reserved_before) as usize;
            let (name, most) = (row.name, 2 * reserved + SLACK);
            println!(
                "{name}: {} MiB live, {} MiB reserved, {} ms",
                live / MIB,
                reserved / MIB,
                took.as_millis()
            );
            if most < live {
                writeln!(faults, "{name}: {live} bytes live, {reserved} reserved").unwrap();
            }
            if !answer.contains(row.expects) {
                writeln!(faults, "{name}: no {:?} in {answer}", row.expects).unwrap();
            }
        }
        self.settle();
        drop(self.server);
        assert!(faults.is_empty(), "{faults}");
    }

    /// Waits until all reservations of the last request are given back.
    fn settle(&self) {
        let started = Instant::now();
        let reserved = || self.database.budget().reserved() as usize;
        while 4 * MIB < reserved() {
            assert!(
                started.elapsed() < Duration::from_secs(20),
                "{} bytes are never given back",
                reserved()
            );
            thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Posts a body with these lines of headers.
pub fn post(path: &str, headers: &[&str], body: impl AsRef<[u8]>) -> Attack {
    let request = request(path, headers, body.as_ref());
    Box::new(move |site| exchange(site.address, &request))
}

/// Calls a method of gRPC with a message, as pages of browsers do.
pub fn call(path: &str, message: &[u8]) -> Attack {
    let mut frame = vec![0];
    frame.extend(u32::try_from(message.len()).unwrap().to_be_bytes());
    frame.extend(message);
    let request = request(path, &["Content-Type: application/grpc-web+proto"], &frame);
    Box::new(move |site| exchange(site.grpc_address, &request))
}

fn request(path: &str, headers: &[&str], body: &[u8]) -> Vec<u8> {
    let count = body.len();
    let mut request = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {count}\r\n"
    );
    headers.iter().for_each(|line| write!(request, "{line}\r\n").unwrap());
    request.push_str("\r\n");
    [request.as_bytes(), body].concat()
}

/// Sends bytes on a connection of their own, and reads until the server closes it. Returns the
/// start of what came.
pub fn exchange(address: SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    // A request that is refused early is not read to its end, and what was sent is lost with the
    // connection.
    let sent = stream.write_all(request);
    let mut start = Vec::with_capacity(START);
    let mut buffer = [0; 16 << 10];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        let capacity = count.min(START - start.len());
        start.extend_from_slice(&buffer[..capacity]);
    }
    assert!(sent.is_ok() || !start.is_empty(), "{sent:?}");
    String::from_utf8_lossy(&start).into_owned()
}
