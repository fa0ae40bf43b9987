//! `hexgraph serve` with certificates, and a client that knows its authority.

use super::authority::{Authority, Identity};
use crate::hostile::program::Program;
use crate::hostile::wire::Line;
use std::fs;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{
    ALL_VERSIONS, ClientConfig, ClientConnection, StreamOwned, SupportedProtocolVersion,
};

/// How long something may take that has to happen.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A connection by TLS.
pub type Encrypted = StreamOwned<ClientConnection, TcpStream>;

/// A server, its files, and who signed them.
pub struct Site {
    pub authority: Authority,
    pub folder: TempDir,
    pub program: Program,
    /// Where gRPC is answered.
    pub grpc: SocketAddr,
}

/// How a client connects.
#[derive(Clone, Copy)]
pub struct Manner<'a> {
    pub versions: &'a [&'static SupportedProtocolVersion],
    pub protocols: &'a [&'a str],
    pub identity: Option<&'a Identity>,
}

impl Default for Manner<'_> {
    fn default() -> Self {
        Manner { versions: ALL_VERSIONS, protocols: &[], identity: None }
    }
}

impl Manner<'_> {
    /// The same as the library takes it, for a client that knows an authority.
    pub fn config(&self, authority: &Authority) -> ClientConfig {
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(self.versions)
            .unwrap()
            .with_root_certificates(authority.roots());
        let mut config = match self.identity {
            None => builder.with_no_client_auth(),
            Some(identity) => {
                builder.with_client_auth_cert(vec![identity.der()], identity.private_key()).unwrap()
            }
        };
        config.alpn_protocols = self.protocols.iter().map(|it| it.as_bytes().to_vec()).collect();
        config
    }
}

/// A port that was free a moment ago. Of the two ports of a server only that of HTTP is printed as
/// an address that programs read.
pub fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

impl Site {
    pub fn new(arguments: &[&str]) -> Site {
        Site::with(Authority::new("ours"), None, arguments)
    }

    /// One whose clients have to show certificates of an authority.
    pub fn that_asks_for(clients: &Authority) -> Site {
        Site::with(Authority::new("ours"), Some(clients), &[])
    }

    fn with(authority: Authority, clients: Option<&Authority>, arguments: &[&str]) -> Site {
        let folder = tempfile::tempdir().unwrap();
        write(&folder, &authority.sign("server"));
        let path = |name: &str| folder.path().join(name).display().to_string();
        let (certificate, key, authorities) = (path("cert.pem"), path("key.pem"), path("ca.pem"));
        let grpc_port = free_port();
        let grpc = grpc_port.to_string();
        let mut all =
            vec!["--tls-cert", &certificate, "--tls-key", &key, "--grpc-port", grpc.as_str()];
        if let Some(clients) = clients {
            fs::write(&authorities, &clients.certificate).unwrap();
            all.extend(["--tls-client-ca", &authorities]);
        }
        all.extend(arguments);
        let program = Program::start("", &all);
        let grpc = SocketAddr::from(([127, 0, 0, 1], grpc_port));
        Site { authority, folder, program, grpc }
    }

    /// Connects to the port of HTTP.
    pub fn connect(&self) -> Line<Encrypted> {
        self.try_connect(Manner::default()).unwrap()
    }

    pub fn try_connect(&self, manner: Manner<'_>) -> io::Result<Line<Encrypted>> {
        connect(self.program.address, &self.authority, manner).map(Line::over)
    }

    /// Has other certificates.
    pub fn write(&self, identity: &Identity) {
        write(&self.folder, identity);
    }

    /// Waits until something was logged.
    pub fn logs(&self, what: &str) {
        eventually(what, || self.program.log().contains(what));
    }

    /// Waits until the server is as at its beginning, and answers.
    pub fn is_well(&mut self) {
        self.program.check_alive();
        assert_eq!(self.connect().get("/health").status, 200);
    }
}

fn write(folder: &TempDir, identity: &Identity) {
    fs::write(folder.path().join("cert.pem"), &identity.certificate).unwrap();
    fs::write(folder.path().join("key.pem"), &identity.key).unwrap();
}

/// Connects, and executes the handshake.
pub fn connect(
    address: SocketAddr,
    authority: &Authority,
    manner: Manner<'_>,
) -> io::Result<Encrypted> {
    let config = Arc::new(manner.config(authority));
    let mut client = ClientConnection::new(config, "localhost".try_into().unwrap()).unwrap();
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    while client.is_handshaking() {
        client.complete_io(&mut stream)?;
    }
    Ok(StreamOwned::new(client, stream))
}

/// Waits until it holds.
pub fn eventually(what: &str, holds: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "it never came: {what}");
        sleep(Duration::from_millis(20));
    }
}
