//! What a connection is at, as its three parties see it: the socket, the service, and whoever looks for a seat.

use socket2::SockRef;
use std::io;
use std::mem::MaybeUninit;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::Instant;

/// What happens on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nothing is asked since then.
    Idle(Instant),
    /// A request comes in, since then.
    Head(Instant),
    /// A request is answered, or the connection speaks another protocol now.
    Busy,
}

/// One connection.
pub(super) struct Line {
    phase: Mutex<Phase>,
    /// Tells the connection that it has to go.
    pub leave: Notify,
}

impl Line {
    /// One that has just been made: it owes a request.
    pub(super) fn new() -> Line {
        Line { phase: Mutex::new(Phase::Head(Instant::now())), leave: Notify::new() }
    }

    /// What it is at.
    pub(super) fn phase(&self) -> Phase {
        *self.lock()
    }

    /// The client has sent something.
    pub(super) fn heard(&self) {
        let mut phase = self.lock();
        if let Phase::Idle(_) = *phase {
            *phase = Phase::Head(Instant::now());
        }
    }

    /// A request is there.
    pub(super) fn begin(&self) {
        *self.lock() = Phase::Busy;
    }

    /// The request is answered.
    pub(super) fn end(&self) {
        *self.lock() = Phase::Idle(Instant::now());
    }

    fn lock(&self) -> MutexGuard<'_, Phase> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The client at the other end, and whether it is still there.
#[derive(Clone)]
pub(crate) struct Peer {
    stream: Arc<TcpStream>,
    /// Its end of the connection.
    pub address: IpAddr,
}

impl Peer {
    /// The client of a connection; the descriptor is shared, not doubled.
    pub(crate) fn new(stream: Arc<TcpStream>, address: IpAddr) -> Peer {
        Peer { stream, address }
    }

    /// True when the client has closed the connection, so that nobody waits for an answer.
    pub(crate) fn is_gone(&self) -> bool {
        match SockRef::from(&*self.stream).peek(&mut [MaybeUninit::uninit()]) {
            Ok(count) => count == 0,
            Err(error) => error.kind() != io::ErrorKind::WouldBlock,
        }
    }
}
