//! API keys of clients, stored in the reserved database: created, listed and revoked, each with a
//! role and an optional expiry.
//!
//! A key is a text with 256 random bits. It is shown once, when it is created; only its SHA-256
//! digest is stored. As no bit of it can be guessed, a digest without salt and without work is
//! enough, and one look-up suffices.

use super::caller::Caller;
use super::key_role::{KeyHolder, KeyRole};
use super::tokens::hex;
use crate::db::database::Database;
use crate::db::guard::guarded;
use crate::db::namespaces::namespace::RESERVED;
use crate::db::namespaces::operations::now;
use crate::db::namespaces::registry::{KeyRecord, Registry};
use hexgraph_base::types::{AccessError, Error, Result};
use serde_json::json;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What a key begins with, so that tools which look for secrets that were made public find it.
pub const KEY_PREFIX: &str = "hxg_";

/// The most keys that may ever be made, those that were revoked among them.
const KEYS_MAX: usize = 10_000;

/// The longest name of a key, in bytes.
const NAME_LEN_MAX: usize = 256;

/// A key to be made.
#[derive(Debug, Clone)]
pub struct NewKey<'a> {
    /// What it is for, in your words.
    pub name: &'a str,
    /// Its permissions.
    pub role: KeyRole,
    /// Its lifetime; `None` for a key without expiry.
    pub lifetime: Option<Duration>,
}

/// A key as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// The name by which it is revoked. It grants no access.
    pub id: String,
    /// What it is for.
    pub name: String,
    /// Its permissions.
    pub role: KeyRole,
    /// The namespace that it grants access to.
    pub namespace: u64,
    /// When it was made.
    pub made: SystemTime,
    /// The expiry; `None` for a key without one.
    pub expires: Option<SystemTime>,
    /// When it was revoked; `None` for one that was not.
    pub revoked: Option<SystemTime>,
}

/// The secret of a key that was just made. It is shown only once.
#[derive(Clone, PartialEq, Eq)]
pub struct KeySecret(String);

impl KeySecret {
    /// The text that requests name in the header `X-Auth-Token`.
    ///
    /// ```
    /// use hexgraph::db::{Database, access::{KEY_PREFIX, KeyRole, NewKey}};
    ///
    /// let db = Database::in_memory();
    /// let new = NewKey { name: "nightly load", role: KeyRole::Client, lifetime: None };
    /// let (_, secret) = db.create_key(&new)?;
    /// assert!(secret.reveal().starts_with(KEY_PREFIX));
    /// assert!(!format!("{secret:?}").contains(secret.reveal()), "logs don't get it");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for KeySecret {
    /// Without the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeySecret").finish_non_exhaustive()
    }
}

/// # Keys of clients
impl Database {
    /// Makes a key for the namespace of this handle. The reserved database has it before this
    /// returns.
    ///
    /// # Errors
    ///
    /// `Access` for who is no administrator; `ReadOnly`; `Query` for a name that is too long;
    /// `Limit` when there are too many; `Io` on an error of the operating system.
    ///
    /// ```
    /// # use hexgraph::db::{Database, access::{KeyRole, NewKey}};
    /// let database = Database::in_memory();
    /// let key = NewKey { name: "dashboard", role: KeyRole::ReadOnly, lifetime: None };
    /// let (key, secret) = database.create_key(&key)?;
    /// assert!(secret.reveal().starts_with("hxg_"));
    /// database.revoke_key(&key.id)?;
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn create_key(&self, key: &NewKey<'_>) -> Result<(ApiKey, KeySecret)> {
        self.check_administrator()?;
        self.check_all_writable()?;
        if NAME_LEN_MAX < key.name.len() {
            let message = format!("the name of a key has more than {NAME_LEN_MAX} bytes");
            return Err(Error::query(message));
        }
        let secret = format!("{KEY_PREFIX}{}", random_hex::<32>()?);
        let made = now();
        let record = KeyRecord {
            id: random_hex::<8>()?,
            digest: digest(&secret),
            name: key.name.to_owned(),
            role: key.role.name().to_owned(),
            namespace: self.namespace_id(),
            made,
            // Expiry times are in whole seconds, and a lifetime below one is taken for one second.
            // The predicate that has them takes no greater number than this.
            expires: key.lifetime.map(|lifetime| {
                made.saturating_add(lifetime.as_secs().max(1)).min(i64::MAX as u64)
            }),
            revoked: None,
        };
        guarded(|| {
            let lock = self.all.lock();
            if KEYS_MAX <= self.registry()?.keys.len() {
                let message = format!("{KEYS_MAX} keys were made, no more may be");
                return Err(Error::Limit { message });
            }
            let KeyRecord { id, digest, name, role, namespace, made, expires, revoked: _ } =
                &record;
            let mut entry = json!({
                "hexgraph.key": id, "hexgraph.key.digest": digest, "hexgraph.key.name": name,
                "hexgraph.key.role": role, "hexgraph.key.namespace": namespace,
                "hexgraph.key.made": made,
            });
            if let Some(expires) = expires {
                entry["hexgraph.key.expires"] = json!(expires);
            }
            self.note(("", &[]), &entry, &lock)
        })?;
        let key = shown(&record).ok_or_else(|| Error::internal("a role has no name"))?;
        Ok((key, KeySecret(secret)))
    }

