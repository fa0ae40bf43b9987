//! Passwords, which are stored as bcrypt hashes alone.

use super::bcrypt_hash;
use super::password_error::{COST_MAX, PasswordError};
use crate::types::Value;

/// The cost of the hashes that are made. Each step doubles the work of hashing and of every attempt
/// to guess.
const COST: u32 = 10;
/// The least number of bytes of a password.
const BYTES_MIN: usize = 6;
/// Bcrypt looks at no more bytes than these.
const BYTES_MAX: usize = 72;

/// A hash like those that are made, of no password: what is compared where there is none to compare
/// with, so that the response time does not reveal which users exist.
pub const HASH_OF_NOBODY: &str = "$2b$10$.....................................................";

impl Value {
    /// Hashes a password. Takes tens of milliseconds, on purpose.
    ///
    /// # Errors
    ///
    /// [`PasswordError::TooShort`], [`PasswordError::TooLong`] or [`PasswordError::Failed`].
    pub fn hash_password(plain: &str) -> Result<Value, PasswordError> {
        Value::check_password(plain)?;
        bcrypt_hash::hash(plain, COST).map(Value::Password)
    }

    /// Checks that a text can be a password, without hashing it.
    ///
    /// # Errors
    ///
    /// [`PasswordError::TooShort`] or [`PasswordError::TooLong`].
    pub fn check_password(plain: &str) -> Result<(), PasswordError> {
        if plain.len() < BYTES_MIN {
            return Err(PasswordError::TooShort);
        }
        if plain.len() > BYTES_MAX {
            return Err(PasswordError::TooLong);
        }
        Ok(())
    }

    /// A password that was hashed elsewhere, stored unchanged. A text that is no hash is that of no
    /// password.
    ///
    /// # Errors
    ///
    /// [`PasswordError::TooCostly`] when comparing it with a password would be too slow.
    pub fn hashed_password(hash: &str) -> Result<Value, PasswordError> {
        check_cost(hash)?;
        Ok(Value::Password(hash.to_string()))
    }

    /// True when the hash is that of the password; false too when it is no hash at all. Takes as
    /// long as hashing did.
    ///
    /// # Errors
    ///
    /// [`PasswordError::TooCostly`].
    pub fn verify_password(hash: &str, plain: &str) -> Result<bool, PasswordError> {
        if plain.len() < BYTES_MIN {
            return Ok(false);
        }
        check_cost(hash)?;
        bcrypt_hash::is_hash_of(hash, plain)
    }
}

fn check_cost(hash: &str) -> Result<(), PasswordError> {
    match bcrypt_hash::cost_of(hash)? {
        Some(cost) if COST_MAX < cost => Err(PasswordError::TooCostly { cost }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_and_verifies() {
        let Ok(Value::Password(hash)) = Value::hash_password("testing") else { panic!("no hash") };
        assert!(hash.starts_with("$2a$10$"));
        assert_eq!(Value::verify_password(&hash, "testing"), Ok(true));
        assert_eq!(Value::verify_password(&hash, "Testing"), Ok(false));
        assert_eq!(Value::verify_password("testing", "testing"), Ok(false));
        assert_eq!(Value::verify_password("", "testing"), Ok(false));
        assert_eq!(Value::verify_password(GIVEN, "testing"), Ok(true));
    }

    const GIVEN: &str = "$2a$10$L47fLSO7ARF8N1GzmCIXfeNty3BP4spgVME2gBvbYgPOxYGaBXNSC";

    #[test]
    fn costly_hashes_are_not_computed() {
        for (start, cost) in [("$2a$31$", 31), ("$2y$15$", 15), ("$2b$99$", 99)] {
            let costly = GIVEN.replace("$2a$10$", start);
            let why = format!("the hash of the password has cost {cost}, and no more than 14");
            for error in [
                Value::hashed_password(&costly).unwrap_err(),
                Value::verify_password(&costly, "testing").unwrap_err(),
            ] {
                assert!(error.to_string().starts_with(&why), "{error}");
            }
            // What is too short is no password, whatever the hash.
            assert_eq!(Value::verify_password(&costly, "short"), Ok(false));
        }
        for retained in [GIVEN, &GIVEN.replace("$10$", "$14$"), "no hash", ""] {
            assert_eq!(Value::hashed_password(retained), Ok(Value::Password(retained.to_owned())));
        }
    }

    #[test]
    fn nobody_has_a_hash() {
        // A text that is no hash would be compared without any work, whatever cost it names.
        assert!(Value::hashed_password(&HASH_OF_NOBODY.replace("$10$", "$31$")).is_err());
        assert_eq!(bcrypt_hash::cost_of(HASH_OF_NOBODY), Ok(Some(COST)));
        assert_eq!(Value::verify_password(HASH_OF_NOBODY, "testing"), Ok(false));
    }

    #[test]
    fn refuses_lengths() {
        assert_eq!(Value::hash_password("short"), Err(PasswordError::TooShort));
        assert_eq!(Value::hash_password(&"x".repeat(73)), Err(PasswordError::TooLong));
    }
}
