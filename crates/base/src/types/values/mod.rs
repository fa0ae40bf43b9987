//! What a predicate can hold: the types, their order, and their bytes.

pub(super) mod value;
pub(super) mod uid;
pub(super) mod datetime;
pub(super) mod datetime_text;
pub(super) mod geo;
pub(super) mod wkb;
pub(super) mod password;
pub(super) mod password_error;
#[cfg(feature = "passwords")]
mod bcrypt_hash;
#[cfg(not(feature = "passwords"))]
#[path = "bcrypt_missing.rs"]
mod bcrypt_hash;
pub(super) mod value_bytes;
