//! The phase of a connection, shared by its socket, its service, and the search for a connection that gives way.

use socket2::SockRef;
use std::io;
use std::mem::MaybeUninit;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::Instant;

/// The phase that a connection is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// The connection has been idle since that time.
    Idle(Instant),
    /// A request has been coming in since that time.
    Head(Instant),
    /// A request is being answered, or the connection was upgraded to another protocol.
    Busy,
}

/// The state of one connection, shared by all that deal with it.
pub(super) struct Line {
    phase: Mutex<Phase>,
    /// Notified when the connection has to close.
    pub leave: Notify,
}

impl Line {
    /// Creates the state of a new connection, which still has to send its first request.
    pub(super) fn new() -> Line {
        Line { phase: Mutex::new(Phase::Head(Instant::now())), leave: Notify::new() }
    }

    /// The present phase.
    pub(super) fn phase(&self) -> Phase {
        *self.lock()
    }

    /// Notes that bytes of a request have come.
    pub(super) fn heard(&self) {
        let mut phase = self.lock();
        if let Phase::Idle(_) = *phase {
            *phase = Phase::Head(Instant::now());
        }
    }

    /// Notes that the head of a request is complete.
    pub(super) fn begin(&self) {
        *self.lock() = Phase::Busy;
    }

    /// Notes that the answer has been sent, so the connection is idle.
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
