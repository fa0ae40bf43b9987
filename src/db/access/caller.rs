//! The caller of a request.

use super::key_role::{KeyHolder, KeyRole};
use hexgraph_base::types::{AccessError, Uid};
use std::time::SystemTime;

/// The caller, where callers have different rights.
#[derive(Debug, Clone)]
pub(in crate::db) enum Caller {
    /// Somebody who gave no token, or one that does not hold: nothing but what needs none is
    /// answered.
    Unknown(AccessError),
    /// A user.
    User(User),
    /// The holder of a key that is retained in the database, where users have no rights of their
    /// own.
    Key(KeyHolder),
    /// A caller of whom only the role is given, below that of an administrator, where users have no
    /// rights of their own.
    Role(KeyRole),
}

/// A user who has logged in.
#[derive(Debug, Clone)]
pub(in crate::db) struct User {
    /// The name.
    pub name: String,
    /// The node that represented the user at the login, where the token contains it.
    pub node: Option<Uid>,
    /// The namespace of the login.
    pub namespace: u64,
    /// The expiry of the token; `None` where another part checks it.
    pub expires: Option<SystemTime>,
    /// The key that came with the token, if one is retained in the database.
    pub key: Option<KeyHolder>,
    /// What may be done at most, whatever the user has rights to.
    pub role: KeyRole,
}

impl User {
    /// The same user, who sent a key.
    pub(super) fn with_key(self, key: KeyHolder) -> User {
        User { role: self.role.min(key.role), key: Some(key), ..self }
    }
}

impl Caller {
    /// The role that bounds what may be done; `None` for an unknown caller.
    pub(super) fn role(&self) -> Option<KeyRole> {
        match self {
            Caller::Unknown(_) => None,
            Caller::User(user) => Some(user.role),
            Caller::Key(holder) => Some(holder.role),
            Caller::Role(role) => Some(*role),
        }
    }

    /// The same caller, with no more than a role lets.
    pub(super) fn within(&self, role: KeyRole) -> Caller {
        match self.clone() {
            Caller::Unknown(refusal) => Caller::Unknown(refusal),
            Caller::User(user) => Caller::User(User { role: role.min(user.role), ..user }),
            Caller::Key(holder) => Caller::Key(KeyHolder { role: role.min(holder.role), ..holder }),
            Caller::Role(existing) => Caller::Role(role.min(existing)),
        }
    }
}
