//! Who asks.

use super::key_role::KeyHolder;
use hexgraph_base::types::{AccessError, Uid};
use std::time::SystemTime;

/// Who asks, where users have rights.
#[derive(Debug, Clone)]
pub(in crate::db) enum Caller {
    /// Somebody who gave no token, or one that does not hold: nothing but what needs none is answered.
    Unknown(AccessError),
    /// A user.
    User(User),
    /// The holder of a key that is kept in the database, where users have no rights of their own.
    Key(KeyHolder),
}

/// A user who has logged in.
#[derive(Debug, Clone)]
pub(in crate::db) struct User {
    /// The name.
    pub name: String,
    /// The node that stood for the user at the login, where the token tells.
    pub node: Option<Uid>,
    /// The namespace of the login.
    pub namespace: u64,
    /// When the token ends; `None` where somebody else watches over that.
    pub expires: Option<SystemTime>,
    /// The key that came with the token, if one is kept in the database.
    pub key: Option<KeyHolder>,
}

impl User {
    /// The same user, who sent a key.
    pub(super) fn with_key(self, key: KeyHolder) -> User {
        User { key: Some(key), ..self }
    }
}
