//! The keys of clients: where there are any, nobody is answered without one.
//!
//! A key comes in the header `X-Auth-Token`. Those of clients open data; what administers, and `/alter`, takes one of an
//! administrator: the table of routes says which does. Whether a server is there is told to anybody, and what browsers ask
//! before they send a key.

use crate::http::message::reply::Reply;
use axum::http::{HeaderMap, StatusCode};
use sha2::{Digest, Sha256};

/// The header that names a key.
const KEY_HEADER: &str = "x-auth-token";

/// The role whose key a request has to name, if keys are set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// No key is needed.
    Anyone,
    /// The key of a client or of an administrator.
    Client,
    /// The key of an administrator.
    Admin,
}

/// The role of the holder of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::http) enum Holder {
    /// The key is missing or unknown.
    Nobody,
    /// A client, who may read and write.
    Client,
    /// An administrator, who may do everything.
    Admin,
}

/// The keys that are known. Only digests are kept, so that comparing tells nothing about them.
#[derive(Debug, Clone, Default)]
pub(in crate::http) struct Keys {
    known: Vec<([u8; 32], Holder)>,
}

impl Keys {
    /// Adds a key with the role of its holder.
    pub(in crate::http) fn add(&mut self, key: &str, holder: Holder) {
        self.known.push((digest(key), holder));
    }

    /// Whether no keys are set, so that all requests are answered.
    pub(in crate::http) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The key of a request, whether it is known or not. It only tells clients apart: requests with one key share the queues of a
    /// busy server.
    pub(in crate::http) fn given<'a>(&self, headers: &'a HeaderMap) -> Option<&'a [u8]> {
        headers.get(KEY_HEADER).map(|key| key.as_bytes())
    }

    /// The role that the key of a request gives.
    fn holder(&self, headers: &HeaderMap) -> Holder {
        // A key that is not printable ASCII is unknown, and of several headers the first counts.
        let Some(key) = headers.get(KEY_HEADER).and_then(|key| key.to_str().ok()) else {
            return Holder::Nobody;
        };
        let given = digest(key);
        let found = self.known.iter().filter(|(known, _)| *known == given);
        // All are compared, and one text may be a key of both kinds: the greater right counts.
        found.map(|(_, holder)| *holder).max().unwrap_or(Holder::Nobody)
    }

    /// Why a request is not answered that needs a key of this role; `None` when it is. The status is 401 for a key that is
    /// missing or unknown, and 403 for that of a client where one of an administrator is needed. Costs a digest and a
    /// comparison with each key.
    pub(in crate::http) fn refusal(&self, role: Role, headers: &HeaderMap) -> Option<Reply> {
        if self.is_empty() || role == Role::Anyone {
            return None;
        }
        let (status, message) = match self.holder(headers) {
            Holder::Admin => return None,
            Holder::Client if role <= Role::Client => return None,
            Holder::Client => {
                (StatusCode::FORBIDDEN, "The key in X-Auth-Token is not that of an administrator")
            }
            Holder::Nobody if headers.contains_key(KEY_HEADER) => {
                (StatusCode::UNAUTHORIZED, "The key in X-Auth-Token is not known")
            }
            Holder::Nobody => (
                StatusCode::UNAUTHORIZED,
                "Anonymous access is disabled: name a key in the header X-Auth-Token",
            ),
        };
        Some(Reply::unauthorized(message).with_status(status))
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
        let refused = |keys: &Keys, role: Role, key: &str| {
            let mut headers = HeaderMap::new();
            if !key.is_empty() {
                headers.insert(KEY_HEADER, key.parse().unwrap());
            }
            keys.refusal(role, &headers).is_some()
        };
        assert!(!refused(&keys, Role::Admin, ""));
        keys.add("root", Holder::Admin);
        keys.add("app", Holder::Client);
        for (role, key, want) in [
            (Role::Client, "", true),
            (Role::Client, "wrong", true),
            (Role::Client, "app", false),
            (Role::Client, "root", false),
            (Role::Admin, "", true),
            (Role::Admin, "app", true),
            (Role::Admin, "root", false),
            (Role::Anyone, "", false),
            (Role::Anyone, "wrong", false),
        ] {
            assert_eq!(refused(&keys, role, key), want, "{role:?} {key}");
        }
        assert!(!format!("{keys:?}").contains("root"));
    }
}
