//! Where users begin: the definitions that they need, and the first of them.

use super::access_list::{AccessList, AccessOptions};
use super::definitions::missing;
use super::rules::{is_default, password_hash};
use super::{FIRST_USER, GUARDIANS};
use crate::db::change::mutate::{Mutation, MutationRequest};
use crate::db::database::Database;
use crate::db::namespaces::namespace::RESERVED;
use hexgraph_base::types::{Error, Result, Value};
use hexgraph_dql::ParameterValue;
use hexgraph_store::exec::RequestContext;
use hexgraph_store::graph::{Statements, Version};
use serde_json::json;

/// # Users and groups
impl Database {
    /// Has users and rights from now on, for all handles that are made for callers
    /// ([`Database::for_token`]). The predicates that hold users, groups and rules are defined
    /// where they are missing, and where nobody is a guardian the first user is made.
    ///
    /// ```
    /// use hexgraph::db::Database;
    /// use hexgraph::db::access::AccessOptions;
    ///
    /// let db = Database::in_memory();
    /// let initial_password = Some("a better password".to_owned());
    /// db.enable_access(AccessOptions { initial_password, ..AccessOptions::new(vec![7; 32]) })?;
    /// assert!(db.has_access_list());
    /// assert!(!db.has_default_password()?);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Query` for a secret that is too short, and when it was done before; those of a change;
    /// `ReadOnly` when something has to be made and the database is open read-only.
    pub fn enable_access(&self, options: AccessOptions) -> Result<()> {
        let list = AccessList::new(options.clone())?;
        let engine = self.without_caller();
        // None is opened meanwhile, so that each has users before anybody finds it.
        let _lock = self.all.lock();
        for other in self.all.others().into_iter().filter(|other| other.id != RESERVED) {
            engine.within(other).begin_access(list.sibling(options.clone())?)?;
        }
        engine.begin_access(list)
    }

    /// Has users from now on: the first one is there before anybody is requested a right.
    fn begin_access(&self, list: AccessList) -> Result<()> {
        self.prepare_access(&list)?;
        let is_first = self.set_access_list(list);
        is_first.then_some(()).ok_or_else(|| Error::query("the access list is enabled already"))
    }

    /// Gives a namespace that was just opened users, where the namespace 0 has them. `password` is
    /// that of its first user, if it is made; without one it is that of the first user of the
    /// namespace 0 when it was made.
    ///
    /// # Errors
    ///
    /// As [`Database::enable_access`].
    pub(in crate::db) fn extend_access(
        &self,
        namespace: &Database,
        password: Option<&str>,
    ) -> Result<()> {
        let Some(list) = self.all.main().access.get() else { return Ok(()) };
        let mut options = list.options.clone();
        if let Some(password) = password {
            Value::check_password(password).map_err(Error::query)?;
            options.initial_password = Some(password.to_owned());
        }
        namespace.begin_access(list.sibling(options)?)
    }

    /// Whether there are users and rights.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// assert!(!db.has_access_list());
    /// ```
    pub fn has_access_list(&self) -> bool {
        self.access_list().is_some()
    }

    /// Whether the first user still has the password that everybody knows. Takes as long as a
    /// login.
    ///
    /// ```
    /// use hexgraph::db::Database;
    /// use hexgraph::db::access::AccessOptions;
    ///
    /// let db = Database::in_memory();
    /// db.enable_access(AccessOptions::new(vec![7; 32]))?;
    /// assert!(db.has_default_password()?);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::query`].
    pub fn has_default_password(&self) -> Result<bool> {
        if !self.has_access_list() {
            return Ok(false);
        }
        let version = self.entire_version()?;
        let Some(member) = self.without_caller().member(&version, FIRST_USER)? else {
            return Ok(false);
        };
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
        if missing(&self.entire_version()?.schema).is_some() {
            let define = |version: &Version| Ok(missing(&version.schema).unwrap_or_default());
            self.define_while(define, &|| Ok(()))?;
        }
        if !self.guardians()?.is_empty() {
            return Ok(());
        }
        // In one commit, so that there is no guardian without a password. Another process may have
        // made one meanwhile.
        let query = "query first($user: string, $group: string) {
            g as var(func: eq(dgraph.xid, $group)) @filter(type(dgraph.type.Group))
            u as var(func: eq(dgraph.xid, $user)) @filter(type(dgraph.type.User))
        }";
        let variables = [("$user", FIRST_USER), ("$group", GUARDIANS)];
        let variables =
            variables.map(|(name, value)| (name.to_owned(), ParameterValue::from(value)));
        let password = list.initial();
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
        self.mutate_with(&request, &RequestContext::new()).map(drop)
    }
}
