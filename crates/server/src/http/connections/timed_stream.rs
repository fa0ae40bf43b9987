//! A socket with time limits: for the head of a request to arrive, and for the client to read its
//! answer.

use super::connection_options::ConnectionOptions;
use super::pace::Pace;
use super::phase::{Line, Phase};
use super::slots::Listed;
use super::socket::Socket;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, Sleep, sleep, sleep_until};

/// How often the first bytes of a connection are looked at that come one by one, and after which
/// time again.
const PARTS_MAX: usize = 50;
const PART_WAIT: Duration = Duration::from_millis(2);

/// The socket of a connection. It holds the connection slot for as long as it is open, also after
/// an upgrade to another protocol.
pub(super) struct Stream {
    socket: Arc<Socket>,
    line: Arc<Line>,
    header: Duration,
    head: Option<Pin<Box<Sleep>>>,
    writes: Pace,
    _slot: (OwnedSemaphorePermit, Listed),
}

impl Stream {
    /// Makes the stream of a connection with the state `line`. It holds `slot` until it is dropped.
    pub(super) fn new(
        socket: Arc<Socket>,
        line: Arc<Line>,
        options: &ConnectionOptions,
        slot: (OwnedSemaphorePermit, Listed),
    ) -> Stream {
        let writes = Pace::new(options);
        Stream { socket, line, header: options.header, head: None, writes, _slot: slot }
    }

    /// Whether the client is too slow in sending the head of its request.
    fn is_head_overdue(&mut self, context: &mut Context<'_>) -> bool {
        let Phase::Head(since) = self.line.phase() else { return false };
        let end: Instant = since + self.header;
        let timer = self.head.get_or_insert_with(|| Box::pin(sleep_until(end)));
        if timer.deadline() != end {
            timer.as_mut().reset(end);
        }
        timer.as_mut().poll(context).is_ready()
    }

    /// Waits for the first byte, which stays to be read; `None` if the client closes the connection
    /// without one.
    ///
    /// # Errors
    ///
    /// Those of the socket, and a timeout.
    pub(super) async fn first(&mut self) -> io::Result<Option<u8>> {
        let mut byte = [0];
        let count = poll_fn(|context| match self.socket.poll_peek(context, &mut byte) {
            Poll::Pending if self.is_head_overdue(context) => Poll::Ready(Err(overdue_head())),
            polled => polled,
        });
        let count = count.await?;
        Ok((0 < count).then_some(byte[0]))
    }

    /// Waits until there is something to read, or the client has ended the connection.
    ///
    /// # Errors
    ///
    /// What the socket has.
    pub(super) async fn readable(&self) -> io::Result<()> {
        self.socket.readable().await
    }

    /// Whether the first bytes are these; they stay to be read. Fewer that a client leaves alone
    /// for a while are not.
    ///
    /// # Errors
    ///
    /// As [`Stream::first`].
    pub(super) async fn begins_with<const N: usize>(
        &mut self,
        expected: &[u8; N],
    ) -> io::Result<bool> {
        if self.first().await?.is_none_or(|first| first != expected[0]) {
            return Ok(false);
        }
        let mut bytes = [0; N];
        for _ in 0..PARTS_MAX {
            let count = poll_fn(|context| self.socket.poll_peek(context, &mut bytes)).await?;
            if N <= count || bytes[..count] != expected[..count] {
                break;
            }
            // There is no notification for more.
            sleep(PART_WAIT).await;
        }
        Ok(bytes == *expected)
    }

    fn written(
        &mut self,
        context: &mut Context<'_>,
        write: impl Fn(&Socket) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        loop {
            match self.socket.poll_write_ready(context) {
                Poll::Ready(ready) => ready?,
                Poll::Pending if self.writes.is_overdue(context) => {
                    let message = "the client does not read its answer (settings `stall`, `rate`)";
                    return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, message)));
                }
                Poll::Pending => return Poll::Pending,
            }
            match write(&self.socket) {
                // The socket may not be ready although the runtime said so: the next round waits
                // for it.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Ok(count) => {
                    self.writes.note(count);
                    return Poll::Ready(Ok(count));
                }
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

fn overdue_head() -> io::Error {
    let message = "the head of a request came too slowly (setting `header`)";
    io::Error::new(io::ErrorKind::TimedOut, message)
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            match self.socket.poll_read_ready(context) {
                Poll::Ready(ready) => ready?,
                Poll::Pending if self.is_head_overdue(context) => {
                    return Poll::Ready(Err(overdue_head()));
                }
                Poll::Pending => return Poll::Pending,
            }
            match self.socket.try_read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return Poll::Ready(done.map(|_| ())),
            }
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.written(context, |socket| socket.try_write(bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.written(context, |socket| socket.try_write_vectored(slices))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// The socket has accepted everything that was written, so the server no longer waits for the
    /// client.
    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.writes.rest();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.as_mut().poll_flush(context))?;
        Poll::Ready(self.socket.end())
    }
}
