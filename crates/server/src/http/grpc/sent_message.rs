//! The body of an answer: its message in fragments, then the status.

use super::dialect::CallFraming;
use super::status::Code;
use axum::body::Bytes;
use axum::http::HeaderMap;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::BytesMut;
use hexgraph_base::budget::Reservation;
use http_body::{Body, Frame, SizeHint};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The most bytes of a fragment. HTTP/2 requests the next fragment when its client has capacity, so
/// that is what waits for a slow one. A multiple of 3, so that fragments in base64 need no padding
/// but the last.
const CHUNK_LEN: usize = 48 << 10;

/// The frame of gRPC-Web that holds the status: its first byte, the length, and lines as of a head.
const WEB_TRAILERS: &[u8] = b"\x80\0\0\0\x0fgrpc-status:0\r\n";

/// The body of an answer to a call that was executed.
pub(super) struct SentMessage {
    dialect: CallFraming,
    parts: VecDeque<Bytes>,
    /// Whether the trailers are still to be sent.
    has_trailers: bool,
    /// The memory that is reserved for the parts, until they are sent.
    _reservation: Option<Arc<Reservation>>,
}

impl SentMessage {
    /// The body that sends `parts`, an entire frame.
    pub(super) fn new(
        dialect: CallFraming,
        parts: Vec<Bytes>,
        reservation: Option<Arc<Reservation>>,
    ) -> SentMessage {
        let mut parts = VecDeque::from(parts);
        let has_trailers = dialect == CallFraming::Grpc;
        if !has_trailers {
            parts.push_back(Bytes::from_static(WEB_TRAILERS));
        }
        SentMessage { dialect, parts, has_trailers, _reservation: reservation }
    }

    /// The next fragment: a slice of the next part, or short parts together.
    fn chunk(&mut self) -> Option<Bytes> {
        let first = self.parts.front_mut()?;
        // Of a long part a slice is sent, without a copy. Short parts, and the end of a long one,
        // are copied together.
        if CHUNK_LEN <= first.len() {
            return Some(first.split_to(CHUNK_LEN));
        }
        let mut chunk = BytesMut::with_capacity(CHUNK_LEN.min(self.left()));
        while let Some(part) = self.parts.front_mut()
            && chunk.len() < CHUNK_LEN
        {
            let chunk_part = part.split_to(part.len().min(CHUNK_LEN - chunk.len()));
            chunk.extend_from_slice(&chunk_part);
            if part.is_empty() {
                self.parts.pop_front();
            }
        }
        Some(chunk.freeze())
    }

    fn left(&self) -> usize {
        self.parts.iter().map(Bytes::len).sum()
    }
}

impl Body for SentMessage {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(chunk) = self.chunk() {
            let chunk = match self.dialect {
                CallFraming::WebText => Bytes::from(STANDARD.encode(&chunk)),
                CallFraming::Grpc | CallFraming::Web => chunk,
            };
            return Poll::Ready(Some(Ok(Frame::data(chunk))));
        }
        if std::mem::take(&mut self.has_trailers) {
            let mut trailers = HeaderMap::new();
            trailers.insert("grpc-status", Code::Ok.number());
            return Poll::Ready(Some(Ok(Frame::trailers(trailers))));
        }
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        self.parts.is_empty() && !self.has_trailers
    }

    fn size_hint(&self) -> SizeHint {
        let left = self.left() as u64;
        match self.dialect {
            // A length in the head would say that nothing comes after the message.
            CallFraming::Grpc => SizeHint::default(),
            CallFraming::Web => SizeHint::with_exact(left),
            CallFraming::WebText => SizeHint::with_exact(left.div_ceil(3) * 4),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Waker;

    /// All fragments of a body, and whether trailers came after them.
    fn sent(mut body: SentMessage) -> (Vec<Bytes>, bool) {
        let (mut chunks, mut has_trailers) = (Vec::new(), false);
        let mut context = Context::from_waker(Waker::noop());
        while let Poll::Ready(Some(Ok(frame))) = Pin::new(&mut body).poll_frame(&mut context) {
            match frame.into_data() {
                Ok(chunk) => chunks.push(chunk),
                Err(frame) => has_trailers = frame.is_trailers(),
            }
        }
        assert!(body.is_end_stream());
        (chunks, has_trailers)
    }

    #[test]
    fn chunks_are_bounded_and_complete() {
        let lengths =
            [[0, 0, 0], [7, 100_000, 3], [5, 0, CHUNK_LEN], [5, CHUNK_LEN - 5, 1], [CHUNK_LEN; 3]];
        for lengths in lengths {
            let parts = lengths.map(|length| Bytes::from_iter((0..length).map(|at| at as u8)));
            let want = parts.concat();
            let parts: Vec<Bytes> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            let (chunks, has_trailers) =
                sent(SentMessage::new(CallFraming::Grpc, parts.clone(), None));
            assert!(has_trailers && chunks.iter().all(|chunk| chunk.len() <= CHUNK_LEN));
            assert_eq!(chunks.concat(), want);
            let web = SentMessage::new(CallFraming::Web, parts.clone(), None);
            let length = web.size_hint().exact().unwrap();
            let (chunks, has_trailers) = sent(web);
            assert_eq!(chunks.concat(), [&want, WEB_TRAILERS].concat());
            assert_eq!((chunks.concat().len() as u64, has_trailers), (length, false));
            let text = SentMessage::new(CallFraming::WebText, parts, None);
            let length = text.size_hint().exact().unwrap();
            let text = sent(text).0.concat();
            assert_eq!(text.len() as u64, length);
            // One text without padding inside, which any reader takes.
            assert_eq!(STANDARD.decode(text).unwrap(), [&want, WEB_TRAILERS].concat());
        }
    }
}
