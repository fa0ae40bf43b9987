//! A connection as protocols see it: the bytes of its socket, or those that TLS makes of them.

use super::phase::Line;
use super::timed_stream::Stream;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::server::TlsStream;

/// What requests are read from and answers are written to. It informs its line of received data,
/// which under TLS is not what the socket has.
pub(super) struct Wire {
    way: Way,
    line: Arc<Line>,
}

enum Way {
    Plain(Stream),
    /// Boxed, since its state has a KiB.
    Encrypted(Box<TlsStream<Stream>>),
}

impl Wire {
    /// A connection without encryption.
    pub(super) fn plain(stream: Stream, line: Arc<Line>) -> Wire {
        Wire { way: Way::Plain(stream), line }
    }

    /// A connection whose handshake is done.
    pub(super) fn encrypted(stream: TlsStream<Stream>, line: Arc<Line>) -> Wire {
        Wire { way: Way::Encrypted(Box::new(stream)), line }
    }

    /// Waits until there is something to read, or the client has ended the connection.
    ///
    /// # Errors
    ///
    /// What the socket has.
    pub(super) async fn readable(&self) -> io::Result<()> {
        match &self.way {
            Way::Plain(stream) => stream.readable().await,
            Way::Encrypted(stream) => stream.get_ref().0.readable().await,
        }
    }

    /// Whether the handshake has agreed on HTTP/1.1.
    pub(super) fn has_agreed_on_http1(&self) -> bool {
        match &self.way {
            Way::Plain(_) => false,
            Way::Encrypted(stream) => stream.get_ref().1.alpn_protocol() == Some(b"http/1.1"),
        }
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(match &mut self.way {
            Way::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Way::Encrypted(stream) => Pin::new(&mut **stream).poll_read(context, buffer),
        })?;
        let came = &buffer.filled()[before..];
        if !came.is_empty() && !self.line.heard(came) {
            let message = "a message is too long, or there is no memory for it";
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::OutOfMemory, message)));
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.line.note_flushed(false);
        match &mut self.way {
            Way::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Way::Encrypted(stream) => Pin::new(&mut **stream).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.line.note_flushed(false);
        match &mut self.way {
            Way::Plain(stream) => Pin::new(stream).poll_write_vectored(context, slices),
            Way::Encrypted(stream) => Pin::new(&mut **stream).poll_write_vectored(context, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match &self.way {
            Way::Plain(stream) => stream.is_write_vectored(),
            Way::Encrypted(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(match &mut self.way {
            Way::Plain(stream) => Pin::new(stream).poll_flush(context),
            Way::Encrypted(stream) => Pin::new(&mut **stream).poll_flush(context),
        })?;
        self.line.note_flushed(true);
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.way {
            Way::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Way::Encrypted(stream) => Pin::new(&mut **stream).poll_shutdown(context),
        }
    }
}
