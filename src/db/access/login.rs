//! Logins: by a password, or by the token that an earlier login gave.

use super::FIRST_USER;
use super::rules::{Member, password_hash};
use super::tokens::{Claims, password_mark};
use crate::db::database::Database;
use hexgraph_base::types::{Error, HASH_OF_NOBODY, Result};
use hexgraph_store::exec::RequestContext;
use hexgraph_store::graph::Passwords;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

/// A login by a password, or by a token.
#[derive(Clone, Default)]
pub struct LoginRequest {
    /// The name of the user.
    pub user: String,
    /// The password.
    pub password: String,
    /// The token of an earlier login; where it is not empty, the name and the password do not
    /// count.
    pub refresh_token: String,
    /// The namespace.
    pub namespace: u64,
    /// The address of the client: failures are counted for it.
    pub address: Option<IpAddr>,
}

impl fmt::Debug for LoginRequest {
    /// Without the secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoginRequest").field("user", &self.user).finish_non_exhaustive()
    }
}

/// The tokens that a login gives.
#[derive(Clone)]
pub struct Tokens {
    /// The token for requests.
    pub access: String,
    /// The token for another login.
    pub refresh: String,
}

impl fmt::Debug for Tokens {
    /// Without the secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens").finish_non_exhaustive()
    }
}

/// The result of a login: the user, with the mark of the password that the token for another login
/// carries.
struct LoggedIn {
    name: String,
    mark: String,
    member: Arc<Member>,
}

/// # Logins
impl Database {
    /// Logs a user in.
    ///
    /// ```
    /// use hexgraph::db::Database;
    /// use hexgraph::db::access::{AccessOptions, FIRST_USER, LoginRequest};
    ///
    /// let db = Database::in_memory();
    /// let initial_password = Some("a better password".to_owned());
    /// db.enable_access(AccessOptions { initial_password, ..AccessOptions::new(vec![7; 32]) })?;
    /// let request = LoginRequest {
    ///     user: FIRST_USER.to_owned(),
    ///     password: "a better password".to_owned(),
    ///     ..LoginRequest::default()
    /// };
    /// let tokens = db.login(&request)?;
    /// assert!(!tokens.access.is_empty() && !tokens.refresh.is_empty());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::login_with`].
    pub fn login(&self, request: &LoginRequest) -> Result<Tokens> {
        self.login_with(request, &RequestContext::new())
    }

    /// Logs a user in. A login by a password takes as long as a comparison with its hash, whether
    /// there is such a user or such a namespace or not. The number of concurrent comparisons is
    /// limited, and after some failures in a row a user has to wait.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext};
    /// use hexgraph::db::access::{AccessOptions, LoginRequest};
    /// use std::time::Duration;
    ///
    /// let db = Database::in_memory();
    /// db.enable_access(AccessOptions::new(vec![7; 32]))?;
    /// let request = LoginRequest {
    ///     user: "groot".to_owned(),
    ///     password: "a guess".to_owned(),
    ///     ..LoginRequest::default()
    /// };
    /// let context = RequestContext::new().with_timeout(Duration::from_secs(10));
    /// assert!(db.login_with(&request, &context).is_err());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Query` when it is refused, with the same words whatever is wrong, and when it comes too
    /// soon after failures; `Limit` when `context` stops it.
    pub fn login_with(&self, request: &LoginRequest, context: &RequestContext) -> Result<Tokens> {
        let Some(list) = self.access_list() else { return Err(refused()) };
        self.prepare(context);
        let claims = list.signer.claims(&request.refresh_token);
        let engine = self.without_caller();
        let (namespace, result) = match (claims, request.refresh_token.is_empty()) {
            (Ok(Claims::Refresh { user, namespace, mark, .. }), _) => {
                let namespace = engine.namespace_full(namespace).map_err(|_| refused())?;
                let result = namespace.login_by_token((user, mark), context)?;
                (namespace, result)
            }
            (_, true) => {
                let namespace = engine.namespace_full(request.namespace).ok();
                let result = engine.login_by_password(namespace.as_ref(), request, context)?;
                (namespace.ok_or_else(refused)?, result)
            }
            _ => return Err(refused()),
        };
        let Some(list) = namespace.access_list() else { return Err(refused()) };
        let LoggedIn { name, mark, member } = &result;
        let who = (name.as_str(), namespace.namespace_id());
        Ok(Tokens {
            access: list.signer.access(who, member, list.options.access_ttl)?,
            refresh: list.signer.refresh(who, mark, list.options.refresh_ttl)?,
        })
    }

