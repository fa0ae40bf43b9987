//! The keys of clients: where there are any, nobody is answered without one.
//!
//! A key comes in the header `X-Auth-Token`. Keys of clients permit data; administration and
//! `/alter` need an administrator's: see the table of routes. Health checks and preflight requests
//! of browsers need none.

use super::session::{Exchange, Session, cookie_name};
use crate::http::effect::Effect;
use crate::http::message::reply::Reply;
use crate::http::metrics::Refused;
use axum::http::{HeaderMap, StatusCode};
use hexgraph::db::Database;
use hexgraph::db::access::KeyRole;
use hexgraph_base::types::Result;
use ring::digest;
use std::sync::Arc;

/// The header that names a key.
pub(in crate::http) const KEY_HEADER: &str = "x-auth-token";

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

/// The keys that the server was started with, and whether requests without one are allowed. Only
/// digests are stored, so that comparing reveals nothing about them. Further keys are stored in the
/// database.
#[derive(Debug, Clone, Default)]
pub(in crate::http) struct Keys {
    existing: Vec<([u8; 32], KeyRole)>,
    anonymous: Anonymous,
    /// Administrators authenticate with a token.
    pub(super) has_token: bool,
    /// The session of the browser that the server was started for, where it was.
    session: Option<Arc<Session>>,
    /// The name of the cookie of the session.
    cookie_name: String,
}

/// The rights of unauthenticated callers: `anonymous`, from the weakest to the strictest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Anonymous {
    /// All that others may, from where they come: `full`.
    #[default]
    Full,
    /// Read and write data, and not administer, wherever they come from: `data`.
    Data,
    /// Nothing: `none`.
    None,
}

impl Anonymous {
    /// What a setting says.
    pub(super) fn of_name(name: &str) -> Option<Anonymous> {
        match name {
            "full" => Some(Anonymous::Full),
            "data" => Some(Anonymous::Data),
            "none" => Some(Anonymous::None),
            _ => None,
        }
    }
}

impl Keys {
    /// Adds a key with the role of its holder.
    pub(in crate::http) fn add(&mut self, key: &str, role: KeyRole) {
        self.existing.push((digest(key), role));
    }

    /// Sets the rights of unauthenticated callers. Of several settings the strictest counts.
    pub(super) fn restrict_anonymous(&mut self, anonymous: Anonymous) {
        self.anonymous = self.anonymous.max(anonymous);
    }

    /// Whether requests need a key: there are some, there were some, or it was said so.
    pub(in crate::http) fn are_needed(&self, database: &Database) -> bool {
        self.anonymous == Anonymous::None
            || self.session.is_some()
            || !self.existing.is_empty()
            || database.has_keys()
    }

    /// Answers one browser as an administrator from now on, and others by their keys: the one whose
    /// page knows the token that is returned.
    pub(super) fn open_session(&mut self) -> Result<String> {
        let (session, token) = Session::new()?;
        self.session = Some(Arc::new(session));
        Ok(token)
    }

    /// Sets the port at which the session is, once it is bound.
    pub(in crate::http) fn serve_at(&mut self, port: u16) {
        self.cookie_name = cookie_name(port);
    }

    /// Exchanges the token of the session, which a request names as it would a key, for the value
    /// of the cookie with the name that is returned; `None` where there is no session.
    ///
    /// # Errors
    ///
    /// As [`Session::exchange`].
    pub(in crate::http) fn exchange(
        &self,
        headers: &HeaderMap,
    ) -> Result<Option<(&str, Exchange)>> {
        let Some(session) = &self.session else { return Ok(None) };
        let exchange = session.exchange(key_of(headers).unwrap_or_default())?;
        Ok(Some((&self.cookie_name, exchange)))
    }

    /// Whether unauthenticated callers may not administer, from any address. Users with their own
    /// rights and callers with the token are authenticated.
    pub(super) fn prevents_administering(&self, database: &Database) -> bool {
        self.anonymous == Anonymous::Data && !self.has_token && !database.has_access_list()
    }

    /// The role that the key or the session of a request gives; `None` where both are missing or
    /// unknown.
    pub(super) fn role(&self, database: &Database, headers: &HeaderMap) -> Option<KeyRole> {
        if self.session.as_ref().is_some_and(|it| it.is_of(headers, &self.cookie_name)) {
            return Some(KeyRole::Admin);
        }
        // A key that is not printable ASCII is unknown.
        let key = key_of(headers)?;
        database.key_role(key).or_else(|| {
            let given = digest(key);
            let matches = self.existing.iter().filter(|(existing, _)| *existing == given);
            // All are compared, and one text may be a key of both kinds: the greater right counts.
            matches.map(|(_, role)| *role).max()
        })
    }

