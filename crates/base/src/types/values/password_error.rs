//! Why a password is refused.

use crate::types::MissingFeature;

/// The greatest cost of a hash that is computed: about a second. One of 31 takes a day.
pub(super) const COST_MAX: u32 = 14;

/// Why a password can't be hashed, or its hash can't be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PasswordError {
    /// The password has fewer than 6 bytes.
    #[error("a password has at least 6 letters")]
    TooShort,
    /// The password has more than 72 bytes.
    #[error("bcrypt: password length exceeds 72 bytes")]
    TooLong,
    /// Computing with the hash is too slow.
    #[error(
        "the hash of the password has cost {cost}, and no more than {COST_MAX} is computed, as each step doubles the time (hash the password again, with cost 10 to {COST_MAX})"
    )]
    TooCostly {
        /// The cost that the hash names.
        cost: u32,
    },
    /// Bcrypt failed, for example since the system gave no random salt.
    #[error("{reason}")]
    Failed {
        /// What bcrypt says.
        reason: String,
    },
    /// The build lacks passwords.
    #[error(transparent)]
    Missing(#[from] MissingFeature),
}
