//! The one message that a call's body holds: a byte that says whether it is compressed, four for
//! its length, and itself.

use super::dialect::CallFraming;
use super::status::{Code, Status};
use crate::http::message::coding::Coding;
use crate::http::message::incoming::Incoming;
use axum::http::HeaderMap;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

/// The length of what stands before a message.
pub(in crate::http) const HEAD_LEN: usize = 5;

/// The header that names how messages are compressed.
const ENCODING: &str = "grpc-encoding";

/// Returns the request with the message as its body, and whether it is compressed.
///
/// # Errors
///
/// [`Code::InvalidArgument`] where the body is not one entire message, [`Code::Unimplemented`] for
/// an unknown compression.
pub(in crate::http) fn message_of(
    dialect: CallFraming,
    incoming: Incoming,
) -> Result<Incoming, Status> {
    let incoming = match dialect {
        CallFraming::WebText => {
            // Until it is read there are the text and the message.
            let reservation = incoming.reservation();
            reservation
                .map_or(Ok(()), |reservation| {
                    reservation.reserve(decoded_len(incoming.bytes()) as u64)
                })
                .map_err(|error| Status::of(&error))?;
            let body = decode_text(incoming.bytes())?;
            incoming.with_body(body, None)
        }
        CallFraming::Grpc | CallFraming::Web => incoming,
    };
    let body = incoming.body();
    let wrong = |message: String| Err(Status::new(Code::InvalidArgument, message));
    let Some(head) = body.first_chunk::<HEAD_LEN>() else {
        let count = body.len();
        return wrong(format!(
            "the request has no message: its body has {count} bytes, and a message begins with {HEAD_LEN}"
        ));
    };
    let [flag, length @ ..] = *head;
    let length = u32::from_be_bytes(length) as usize;
    let message = body.slice(HEAD_LEN..);
    if message.len() < length {
        let count = message.len();
        return wrong(format!(
            "the message ends early: {length} bytes are announced, {count} came"
        ));
    }
    if length < message.len() {
        let more = message.len() - length;
        return wrong(format!("the method takes one message, and {more} bytes come behind it"));
    }
    let coding = match flag {
        0 => None,
        1 => {
            check_encoding(incoming.headers())?;
            Some(Coding::Gzip)
        }
        _ => return wrong(format!("the byte before the message is {flag}, and 0 or 1 is known")),
    };
    Ok(incoming.with_body(message, coding))
}

fn check_encoding(headers: &HeaderMap) -> Result<(), Status> {
    match headers.get(ENCODING).map(|value| value.as_bytes()) {
        Some(b"gzip") => Ok(()),
        other => {
            let named = String::from_utf8_lossy(other.unwrap_or_default());
            let message =
                format!("messages packed with `{named}` are not known: use gzip, or pack none");
            Err(Status::new(Code::Unimplemented, message))
        }
    }
}

/// The most bytes that are read from a text of base64.
fn decoded_len(text: &[u8]) -> usize {
    text.len() / 4 * 3
}

/// Reads base64 that may be in parts, each of them padded. Costs the length of the text, and memory
/// for three quarters of it.
fn decode_text(text: &[u8]) -> Result<Bytes, Status> {
    let mut body = Vec::with_capacity(decoded_len(text));
    let mut rest = text;
    while !rest.is_empty() {
        // The padding is the last of a part, and the next one begins after it.
        let padding = rest.iter().position(|&byte| byte == b'=').unwrap_or(rest.len());
        let end = padding + rest[padding..].iter().take_while(|&&byte| byte == b'=').count();
        let (part, after) = rest.split_at(end);
        STANDARD.decode_vec(part, &mut body).map_err(|error| {
            Status::new(Code::InvalidArgument, format!("the body is no base64: {error}"))
        })?;
        rest = after;
    }
    Ok(Bytes::from(body))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(dialect: CallFraming, encoding: &str, body: &[u8]) -> Result<(Vec<u8>, bool), Status> {
        let mut headers = HeaderMap::new();
        headers.insert(ENCODING, encoding.parse().unwrap());
        let incoming = Incoming::new(headers, None, Bytes::copy_from_slice(body)).unwrap();
        let read = message_of(dialect, incoming)?;
        Ok((read.bytes().to_vec(), read.is_packed()))
    }

    #[test]
    fn one_complete_message() {
        let plain = |body: &[u8]| read(CallFraming::Grpc, "identity", body);
        assert_eq!(plain(b"\0\0\0\0\x03abc"), Ok((b"abc".to_vec(), false)));
        assert_eq!(plain(b"\0\0\0\0\0"), Ok((Vec::new(), false)));
        assert_eq!(read(CallFraming::Web, "gzip", b"\x01\0\0\0\x01a"), Ok((b"a".to_vec(), true)));
        for (body, code, why) in [
            (&b""[..], Code::InvalidArgument, "has no message: its body has 0 bytes"),
            (b"\0\0\0\0", Code::InvalidArgument, "its body has 4 bytes"),
            (b"\0\0\0\0\x04abc", Code::InvalidArgument, "4 bytes are announced, 3 came"),
            (b"\0\xff\xff\xff\xffabc", Code::InvalidArgument, "4294967295 bytes are announced"),
            (b"\0\0\0\0\x01abc", Code::InvalidArgument, "2 bytes come behind it"),
            (b"\x02\0\0\0\x01a", Code::InvalidArgument, "the byte before the message is 2"),
            (b"\x01\0\0\0\x01a", Code::Unimplemented, "messages packed with `identity`"),
        ] {
            let status = plain(body).unwrap_err();
            assert_eq!(status.code, code);
            assert!(status.message.contains(why), "{}", status.message);
        }
    }

    #[test]
    fn texts_may_come_in_parts() {
        let text = |body: &str| read(CallFraming::WebText, "identity", body.as_bytes());
        assert_eq!(text("AAAAAANhYmM="), Ok((b"abc".to_vec(), false)));
        assert_eq!(text("AAAAAAM=YWJj"), Ok((b"abc".to_vec(), false)));
        assert_eq!(text("AA==AAAAA2FiYw=="), Ok((b"abc".to_vec(), false)));
        assert_eq!(text("AAAAAANhYm*=").unwrap_err().code, Code::InvalidArgument);
        assert_eq!(text("=").unwrap_err().code, Code::InvalidArgument);
    }
}
