//! The socket of a connection: one of the network, or one of the file system that only this machine
//! reaches.

#[cfg(unix)]
use rustix::net::{RecvFlags, recv};
use socket2::SockRef;
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr};
use std::task::{Context, Poll, ready};
use tokio::io::{Interest, ReadBuf, Ready};
use tokio::net::{TcpListener, TcpStream};
#[cfg(unix)]
use tokio::net::{UnixListener, UnixStream};

/// A socket that is read and written without waiting. The system informs the runtime when it is
/// ready.
pub(super) enum Socket {
    /// Of a port.
    Tcp(TcpStream),
    /// Of a file.
    #[cfg(unix)]
    Unix(UnixStream),
}

/// Whether the system reports each arrival. Then a read that has not filled its buffer has drained
/// the socket, and the runtime may forget that it is ready: the next read waits without a system
/// call, which would be one of four for a short request.
const REPORTS_EACH: bool =
    cfg!(any(target_os = "linux", target_os = "android", target_vendor = "apple"));

/// Calls a method that both kinds have.
macro_rules! either {
    ($socket:expr, $stream:ident => $call:expr) => {
        match $socket {
            Socket::Tcp($stream) => $call,
            #[cfg(unix)]
            Socket::Unix($stream) => $call,
        }
    };
}

impl Socket {
    /// Has what is written go out at once. Without it an answer may wait 40 ms for the client's
    /// acknowledgement. Where it can't be had the answers are only slower.
    pub(super) fn hurry(&self) {
        if let Socket::Tcp(stream) = self {
            let _ = stream.set_nodelay(true);
        }
    }

    /// Waits for one of the states in `interest`.
    ///
    /// # Errors
    ///
    /// What the runtime has.
    pub(super) async fn ready(&self, interest: Interest) -> io::Result<Ready> {
        either!(self, stream => stream.ready(interest).await)
    }

    /// Waits until there is something to read, or the client has ended the connection.
    ///
    /// # Errors
    ///
    /// What the runtime has.
    pub(super) async fn readable(&self) -> io::Result<()> {
        either!(self, stream => stream.readable().await)
    }

    /// As [`Socket::readable`], to be polled.
    pub(super) fn poll_read_ready(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self, stream => stream.poll_read_ready(context))
    }

    /// Waits until something can be written, to be polled.
    pub(super) fn poll_write_ready(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self, stream => stream.poll_write_ready(context))
    }

    /// Reads what is there. Where that is less than there is space for, the runtime forgets that
    /// the socket is ready, unless something has come meanwhile.
    ///
    /// # Errors
    ///
    /// `WouldBlock` when nothing is, and what the socket has.
    pub(super) fn try_read(&self, buffer: &mut ReadBuf<'_>) -> io::Result<usize> {
        let (capacity, mut count) = (buffer.remaining(), 0);
        let read = either!(self, stream => stream.try_io(Interest::READABLE, || {
            count = stream.try_read_buf(buffer)?;
            let is_drained = REPORTS_EACH && 0 < count && count < capacity;
            if is_drained { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
        }));
        match read {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && 0 < count => Ok(count),
            read => read.map(|()| count),
        }
    }

    /// Looks at what is there, which stays to be read, to be polled; 0 bytes at the end of the
    /// connection.
    pub(super) fn poll_peek(
        &self,
        context: &mut Context<'_>,
        bytes: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        match self {
            Socket::Tcp(stream) => stream.poll_peek(context, &mut ReadBuf::new(bytes)),
            #[cfg(unix)]
            Socket::Unix(stream) => poll_peek(stream, context, bytes),
        }
    }

    /// Writes as much as goes.
    ///
    /// # Errors
    ///
    /// `WouldBlock` when nothing does, and what the socket has.
    pub(super) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        either!(self, stream => stream.try_write(bytes))
    }

    /// As [`Socket::try_write`], from several positions.
    ///
    /// # Errors
    ///
    /// As [`Socket::try_write`].
    pub(super) fn try_write_vectored(&self, slices: &[io::IoSlice<'_>]) -> io::Result<usize> {
        either!(self, stream => stream.try_write_vectored(slices))
    }

    /// Closes this side of the connection.
    ///
    /// # Errors
    ///
    /// What the socket has.
    pub(super) fn end(&self) -> io::Result<()> {
        either!(self, stream => SockRef::from(stream).shutdown(Shutdown::Write))
    }
}

/// [`Socket::poll_peek`], which the runtime has for ports alone.
#[cfg(unix)]
fn poll_peek(
    stream: &UnixStream,
    context: &mut Context<'_>,
    bytes: &mut [u8],
) -> Poll<io::Result<usize>> {
    loop {
        ready!(stream.poll_read_ready(context))?;
        let peeked = stream.try_io(Interest::READABLE, || {
            let (_, count) = recv(stream, &mut *bytes, RecvFlags::PEEK)?;
            Ok(count)
        });
        match peeked {
            // The runtime has forgotten by this that the socket is ready, so the next round has the
            // task woken.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            done => return Poll::Ready(done),
        }
    }
}

/// Where connections come in.
pub(crate) enum Listener {
    /// A port.
    Tcp(TcpListener),
    /// A socket file, for clients on this machine.
    #[cfg(unix)]
    Unix(UnixListener),
}

impl Listener {
    /// Waits for the next connection.
    ///
    /// # Errors
    ///
    /// What the system has.
    pub(super) async fn accept(&self) -> io::Result<(Socket, Caller)> {
        match self {
            Listener::Tcp(listener) => {
                let (stream, address) = listener.accept().await?;
                Ok((Socket::Tcp(stream), Caller::At(address)))
            }
            #[cfg(unix)]
            Listener::Unix(listener) => {
                let (stream, _) = listener.accept().await?;
                Ok((Socket::Unix(stream), Caller::Here))
            }
        }
    }
}

/// Who has connected.
#[derive(Debug, Clone, Copy)]
pub(super) enum Caller {
    /// A client at an address.
    At(SocketAddr),
    /// A program on this machine, by a file.
    Here,
}

impl Caller {
    /// The address by which rules know the client: who comes by a file is on this machine.
    pub(super) fn ip(self) -> IpAddr {
        match self {
            Caller::At(address) => address.ip(),
            Caller::Here => IpAddr::V4(Ipv4Addr::LOCALHOST),
        }
    }
}

impl fmt::Display for Caller {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Caller::At(address) => address.fmt(formatter),
            Caller::Here => formatter.write_str("a program that came by the file"),
        }
    }
}
