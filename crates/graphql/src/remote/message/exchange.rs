//! Requests to other servers and their answers as plain data, and the trait of what sends them.

use std::time::Duration;

use crate::model::HttpMethod;

/// A request to another server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// The method of HTTP.
    pub method: HttpMethod,
    /// The address, with all variables replaced.
    pub url: String,
    /// The headers as pairs of name and value. They may hold secrets, so they must not be sent on
    /// to another server when this one redirects.
    pub headers: Vec<(String, String)>,
    /// The body; `None` for a request without one.
    pub body: Option<Vec<u8>>,
    /// The longest time for the request, including its redirects.
    pub timeout: Duration,
    /// The most bytes that the body of the answer may have.
    pub bytes_max: u64,
}

/// The answer to a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Incoming {
    /// The status of HTTP.
    pub status: u16,
    /// The value of the header `Cache-Control`.
    pub cache_control: Option<String>,
    /// The bytes of the body.
    pub body: Vec<u8>,
}

impl Incoming {
    /// Returns true for a status from 200 to 299, which says that the request succeeded.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// Why there is no answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unanswered {
    /// The reason, as the answer to the client says it.
    pub message: String,
    /// True if no server listens at the address, so that further requests to it would fail the same
    /// way.
    pub unreachable: bool,
}

impl Unanswered {
    /// Makes a reason that holds for this request alone.
    pub fn new(message: impl Into<String>) -> Unanswered {
        Unanswered { message: message.into(), unreachable: false }
    }
}

/// Sends requests over a network.
pub trait Fetch: Send + Sync {
    /// Sends a request and waits for the answer, whatever its status is.
    ///
    /// # Errors
    ///
    /// When there was no answer in time, or one that is too long.
    fn fetch(&self, outgoing: &Outgoing) -> Result<Incoming, Unanswered>;
}

/// Refuses to send, in builds without a client for HTTP.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFetch;

impl Fetch for NoFetch {
    fn fetch(&self, _: &Outgoing) -> Result<Incoming, Unanswered> {
        let message = "this build sends no requests: it lacks the feature `client`";
        Err(Unanswered { message: message.to_owned(), unreachable: true })
    }
}
