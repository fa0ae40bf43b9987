//! A wire that is lent to what speaks HTTP on it, and comes back when that is dropped.

use super::wire::Wire;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Where a lent wire comes back to.
#[derive(Clone, Default)]
pub(super) struct Home(Arc<Mutex<Option<Wire>>>);

impl Home {
    /// Lends a wire until what is returned is dropped.
    pub(super) fn lend(&self, wire: Wire) -> LentWire {
        LentWire { wire: Some(wire), home: self.clone() }
    }

    /// The wire, where it has come back.
    pub(super) fn take(&self) -> Option<Wire> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A wire that goes home when it is dropped.
pub(super) struct LentWire {
    /// The wire, which is moved out when this is dropped, and not before.
    wire: Option<Wire>,
    home: Home,
}

impl Drop for LentWire {
    fn drop(&mut self) {
        *self.home.0.lock().unwrap_or_else(PoisonError::into_inner) = self.wire.take();
    }
}

impl LentWire {
    fn wire(&mut self) -> Pin<&mut Wire> {
        Pin::new(self.wire.as_mut().expect("it is there until the end"))
    }
}

impl AsyncRead for LentWire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.wire().poll_read(context, buffer)
    }
}

impl AsyncWrite for LentWire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.wire().poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.wire().poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.wire.as_ref().is_some_and(AsyncWrite::is_write_vectored)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.wire().poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.wire().poll_shutdown(context)
    }
}
