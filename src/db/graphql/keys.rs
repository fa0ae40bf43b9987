//! Fetches sets of keys, from files and from other servers.

use hexgraph_graphql::auth::{FetchedKeys, KeyError, KeySource};
use hexgraph_graphql::model::HttpMethod;
use hexgraph_graphql::remote::{Fetch, Incoming, Outgoing};
use std::fs::File;
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

/// The longest set that is read, in bytes. What is left of a longer file is no JSON, so its keys
/// are refused.
const SET_MAX: u64 = 1 << 20;

/// How long a file's keys are used before it is read again.
const FILE_LIFETIME: Duration = Duration::from_secs(60);

/// The timeout of a server: requests wait for it.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The least time that a server's keys are used: one that says `max-age=0` is not called with each
/// request.
const LIFETIME_MIN: Duration = Duration::from_secs(5);

/// Fetches the keys of an address, which is that of a file, `file:///path`, or of another server.
/// The calling thread waits. The caller caches the keys and decides about retries.
pub(super) struct Keys {
    client: Arc<dyn Fetch>,
}

impl Keys {
    /// Makes a source that calls other servers through a client.
    pub(super) fn new(client: Arc<dyn Fetch>) -> Keys {
        Keys { client }
    }

    /// Calls a server, and reads the lifetime of the keys from its answer.
    fn of_server(&self, address: &str) -> Result<FetchedKeys, KeyError> {
        let failed = |reason: &str| unanswered(address, reason);
        let outgoing = Outgoing {
            method: HttpMethod::Get,
            url: address.to_owned(),
            headers: vec![("Accept".to_owned(), "application/json".to_owned())],
            body: None,
            timeout: TIMEOUT,
            bytes_max: SET_MAX,
        };
        let incoming = self.client.fetch(&outgoing).map_err(|error| failed(&error.message))?;
        if !incoming.is_success() {
            return Err(failed(&format!("unexpected status {}", incoming.status)));
        }
        let lifetime = lifetime(&incoming);
        let text = String::from_utf8(incoming.body).map_err(|_| failed("the answer is no text"))?;
        Ok(FetchedKeys { text, lifetime })
    }
}

impl KeySource for Keys {
    fn fetch(&self, address: &str) -> Result<FetchedKeys, KeyError> {
        match address.strip_prefix("file://") {
            Some(path) => of_file(address, path),
            None => self.of_server(address),
        }
    }
}

/// Reads a file.
fn of_file(address: &str, path: &str) -> Result<FetchedKeys, KeyError> {
    let mut text = String::new();
    // A file that never ends, such as a device, is cut off.
    let read = File::open(path).and_then(|file| file.take(SET_MAX).read_to_string(&mut text));
    read.map_err(|error| unanswered(address, &error.to_string()))?;
    Ok(FetchedKeys { text, lifetime: Some(FILE_LIFETIME) })
}

fn unanswered(address: &str, reason: &str) -> KeyError {
    KeyError::Unanswered { address: address.to_owned(), reason: reason.to_owned() }
}

/// Returns the `max-age` of an answer, but not less than the least time; `None` when it has none.
/// Then the keys are used as long as the schema is in force. No other directive is looked at, so
/// `no-store` does not end that either.
fn lifetime(incoming: &Incoming) -> Option<Duration> {
    let header = incoming.cache_control.as_deref()?;
    let seconds = header.split(',').find_map(|part| {
        let (name, value) = part.split_once('=')?;
        let is_age = name.trim().eq_ignore_ascii_case("max-age");
        is_age.then(|| value.trim().trim_matches('"').parse::<u64>().ok()).flatten()
    })?;
    Some(Duration::from_secs(seconds).max(LIFETIME_MIN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lifetimes_are_read() {
        let of = |header: &str| {
            lifetime(&Incoming { cache_control: Some(header.to_owned()), ..Incoming::default() })
        };
        assert_eq!(of("public, Max-Age=3600"), Some(Duration::from_secs(3600)));
        assert_eq!(of("max-age=0"), Some(LIFETIME_MIN));
        assert_eq!(of("no-store"), None);
        assert_eq!(lifetime(&Incoming::default()), None);
    }
}
