//! The identity of a database, which all its files bear.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::time::SystemTime;

/// A random number that a database gets when its directory is made. All its files bear it, so that
/// a file of another database is noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Identity(pub u128);

impl Identity {
    /// The identity of files that were written before there were identities, and of temporary ones.
    pub const NONE: Identity = Identity(0);

    /// A new one. It need not be secret, so the keys of hash tables are random enough: the system
    /// gives 128 bits of them to each thread. The children of a fork have the same ones, but not
    /// the same number and time.
    pub fn random() -> Identity {
        let keys = RandomState::new();
        let (process, now) = (std::process::id(), SystemTime::now());
        let half = |which: u8| u128::from(keys.hash_one((which, process, now)));
        // It is never that of nobody.
        Identity(half(0) << 64 | half(1) | 1)
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
