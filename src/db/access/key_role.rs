//! What a key lets its holder do.

use hexgraph_base::types::{Error, Result};

/// What the holder of a key may do. Each role may do what those before it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyRole {
    /// Read data.
    ReadOnly,
    /// Read and write data.
    Client,
    /// Everything in its namespace, and in the namespace 0 in the entire database.
    Admin,
}

impl KeyRole {
    /// The role of a name: `admin`, `client` or `read-only`.
    ///
    /// ```
    /// use hexgraph::db::access::KeyRole;
    ///
    /// assert_eq!(KeyRole::of_name("read-only")?, KeyRole::ReadOnly);
    /// assert!(KeyRole::of_name("root").is_err());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Query` for another.
    pub fn of_name(name: &str) -> Result<KeyRole> {
        match name {
            "admin" => Ok(KeyRole::Admin),
            "client" => Ok(KeyRole::Client),
            "read-only" => Ok(KeyRole::ReadOnly),
            _ => Err(Error::query(format!("role {name}: expected admin, client or read-only"))),
        }
    }

    /// The name of the role.
    ///
    /// ```
    /// use hexgraph::db::access::KeyRole;
    ///
    /// assert_eq!(KeyRole::Admin.name(), "admin");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            KeyRole::Admin => "admin",
            KeyRole::Client => "client",
            KeyRole::ReadOnly => "read-only",
        }
    }
}

/// The holder of a key that holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::db) struct KeyHolder {
    /// The name of the key.
    pub id: String,
    /// What may be done with it.
    pub role: KeyRole,
    /// The namespace that it opens.
    pub namespace: u64,
}
