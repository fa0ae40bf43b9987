//! Requests to other servers, sent with ureq.
//!
//! Redirects are followed here and not by the library: headers hold secrets of a schema and tokens
//! of callers, which nobody but the server that they are meant for may see. A redirect to another
//! scheme, host or port goes without them.

use arc_swap::ArcSwapOption;
use hexgraph_base::types::before_waiting;
use hexgraph_graphql::model::HttpMethod;
use hexgraph_graphql::remote::{Fetch, Incoming, Outgoing, Unanswered};
use iri_string::types::{UriAbsoluteStr, UriReferenceStr};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{io, process};
use ureq::http::Uri;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Error, http};

/// The largest number of redirects that one request follows.
const REDIRECTS_MAX: usize = 5;

/// The longest time for establishing a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// An HTTP client that keeps connections open for reuse. It is set up by the first request.
#[derive(Default)]
pub(super) struct Client {
    /// The agent, and the id of the process that created it: a forked child must not use the
    /// connections of its parent.
    agent: ArcSwapOption<(u32, Agent)>,
}

impl Fetch for Client {
    fn fetch(&self, outgoing: &Outgoing) -> Result<Incoming, Unanswered> {
        before_waiting();
        let started = Instant::now();
        let mut outgoing = outgoing.clone();
        for _ in 0..=REDIRECTS_MAX {
            let left = outgoing.timeout.saturating_sub(started.elapsed());
            if left.is_zero() {
                return Err(Unanswered::new(timed_out(&outgoing)));
            }
            match self.send(&outgoing, left)? {
                Step::Done(incoming) => return Ok(incoming),
                Step::Redirected(status, location) => redirect(&mut outgoing, status, &location)?,
            }
        }
        Err(Unanswered::new(format!("there were more than {REDIRECTS_MAX} redirects")))
    }
}

enum Step {
    Done(Incoming),
    Redirected(u16, String),
}

impl Client {
    fn agent(&self) -> Agent {
        let process = process::id();
        if let Some(existing) = &*self.agent.load()
            && existing.0 == process
        {
            return existing.1.clone();
        }
        let agent = agent();
        // Of two agents that are made at once the later one is retained, and the other goes with
        // its requests.
        self.agent.store(Some(Arc::new((process, agent.clone()))));
        agent
    }

    fn send(&self, outgoing: &Outgoing, left: Duration) -> Result<Step, Unanswered> {
        let reported = |error: Error| unanswered(&error, outgoing);
        let request = request(outgoing).map_err(|error| Unanswered::new(error.to_string()))?;
        let agent = self.agent();
        let request = agent.configure_request(request).timeout_global(Some(left)).build();
        let mut response = agent.run(request).map_err(reported)?;
        let header = |name| response.headers().get(name)?.to_str().ok().map(str::to_owned);
        let status = response.status().as_u16();
        if matches!(status, 301 | 302 | 303 | 307 | 308)
            && let Some(location) = header(http::header::LOCATION)
        {
            return Ok(Step::Redirected(status, location));
        }
        let cache_control = header(http::header::CACHE_CONTROL);
        let body = response.body_mut().with_config().limit(outgoing.bytes_max);
        let body = body.read_to_vec().map_err(reported)?;
        Ok(Step::Done(Incoming { status, cache_control, body }))
    }
}

fn agent() -> Agent {
    let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
    let config = Agent::config_builder()
        .tls_config(tls)
        .http_status_as_error(false)
        .allow_non_standard_methods(true)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_connect(Some(CONNECT_TIMEOUT))
        .user_agent(concat!("hexgraph/", env!("CARGO_PKG_VERSION")))
        .build();
    config.into()
}

fn request(outgoing: &Outgoing) -> Result<http::Request<Vec<u8>>, http::Error> {
    let mut request =
        http::Request::builder().method(outgoing.method.name()).uri(outgoing.url.as_str());
    for (name, value) in &outgoing.headers {
        request = request.header(name, value);
    }
    request.body(outgoing.body.clone().unwrap_or_default())
}

