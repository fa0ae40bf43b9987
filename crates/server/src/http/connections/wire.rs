//! A connection as protocols see it: the bytes of its socket, or those that TLS makes of them.

use super::phase::Line;
use super::timed_stream::Stream;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::server::TlsStream;

/// What requests are read from and answers are written to. It reports received data to the state of
/// its connection (`Line`): decrypted data, and not the bytes of the socket.
pub(super) struct Wire {
    transport: Transport,
    line: Arc<Line>,
}

enum Transport {
    Plain(Stream),
    /// Boxed, since its state has a KiB.
    Encrypted(Box<TlsStream<Stream>>),
}

impl Wire {
    /// A connection without encryption.
    pub(super) fn plain(stream: Stream, line: Arc<Line>) -> Wire {
        Wire { transport: Transport::Plain(stream), line }
    }

    /// A connection whose handshake is done.
    pub(super) fn encrypted(stream: TlsStream<Stream>, line: Arc<Line>) -> Wire {
        Wire { transport: Transport::Encrypted(Box::new(stream)), line }
    }

    /// Waits until there is something to read, or the client has closed the connection.
    ///
    /// # Errors
    ///
    /// Those of the socket.
    pub(super) async fn readable(&self) -> io::Result<()> {
        match &self.transport {
            Transport::Plain(stream) => stream.readable().await,
            Transport::Encrypted(stream) => stream.get_ref().0.readable().await,
        }
    }

    /// Whether the handshake has agreed on HTTP/1.1.
    pub(super) fn has_agreed_on_http1(&self) -> bool {
        match &self.transport {
            Transport::Plain(_) => false,
            Transport::Encrypted(stream) => stream.get_ref().1.alpn_protocol() == Some(b"http/1.1"),
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
        ready!(match &mut self.transport {
            Transport::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Transport::Encrypted(stream) => Pin::new(&mut **stream).poll_read(context, buffer),
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
        match &mut self.transport {
            Transport::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Transport::Encrypted(stream) => Pin::new(&mut **stream).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.line.note_flushed(false);
        match &mut self.transport {
            Transport::Plain(stream) => Pin::new(stream).poll_write_vectored(context, slices),
            Transport::Encrypted(stream) => {
                Pin::new(&mut **stream).poll_write_vectored(context, slices)
            }
        }
    }

    fn is_write_vectored(&self) -> bool {
        match &self.transport {
            Transport::Plain(stream) => stream.is_write_vectored(),
            Transport::Encrypted(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(match &mut self.transport {
            Transport::Plain(stream) => Pin::new(stream).poll_flush(context),
            Transport::Encrypted(stream) => Pin::new(&mut **stream).poll_flush(context),
        })?;
        self.line.note_flushed(true);
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.transport {
            Transport::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Transport::Encrypted(stream) => Pin::new(&mut **stream).poll_shutdown(context),
        }
    }
}
