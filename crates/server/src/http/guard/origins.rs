//! Which web pages may send requests: a browser sends requests for any page, from the machine, and
//! often the network, of its user.
//!
//! Three rules, whatever the path and the method, before anything else is looked at:
//!
//! 1. `Host` is an address, `localhost`, or a name that was allowed. A page of an external name
//!    that was made to lead here (DNS rebinding) has that name in it, and would be of one origin
//!    with us.
//! 2. A request with an `Origin` is of the origin that it is sent to, or of one that was allowed.
//!    So are those that a browser says are not of the same (`Sec-Fetch-Site`); without an `Origin`
//!    theirs is unknown.
//! 3. What changes something is not requested by GET, which links and images do too.
//!
//! Programs that are no browsers send neither `Origin` nor `Sec-Fetch-Site`, so the first rule is
//! all they see.

use crate::http::guard::users;
use crate::http::message::reply::Reply;
use crate::http::metrics::Refused;
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use hexgraph::db::Database;
use hexgraph_base::types::{Error, Result};
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;
use tower_http::cors::{AllowCredentials, AllowHeaders, AllowMethods, AllowOrigin, CorsLayer};

/// How long a browser may remember what it was allowed.
const PREFLIGHT_AGE: Duration = Duration::from_secs(600);

/// The headers of answers that pages may read, in addition to the default ones: the status of a
/// call of gRPC-Web.
const READABLE: [&str; 3] = ["grpc-status", "grpc-message", "dgraph-toucheduids"];

/// The headers of a request by which answers to it differ: those of [`layer`].
pub(in crate::http) const VARY: &str =
    "origin, access-control-request-method, access-control-request-headers";

/// The allowed origins, and the names of this server.
#[derive(Debug, Clone, Default)]
pub struct Origins {
    /// Names of this server, in lower case; `*` represents all.
    hosts: Vec<String>,
    /// Origins whose pages may send requests, as browsers write them.
    allowed: Vec<String>,
    /// Pages of all origins may, without credentials.
    allows_all: bool,
    /// What changes something may be requested by GET.
    allows_get_changes: bool,
    /// This server speaks TLS, so its own pages come by https.
    are_encrypted: bool,
}

impl Origins {
    /// Adds a name of this server; `*` represents all.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] for what is no name.
    pub fn allow_host(&mut self, name: &str) -> Result<()> {
        let is_name = name.parse::<Authority>().is_ok_and(|existing| existing.host() == name);
        if !is_name {
            let hint = "write a name without a port, as graph.example.org";
            return Err(
                Error::query("an allowed host that is no name of a machine").with_hint(hint)
            );
        }
        self.hosts.push(name.trim_end_matches('.').to_ascii_lowercase());
        Ok(())
    }

    /// Allows an origin, `*` all of them.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] for what is no origin.
    pub fn allow_origin(&mut self, origin: &str) -> Result<()> {
        if origin == "*" {
            self.allows_all = true;
            return Ok(());
        }
        let origin = origin.trim_end_matches('/').to_ascii_lowercase();
        let uri = origin.parse::<Uri>().unwrap_or_default();
        let is_origin = uri.authority().is_some_and(|authority| !authority.as_str().contains('@'))
            && matches!(uri.scheme_str(), Some("http" | "https"))
            && uri.path_and_query().is_none_or(|rest| rest == "/");
        if !is_origin {
            let hint =
                "write it as browsers do, as https://app.example.org or http://localhost:3000";
            return Err(Error::query("an allowed origin that is none").with_hint(hint));
        }
        self.allowed.push(origin);
        Ok(())
    }

    /// Lets what changes something be requested by GET.
    pub fn allow_get_changes(&mut self) {
        self.allows_get_changes = true;
    }

    /// Has no page that came without encryption count as one of this server, which speaks TLS:
    /// whoever stands between a browser and the server can make one.
    pub fn come_encrypted(&mut self) {
        self.are_encrypted = true;
    }

