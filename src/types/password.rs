//! Passwords, which are stored as bcrypt hashes alone.

use super::Value;

/// Each step doubles the work of hashing and of every attempt to guess.
const COST: u32 = 10;
const BYTES_MIN: usize = 6;
/// Bcrypt looks at no more bytes than these.
const BYTES_MAX: usize = 72;

impl Value {
    /// Hashes a password. Takes tens of milliseconds, on purpose.
    ///
    /// # Errors
    /// Passwords of fewer than 6 or more than 72 bytes.
    pub fn hash_password(plain: &str) -> Result<Value, String> {
        if plain.len() < BYTES_MIN {
            return Err("a password has at least 6 letters".to_string());
        }
        if plain.len() > BYTES_MAX {
            return Err("bcrypt: password length exceeds 72 bytes".to_string());
        }
        let parts = bcrypt::hash_with_result(plain, COST).map_err(|error| error.to_string())?;
        Ok(Value::Password(parts.format_for_version(bcrypt::Version::TwoA)))
    }

    /// True when the hash is that of the password; false too when it is no hash at all.
    pub fn verify_password(hash: &str, plain: &str) -> bool {
        plain.len() >= BYTES_MIN && bcrypt::verify(plain, hash).unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_and_verifies() {
        let Ok(Value::Password(hash)) = Value::hash_password("testing") else { panic!("no hash") };
        assert!(hash.starts_with("$2a$10$"));
        assert!(Value::verify_password(&hash, "testing"));
        assert!(!Value::verify_password(&hash, "Testing"));
        assert!(!Value::verify_password("testing", "testing"));
        assert!(!Value::verify_password("", "testing"));
        let given = "$2a$10$L47fLSO7ARF8N1GzmCIXfeNty3BP4spgVME2gBvbYgPOxYGaBXNSC";
        assert!(Value::verify_password(given, "testing"));
    }

    #[test]
    fn refuses_lengths() {
        assert!(Value::hash_password("short").unwrap_err().contains("at least 6 letters"));
        assert!(Value::hash_password(&"x".repeat(73)).is_err());
    }
}