    /// The keys of the namespace of this handle, and of all from a handle of the namespace 0, in
    /// the order of their making. Those that have ended or were revoked are among them.
    ///
    /// ```
    /// use hexgraph::db::{Database, access::{KeyRole, NewKey}};
    ///
    /// let db = Database::in_memory();
    /// db.create_key(&NewKey { name: "dashboard", role: KeyRole::ReadOnly, lifetime: None })?;
    /// assert_eq!(db.keys()?[0].name, "dashboard");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Access` for who is no administrator; `Closed`.
    pub fn keys(&self) -> Result<Vec<ApiKey>> {
        self.check_administrator()?;
        let registry = self.registry()?;
        let own =
            |key: &&KeyRecord| self.namespace_id() == 0 || key.namespace == self.namespace_id();
        Ok(registry.keys.iter().filter(own).filter_map(shown).collect())
    }

    /// Revokes a key: the next request with it is refused, and subscriptions that began with it
    /// end.
    ///
    /// ```
    /// use hexgraph::db::{Database, access::{KeyRole, NewKey}};
    ///
    /// let db = Database::in_memory();
    /// let new = NewKey { name: "dashboard", role: KeyRole::ReadOnly, lifetime: None };
    /// let (key, secret) = db.create_key(&new)?;
    /// db.revoke_key(&key.id)?;
    /// assert_eq!(db.key_role(secret.reveal()), None);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::create_key`]; `Query` when there is none of the name that this handle may
    /// revoke, or it is revoked.
    pub fn revoke_key(&self, id: &str) -> Result<()> {
        let existing = self.keys()?;
        let Some(key) = existing.iter().find(|key| key.id == id) else {
            return Err(Error::query(format!("there is no key {id}")));
        };
        if key.revoked.is_some() {
            return Err(Error::query(format!("the key {id} is revoked already")));
        }
        self.check_all_writable()?;
        let query = "query q($id: string) { k as var(func: eq(hexgraph.key, $id)) }";
        let entry = json!({ "uid": "uid(k)", "hexgraph.key.revoked": now() });
        guarded(|| self.note((query, &[("$id", id.to_owned())]), &entry, &self.all.lock()))
    }

    /// Whether a key was ever made. Once one was, a server answers nobody without one.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// assert!(!db.has_keys());
    /// ```
    pub fn has_keys(&self) -> bool {
        self.all.opened(RESERVED).is_some()
            // Where it can't be read, nobody may pass.
            && self.registry().map_or(true, |registry| !registry.keys.is_empty())
    }

