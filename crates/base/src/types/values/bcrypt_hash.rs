//! The hashes of passwords, as the crate `bcrypt` makes them.

use super::password_error::PasswordError;
use bcrypt::{HashParts, Version};

/// Hashes a password with the given cost. Each step of the cost doubles the time.
///
/// # Errors
///
/// [`PasswordError::Failed`].
pub(super) fn hash(plain: &str, cost: u32) -> Result<String, PasswordError> {
    let parts = bcrypt::hash_with_result(plain, cost)
        .map_err(|error| PasswordError::Failed { reason: error.to_string() })?;
    Ok(parts.format_for_version(Version::TwoA))
}

/// Returns true if a hash is that of a password, false too when it is no hash at all.
///
/// # Errors
///
/// None here: a build without the feature `passwords` has one.
pub(super) fn is_hash_of(hash: &str, plain: &str) -> Result<bool, PasswordError> {
    Ok(bcrypt::verify(plain, hash).unwrap_or(false))
}

/// Returns the cost that a hash names, `None` for a text that is no hash.
///
/// # Errors
///
/// None here: a build without the feature `passwords` has one.
pub(super) fn cost_of(hash: &str) -> Result<Option<u32>, PasswordError> {
    Ok(hash.parse::<HashParts>().ok().map(|parts| parts.get_cost()))
}
