//! The ports and the file at which a server listens.

use super::connections::Listener;
use super::router::Port;
use super::socket_file::{SocketFile, SocketFileOptions};
use hexgraph_base::types::{Error, Result};
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use tokio::net::TcpListener as TokioListener;

/// Where gRPC is answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GrpcPort {
    /// At no port.
    #[default]
    Off,
    /// At the port of HTTP and 1000; at any free one where HTTP has any free one, at none where
    /// HTTP has none.
    Beside,
    /// At this port; 0 means any free one.
    At(u16),
}

/// How far the port of gRPC is from that of HTTP, as with Dgraph.
const GRPC_DISTANCE: u16 = 1000;

/// Where a server is to listen.
pub(super) struct ListenerOptions<'a> {
    /// The address of its ports.
    pub host: IpAddr,
    /// The port of HTTP; 0 means any free one.
    pub port: Option<u16>,
    /// The port of gRPC.
    pub grpc: GrpcPort,
    /// The file.
    pub socket_file: Option<&'a SocketFileOptions>,
    /// The address where metrics are answered without a key.
    pub metrics: Option<SocketAddr>,
}

/// All that was opened for a server, before there is a runtime.
pub(super) struct BoundListeners {
    http: Option<TcpListener>,
    grpc: Option<TcpListener>,
    metrics: Option<TcpListener>,
    file: Option<SocketFile>,
    /// The address of HTTP with the actual port.
    pub address: Option<SocketAddr>,
    /// That of gRPC.
    pub grpc_address: Option<SocketAddr>,
    /// That of metrics.
    pub metrics_address: Option<SocketAddr>,
}

impl BoundListeners {
    /// Takes the ports and makes the file.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] for what can't be had, [`Error::Query`] when there is nothing at all, and when
    /// there is no port for gRPC.
    pub(super) fn open(expected: &ListenerOptions<'_>) -> Result<BoundListeners> {
        if expected.port.is_none() && expected.socket_file.is_none() {
            return Err(Error::query("the server has neither a port nor a file to listen at")
                .with_hint("give it a port (0 takes any that is free) or a file (--unix-socket)"));
        }
        let open = |address| {
            listen(address).map_err(|error| Error::io(format!("listening on {address}"), error))
        };
        let http = expected.port.map(|port| open(SocketAddr::new(expected.host, port)));
        let (http, address) = http.transpose()?.unzip();
        let (metrics, metrics_address) = expected.metrics.map(open).transpose()?.unzip();
        let (grpc, grpc_address) = listen_for_calls(expected)?.unzip();
        let file = expected.socket_file.map(SocketFile::bind).transpose()?;
        Ok(BoundListeners { http, grpc, metrics, file, address, grpc_address, metrics_address })
    }

    /// The file, where there is one.
    pub(super) fn socket_path(&self) -> Option<PathBuf> {
        self.file.as_ref().map(|file| file.path().to_owned())
    }

    /// What the server calls itself: its address, or its file where it has no port.
    pub(super) fn name(&self) -> String {
        match (self.address, &self.file) {
            (Some(address), _) => address.to_string(),
            (None, Some(file)) => unix_url(file.path()),
            (None, None) => String::new(),
        }
    }

    /// Hands the listeners over to the runtime, with what is answered at each, and the file, which
    /// is removed when it is dropped.
    ///
    /// # Errors
    ///
    /// What the runtime has.
    pub(super) fn listeners(self) -> io::Result<(Vec<(Listener, Port)>, Option<SocketFile>)> {
        let ports =
            [(self.http, Port::Http), (self.grpc, Port::Grpc), (self.metrics, Port::Metrics)];
        let ports = ports.into_iter().filter_map(|(listener, port)| {
            let listener = TokioListener::from_std(listener?).map(Listener::Tcp);
            Some(listener.map(|listener| (listener, port)))
        });
        let mut listeners = ports.collect::<io::Result<Vec<_>>>()?;
        let mut file = self.file;
        if let Some(file) = &mut file {
            listeners.push((file.listener()?, Port::File));
        }
        Ok((listeners, file))
    }
}

/// The URL of a server that has only a file.
pub(super) fn unix_url(path: &Path) -> String {
    format!("unix:{}", path.display())
}

/// Binds an address. Returns it with the actual port.
fn listen(expected: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(expected)?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// Takes the address of gRPC, where it is requested.
///
/// # Errors
///
/// [`Error::Io`] or [`Error::Query`], which say what to do where nobody requested this port.
fn listen_for_calls(expected: &ListenerOptions<'_>) -> Result<Option<(TcpListener, SocketAddr)>> {
    const HINT: &str = "name another with --grpc-port, or --grpc-port off";
    let port = match (expected.grpc, expected.port) {
        (GrpcPort::Off, _) | (GrpcPort::Beside, None) => return Ok(None),
        (GrpcPort::At(port), _) => port,
        (GrpcPort::Beside, Some(0)) => 0,
        (GrpcPort::Beside, Some(port)) => port.checked_add(GRPC_DISTANCE).ok_or_else(|| {
            let message = format!("there is no port {GRPC_DISTANCE} above {port}, for gRPC");
            Error::query(message).with_hint(HINT)
        })?,
    };
    let expected = SocketAddr::new(expected.host, port);
    let bound = listen(expected)
        .map_err(|error| Error::io(format!("listening on {expected} for gRPC ({HINT})"), error))?;
    Ok(Some(bound))
}
