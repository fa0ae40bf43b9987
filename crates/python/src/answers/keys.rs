//! Keys of clients, as Python sees them.

use crate::convert::errors::to_python;
use crate::interrupt::detached;
use hexgraph::db::Database;
use hexgraph::db::access::{ApiKey, KeyRole, NewKey};
use pyo3::prelude::*;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The id, name, role and namespace of a key, and its times of creation, expiry and revocation, in
/// seconds since 1970.
pub(crate) type KeyFields = (String, String, &'static str, u64, f64, Option<f64>, Option<f64>);

/// A key that was made, and its secret.
pub(crate) type Created = (KeyFields, String);

/// Makes a key. Returns it with its secret.
///
/// # Errors
///
/// As `Database::create_key`.
pub(crate) fn create_key(
    py: Python<'_>,
    database: &Database,
    (name, role): (&str, &str),
    lifetime: Option<Duration>,
) -> PyResult<Created> {
    let role = KeyRole::of_name(role).map_err(to_python)?;
    let key = NewKey { name, role, lifetime };
    let (key, secret) = detached(py, || database.create_key(&key)).map_err(to_python)?;
    Ok((fields(&key), secret.reveal().to_owned()))
}

/// Lists the keys.
///
/// # Errors
///
/// As `Database::keys`.
pub(crate) fn keys(database: &Database) -> PyResult<Vec<KeyFields>> {
    Ok(database.keys().map_err(to_python)?.iter().map(fields).collect())
}

fn fields(key: &ApiKey) -> KeyFields {
    let ApiKey { id, name, role, namespace, made, expires, revoked } = key.clone();
    let seconds =
        |time: SystemTime| time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let (expires, revoked) = (expires.map(seconds), revoked.map(seconds));
    (id, name, role.name(), namespace, seconds(made), expires, revoked)
}