    /// Why a request is not answered that needs a key of this role, and changes something or not;
    /// `None` when it is. The status is 401 for a key that is missing or unknown, and 403 for one
    /// that gives too little. Costs two digests and a comparison with each key that the server was
    /// started with.
    pub(in crate::http) fn refusal(
        &self,
        (role, effect): (Role, Effect),
        database: &Database,
        headers: &HeaderMap,
    ) -> Option<Reply> {
        if role == Role::Anyone {
            return None;
        }
        if !self.are_needed(database) {
            let is_retained = role == Role::Admin && self.prevents_administering(database);
            return is_retained.then(|| {
                let message = "Anonymous callers do not administer (`anonymous=data`): there is no key, token or user that would make one known";
                let reply = Reply::unauthorized(message).with_status(StatusCode::UNAUTHORIZED);
                reply.counted_as(Refused::KEY)
            });
        }
        let needed = match (role, effect) {
            (Role::Admin, _) => KeyRole::Admin,
            (_, Effect::Changes) => KeyRole::Client,
            // What a text requests is looked at where it is read.
            _ => KeyRole::ReadOnly,
        };
        let (status, message) = match self.role(database, headers) {
            Some(role) if needed <= role => return None,
            Some(_) if needed == KeyRole::Admin => {
                (StatusCode::FORBIDDEN, "The key in X-Auth-Token is not that of an administrator")
            }
            Some(_) => (StatusCode::FORBIDDEN, "The key in X-Auth-Token may only read"),
            None if headers.contains_key(KEY_HEADER) => {
                (StatusCode::UNAUTHORIZED, "The key in X-Auth-Token is not known")
            }
            None if self.session.is_some() => (
                StatusCode::UNAUTHORIZED,
                "Only the browser that opened the URL of `hexgraph console` is answered: open the URL that it printed, which works once, or start it again",
            ),
            None => (
                StatusCode::UNAUTHORIZED,
                "Anonymous access is disabled: name a key in the header X-Auth-Token",
            ),
        };
        Some(Reply::unauthorized(message).with_status(status).counted_as(Refused::KEY))
    }
}

/// The key of a request, valid or not. Of several headers the first counts.
pub(in crate::http) fn key_of(headers: &HeaderMap) -> Option<&str> {
    headers.get(KEY_HEADER).and_then(|key| key.to_str().ok())
}

/// The SHA-256 digest of a key or token.
pub(super) fn digest(secret: &str) -> [u8; 32] {
    let digest = digest::digest(&digest::SHA256, secret.as_bytes());
    digest.as_ref().try_into().expect("a digest by SHA-256 has 32 bytes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use hexgraph::db::access::NewKey;

    fn is_refused(keys: &Keys, requested: (Role, Effect), database: &Database, key: &str) -> bool {
        let mut headers = HeaderMap::new();
        if !key.is_empty() {
            headers.insert(KEY_HEADER, key.parse().unwrap());
        }
        keys.refusal(requested, database, &headers).is_some()
    }

    #[test]
    fn keys() {
        let (mut keys, database) = (Keys::default(), Database::in_memory());
        let refused = |keys: &Keys, role: Role, key: &str| {
            is_refused(keys, (role, Effect::Changes), &database, key)
        };
        assert!(!refused(&keys, Role::Admin, ""));
        keys.add("root", KeyRole::Admin);
        keys.add("app", KeyRole::Client);
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

    #[test]
    fn keys_of_the_database() {
        let (mut keys, database) = (Keys::default(), Database::in_memory());
        let make = |role| {
            let key = NewKey { name: "", role, lifetime: None };
            let (key, secret) = database.create_key(&key).unwrap();
            (key.id, secret.reveal().to_owned())
        };
        let anonymous = (Role::Client, Effect::Reads);
        assert!(!is_refused(&keys, anonymous, &database, ""));
        let made = [KeyRole::ReadOnly, KeyRole::Client, KeyRole::Admin].map(make);
        assert!(is_refused(&keys, anonymous, &database, ""), "there are keys now");
        for (role, effect, want) in [
            (Role::Client, Effect::Reads, [false, false, false]),
            (Role::Client, Effect::AsTextSays, [false, false, false]),
            (Role::Client, Effect::Changes, [true, false, false]),
            (Role::Admin, Effect::Reads, [true, true, false]),
            (Role::Admin, Effect::Changes, [true, true, false]),
            (Role::Anyone, Effect::Reads, [false, false, false]),
        ] {
            for ((id, secret), want) in made.iter().zip(want) {
                let got = is_refused(&keys, (role, effect), &database, secret);
                assert_eq!(got, want, "{role:?} {effect:?} {id}");
                assert!(role == Role::Anyone || is_refused(&keys, (role, effect), &database, id));
            }
        }
        for (id, _) in &made {
            database.revoke_key(id).unwrap();
        }
        assert!(is_refused(&keys, anonymous, &database, &made[2].1));
        assert!(is_refused(&keys, anonymous, &database, ""), "revoking the last opens nothing");
        keys.restrict_anonymous(Anonymous::None);
        assert!(is_refused(&keys, anonymous, &Database::in_memory(), ""));
    }
}
