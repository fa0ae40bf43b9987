//! Represents the hashes of passwords in a build without the feature `passwords`.

use super::password_error::PasswordError;
use crate::types::Feature;

/// Refuses to hash a password.
///
/// # Errors
///
/// [`PasswordError::Missing`], always.
pub(super) fn hash(_: &str, _: u32) -> Result<String, PasswordError> {
    Err(missing())
}

/// Refuses to compare a password with a hash.
///
/// # Errors
///
/// [`PasswordError::Missing`], always.
pub(super) fn is_hash_of(_: &str, _: &str) -> Result<bool, PasswordError> {
    Err(missing())
}

/// Refuses to read a hash.
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
