//! A server, and requests to it with nothing in between.

use hexgraph::db::Database;
use hexgraph_server::http::{ServeOptions, Server};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};

/// A server with a database in memory.
pub struct Site {
    /// Where it answers.
    pub server: Server,
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The lines of headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Answer {
    /// The body as text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    /// The body as JSON, without what stands beside the data.
    pub fn json(&self) -> Value {
        let mut body: Value = serde_json::from_slice(&self.body).unwrap();
        if let Some(members) = body.as_object_mut() {
            members.remove("extensions");
        }
        body
    }

    /// The body as JSON.
    pub fn json_with_extensions(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// All lines of a header.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.headers
            .iter()
            .filter(move |(existing, _)| existing == name)
            .map(|(_, value)| value.as_str())
    }

    /// A header; empty where there is none.
    pub fn header(&self, name: &str) -> &str {
        let result = self.headers.iter().find(|(existing, _)| existing == name);
        result.map_or("", |(_, value)| value)
    }
}

impl Site {
    /// One with a schema.
    pub fn new(schema: &str) -> Site {
        Site::with(schema, ServeOptions::default())
    }

    /// One with settings.
    pub fn with(schema: &str, options: ServeOptions) -> Site {
        let database = Database::in_memory();
        if !schema.is_empty() {
            database.set_graphql_schema(schema).unwrap();
        }
        Site::of(database, options)
    }

    /// One of a database.
    pub fn of(database: Database, options: ServeOptions) -> Site {
        let server = Server::start(database, ServeOptions { port: Some(0), ..options }).unwrap();
        Site { server }
    }

    /// Sends a request with these lines of headers.
    pub fn send(&self, method: &str, path: &str, headers: &[&str], body: &[u8]) -> Answer {
        send(self.server.address().unwrap(), (method, path), headers, body)
    }

    /// Posts JSON.
    pub fn post(&self, path: &str, body: &str) -> Answer {
        self.send("POST", path, &["Content-Type: application/json"], body.as_bytes())
    }

    /// Asks `/graphql`, and gives the answer without what stands beside it.
    pub fn ask(&self, text: &str) -> Value {
        self.post("/graphql", &json!({ "query": text }).to_string()).json()
    }

    /// Asks `/admin`.
    pub fn admin(&self, text: &str) -> Value {
        self.post("/admin", &json!({ "query": text }).to_string()).json()
    }
}

/// Sends a request with these lines of headers to an address.
pub fn send(
    address: SocketAddr,
    (method, path): (&str, &str),
    headers: &[&str],
    body: &[u8],
) -> Answer {
    send_by(TcpStream::connect(address).unwrap(), (method, path), headers, body)
}

/// Sends a request with these lines of headers on a connection.
pub fn send_by(
    mut stream: impl Read + Write,
    (method, path): (&str, &str),
    headers: &[&str],
    body: &[u8],
) -> Answer {
    let headers: String = headers.iter().flat_map(|line| [line, "\r\n"]).collect();
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}Content-Length: {length}\r\n\r\n"
    )
    .unwrap();
    stream.write_all(body).unwrap();
    read(stream)
}

fn read(stream: impl Read) -> Answer {
    let mut reader = BufReader::new(stream);
    let mut line = || {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    };
    let status = line().split(' ').nth(1).unwrap().parse().unwrap();
    let mut headers = Vec::new();
    loop {
        let line = line();
        let Some((name, value)) = line.split_once(": ") else { break };
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let mut body = Vec::new();
    reader.read_to_end(&mut body).unwrap();
    let mut answer = Answer { status, headers, body };
    if answer.header("transfer-encoding") == "chunked" {
        answer.body = full_of(&answer.body).expect("the body has an end");
    }
    answer
}

/// A body that came in chunks; `None` when its end is missing.
pub fn full_of(mut chunks: &[u8]) -> Option<Vec<u8>> {
    let mut full = Vec::new();
    loop {
        let end = chunks.windows(2).position(|pair| pair == b"\r\n")?;
        let length = std::str::from_utf8(&chunks[..end]).ok()?;
        let length = usize::from_str_radix(length, 16).ok()?;
        let chunk = chunks.get(end + 2..end + 2 + length)?;
        if length == 0 {
            return Some(full);
        }
        full.extend_from_slice(chunk);
        chunks = chunks.get(end + 2 + length + 2..)?;
    }
}

/// The first message of an answer.
pub fn message(answer: &Value) -> &str {
    answer["errors"][0]["message"].as_str().unwrap_or_else(|| panic!("{answer}"))
}
