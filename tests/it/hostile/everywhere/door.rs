//! The ways into a server: its ports, the same with TLS, and the file.

use crate::hostile::program::Program;
use crate::hostile::watch::Watch;
use crate::hostile::wire::Line;
use crate::tls::site::{Encrypted, Manner, Site as TlsSite, connect, free_port};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;

/// How long any answer may take before a test gives up.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// No answer to an attack takes longer. Where nothing is optimised 100,000 aliases take 15 s, which
/// are 0.2 otherwise, and more beside other tests.
pub const QUICK: Duration = Duration::from_secs(if cfg!(debug_assertions) { 50 } else { 20 });

/// A connection of any kind.
pub trait Stream: Read + Write + Send {
    /// How long a read may take from now on.
    fn set_patience(&self, patience: Duration);
}

impl Stream for TcpStream {
    fn set_patience(&self, patience: Duration) {
        self.set_read_timeout(Some(patience)).unwrap();
    }
}

impl Stream for UnixStream {
    fn set_patience(&self, patience: Duration) {
        self.set_read_timeout(Some(patience)).unwrap();
    }
}

impl Stream for Encrypted {
    fn set_patience(&self, patience: Duration) {
        self.sock.set_read_timeout(Some(patience)).unwrap();
    }
}

/// A connection, whatever it is made of.
pub type AnyStream = Box<dyn Stream>;

/// The same for clients that do not block.
pub trait Way: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Way for T {}

/// A way in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundListener {
    /// The port of HTTP.
    Http,
    /// The port of gRPC.
    Calls,
    /// The port of HTTP where TLS is spoken.
    HttpByTls,
    /// The port of gRPC where TLS is spoken.
    CallsByTls,
    /// The file.
    File,
}

impl BoundListener {
    pub const ALL: [BoundListener; 5] = [
        BoundListener::Http,
        BoundListener::Calls,
        BoundListener::HttpByTls,
        BoundListener::CallsByTls,
        BoundListener::File,
    ];

    /// Those at which the routes of HTTP are answered.
    pub const OF_HTTP: [BoundListener; 3] =
        [BoundListener::Http, BoundListener::HttpByTls, BoundListener::File];

    /// Those at which calls of gRPC are.
    pub const OF_CALLS: [BoundListener; 3] =
        [BoundListener::Calls, BoundListener::CallsByTls, BoundListener::File];
}

/// Two servers: one without encryption, and one by TLS. Each has a file as well.
pub struct Yard {
    plain: Program,
    calls: SocketAddr,
    encrypted: TlsSite,
    folder: TempDir,
}

impl Yard {
    /// Starts both with the same arguments.
    pub fn new(arguments: &[&str]) -> Yard {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name).display().to_string();
        let (plain_file, encrypted_file) = (file("plain.sock"), file("encrypted.sock"));
        let port = free_port();
        let grpc = port.to_string();
        let own = ["--grpc-port", &grpc, "--unix-socket", &plain_file];
        let plain = Program::start("", &[&own[..], arguments].concat());
        let calls = SocketAddr::from(([127, 0, 0, 1], port));
        let own = ["--unix-socket", encrypted_file.as_str()];
        let encrypted = TlsSite::new(&[&own[..], arguments].concat());
        Yard { plain, calls, encrypted, folder }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Where a listener is; `None` for the file.
    fn address(&self, listener: BoundListener) -> Option<SocketAddr> {
        match listener {
            BoundListener::Http => Some(self.plain.address),
            BoundListener::Calls => Some(self.calls),
            BoundListener::HttpByTls => Some(self.encrypted.program.address),
            BoundListener::CallsByTls => Some(self.encrypted.grpc),
            BoundListener::File => None,
        }
    }

    /// The name of the server at a listener, as requests have it.
    pub fn host(&self, listener: BoundListener) -> String {
        self.address(listener)
            .map_or("localhost".to_owned(), |at| format!("localhost:{}", at.port()))
    }

    /// Connects at a listener, with TLS for one of the protocols that the listener speaks.
    pub fn connect(&self, listener: BoundListener, protocol: &str) -> AnyStream {
        let stream: AnyStream = match (listener, self.address(listener)) {
            (BoundListener::HttpByTls | BoundListener::CallsByTls, Some(address)) => {
                let manner = Manner { protocols: &[protocol], ..Manner::default() };
                Box::new(connect(address, &self.encrypted.authority, manner).unwrap())
            }
            (_, Some(address)) => {
                let stream = TcpStream::connect(address).unwrap();
                stream.set_nodelay(true).unwrap();
                Box::new(stream)
            }
            (_, None) => Box::new(UnixStream::connect(self.file("plain.sock")).unwrap()),
        };
        stream.set_patience(PATIENCE);
        stream
    }

    /// A connection for HTTP/1.1.
    pub fn line(&self, listener: BoundListener) -> Line<AnyStream> {
        Line::over(self.connect(listener, "http/1.1"))
    }

    /// Connects at a listener for HTTP/2.
    ///
    /// # Errors
    ///
    /// What the system or the handshake has.
    pub async fn reach(&self, listener: BoundListener) -> io::Result<Box<dyn Way>> {
        let Some(address) = self.address(listener) else {
            let stream = tokio::net::UnixStream::connect(self.file("plain.sock")).await?;
            return Ok(Box::new(stream));
        };
        let stream = tokio::net::TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        if !matches!(listener, BoundListener::HttpByTls | BoundListener::CallsByTls) {
            return Ok(Box::new(stream));
        }
        let manner = Manner { protocols: &["h2"], ..Manner::default() };
        let connector = TlsConnector::from(Arc::new(manner.config(&self.encrypted.authority)));
        Ok(Box::new(connector.connect("localhost".try_into().unwrap(), stream).await?))
    }

    /// A schema and data for both servers.
    pub fn fill(&self, schema: &str, graphql: &str, facts: &str) {
        for listener in [BoundListener::Http, BoundListener::HttpByTls] {
            let mut line = self.line(listener);
            let mut done = |path: &str, kind: &str, body: &str| {
                let reported = line.post(path, kind, body.as_bytes());
                assert!(reported.text().contains("Success"), "{}", reported.text());
            };
            done("/alter", "application/dql", schema);
            done("/admin/schema", "text/plain", graphql);
            done("/mutate?commitNow=true", "application/rdf", &format!("{{ set {{ {facts} }} }}"));
        }
    }

    /// Fails where a server has ended, or does not answer at a listener.
    pub fn is_well(&mut self) {
        self.plain.check_alive();
        self.encrypted.program.check_alive();
        for listener in BoundListener::OF_HTTP {
            assert_eq!(self.line(listener).get("/health").status, 200, "{listener:?}");
        }
    }

    /// The bytes of heaps and stacks of both servers, the greater of the two.
    pub fn anonymous(&self) -> u64 {
        self.plain.anonymous().max(self.encrypted.program.anonymous())
    }

    /// Begins to watch both servers as other clients do.
    pub fn watch(&self, query: &'static str) -> [Watch; 2] {
        let watches = ["plain.sock", "encrypted.sock"].map(|name| {
            let path = self.file(name);
            let connect = move || {
                let stream = UnixStream::connect(&path)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                Ok(Line::over(stream))
            };
            Watch::by(connect, Duration::from_millis(20), Some(query))
        });
        Watch::look_first();
        watches
    }
}
