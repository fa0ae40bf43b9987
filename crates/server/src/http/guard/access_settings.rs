//! Users and rights as a server is started with them: their settings as text, and the restriction
//! to local clients while the first user has the default password.

use hexgraph::db::access::{AccessOptions, FIRST_USER, SigningMethod};
use hexgraph::db::{Database, parse_time};
use hexgraph_base::types::{Error, Result};
use std::fs;
use std::net::IpAddr;
use std::path::Path;

/// What is to be said as long as the first user of a database has the first password; `None` where
/// it has not, or has no users.
///
/// # Errors
///
/// As [`Database::query`].
pub fn default_password_warning(database: &Database) -> Result<Option<String>> {
    let is_default = database.has_access_list() && database.has_default_password()?;
    Ok(is_default.then(|| format!("the user {FIRST_USER} has the password that everybody knows")))
}

/// Reads settings such as `secret-file=FILE; access-ttl=6h; refresh-ttl=30d; jwt-alg=HS256`, the
/// first is required.
///
/// # Errors
///
/// Errors of a setting or a file, without what is in the file.
pub fn access_options(settings: &str) -> Result<AccessOptions> {
    let (mut secret, mut options) = (None, AccessOptions::new(Vec::new()));
    for setting in settings.split(';').map(str::trim).filter(|setting| !setting.is_empty()) {
        let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
        let (name, value) = (name.trim(), value.trim());
        let time = || {
            let time = parse_time(value).filter(|time| !time.is_zero());
            time.ok_or_else(|| Error::query(format!("acl {name}: expected a time like 6h")))
        };
        match name {
            "secret-file" => secret = Some(read_secret(Path::new(value))?),
            "access-ttl" => options.access_ttl = time()?,
            "refresh-ttl" => options.refresh_ttl = time()?,
            "jwt-alg" => options.method = SigningMethod::of_name(value)?,
            _ => {
                let expected =
                    "expected secret-file=FILE, access-ttl=6h, refresh-ttl=30d or jwt-alg=HS256";
                return Err(Error::query(format!("acl: {expected}")));
            }
        }
    }
    options.secret = secret.ok_or_else(|| Error::query("acl: there is no secret-file=FILE"))?;
    Ok(options)
}

/// The bytes of a file without the line feed that editors put at the end.
///
/// # Errors
///
/// Errors of the file, also that it is empty.
pub fn read_secret(path: &Path) -> Result<Vec<u8>> {
    let shown = path.display();
    let mut bytes = fs::read(path)
        .map_err(|error| Error::io(format!("reading a secret from {shown}"), error))?;
    while bytes.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
        bytes.pop();
    }
    match bytes.is_empty() {
        true => Err(Error::query(format!("{shown}: it is empty"))),
        false => Ok(bytes),
    }
}

/// Has users and rights from now on.
///
/// # Errors
///
/// Those of [`Database::enable_access`], and that others than this machine may connect to `host`
/// although the first user has the password that everybody knows.
pub(in crate::http) fn enable_access(
    database: &Database,
    options: AccessOptions,
    host: Option<IpAddr>,
) -> Result<()> {
    let is_near = host.is_none_or(|host| host.is_loopback()) || options.allows_default_password;
    database.enable_access(options)?;
    let Some(host) = host.filter(|_| !is_near) else { return Ok(()) };
    match default_password_warning(database)? {
        Some(warning) => {
            Err(Error::query(format!("{warning}, and the host {host} lets others connect"))
                .with_hint("give the user another password before the first start (--acl-initial-password-file, in Python acl_initial_password), or let only this machine connect and set it at /admin by resetPassword"))
        }
        None => Ok(()),
    }
}
