//! Replaces the module `bcrypt` in a build without the feature `passwords`: each function returns
//! an error.

use super::password_error::PasswordError;
use crate::types::Feature;

/// In the other module, hashes a password with a bcrypt cost.
///
/// # Errors
///
/// [`PasswordError::Missing`], always.
pub(super) fn hash(_: &str, _: u32) -> Result<String, PasswordError> {
    Err(missing())
}

/// In the other module, compares a password with a hash.
///
/// # Errors
///
/// [`PasswordError::Missing`], always.
pub(super) fn is_hash_of(_: &str, _: &str) -> Result<bool, PasswordError> {
    Err(missing())
}

/// In the other module, reads the bcrypt cost of a hash.
///
/// # Errors
///
/// [`PasswordError::Missing`], always.
pub(super) fn cost_of(_: &str) -> Result<Option<u32>, PasswordError> {
    Err(missing())
}

fn missing() -> PasswordError {
    Feature::Passwords.missing("a password").into()
}