    /// Logs in to a namespace; `None` where there is none of the number, which nobody is to learn:
    /// pauses after failures and the work are the same.
    fn login_by_password(
        &self,
        namespace: Option<&Database>,
        request: &LoginRequest,
        context: &RequestContext,
    ) -> Result<LoggedIn> {
        let list = namespace.unwrap_or(self).access_list().ok_or_else(refused)?;
        let (name, now) = (request.user.as_str(), Instant::now());
        let (who, address) = ((request.namespace, name), request.address);
        if let Some(pause) = list.throttle.pause(who, address, now) {
            let seconds = pause.as_secs() + 1;
            let message = format!("too many logins failed: try again in {seconds} seconds");
            return Err(Error::query(message));
        }
        let existing = match namespace {
            Some(namespace) => namespace.member_with_hash(name)?,
            None => None,
        };
        // For a user who is not there as much is computed, so that the response time does not
        // reveal which users exist.
        let given = existing.as_ref().map_or(HASH_OF_NOBODY, |(_, hash)| hash);
        let is_right = context.verify(given, &request.password)?;
        let Some((member, hash)) = existing.filter(|_| is_right) else {
            list.throttle.note_failure(who, address, now);
            return Err(refused());
        };
        list.throttle.forget(who, address);
        list.check_default((name, &request.password), address)?;
        let is_first = (name, request.password.as_str()) == (FIRST_USER, list.initial());
        let mark = if is_first { list.initial_mark() } else { password_mark(&hash) };
        Ok(LoggedIn { name: name.to_owned(), mark, member })
    }

    fn login_by_token(
        &self,
        (name, mark): (String, String),
        context: &RequestContext,
    ) -> Result<LoggedIn> {
        let list = self.access_list().ok_or_else(refused)?;
        let (member, hash) = self.member_with_hash(&name)?.ok_or_else(refused)?;
        // The first user is made anew when all data were dropped. As long as the password is the
        // same, so is the user.
        let is_first = name == FIRST_USER && mark == list.initial_mark();
        let is_valid = match is_first {
            true => context.verify(&hash, list.initial())?,
            false => password_mark(&hash) == mark,
        };
        is_valid.then_some(LoggedIn { name, mark, member }).ok_or_else(refused)
    }

    /// A user who has a password, with its hash.
    fn member_with_hash(&self, name: &str) -> Result<Option<(Arc<Member>, String)>> {
        let version = self.entire_version()?;
        let member = self.member(&version, name)?;
        let hash = member.as_ref().and_then(|member| password_hash(&version, member.uid));
        Ok(member.zip(hash))
    }

    /// The mark of a transaction, which its client has to send back with each request of it; `None`
    /// without an access list.
    ///
    /// ```
    /// use hexgraph::db::{Database, TxnOptions, access::AccessOptions};
    ///
    /// let db = Database::in_memory();
    /// assert_eq!(db.transaction_mark(1), None);
    /// db.enable_access(AccessOptions::new(vec![7; 32]))?;
    /// let txn = db.begin(TxnOptions::default())?;
    /// assert!(db.transaction_mark(txn.number()).is_some());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn transaction_mark(&self, start: u64) -> Option<String> {
        Some(self.access_list()?.signer.transaction_mark(self.namespace_id(), start))
    }
}

fn refused() -> Error {
    Error::query("invalid username or password")
}