    /// The role that a key gives, and `None` for one that is unknown, has ended, or was revoked.
    /// Costs a digest and a look-up.
    ///
    /// ```
    /// use hexgraph::db::{Database, access::{KeyRole, NewKey}};
    ///
    /// let db = Database::in_memory();
    /// let new = NewKey { name: "dashboard", role: KeyRole::ReadOnly, lifetime: None };
    /// let (_, secret) = db.create_key(&new)?;
    /// assert_eq!(db.key_role(secret.reveal()), Some(KeyRole::ReadOnly));
    /// assert_eq!(db.key_role("hxg_guessed"), None);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn key_role(&self, secret: &str) -> Option<KeyRole> {
        self.key_holder(secret).map(|holder| holder.role)
    }

    /// The handle of who sends a key, if any, and a token, if any: as [`Database::for_token`], in
    /// the namespace of the key, and with its role. A key that is none of those that are retained
    /// here ([`KEY_PREFIX`]) does not count.
    ///
    /// ```
    /// use hexgraph::db::{Database, access::{KeyRole, NewKey}};
    ///
    /// let db = Database::in_memory();
    /// let new = NewKey { name: "dashboard", role: KeyRole::ReadOnly, lifetime: None };
    /// let (_, secret) = db.create_key(&new)?;
    /// let reader = db.for_secrets(Some(secret.reveal()), None);
    /// assert!(reader.query("{ q(func: has(name)) { name } }").is_ok());
    /// assert!(reader.mutate("_:a <name> \"Ada\" .", "").is_err());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn for_secrets(&self, key: Option<&str>, token: Option<&str>) -> Database {
        let Some(key) = key.filter(|key| key.starts_with(KEY_PREFIX)) else {
            return self.for_token(token);
        };
        let Some(holder) = self.key_holder(key) else {
            // It may have been revoked since the request was let in.
            return self.refusing("the key in X-Auth-Token is not known");
        };
        let namespace = match self.namespace_full(holder.namespace) {
            Ok(namespace) => namespace,
            Err(error) => return self.refusing(&error.to_string()),
        };
        if !self.has_access_list() {
            return namespace.with_caller(Arc::new(Caller::Key(holder)));
        }
        let user = self.for_token(token);
        match user.caller() {
            Some(Caller::User(_)) if user.namespace_id() != holder.namespace => {
                self.refusing("the key is one of another namespace")
            }
            Some(Caller::User(existing)) => {
                let existing = existing.clone().with_key(holder);
                user.with_caller(Arc::new(Caller::User(existing)))
            }
            _ => user,
        }
    }

    fn refusing(&self, why: &str) -> Database {
        let refusal = AccessError::Unauthenticated { message: why.to_owned() };
        self.with_caller(Arc::new(Caller::Unknown(refusal)))
    }

    fn key_holder(&self, secret: &str) -> Option<KeyHolder> {
        self.all.opened(RESERVED)?;
        if !secret.starts_with(KEY_PREFIX) {
            return None;
        }
        let (registry, expected) = (self.registry().ok()?, digest(secret));
        let result =
            key_of(&registry, &expected).filter(|key| key.digest == expected && holds(key))?;
        let KeyRecord { id, role, namespace, .. } = result.clone();
        Some(KeyHolder { id, role: KeyRole::of_name(&role).ok()?, namespace })
    }

    /// Checks that a key holds still.
    ///
    /// # Errors
    ///
    /// `Access` when it was revoked, or has ended.
    pub(super) fn check_key(&self, holder: &KeyHolder) -> Result<()> {
        let registry = self.registry()?;
        match key_of(&registry, &holder.id).is_some_and(|key| key.id == holder.id && holds(key)) {
            true => Ok(()),
            false => {
                let message = "the key has ended or was revoked".to_owned();
                Err(AccessError::Unauthenticated { message }.into())
            }
        }
    }
}

/// The key of a name or a digest.
fn key_of<'r>(registry: &'r Registry, text: &str) -> Option<&'r KeyRecord> {
    registry.keys.get(*registry.positions.get(text)?)
}

fn holds(key: &KeyRecord) -> bool {
    key.revoked.is_none() && key.expires.is_none_or(|end| now() < end)
}

fn shown(key: &KeyRecord) -> Option<ApiKey> {
    let time = |seconds: u64| UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
    Some(ApiKey {
        id: key.id.clone(),
        name: key.name.clone(),
        role: KeyRole::of_name(&key.role).ok()?,
        namespace: key.namespace,
        made: time(key.made)?,
        expires: key.expires.and_then(time),
        revoked: key.revoked.and_then(time),
    })
}

fn digest(secret: &str) -> String {
    hex(ring::digest::digest(&ring::digest::SHA256, secret.as_bytes()).as_ref())
}

/// Makes a text of `N` random bytes of the system, two hexadecimal digits each, for secrets.
///
/// # Errors
///
/// `Io` when the system has no random bits.
///
/// ```
/// use hexgraph::db::access::random_hex;
///
/// assert_eq!(random_hex::<32>()?.len(), 64);
/// assert_ne!(random_hex::<32>()?, random_hex::<32>()?);
/// # Ok::<(), hexgraph::types::Error>(())
/// ```
pub fn random_hex<const N: usize>() -> Result<String> {
    let mut bytes = [0; N];
    let failed = |error: getrandom::Error| Error::io("asking for random bits", error.into());
    getrandom::fill(&mut bytes).map_err(failed)?;
    Ok(hex(&bytes))
}
