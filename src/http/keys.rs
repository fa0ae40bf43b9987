//! The keys of clients: where there are any, nobody is answered without one.
//!
//! A key comes in the header `X-Auth-Token`. Those of clients open data; what administers, and `/alter`, takes one of an
//! administrator. Whether a server is there is told to anybody, and what browsers ask before they send a key.

use crate::http::reply::Reply;
use crate::http::router::App;
use axum::extract::Request;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::Method;
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;
use sha2::Digest;
use sha2::Sha256;
use std::sync::Arc;

/// The header that names a key.
const KEY_HEADER: &str = "x-auth-token";

/// What tells only whether the server is there.
const OPEN: [&str; 2] = ["/health", "/probe/graphql"];

/// Who has a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holder {
    /// Nobody who is known.
    Nobody,
    /// Somebody who may read and write.
    Client,
    /// Somebody who may do everything.
    Admin,
}

/// The keys that are known. Only digests are kept, so that comparing tells nothing about them.
#[derive(Debug, Clone, Default)]
pub struct Keys {
    known: Vec<([u8; 32], Holder)>,
}

impl Keys {
    /// Makes a key known.
    pub fn add(&mut self, key: &str, holder: Holder) {
        self.known.push((digest(key), holder));
    }

    /// Whether everybody is answered.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Who has the key of a request.
    fn holder(&self, headers: &HeaderMap) -> Holder {
        let Some(key) = headers.get(KEY_HEADER).and_then(|key| key.to_str().ok()) else {
            return Holder::Nobody;
        };
        let given = digest(key);
        let found = self.known.iter().filter(|(known, _)| *known == given);
        found.map(|(_, holder)| *holder).max().unwrap_or(Holder::Nobody)
    }

    /// Why a request is not answered; `None` when it is.
    fn refusal(&self, path: &str, headers: &HeaderMap) -> Option<(StatusCode, &'static str)> {
        if self.is_empty() || OPEN.contains(&path) {
            return None;
        }
        let administers = path == "/alter" || path == "/admin" || path.starts_with("/admin/");
        match self.holder(headers) {
            Holder::Admin => None,
            Holder::Client if administers => Some((
                StatusCode::FORBIDDEN,
                "The key in X-Auth-Token is not that of an administrator",
            )),
            Holder::Client => None,
            Holder::Nobody if headers.contains_key(KEY_HEADER) => {
                Some((StatusCode::UNAUTHORIZED, "The key in X-Auth-Token is not known"))
            }
            Holder::Nobody => Some((
                StatusCode::UNAUTHORIZED,
                "Anonymous access is disabled: name a key in the header X-Auth-Token",
            )),
        }
    }
}

/// Lets through what has a key, where it needs one.
pub async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let keys = &app.security.keys;
    let refusal = keys.refusal(request.uri().path(), request.headers());
    match refusal.filter(|_| request.method() != Method::OPTIONS) {
        Some((status, message)) => {
            Reply::unauthorized(message).with_status(status).into_response(false)
        }
        None => next.run(request).await,
    }
}

fn digest(key: &str) -> [u8; 32] {
    Sha256::digest(key).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys() {
        let mut keys = Keys::default();
        let status = |keys: &Keys, path: &str, key: &str| {
            let mut headers = HeaderMap::new();
            if !key.is_empty() {
                headers.insert(KEY_HEADER, key.parse().unwrap());
            }
            keys.refusal(path, &headers).map_or(200, |(status, _)| status.as_u16())
        };
        assert_eq!(status(&keys, "/admin", ""), 200);
        keys.add("root", Holder::Admin);
        keys.add("app", Holder::Client);
        for (path, key, want) in [
            ("/graphql", "", 401),
            ("/graphql", "wrong", 401),
            ("/graphql", "app", 200),
            ("/query", "root", 200),
            ("/admin", "app", 403),
            ("/admin/schema", "app", 403),
            ("/administer", "app", 200),
            ("/alter", "app", 403),
            ("/alter", "root", 200),
            ("/nothing", "", 401),
            ("/health", "", 200),
            ("/probe/graphql", "", 200),
        ] {
            assert_eq!(status(&keys, path, key), want, "{path} {key}");
        }
        assert!(!format!("{keys:?}").contains("root"));
    }
}
