//! How a call ended: the codes of gRPC, and which one an error has.

use crate::http::message::incoming::Unreadable;
use crate::http::message::request_error::RequestError;
use crate::http::metrics::Refused;
use axum::http::{HeaderValue, StatusCode};
use hexgraph_base::types::{AccessError, Error, bounded};

/// The codes that are used, with the numbers that gRPC gives them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) enum Code {
    /// The call was executed.
    Ok = 0,
    /// The request can't be executed, as in Dgraph: the message says why.
    Unknown = 2,
    /// The bytes of the request are not what they should be.
    InvalidArgument = 3,
    /// The time of the call is over, or that of its message to come.
    DeadlineExceeded = 4,
    /// There is no such thing.
    NotFound = 5,
    /// The caller is authenticated, and has no permission.
    PermissionDenied = 7,
    /// A limit is exceeded: request less.
    ResourceExhausted = 8,
    /// Something has to be done before.
    FailedPrecondition = 9,
    /// Another transaction was first: begin again.
    Aborted = 10,
    /// There is no such method or compression.
    Unimplemented = 12,
    /// A fault of hexgraph.
    Internal = 13,
    /// Not now: the same call may succeed in a moment.
    Unavailable = 14,
    /// The caller is not authenticated.
    Unauthenticated = 16,
}

/// The end of a call that was not executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::http) struct Status {
    /// The kind of failure.
    pub code: Code,
    /// What went wrong.
    pub message: String,
    /// The limit or the rule that refused the call.
    pub refused: Option<Refused>,
}

impl Status {
    /// Makes a status.
    pub(in crate::http) fn new(code: Code, message: impl Into<String>) -> Status {
        Status { code, message: bounded(message.into()), refused: None }
    }

    /// The status of an error of the engine. Where Dgraph has a code of its own, it is that
    /// one; errors of a request is [`Code::Unknown`] there, and clients look at the message.
    pub(in crate::http) fn of(error: &Error) -> Status {
        let refused = Refused::of(error);
        let code = match error {
            Error::Access(error) => {
                let code = match error {
                    AccessError::Unauthenticated { .. } => Code::Unauthenticated,
                    AccessError::Denied { .. } => Code::PermissionDenied,
                };
                return Status::new(code, error.message()).counted_as(refused);
            }
            Error::Conflict => Code::Aborted,
            Error::Limit { .. } => Code::ResourceExhausted,
            Error::Closed => Code::Unavailable,
            Error::ReadOnly { .. } => Code::FailedPrecondition,
            Error::Internal { .. } | Error::Corrupt { .. } | Error::Io { .. } => Code::Internal,
            Error::Syntax { .. }
            | Error::Schema { .. }
            | Error::Query { .. }
            | Error::Load { .. } => Code::Unknown,
        };
        Status::new(code, error.to_string()).counted_as(refused)
    }

    /// The same, counted as a refusal for this reason.
    pub(in crate::http) fn counted_as(self, refused: impl Into<Option<Refused>>) -> Status {
        Status { refused: refused.into(), ..self }
    }

    /// The status of a request that could not be read.
    pub(in crate::http) fn unreadable(why: &Unreadable) -> Status {
        match why {
            Unreadable::Starved(error) => Status { code: Code::Unavailable, ..Status::of(error) },
            Unreadable::Wrong(error) => {
                let code = match error {
                    RequestError::LongBody { .. } | RequestError::LongUnpacked { .. } => {
                        Code::ResourceExhausted
                    }
                    RequestError::Encoding => Code::Unimplemented,
                    RequestError::BrokenBody { .. } => Code::DeadlineExceeded,
                    _ => Code::InvalidArgument,
                };
                Status::new(code, error.to_string()).counted_as(error.refused())
            }
        }
    }

    /// The status for what HTTP says by its own.
    pub(in crate::http) fn of_http(status: StatusCode, message: &str) -> Status {
        let code = match status {
            StatusCode::UNAUTHORIZED => Code::Unauthenticated,
            StatusCode::FORBIDDEN => Code::PermissionDenied,
            StatusCode::NOT_FOUND
            | StatusCode::METHOD_NOT_ALLOWED
            | StatusCode::NOT_IMPLEMENTED => Code::Unimplemented,
            StatusCode::SERVICE_UNAVAILABLE => Code::Unavailable,
            StatusCode::INTERNAL_SERVER_ERROR => Code::Internal,
            _ => Code::Unknown,
        };
        Status::new(code, message)
    }

    /// The message as it is in a header: bytes that may not stand there, and `%`, are `%` and two
    /// digits.
    pub(in crate::http) fn header_message(&self) -> HeaderValue {
        // Half of a character would be no text to clients.
        let mut end = self.message.len().min(MESSAGE_LEN_MAX);
        while !self.message.is_char_boundary(end) {
            end -= 1;
        }
        let mut text = String::with_capacity(end);
        for &byte in &self.message.as_bytes()[..end] {
            match byte {
                b'%' | 0..=0x1f | 0x7f.. => text.push_str(&format!("%{byte:02X}")),
                _ => text.push(char::from(byte)),
            }
        }
        HeaderValue::from_str(&text).unwrap_or_else(|_| HeaderValue::from_static(""))
    }
}

impl Code {
    /// The number as it is in a header.
    pub(in crate::http) fn number(self) -> HeaderValue {
        HeaderValue::from(self as u16)
    }
}

/// The most bytes of a message: clients accept heads of 8 to 16 KiB, and each byte may become
/// three.
const MESSAGE_LEN_MAX: usize = 2 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_in_headers() {
        let shown = |message: &str| Status::new(Code::Unknown, message).header_message();
        assert_eq!(shown("a `b`, c"), "a `b`, c");
        assert_eq!(shown("100 %\né"), "100 %25%0A%C3%A9");
        assert_eq!(shown(&"é".repeat(5000)).len(), 3 * MESSAGE_LEN_MAX);
        let odd = shown(&format!("x{}", "é".repeat(5000)));
        assert!(odd.to_str().unwrap().ends_with("%C3%A9"), "{odd:?}");
        assert_eq!(Code::Unauthenticated.number(), "16");
    }

    #[test]
    fn errors_have_the_codes_that_clients_expect() {
        for (error, want) in [
            (Error::Conflict, Code::Aborted),
            (Error::query("no"), Code::Unknown),
            (Error::Limit { message: "memory".to_owned() }, Code::ResourceExhausted),
            (Error::Closed, Code::Unavailable),
        ] {
            assert_eq!(Status::of(&error).code, want);
        }
        let conflict = Status::of(&Error::Conflict).message;
        assert_eq!(conflict, "Transaction has been aborted. Please retry");
        let long = Unreadable::Wrong(RequestError::LongBody { most: 1 });
        assert_eq!(Status::unreadable(&long).code, Code::ResourceExhausted);
    }
}