    /// Why a request that changes something may not come by GET; `None` where it may. The caller of
    /// this function determines that the request changes something: by its route, or in GraphQL by
    /// its operation.
    pub fn refusal_of_get(&self) -> Option<&'static str> {
        let refusal = "by GET nothing is changed, since links and images of any page are fetched so: \
                       use POST, or start the server with --allow-get-changes";
        (!self.allows_get_changes).then_some(refusal)
    }

    /// Why a request is refused for the name that it calls this server by. Two headers `Host` are
    /// refused as well, and the name in the address of the request, where HTTP/2 has it, must be a
    /// name of this server, too.
    fn host_refusal(&self, headers: &HeaderMap, uri: &Uri) -> Option<String> {
        let mut named = headers.get_all(header::HOST).iter();
        let (first, more) = (named.next(), named.next());
        let is_ours = |name: &str| self.is_ours(name);
        let is_own = first.and_then(|name| name.to_str().ok()).is_some_and(is_ours);
        if is_own && more.is_none() && uri.authority().is_none_or(|it| is_ours(it.as_str())) {
            return None;
        }
        let message = "the header Host is no address, not `localhost`, and no name that this server was told it has: \
                       start it with --allow-host NAME for each name that leads here";
        Some(message.to_owned())
    }

    fn is_ours(&self, authority: &str) -> bool {
        let Ok(authority) = authority.parse::<Authority>() else { return false };
        // Nothing stands before the name, and after it at most a port.
        let port = authority.as_str().strip_prefix(authority.host());
        let is_port = |port: &str| port.is_empty() || port.starts_with(':');
        if !port.is_some_and(is_port) {
            return false;
        }
        let host = authority.host().trim_end_matches('.').to_ascii_lowercase();
        // The host of an IPv6 address has its brackets.
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        host == "localhost"
            || host.parse::<IpAddr>().is_ok()
            || bare.is_some_and(|host| host.parse::<Ipv6Addr>().is_ok())
            || self.hosts.iter().any(|existing| *existing == host || existing == "*")
    }

    /// Whether pages of an origin may request a path, in addition to those of this server.
    fn is_allowed(&self, requested: (&Database, &HeaderMap), path: &str, origin: &str) -> bool {
        self.allows_all || self.is_named(requested, path, origin)
    }

    /// Whether an origin was allowed by its name: to the server, or for `/graphql` by the schema of
    /// the requested namespace.
    fn is_named(
        &self,
        (database, headers): (&Database, &HeaderMap),
        path: &str,
        origin: &str,
    ) -> bool {
        let origin = origin.to_ascii_lowercase();
        self.allowed.contains(&origin)
            || path == "/graphql"
                && users::database_for(database, headers)
                    .graphql_access()
                    .origins
                    .iter()
                    .any(|existing| existing.trim_end_matches('/').eq_ignore_ascii_case(&origin))
    }

    /// Why a request is refused for where it comes from.
    fn origin_refusal(
        &self,
        database: &Database,
        path: &str,
        headers: &HeaderMap,
    ) -> Option<String> {
        let mut origins = headers.get_all(header::ORIGIN).iter();
        // `none` is what no page has requested, such as an address that was typed. `same-site` is
        // another origin.
        let site = headers.get("sec-fetch-site");
        let is_near = site.is_none_or(|site| site == "same-origin" || site == "none");
        let reason = match (origins.next(), origins.next()) {
            (None, _) if is_near => return None,
            (None, _) => "the browser reports a page of another origin",
            (Some(origin), None) => {
                let origin = origin.to_str().unwrap_or_default();
                if is_near && self.is_same(origin, headers)
                    || self.is_allowed((database, headers), path, origin)
                {
                    return None;
                }
                "a page of another origin sent the request"
            }
            (Some(_), Some(_)) => "there are two headers Origin",
        };
        Some(format!(
            "{reason}, and the server does not allow it: start it with --allow-origin ORIGIN for each allowed origin"
        ))
    }

    /// Whether an origin is the one that a request is sent to. Where this server does not speak
    /// TLS, something before it may, so that the scheme is unknown; ports are compared with that of
    /// the origin's scheme left out.
    fn is_same(&self, origin: &str, headers: &HeaderMap) -> bool {
        let Some((scheme, authority)) = origin.split_once("://") else { return false };
        let port = match scheme {
            "http" if !self.are_encrypted => ":80",
            "https" => ":443",
            _ => return false,
        };
        let bare = |authority: &str| {
            let authority = authority.to_ascii_lowercase();
            authority.strip_suffix(port).map(str::to_owned).unwrap_or(authority)
        };
        let host =
            headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        !host.is_empty() && bare(authority) == bare(host)
    }

    /// What a request is refused with, by status 403, before anything else of it is read. Preflight
    /// requests are checked here as well.
    pub(in crate::http) fn refusal(
        &self,
        database: &Database,
        parts: (&HeaderMap, &Uri),
    ) -> Option<Reply> {
        let (headers, uri) = parts;
        let refusal = self
            .host_refusal(headers, uri)
            .or_else(|| self.origin_refusal(database, uri.path(), headers))?;
        let reply = Reply::unauthorized(&refusal).with_status(StatusCode::FORBIDDEN);
        Some(reply.counted_as(Refused::ORIGIN))
    }
}

