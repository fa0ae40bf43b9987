//! [`AccessList`]: users and their rights in a database where they are asked for, and the first user.

use super::definitions::missing;
use super::rules::{Member, Rules, ask, is_default, objects, password_hash};
use super::throttle::Throttle;
use super::tokens::{SECRET_LEN_MIN, Signer, SigningMethod};
use super::{DEFAULT_PASSWORD, FIRST_USER, GUARDIANS};
use crate::db::ask::plans::Variables;
use crate::db::change::mutate::{Mutation, MutationRequest};
use crate::db::database::Database;
use arc_swap::ArcSwapOption;
use hexgraph_base::types::{Error, Result};
use hexgraph_dql::Given;
use hexgraph_store::exec::Control;
use hexgraph_store::graph::{Statements, Version};
use serde_json::json;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Options for [`Database::enable_access`].
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
    /// The password of the first user, who is made where there are no guardians; `None` for `password`.
    pub initial_password: Option<String>,
}

impl AccessOptions {
    /// The options with a secret: tokens for requests hold for six hours, those for another login for thirty days.
    pub fn new(secret: Vec<u8>) -> AccessOptions {
        AccessOptions {
            secret,
            method: SigningMethod::default(),
            access_ttl: Duration::from_secs(6 * 3600),
            refresh_ttl: Duration::from_secs(30 * 24 * 3600),
            initial_password: None,
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

/// Users and their rights in a database.
pub(in crate::db) struct AccessList {
    pub(super) signer: Signer,
    pub(super) access_ttl: Duration,
    pub(super) refresh_ttl: Duration,
    pub(super) throttle: Throttle,
    initial_password: Option<String>,
    /// The rules that were asked for last.
    rules: ArcSwapOption<Rules>,
}

impl AccessList {
    /// The rules of a version, which are read again when they have changed.
    ///
    /// # Errors
    ///
    /// As [`Database::query`].
    pub(super) fn rules(&self, database: &Database, version: &Arc<Version>) -> Result<Arc<Rules>> {
        if let Some(rules) = &*self.rules.load()
            && rules.hold_for(version)
        {
            return Ok(Arc::clone(rules));
        }
        let rules = Arc::new(Rules::of(&database.without_caller(), version)?);
        self.rules.store(Some(Arc::clone(&rules)));
        Ok(rules)
    }

    /// A user; `None` when there is none of the name.
    ///
    /// # Errors
    ///
    /// As [`Database::query`].
    pub(super) fn member(
        &self,
        database: &Database,
        version: &Arc<Version>,
        name: &str,
    ) -> Result<Option<Arc<Member>>> {
        self.rules(database, version)?.member(&database.without_caller(), version, name)
    }
}

impl Database {
    /// Has users and rights from now on, for all handles that are made for callers ([`Database::for_token`]). The predicates that
    /// hold users, groups and rules are defined where they are missing, and where nobody is a guardian the first user is made.
    ///
    /// # Errors
    ///
    /// `Query` for a secret that is too short, and when it was done before; those of a change; `ReadOnly` when something has to
    /// be made and the database is open read-only.
    pub fn enable_access(&self, options: AccessOptions) -> Result<()> {
        let AccessOptions { secret, method, access_ttl, refresh_ttl, initial_password } = options;
        if secret.len() < SECRET_LEN_MIN {
            let length = secret.len();
            return Err(Error::query(format!(
                "the secret of the access list has {length} bytes: it needs at least {SECRET_LEN_MIN}"
            )));
        }
        let list = AccessList {
            signer: Signer::new(&secret, method),
            access_ttl,
            refresh_ttl,
            throttle: Throttle::default(),
            initial_password,
            rules: ArcSwapOption::empty(),
        };
        self.without_caller().prepare_access(&list)?;
        let is_first = self.set_access_list(list);
        is_first.then_some(()).ok_or_else(|| Error::query("the access list is enabled already"))
    }

    /// Whether there are users and rights.
    pub fn has_access_list(&self) -> bool {
        self.access_list().is_some()
    }

    /// Whether the first user still has the password that everybody knows. Takes as long as a login.
    ///
    /// # Errors
    ///
    /// As [`Database::query`].
    pub fn has_default_password(&self) -> Result<bool> {
        let Some(list) = self.access_list() else { return Ok(false) };
        let version = self.whole_version()?;
        let Some(member) = list.member(self, &version, FIRST_USER)? else { return Ok(false) };
        Ok(password_hash(&version, member.uid).is_some_and(|hash| is_default(&hash)))
    }

    /// Makes again what everything needs, after all data were dropped.
    ///
    /// # Errors
    ///
    /// Those of a change.
    pub(in crate::db) fn restore_access(&self) -> Result<()> {
        match self.access_list() {
            Some(list) => self.without_caller().prepare_access(list),
            None => Ok(()),
        }
    }

    fn prepare_access(&self, list: &AccessList) -> Result<()> {
        if missing(&self.whole_version()?.schema).is_some() {
            let define = |version: &Version| Ok(missing(&version.schema).unwrap_or_default());
            self.define_while(define, &|| Ok(()))?;
        }
        let text = "{ guardian(func: eq(dgraph.xid, \"guardians\")) @filter(type(dgraph.type.Group)) { ~dgraph.user.group { uid } } }";
        let found = ask(self, &self.whole_version()?, text, Variables::new())?;
        let has_guardians = objects(&found["guardian"])
            .any(|group| objects(&group["~dgraph.user.group"]).next().is_some());
        if has_guardians {
            return Ok(());
        }
        // In one commit, so that there is no guardian without a password. Another process may have made one meanwhile.
        let query = "query first($user: string, $group: string) {
            g as var(func: eq(dgraph.xid, $group)) @filter(type(dgraph.type.Group))
            u as var(func: eq(dgraph.xid, $user)) @filter(type(dgraph.type.User))
        }";
        let variables = [("$user", FIRST_USER), ("$group", GUARDIANS)];
        let variables = variables.map(|(name, value)| (name.to_owned(), Given::from(value)));
        let password = list.initial_password.as_deref().unwrap_or(DEFAULT_PASSWORD);
        let group = json!({
            "uid": "uid(g)", "dgraph.xid": GUARDIANS, "dgraph.type": "dgraph.type.Group",
        });
        let user = json!({
            "uid": "uid(u)", "dgraph.xid": FIRST_USER, "dgraph.type": "dgraph.type.User",
            "dgraph.password": password, "dgraph.user.group": [{ "uid": "uid(g)" }],
        });
        let set = json!([group, user]).to_string();
        let mutation = Mutation { set: vec![Statements::Json(&set)], ..Mutation::default() };
        let request = MutationRequest {
            query: query.into(),
            variables: variables.into(),
            mutations: vec![mutation],
        };
        self.mutate_request(&request, &Control::new()).map(drop)
    }
}
