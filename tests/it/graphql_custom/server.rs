//! A small HTTP server that notes what it is asked.

use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A request that came.
#[derive(Debug, Clone, Default)]
pub struct RequestedQuery {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl RequestedQuery {
    pub fn header(&self, name: &str) -> Option<&str> {
        let result = self.headers.iter().find(|(existing, _)| existing.eq_ignore_ascii_case(name));
        result.map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// What is answered.
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
    pub delay: Duration,
}

impl Answer {
    pub fn text(body: impl Into<String>) -> Answer {
        Answer { status: 200, headers: Vec::new(), body: body.into(), delay: Duration::ZERO }
    }

    pub fn json(body: &Value) -> Answer {
        Answer::text(body.to_string())
    }

    pub fn status(self, status: u16) -> Answer {
        Answer { status, ..self }
    }

    pub fn after(self, millis: u64) -> Answer {
        Answer { delay: Duration::from_millis(millis), ..self }
    }

    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Answer {
        self.headers.push((name, value.into()));
        self
    }
}

/// The server. It ends with the process.
pub struct Server {
    pub url: String,
    requested: Arc<Mutex<Vec<RequestedQuery>>>,
}

impl Server {
    pub fn start(answer: impl Fn(&RequestedQuery) -> Answer + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requested = Arc::new(Mutex::new(Vec::new()));
        let (answer, noted) = (Arc::new(answer), Arc::clone(&requested));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answer, noted) = (Arc::clone(&answer), Arc::clone(&noted));
                thread::spawn(move || serve(stream, &*answer, &noted));
            }
        });
        Server { url, requested }
    }

    /// What came so far, and nothing of it later.
    pub fn take(&self) -> Vec<RequestedQuery> {
        std::mem::take(&mut self.requested.lock().unwrap())
    }

    /// The first request that comes.
    pub fn wait(&self) -> RequestedQuery {
        for _ in 0..500 {
            if let Some(first) = self.requested.lock().unwrap().first() {
                return first.clone();
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("nothing came");
    }
}

fn serve(
    stream: TcpStream,
    answer: &dyn Fn(&RequestedQuery) -> Answer,
    noted: &Mutex<Vec<RequestedQuery>>,
) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let Some(requested) = read(&mut reader) else { return };
    noted.lock().unwrap().push(requested.clone());
    let answer = answer(&requested);
    thread::sleep(answer.delay);
    let mut head = format!("HTTP/1.1 {} X\r\nConnection: close\r\n", answer.status);
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("Content-Length: {}\r\n\r\n", answer.body.len()));
    let mut stream = stream;
    let sent = stream.write_all(head.as_bytes());
    let _ = sent.and_then(|()| stream.write_all(answer.body.as_bytes()));
}

fn read(reader: &mut impl BufRead) -> Option<RequestedQuery> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let mut requested = RequestedQuery {
        method: words.next()?.to_owned(),
        path: words.next()?.to_owned(),
        ..RequestedQuery::default()
    };
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        requested.headers.push((name.to_owned(), value.trim().to_owned()));
    }
    let length = requested.header("content-length").and_then(|length| length.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    requested.body = String::from_utf8(body).ok()?;
    Some(requested)
}
