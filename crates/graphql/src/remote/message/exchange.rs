//! Requests to other servers as plain data, and whoever sends them.

use std::time::Duration;

use crate::model::HttpMethod;

/// A request that is to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// The method.
    pub method: HttpMethod,
    /// The address, complete.
    pub url: String,
    /// The headers, by name. They may hold secrets: only the server of the address may see them.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Option<Vec<u8>>,
    /// How long it may take, with redirects.
    pub timeout: Duration,
    /// How many bytes the body of the answer may have.
    pub bytes_max: u64,
}

/// The answer to a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Incoming {
    /// The status.
    pub status: u16,
    /// The value of `Cache-Control`.
    pub cache_control: Option<String>,
    /// The body.
    pub body: Vec<u8>,
}

impl Incoming {
    /// True for a status that says that all went well.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// Why there is no answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unanswered {
    /// The reason.
    pub message: String,
    /// Nobody listens at the address: asking once more would end the same way.
    pub unreachable: bool,
}

impl Unanswered {
    /// No answer for a reason of this very request.
    pub fn new(message: impl Into<String>) -> Unanswered {
        Unanswered { message: message.into(), unreachable: false }
    }
}

/// Whoever sends requests.
pub trait Fetch: Send + Sync {
    /// Sends a request and waits for the answer, whatever its status is.
    ///
    /// # Errors
    ///
    /// When there was no answer in time, or one that is too long.
    fn fetch(&self, outgoing: &Outgoing) -> Result<Incoming, Unanswered>;
}

/// Sends nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFetch;

impl Fetch for NoFetch {
    fn fetch(&self, _: &Outgoing) -> Result<Incoming, Unanswered> {
        let message = "this build sends no requests: it lacks the feature `client`";
        Err(Unanswered { message: message.to_owned(), unreachable: true })
    }
}
