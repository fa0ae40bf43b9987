//! A client that knows no more of HTTP than it needs, and keeps its connection.

use socket2::{Domain, Socket, Type};
use std::io;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// How long any answer may take before a test gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection, without encryption if nothing else is said.
pub struct Line<S = TcpStream> {
    pub stream: S,
    /// What was read and not yet used.
    ahead: Vec<u8>,
}

/// An answer.
#[derive(Debug)]
pub struct Report {
    pub status: u16,
    /// The lines of the head in lower case.
    pub head: String,
    pub body: Vec<u8>,
}

impl Report {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl Line {
    pub fn connect(address: SocketAddr) -> Line {
        Line::try_connect(address).unwrap()
    }

    pub fn try_connect(address: SocketAddr) -> io::Result<Line> {
        let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(Line::over(stream))
    }

    /// A connection from another address of this machine, as another client has.
    pub fn connect_from(own: [u8; 4], address: SocketAddr) -> Line {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.bind(&SocketAddr::from((own, 0)).into()).unwrap();
        socket.connect(&address.into()).unwrap();
        let stream = TcpStream::from(socket);
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Line::over(stream)
    }

    /// Reads the first 20 bytes of an answer, and nothing more.
    pub fn start(&mut self) -> String {
        let mut start = [0; 20];
        self.stream.read_exact(&mut start).unwrap();
        String::from_utf8_lossy(&start).into_owned()
    }
}

impl<S: Read + Write> Line<S> {
    /// One over a stream that is open.
    pub fn over(stream: S) -> Line<S> {
        Line { stream, ahead: Vec::new() }
    }

    pub fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    pub fn get(&mut self, path: &str) -> Report {
        self.try_get(path).unwrap()
    }

    pub fn try_get(&mut self, path: &str) -> io::Result<Report> {
        self.stream
            .write_all(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes())?;
        self.read()
    }

    pub fn post(&mut self, path: &str, content: &str, body: &[u8]) -> Report {
        self.try_post(path, content, body).unwrap()
    }

    pub fn try_post(&mut self, path: &str, content: &str, body: &[u8]) -> io::Result<Report> {
        let length = body.len();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {content}\r\nContent-Length: {length}\r\n\r\n"
        );
        self.stream.write_all(&[head.as_bytes(), body].concat())?;
        self.read()
    }

    /// A query in DQL.
    pub fn query(&mut self, text: &str) -> Report {
        self.post("/query", "application/dql", text.as_bytes())
    }

    /// Reads one answer.
    pub fn read(&mut self) -> io::Result<Report> {
        let end = loop {
            match self.ahead.windows(4).position(|window| window == b"\r\n\r\n") {
                Some(at) => break at + 4,
                None => self.more()?,
            }
        };
        let head = String::from_utf8_lossy(&self.ahead[..end]).to_ascii_lowercase();
        self.ahead.drain(..end);
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap();
        let body = match head.split("content-length: ").nth(1) {
            Some(rest) => {
                let length = rest.split("\r\n").next().and_then(|length| length.parse().ok());
                self.take(length.unwrap())?
            }
            None if head.contains("chunked") => self.chunks()?,
            None => Vec::new(),
        };
        Ok(Report { status, head, body })
    }

    /// Reads until the server closes the connection, and says how long that took.
    pub fn closed(&mut self) -> (Duration, Vec<u8>) {
        let started = Instant::now();
        // A reset closes it as well.
        while self.more().is_ok() {}
        (started.elapsed(), std::mem::take(&mut self.ahead))
    }

    fn chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let end = loop {
                match self.ahead.windows(2).position(|window| window == b"\r\n") {
                    Some(at) => break at,
                    None => self.more()?,
                }
            };
            let length = String::from_utf8_lossy(&self.ahead[..end]).into_owned();
            let length = usize::from_str_radix(&length, 16).unwrap();
            self.ahead.drain(..end + 2);
            body.extend(self.take(length)?);
            self.take(2)?;
            if length == 0 {
                return Ok(body);
            }
        }
    }

    fn take(&mut self, length: usize) -> io::Result<Vec<u8>> {
        while self.ahead.len() < length {
            self.more()?;
        }
        Ok(self.ahead.drain(..length).collect())
    }

    fn more(&mut self) -> io::Result<()> {
        let mut buffer = [0; 64 << 10];
        match self.stream.read(&mut buffer)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            count => {
                self.ahead.extend(&buffer[..count]);
                Ok(())
            }
        }
    }
}
