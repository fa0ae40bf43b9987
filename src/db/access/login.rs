//! Logins: by a password, or by the token that an earlier login gave.

use super::FIRST_USER;
use super::rules::password_hash;
use super::tokens::{Claims, password_mark};
use crate::db::database::Database;
use hexgraph_base::types::{Error, Result};
use hexgraph_store::exec::Control;
use hexgraph_store::graph::Passwords;
use std::fmt;
use std::net::IpAddr;
use std::time::Instant;

/// A hash like those of passwords, of none: what is compared with the password of a user who is not there.
const NOBODY: &str = "$2b$10$.....................................................";

/// A login by a password, or by a token.
#[derive(Clone, Default)]
pub struct LoginRequest {
    /// The name of the user.
    pub user: String,
    /// The password.
    pub password: String,
    /// The token of an earlier login; where it is not empty, the name and the password do not count.
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

impl Database {
    /// Logs a user in. A login by a password takes as long as a comparison with its hash, whether there is such a user or not; of
    /// those only so many are computed at once, and after some failures in a row a user has to wait.
    ///
    /// # Errors
    ///
    /// `Query` when it is refused, with the same words whatever is wrong, and when it comes too soon after failures; `Limit` when
    /// `control` stops it.
    pub fn login(&self, request: &LoginRequest, control: &Control) -> Result<Tokens> {
        let refused = || Error::query("invalid username or password");
        if self.access_list().is_none() {
            return Err(refused());
        }
        let Ok(namespace) = self.without_caller().namespace_of_login(request) else {
            return Err(refused());
        };
        namespace.login_here(request, control)
    }

    /// The namespace that a login is for: where it has a token, that of the token.
    fn namespace_of_login(&self, request: &LoginRequest) -> Result<Database> {
        let list = self.access_list();
        let known = list.and_then(|list| list.signer.claims(&request.refresh_token).ok());
        match known {
            Some(Claims::Refresh { namespace, .. }) => self.namespace_whole(namespace),
            _ => self.namespace_whole(request.namespace),
        }
    }

    fn login_here(&self, request: &LoginRequest, control: &Control) -> Result<Tokens> {
        let refused = || Error::query("invalid username or password");
        let Some(list) = self.access_list() else { return Err(refused()) };
        self.prepare(control);
        let (engine, version) = (self.without_caller(), self.whole_version()?);
        let (name, mark, member) = if request.refresh_token.is_empty() {
            let (name, now) = (request.user.as_str(), Instant::now());
            if let Some(pause) = list.throttle.pause(name, request.address, now) {
                let seconds = pause.as_secs() + 1;
                return Err(Error::query(format!(
                    "too many logins failed: try again in {seconds} seconds"
                )));
            }
            let member = engine.member(&version, name)?;
            let hash = member.as_ref().and_then(|member| password_hash(&version, member.uid));
            // For a user who is not there as much is computed, so that the time tells nobody who is.
            let given = hash.as_deref().unwrap_or(NOBODY);
            let is_right = control.verify(given, &request.password)?;
            let Some((member, hash)) = member.zip(hash).filter(|_| is_right) else {
                list.throttle.note_failure(name, request.address, now);
                return Err(refused());
            };
            list.throttle.forget(name, request.address);
            list.check_default((name, &request.password), request.address)?;
            let is_first = (name, request.password.as_str()) == (FIRST_USER, list.initial());
            let mark = if is_first { list.initial_mark() } else { password_mark(&hash) };
            (name.to_owned(), mark, member)
        } else {
            let claims = list.signer.claims(&request.refresh_token);
            let Ok(Claims::Refresh { user, mark, .. }) = claims else { return Err(refused()) };
            let member = engine.member(&version, &user)?;
            let hash = member.as_ref().and_then(|member| password_hash(&version, member.uid));
            let Some((member, hash)) = member.zip(hash) else { return Err(refused()) };
            // The first user is made anew when all data were dropped. As long as the password is the same, so is the user.
            let is_first = user == FIRST_USER && mark == list.initial_mark();
            let is_known = match is_first {
                true => control.verify(&hash, list.initial())?,
                false => password_mark(&hash) == mark,
            };
            if !is_known {
                return Err(refused());
            }
            (user, mark, member)
        };
        let who = (name.as_str(), self.namespace_id());
        Ok(Tokens {
            access: list.signer.access(who, &member, list.options.access_ttl)?,
            refresh: list.signer.refresh(who, &mark, list.options.refresh_ttl)?,
        })
    }

    /// The mark of a transaction, which its client has to send back with each request of it; `None` without an access list.
    pub fn transaction_mark(&self, start: u64) -> Option<String> {
        Some(self.access_list()?.signer.transaction_mark(self.namespace_id(), start))
    }
}