/// Whether this is a preflight request of a browser.
pub(in crate::http) fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::OPTIONS
        && headers.contains_key(header::ORIGIN)
        && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// Adds the CORS headers for a path and some methods: those whose requests come as far as this.
pub(in crate::http) fn layer(
    origins: &Origins,
    database: &Database,
    (path, methods): (&'static str, &'static [Method]),
) -> CorsLayer {
    let existing = (origins.clone(), database.clone());
    let may_request = move |origin: &HeaderValue, parts: &Parts| {
        let (origins, database) = &existing;
        let origin = origin.to_str().unwrap_or_default();
        origins.is_same(origin, &parts.headers)
            || origins.is_allowed((database, &parts.headers), path, origin)
    };
    // That pages of all origins may send requests gives none of them the credentials of a browser.
    let existing = (origins.clone(), database.clone());
    let may_have_credentials = move |origin: &HeaderValue, parts: &Parts| {
        let (origins, database) = &existing;
        let origin = origin.to_str().unwrap_or_default();
        origins.is_same(origin, &parts.headers)
            || origins.is_named((database, &parts.headers), path, origin)
    };
    CorsLayer::new()
        .allow_methods(AllowMethods::list(methods.iter().cloned()))
        .allow_headers(AllowHeaders::mirror_request())
        .allow_origin(AllowOrigin::predicate(may_request))
        .allow_credentials(AllowCredentials::predicate(may_have_credentials))
        .expose_headers(READABLE.map(HeaderName::from_static))
        .max_age(PREFLIGHT_AGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_this_server() {
        let mut origins = Origins::default();
        origins.allow_host("Graph.Example.org").unwrap();
        for (host, want) in [
            ("localhost", true),
            ("LOCALHOST:8080", true),
            ("localhost.:8080", true),
            ("127.0.0.1:8080", true),
            ("10.1.2.3", true),
            ("[::1]:8080", true),
            ("[::1]", true),
            ("graph.example.org", true),
            ("graph.example.org.:443", true),
            ("evil.example", false),
            ("localhost.evil.example", false),
            ("a.graph.example.org", false),
            ("127.0.0.1.evil.example", false),
            ("localhost@evil.example", false),
            ("evil@localhost", false),
            ("[::1].evil.example", false),
            ("", false),
            ("a b", false),
        ] {
            assert_eq!(origins.is_ours(host), want, "{host}");
        }
        for bad in ["", "a:80", "http://a", "a/b", "a@b", "a b"] {
            let error = origins.allow_host(bad).unwrap_err().to_string();
            assert!(error.starts_with("an allowed host that is no name of a machine"), "{error}");
        }
    }

    #[test]
    fn the_same_origin() {
        for (origin, host, want) in [
            ("http://localhost:8080", "localhost:8080", true),
            ("http://LOCALHOST:8080", "localhost:8080", true),
            ("https://graph.example", "graph.example", true),
            ("https://graph.example", "graph.example:443", true),
            ("http://graph.example:80", "graph.example", true),
            ("http://localhost:3000", "localhost:8080", false),
            ("http://localhost", "localhost:8080", false),
            ("http://127.0.0.1:8080", "localhost:8080", false),
            ("https://graph.example:80", "graph.example", false),
            ("null", "localhost", false),
            ("file://", "", false),
            ("http://", "", false),
            ("", "localhost", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            let mut origins = Origins::default();
            assert_eq!(origins.is_same(origin, &headers), want, "{origin} at {host}");
            origins.come_encrypted();
            let want = want && origin.starts_with("https:");
            assert_eq!(origins.is_same(origin, &headers), want, "{origin} at {host} by TLS");
        }
    }

    #[test]
    fn origins_are_written_as_browsers_do() {
        let mut origins = Origins::default();
        origins.allow_origin("https://App.example/").unwrap();
        assert_eq!(origins.allowed, ["https://app.example"]);
        for bad in ["", "app.example", "null", "ftp://a", "http://a/b", "http://u@a", "https://"] {
            let error = origins.allow_origin(bad).unwrap_err().to_string();
            assert!(error.starts_with("an allowed origin that is none"), "{error}");
        }
        assert!(!origins.allows_all);
        origins.allow_origin("*").unwrap();
        assert!(origins.allows_all);
    }
}
