//! Who asks.

use hexgraph_base::types::AccessError;
use std::time::SystemTime;

/// Who asks, where users have rights.
#[derive(Debug, Clone)]
pub(in crate::db) enum Caller {
    /// Somebody who gave no token, or one that does not hold: nothing but what needs none is answered.
    Unknown(AccessError),
    /// A user.
    User(User),
}

/// A user who has logged in.
#[derive(Debug, Clone)]
pub(in crate::db) struct User {
    /// The name.
    pub name: String,
    /// When the token ends.
    pub expires: SystemTime,
}
