//! What a method of gRPC is: a function from one message to another.

use super::frame::HEAD_LEN;
use super::status::{Code, Status};
use crate::http::app::App;
use crate::http::message::incoming::Incoming;
use bytes::{BufMut, Bytes, BytesMut};
use hexgraph::db::RequestContext;
use prost::Message;
use prost::encoding::{WireType, encode_key, encode_varint};

/// Runs a call, whose message is the body of the request. It may block, and has to check its
/// control.
pub(in crate::http) type Call = fn(&App, &Incoming, &RequestContext) -> Result<CallAnswer, Status>;

/// The message that a call is answered with, in parts that follow each other.
#[derive(Debug)]
pub(in crate::http) struct CallAnswer {
    /// The parts, the head of the frame first.
    pub parts: Vec<Bytes>,
    /// The number of uids that were read.
    pub touched: Option<u64>,
}

impl CallAnswer {
    /// An answer of a message.
    ///
    /// # Errors
    ///
    /// As [`CallAnswer::with_data`].
    pub(in crate::http) fn new(message: &impl Message) -> Result<CallAnswer, Status> {
        CallAnswer::with_data(message, 0, Bytes::new())
    }

    /// An answer of a message with a field more, a long one: `data` is not copied.
    ///
    /// # Errors
    ///
    /// [`Code::ResourceExhausted`] for a message of 4 GiB or more, which no frame can hold.
    pub(in crate::http) fn with_data(
        message: &impl Message,
        field: u32,
        data: Bytes,
    ) -> Result<CallAnswer, Status> {
        let mut before = BytesMut::with_capacity(HEAD_LEN + 16);
        before.put_bytes(0, HEAD_LEN);
        if !data.is_empty() {
            encode_key(field, WireType::LengthDelimited, &mut before);
            encode_varint(data.len() as u64, &mut before);
        }
        let rest = Bytes::from(message.encode_to_vec());
        let length = before.len() - HEAD_LEN + data.len() + rest.len();
        let length = u32::try_from(length).map_err(|_| {
            let message = format!("the answer has {length} bytes, and a message less than 4 GiB");
            Status::new(Code::ResourceExhausted, message)
        })?;
        before[1..HEAD_LEN].copy_from_slice(&length.to_be_bytes());
        let parts = [before.freeze(), data, rest];
        let parts = parts.into_iter().filter(|part| !part.is_empty()).collect();
        Ok(CallAnswer { parts, touched: None })
    }
}

/// Reads the message of a call.
///
/// # Errors
///
/// [`Code::InvalidArgument`] for bytes that are no such message.
pub(in crate::http) fn decode<M: Message + Default>(incoming: &Incoming) -> Result<M, Status> {
    M::decode(incoming.body()).map_err(|error| {
        let name = std::any::type_name::<M>().rsplit("::").next().unwrap_or_default();
        Status::new(Code::InvalidArgument, format!("the message is no api.{name}: {error}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::grpc::messages::{Response, TxnContext};
    use axum::http::HeaderMap;

    #[test]
    fn parts_are_one_message() {
        let txn = Some(TxnContext { start_ts: 7, ..TxnContext::default() });
        let rest = Response { txn, ..Response::default() };
        let data = Bytes::from(vec![b'x'; 300]);
        let answer = CallAnswer::with_data(&rest, 1, data.clone()).unwrap();
        let frame = answer.parts.concat();
        let length = u32::from_be_bytes(frame[1..5].try_into().unwrap()) as usize;
        assert_eq!((frame[0], length), (0, frame.len() - HEAD_LEN));
        let read = Response::decode(&frame[HEAD_LEN..]).unwrap();
        assert_eq!(read, Response { json: data, ..rest });
    }

    #[test]
    fn what_is_no_message() {
        // A text of one byte that is no UTF-8; a truncated field; a number of a field that can't
        // be.
        for body in [&b"\x22\x01\xff"[..], b"\x22\x05a", b"\0", b"\xff\xff\xff\xff\xff\xff"] {
            let body = Bytes::copy_from_slice(body);
            let incoming = Incoming::new(HeaderMap::new(), None, body).unwrap();
            let status = decode::<crate::http::grpc::messages::Request>(&incoming).unwrap_err();
            assert_eq!(status.code, Code::InvalidArgument);
            assert!(status.message.starts_with("the message is no api.Request: "), "{status:?}");
        }
    }
}
