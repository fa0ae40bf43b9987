//! The client at the other end, and whether it is still there.

use axum::extract::connect_info::Connected;
use axum::serve::IncomingStream;
use std::io;
use std::net::IpAddr;
use std::net::TcpStream;
use std::sync::Arc;
use tokio::net::TcpListener;

/// A client. Holds its connection a second time, so that it can be looked at while a query runs.
#[derive(Clone)]
pub struct Peer {
    stream: Option<Arc<TcpStream>>,
    /// Its end of the connection.
    pub address: IpAddr,
}

impl Peer {
    /// True when the client has closed the connection, so that nobody waits for an answer.
    pub fn is_gone(&self) -> bool {
        let peeked = self.stream.as_ref().map(|stream| stream.peek(&mut [0]));
        match peeked {
            Some(Ok(count)) => count == 0,
            Some(Err(error)) => error.kind() != io::ErrorKind::WouldBlock,
            None => false,
        }
    }
}

impl Connected<IncomingStream<'_, TcpListener>> for Peer {
    fn connect_info(incoming: IncomingStream<'_, TcpListener>) -> Peer {
        // Without this an answer may wait 40 ms for the client's acknowledgement. Where it can't
        // be had the answers are only slower.
        let _ = incoming.io().set_nodelay(true);
        let address = incoming.remote_addr().ip();
        Peer { stream: duplicate(incoming.io()).ok().map(Arc::new), address }
    }
}

/// The other handle stays non-blocking, as the first one is.
#[cfg(unix)]
fn duplicate(stream: &tokio::net::TcpStream) -> io::Result<TcpStream> {
    use std::os::fd::AsFd;
    Ok(TcpStream::from(stream.as_fd().try_clone_to_owned()?))
}

#[cfg(windows)]
fn duplicate(stream: &tokio::net::TcpStream) -> io::Result<TcpStream> {
    use std::os::windows::io::AsSocket;
    Ok(TcpStream::from(stream.as_socket().try_clone_to_owned()?))
}