/// Converts a request to the one that a redirect requires. A method that must not be repeated
/// becomes `GET`, as in browsers.
fn redirect(outgoing: &mut Outgoing, status: u16, location: &str) -> Result<(), Unanswered> {
    let invalid = || Unanswered::new("there was a redirect to an invalid address");
    let old: Uri = outgoing.url.parse().map_err(|_| invalid())?;
    let url = join(&outgoing.url, location).ok_or_else(invalid)?;
    let new: Uri = url.parse().map_err(|_| invalid())?;
    if !matches!(new.scheme_str(), Some("http" | "https")) {
        return Err(invalid());
    }
    // Headers may have secrets that are meant for the first server, so another one gets none but
    // these.
    if (old.scheme(), old.authority()) != (new.scheme(), new.authority()) {
        let is_plain = |name: &str| {
            ["content-type", "accept"].iter().any(|plain| plain.eq_ignore_ascii_case(name))
        };
        outgoing.headers.retain(|(name, _)| is_plain(name));
    }
    if status < 307 && outgoing.method != HttpMethod::Get {
        outgoing.method = HttpMethod::Get;
        outgoing.body = None;
    }
    outgoing.url = url;
    Ok(())
}

/// Characters that servers write into redirects although no address may contain them; they are
/// percent-encoded, as browsers do.
const UNWRITABLE: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Resolves the address of a redirect against the requested one, as RFC 3986 says.
fn join(old: &str, location: &str) -> Option<String> {
    let (location, _) = location.split_once('#').unwrap_or((location, ""));
    let location = utf8_percent_encode(location, UNWRITABLE).to_string();
    let base = UriAbsoluteStr::new(old).ok()?;
    let relative = UriReferenceStr::new(&location).ok()?;
    Some(relative.resolve_against(base).to_string())
}

fn unanswered(error: &Error, outgoing: &Outgoing) -> Unanswered {
    let message = match error {
        Error::Timeout(_) => timed_out(outgoing),
        Error::BodyExceedsLimit(_) => {
            format!("the answer has more than {} bytes", outgoing.bytes_max)
        }
        other => other.to_string(),
    };
    let unreachable = match error {
        Error::ConnectionFailed | Error::HostNotFound => true,
        Error::Io(error) => error.kind() == io::ErrorKind::ConnectionRefused,
        _ => false,
    };
    Unanswered { message, unreachable }
}

fn timed_out(outgoing: &Outgoing) -> String {
    format!("there was no answer within {} seconds", outgoing.timeout.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outgoing(url: &str) -> Outgoing {
        let headers = ["Accept", "X-Secret"].map(|name| (name.to_owned(), "x".to_owned()));
        Outgoing {
            method: HttpMethod::Post,
            url: url.to_owned(),
            headers: headers.to_vec(),
            body: Some(b"{}".to_vec()),
            timeout: Duration::from_secs(1),
            bytes_max: 10,
        }
    }

    #[test]
    fn redirects_resolve_to_addresses() {
        for (location, want) in [
            ("http://x/y", "http://x/y"),
            ("//x/y", "https://x/y"),
            ("/y?z#t", "https://h:1/y?z"),
            ("y", "https://h:1/a/y"),
            ("y?to=http://x/y", "https://h:1/a/y?to=http://x/y"),
            ("/y?to=http://x/y#http://x", "https://h:1/y?to=http://x/y"),
            ("?to=https://x", "https://h:1/a/b?to=https://x"),
            ("y/http://x", "https://h:1/a/y/http://x"),
            ("../y", "https://h:1/y"),
            ("./y", "https://h:1/a/y"),
            ("", "https://h:1/a/b?c=d"),
            ("/y?a=b|{c d}", "https://h:1/y?a=b%7C%7Bc%20d%7D"),
            ("/y%20z", "https://h:1/y%20z"),
        ] {
            let reported = join("https://h:1/a/b?c=d", location);
            assert_eq!(reported.as_deref(), Some(want), "{location}");
        }
        // What has a scheme of its own is refused unless it is one of ours.
        for other in
            ["file:///etc/passwd", "ftp://h/a", "javascript:alert(1)", "http:", "http://", "/%zz"]
        {
            let error = redirect(&mut outgoing("http://h/a"), 302, other).expect_err(other);
            assert_eq!(error.message, "there was a redirect to an invalid address", "{other}");
        }
    }

    #[test]
    fn secrets_stay_at_their_server() {
        let mut same = outgoing("http://h/a");
        redirect(&mut same, 307, "/b").unwrap();
        assert_eq!(
            (same.headers.len(), same.method, same.url.as_str()),
            (2, HttpMethod::Post, "http://h/b")
        );
        for elsewhere in ["http://i/a", "https://h/a", "http://h:81/a"] {
            let mut other = outgoing("http://h/a");
            redirect(&mut other, 302, elsewhere).unwrap();
            assert_eq!(other.headers, [("Accept".to_owned(), "x".to_owned())]);
            assert_eq!((other.method, other.body), (HttpMethod::Get, None));
        }
    }
}
