//! The identity of a database, which all its files bear.

use hexgraph_base::types::{Error, Result};
use std::fmt;

/// A random number that a database gets when its directory is made. All its files bear it, so that a file of another
/// database is noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Identity(pub u128);

impl Identity {
    /// The identity of files that were written before there were identities, and of temporary ones.
    pub const NONE: Identity = Identity(0);

    /// A new one.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when the system has no random numbers.
    pub fn random() -> Result<Identity> {
        let mut bytes = [0; 16];
        let filled = getrandom::fill(&mut bytes);
        filled.map_err(|error| Error::io("making the identity of a database", error.into()))?;
        // Nobody's would be one in 2^128.
        Ok(Identity(u128::from_le_bytes(bytes) | 1))
    }

    /// The identity as `Display` writes it.
    pub fn parse(text: &str) -> Option<Identity> {
        let is_hex = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        u128::from_str_radix(text, 16).ok().filter(|_| is_hex).map(Identity)
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}
