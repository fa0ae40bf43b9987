//! [`AccessList`]: the state of a database with users.

use super::caller::Caller;
use super::rules::Rules;
use super::throttle::Throttle;
use super::tokens::{SECRET_LEN_MIN, Signer, SigningMethod};
use super::{DEFAULT_PASSWORD, FIRST_USER};
use arc_swap::ArcSwapOption;
use hexgraph_base::types::{Error, GenerationCache, Result};
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// So many tokens are retained with what they say, of together so many bytes.
const CALLERS_MAX: usize = 10_000;
const CALLER_BYTES_MAX: u64 = 8 << 20;

/// Options for [`Database::enable_access`](crate::db::Database::enable_access).
#[derive(Clone)]
pub struct AccessOptions {
    /// The secret that tokens are signed with, at least 32 bytes.
    pub secret: Vec<u8>,
    /// How they are signed.
    pub method: SigningMethod,
    /// How long a token for requests holds.
    pub access_ttl: Duration,
    /// How long a token for another login holds.
    pub refresh_ttl: Duration,
    /// The password of the first user, who is made where there are no guardians; `None` for
    /// `password`.
    pub initial_password: Option<String>,
    /// The first user may log in from other machines although its password is the one that
    /// everybody knows.
    pub allows_default_password: bool,
}

impl AccessOptions {
    /// The options with a secret: tokens for requests hold for six hours, those for another login
    /// for thirty days.
    ///
    /// ```
    /// use hexgraph::db::access::{AccessOptions, SigningMethod};
    ///
    /// let options = AccessOptions::new(b"thirty-two bytes that are secret".to_vec());
    /// assert_eq!(options.method, SigningMethod::Hs256);
    /// assert_eq!(options.access_ttl.as_secs(), 6 * 3600);
    /// ```
    pub fn new(secret: Vec<u8>) -> AccessOptions {
        AccessOptions {
            secret,
            method: SigningMethod::default(),
            access_ttl: Duration::from_secs(6 * 3600),
            refresh_ttl: Duration::from_secs(30 * 24 * 3600),
            initial_password: None,
            allows_default_password: false,
        }
    }
}

impl fmt::Debug for AccessOptions {
    /// Without the secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("AccessOptions");
        shown.field("method", &self.method).field("access_ttl", &self.access_ttl);
        shown.field("refresh_ttl", &self.refresh_ttl).finish_non_exhaustive()
    }
}

/// Users and their rights, in addition to the data.
pub(in crate::db) struct AccessList {
    pub(super) options: AccessOptions,
    pub(super) signer: Signer,
    /// Of all namespaces together.
    pub(super) throttle: Arc<Throttle>,
    /// Callers by their tokens, valid when they were checked. Their expiry is checked in each
    /// request.
    pub(super) callers: GenerationCache<Arc<Caller>>,
    /// The rules that were requested last.
    pub(super) rules: ArcSwapOption<Rules>,
}

impl AccessList {
    /// Makes one.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] for a secret that is too short.
    pub(super) fn new(options: AccessOptions) -> Result<AccessList> {
        let length = options.secret.len();
        if length < SECRET_LEN_MIN {
            return Err(Error::query(format!(
                "the secret of the access list has {length} bytes: it needs at least {SECRET_LEN_MIN}"
            )));
        }
        Ok(AccessList {
            signer: Signer::new(&options.secret, options.method),
            options,
            throttle: Arc::default(),
            callers: GenerationCache::new(CALLERS_MAX, CALLER_BYTES_MAX),
            rules: ArcSwapOption::empty(),
        })
    }

    /// Makes one for another namespace.
    ///
    /// # Errors
    ///
    /// As [`AccessList::new`].
    pub(super) fn sibling(&self, options: AccessOptions) -> Result<AccessList> {
        Ok(AccessList { throttle: Arc::clone(&self.throttle), ..AccessList::new(options)? })
    }

    /// The password that the first user has when it is made.
    pub(super) fn initial(&self) -> &str {
        self.options.initial_password.as_deref().unwrap_or(DEFAULT_PASSWORD)
    }

    /// The mark of that password.
    pub(super) fn initial_mark(&self) -> String {
        self.signer.mark_of(self.initial())
    }

    /// Refuses a right password that everybody knows, of the first user, from other machines than
    /// this.
    ///
    /// # Errors
    ///
    /// [`Error::Query`], with what to do.
    pub(super) fn check_default(
        &self,
        (name, password): (&str, &str),
        address: Option<IpAddr>,
    ) -> Result<()> {
        let is_near = address.is_none_or(|address| address.to_canonical().is_loopback());
        if is_near
            || self.options.allows_default_password
            || (name, password) != (FIRST_USER, DEFAULT_PASSWORD)
        {
            return Ok(());
        }
        let hint = "log in from the machine of the server and set another with resetPassword, or start it with --acl-allow-default-password";
        Err(Error::query("the password of groot is the one that everybody knows").with_hint(hint))
    }
}
