//! Passwords, which are stored as bcrypt hashes alone.

use crate::types::Value;
use bcrypt::HashParts;

/// Each step doubles the work of hashing and of every attempt to guess.
const COST: u32 = 10;
/// The greatest cost of a hash that is computed: about a second. One of 31 takes a day.
const COST_MAX: u32 = 14;
const BYTES_MIN: usize = 6;
/// Bcrypt looks at no more bytes than these.
const BYTES_MAX: usize = 72;

impl Value {
    /// Hashes a password. Takes tens of milliseconds, on purpose.
    ///
    /// # Errors
    /// Passwords of fewer than 6 or more than 72 bytes.
    pub fn hash_password(plain: &str) -> Result<Value, String> {
        Value::check_password(plain)?;
        let parts = bcrypt::hash_with_result(plain, COST).map_err(|error| error.to_string())?;
        Ok(Value::Password(parts.format_for_version(bcrypt::Version::TwoA)))
    }

    /// Says whether a text can be a password. Takes no time.
    ///
    /// # Errors
    /// As [`Value::hash_password`].
    pub fn check_password(plain: &str) -> Result<(), String> {
        if plain.len() < BYTES_MIN {
            return Err("a password has at least 6 letters".to_string());
        }
        if plain.len() > BYTES_MAX {
            return Err("bcrypt: password length exceeds 72 bytes".to_string());
        }
        Ok(())
    }

    /// A password that was hashed elsewhere, kept as it stands. A text that is no hash is that of no password.
    ///
    /// # Errors
    /// A hash that takes too long to be compared with anything.
    pub fn hashed_password(hash: &str) -> Result<Value, String> {
        check_cost(hash)?;
        Ok(Value::Password(hash.to_string()))
    }

    /// True when the hash is that of the password; false too when it is no hash at all. Takes as long as hashing did.
    ///
    /// # Errors
    /// A hash that takes too long.
    pub fn verify_password(hash: &str, plain: &str) -> Result<bool, String> {
        if plain.len() < BYTES_MIN {
            return Ok(false);
        }
        check_cost(hash)?;
        Ok(bcrypt::verify(plain, hash).unwrap_or(false))
    }
}

fn check_cost(hash: &str) -> Result<(), String> {
    match hash.parse::<HashParts>() {
        Ok(parts) if COST_MAX < parts.get_cost() => Err(format!(
            "the hash of the password has cost {}, and no more than {COST_MAX} is computed, as each step doubles the time (hash the password again, with cost 10 to {COST_MAX})",
            parts.get_cost()
        )),
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
                assert!(error.starts_with(&why), "{error}");
            }
            // What is too short is no password, whatever the hash.
            assert_eq!(Value::verify_password(&costly, "short"), Ok(false));
        }
        for kept in [GIVEN, &GIVEN.replace("$10$", "$14$"), "no hash", ""] {
            assert_eq!(Value::hashed_password(kept), Ok(Value::Password(kept.to_owned())));
        }
    }

    #[test]
    fn refuses_lengths() {
        assert!(Value::hash_password("short").unwrap_err().contains("at least 6 letters"));
        assert!(Value::hash_password(&"x".repeat(73)).unwrap_err().contains("exceeds 72 bytes"));
    }
}
