//! Requests `/health` of a server. Containers and scripts read the exit status.

use crate::cli::output::print;
use crate::cli::quote::Done;
use crate::http::agent_config;
use hexgraph_base::types::{Error, Result};
use std::ffi::OsString;
use std::time::Duration;
use ureq::Agent;
use ureq::http::Uri;

/// The longest time for an answer: container engines give a check 30 seconds.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The variable with the port of `serve`.
const PORT: &str = "HEXGRAPH_PORT";

/// Prints that a server is healthy, or fails. Without a URL it is the one of this machine at the
/// port of the variable `HEXGRAPH_PORT`, or 8080.
pub(in crate::cli) fn health(url: Option<&str>) -> Done {
    let url = match url {
        Some(url) => checked(url)?,
        None => local_url(std::env::var_os(PORT))?,
    };
    // A proxy is for servers elsewhere.
    let agent: Agent = agent_config(TIMEOUT).proxy(None).build().into();
    let fault = |what: String| Error::query(format!("{url}: {what}"));
    let response = agent.get(format!("{url}/health")).call();
    let status = response.map_err(|error| fault(error.to_string()))?.status();
    match status.as_u16() {
        200 => Ok(print(format!("{url}: healthy\n").as_bytes())?),
        503 => Err(fault("it drains, or its database is closed".to_owned()).into()),
        status => Err(fault(format!("it is no server of hexgraph: status {status}")).into()),
    }
}

/// A URL without a path.
fn checked(url: &str) -> Result<String> {
    let uri = url.parse::<Uri>().unwrap_or_default();
    let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
    let is_bare = uri.path_and_query().is_none_or(|rest| matches!(rest.as_str(), "/" | "/health"));
    if !is_http || !is_bare || uri.authority().is_none_or(|it| it.as_str().contains('@')) {
        let fault = format!("{url}: it is no URL of a server");
        return Err(Error::query(fault).with_hint("write it as http://localhost:8080"));
    }
    Ok(url.trim_end_matches("/health").trim_end_matches('/').to_owned())
}

fn local_url(port: Option<OsString>) -> Result<String> {
    let port = port.and_then(|port| port.into_string().ok()).unwrap_or_default();
    match port.trim() {
        // Kubernetes sets it to a URL of a service.
        port if port.is_empty() || port.contains("://") => Ok("http://127.0.0.1:8080".to_owned()),
        port if port.parse::<u16>().is_ok_and(|port| 0 < port) => {
            Ok(format!("http://127.0.0.1:{port}"))
        }
        port => {
            let fault = format!("{PORT} is {port}, which is no port to connect to");
            Err(Error::query(fault).with_hint("hexgraph health http://localhost:8080"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_is_that_of_a_server() {
        assert_eq!(checked("http://localhost:8080/").unwrap(), "http://localhost:8080");
        assert_eq!(checked("https://[::1]/health").unwrap(), "https://[::1]");
        for wrong in ["localhost:8080", "ftp://a", "http://a/query", "http://me:hunter2@a"] {
            assert!(checked(wrong).unwrap_err().to_string().contains("no URL of a server"));
        }
    }

    #[test]
    fn without_a_url_it_is_this_machine() {
        let local = |port: &str| local_url(Some(OsString::from(port)));
        assert_eq!(local_url(None).unwrap(), "http://127.0.0.1:8080");
        assert_eq!(local("9000").unwrap(), "http://127.0.0.1:9000");
        assert_eq!(local("tcp://10.0.0.1:80").unwrap(), "http://127.0.0.1:8080");
        for wrong in ["off", "0", "70000"] {
            assert!(local(wrong).unwrap_err().to_string().contains(PORT));
        }
    }
}
