//! What a caller may do: the checks of changes and of the administration, and the versions that a
//! caller reads.

use super::FIRST_USER;
use super::caller::{Caller, User};
use super::definitions::PREDICATES;
use super::key_role::KeyRole;
use super::rights::{Right, Rights};
use super::tokens::Claims;
use crate::db::database::Database;
use crate::db::operation::Drop;
use hexgraph_base::formats::Predicate;
use hexgraph_base::schema::{SchemaReport, parse_schema};
use hexgraph_base::types::{AccessError, Error, Result, bounded};
use hexgraph_store::graph::{Mutation, Version, View};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::SystemTime;

/// A longer schema text is not parsed for a caller who may define no predicate. The error then
/// names none of its predicates.
const LONG_SCHEMA: usize = 64 << 10;

/// A caller, by the name and the node of the user, the name of the key, and the role.
pub(in crate::db) type Identified<'a> = (&'a str, Option<u64>, Option<&'a str>, &'static str);

/// # Handles of callers, and their rights
impl Database {
    /// The handle of somebody who shows a token: it sees and changes what that user may. A token
    /// that is missing or does not hold is reported by operations that need one. Without an access
    /// list it is the same handle.
    ///
    /// ```
    /// use hexgraph::db::Database;
    /// use hexgraph::db::access::{AccessOptions, LoginRequest};
    ///
    /// let db = Database::in_memory();
    /// db.enable_access(AccessOptions::new(vec![7; 32]))?;
    /// let request = LoginRequest {
    ///     user: "groot".to_owned(),
    ///     password: "password".to_owned(),
    ///     ..LoginRequest::default()
    /// };
    /// let tokens = db.login(&request)?;
    /// assert_eq!(db.for_token(Some(&tokens.access)).user(), Some("groot"));
    /// assert!(db.for_token(None).query("{ q(func: uid(1)) { uid } }").is_err());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn for_token(&self, token: Option<&str>) -> Database {
        let Some(list) = self.access_list() else { return self.clone() };
        let Some(token) = token.filter(|token| !token.is_empty()) else {
            return self.with_caller(Arc::new(Caller::Unknown(absent())));
        };
        if let Some(existing) = list.callers.get(token) {
            return self.of_caller(existing);
        }
        let caller = match list.signer.claims(token) {
            Ok(Claims::Access { user, node, namespace, expires }) => {
                let expires = Some(expires);
                let (key, role) = (None, KeyRole::Admin);
                Caller::User(User { name: user, node, namespace, expires, key, role })
            }
            Ok(Claims::Refresh { .. }) => Caller::Unknown(AccessError::Unauthenticated {
                message: "unable to parse jwt token: it is a token to log in again with".to_owned(),
            }),
            Err(error) => Caller::Unknown(error),
        };
        let caller = Arc::new(caller);
        // Invalid tokens are not cached: clients can make any number of them.
        if matches!(*caller, Caller::User(_)) {
            list.callers.insert(Arc::from(token), &caller, token.len() as u64);
        }
        self.of_caller(caller)
    }

    /// The handle of a caller with at most the rights of a role, for a surface that determines the
    /// role by other means than the keys in this database. Other callers than administrators do not
    /// see what is for administrators alone.
    ///
    /// ```
    /// use hexgraph::db::{Database, access::KeyRole};
    ///
    /// let db = Database::in_memory();
    /// let reader = db.clone().with_role(KeyRole::ReadOnly);
    /// assert!(reader.mutate("_:a <name> \"Ada\" .", "").is_err());
    /// assert!(db.mutate("_:a <name> \"Ada\" .", "").is_ok());
    /// ```
    pub fn with_role(self, role: KeyRole) -> Database {
        let within = match self.caller() {
            None if role == KeyRole::Admin => return self,
            None => Caller::Role(role),
            Some(caller) if caller.role().is_none_or(|existing| existing <= role) => return self,
            Some(caller) => caller.within(role),
        };
        self.with_caller(Arc::new(within))
    }

    /// The handle of a caller, in the namespace of the login.
    fn of_caller(&self, caller: Arc<Caller>) -> Database {
        let Caller::User(user) = &*caller else { return self.with_caller(caller) };
        if user.namespace == self.namespace_id() {
            return self.with_caller(caller);
        }
        match self.namespace_full(user.namespace) {
            Ok(namespace) => namespace.with_caller(caller),
            Err(error) => {
                let message = format!("unable to parse jwt token: {error}");
                let refusal = AccessError::Unauthenticated { message };
                self.with_caller(Arc::new(Caller::Unknown(refusal)))
            }
        }
    }

    /// The name of the user that the handle belongs to.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// assert_eq!(db.user(), None, "this handle is nobody's: it may do everything");
    /// ```
    pub fn user(&self) -> Option<&str> {
        match self.caller()? {
            Caller::User(user) => Some(&user.name),
            Caller::Unknown(_) | Caller::Key(_) | Caller::Role(_) => None,
        }
    }

    /// The expiry of the caller's token; `None` where there is none.
    pub(in crate::db) fn caller_expires(&self) -> Option<SystemTime> {
        match self.caller()? {
            Caller::User(user) => user.expires,
            // Its validity is checked with each answer.
            Caller::Unknown(_) | Caller::Key(_) | Caller::Role(_) => None,
        }
    }

    /// The rights of the caller by the newest rules; `None` for a handle that may do everything.
    ///
    /// # Errors
    ///
    /// `Access` for an unauthenticated caller, or an expired token; as [`Database::query`].
    pub(in crate::db) fn rights(&self) -> Result<Option<Arc<Rights>>> {
        let Some(caller) = self.caller() else { return Ok(None) };
        let of_role = |role| (role < KeyRole::Admin).then(Rights::of_clients);
        let user = match caller {
            Caller::Unknown(error) => return Err(error.clone().into()),
            Caller::Key(holder) => return self.check_key(holder).map(|()| of_role(holder.role)),
            Caller::Role(role) => return Ok(of_role(*role)),
            Caller::User(user) => user,
        };
        user.key.as_ref().map_or(Ok(()), |holder| self.check_key(holder))?;
        let refused = |message: &str| {
            let message = format!("unable to parse jwt token: {message}");
            Error::from(AccessError::Unauthenticated { message })
        };
        if user.expires.is_some_and(|end| end <= SystemTime::now()) {
            return Err(refused("token has invalid claims: Token is expired"));
        }
        let version = self.entire_version()?;
        let engine = self.without_caller();
        let member = engine.member(&version, &user.name)?;
        // A user who was deleted and created again under the same name is another user. Only the
        // first user, who is created again when all data are dropped, stays the same.
        let is_same = |uid| user.node.is_none_or(|node| node == uid) || user.name == FIRST_USER;
        let member = member.filter(|member| is_same(member.uid));
        let member = member.ok_or_else(|| refused("the user is no more"))?;
        // The current groups, not those in the token: changes of the groups of a user apply at
        // once.
        let groups: Vec<&str> = member.groups.iter().map(String::as_str).collect();
        Ok(Some(engine.access_rules(&version)?.rights(&groups, user.role)))
    }

    /// What of a version the caller sees.
    ///
    /// # Errors
    ///
    /// As [`Database::query`], and for an unauthenticated caller.
    pub(in crate::db) fn seen(&self, version: Arc<Version>) -> Result<Arc<Version>> {
        if self.caller().is_none() {
            return Ok(version);
        }
        let rights = self.rights()?;
        Ok(match rights.as_ref().and_then(|rights| rights.view()) {
            Some(view) => Arc::new(version.seen_by(view)),
            None => version,
        })
    }

    /// What the caller sees of a version; nothing and the reason for an unauthenticated caller, who
    /// may still call some operations.
    ///
    /// # Errors
    ///
    /// As [`Database::query`].
    pub(in crate::db) fn seen_or_nothing(
        &self,
        version: Arc<Version>,
    ) -> Result<(Arc<Version>, Option<AccessError>)> {
        match self.seen(Arc::clone(&version)) {
            Ok(seen) => Ok((seen, None)),
            Err(Error::Access(refusal)) => {
                let nothing = Arc::new(View::only::<&str>([]));
                Ok((Arc::new(version.seen_by(&nothing)), Some(refusal)))
            }
            Err(error) => Err(error),
        }
    }

    /// Checks that the caller is authenticated.
    ///
    /// # Errors
    ///
    /// As [`Database::query`], and for an unauthenticated caller.
    pub(in crate::db) fn check_existing(&self) -> Result<()> {
        self.rights().map(drop)
    }

    /// Checks that the caller is a guardian.
    ///
    /// ```
    /// use hexgraph::db::Database;
    /// use hexgraph::db::access::AccessOptions;
    ///
    /// let db = Database::in_memory();
    /// db.check_guardian()?;
    /// db.enable_access(AccessOptions::new(vec![7; 32]))?;
    /// assert!(db.for_token(None).check_guardian().is_err());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Access` for others, and for an unauthenticated caller.
    pub fn check_guardian(&self) -> Result<()> {
        match self.rights()? {
            Some(rights) if !rights.is_guardian() => {
                let user = self.user().unwrap_or_default();
                let message = format!(
                    "Only guardians are allowed access. User '{user}' is not a member of guardians group."
                );
                Err(AccessError::Denied { message }.into())
            }
            _ => Ok(()),
        }
    }
    /// Checks that the caller has a role: that of a client, or of an administrator. All keys permit
    /// reads.
    ///
    /// # Errors
    ///
    /// `Access` when it does not.
    fn check_role(&self, needed: KeyRole) -> Result<()> {
        let role = self.caller().and_then(Caller::role);
        if role.is_none_or(|role| needed <= role) {
            return Ok(());
        }
        let message = match needed {
            KeyRole::Admin => "the key in X-Auth-Token is not that of an administrator",
            _ => "the key in X-Auth-Token may only read",
        };
        Err(AccessError::Denied { message: message.to_owned() }.into())
    }

    /// Checks that the key of the caller is not one that may only read.
    ///
    /// # Errors
    ///
    /// `Access` when it is.
    pub(in crate::db) fn check_may_write(&self) -> Result<()> {
        self.check_role(KeyRole::Client)
    }

    /// The names of the user and of the key that is retained in the database, of this handle, for
    /// audit logs.
    ///
    /// ```
    /// use hexgraph::db::{Database, access::{KeyRole, NewKey}};
    ///
    /// let db = Database::in_memory();
    /// let new = NewKey { name: "dashboard", role: KeyRole::Client, lifetime: None };
    /// let (key, secret) = db.create_key(&new)?;
    /// let client = db.for_secrets(Some(secret.reveal()), None);
    /// assert_eq!(client.requested_by(), (None, Some(key.id.as_str())));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn requested_by(&self) -> (Option<&str>, Option<&str>) {
        match self.caller_name() {
            Some((user, key)) => (Some(user).filter(|user| !user.is_empty()), key),
            None => (None, None),
        }
    }

    fn caller_name(&self) -> Option<(&str, Option<&str>)> {
        match self.caller()? {
            Caller::User(user) => Some((&user.name, user.key.as_ref().map(|key| key.id.as_str()))),
            Caller::Key(key) => Some(("", Some(&key.id))),
            Caller::Role(_) | Caller::Unknown(_) => None,
        }
    }

    /// What answers depend on besides the data and the request: the user, by name and node, the key
    /// of this database, and the role.
    pub(in crate::db) fn caller_identity(&self) -> Option<Identified<'_>> {
        let caller = self.caller()?;
        let (name, key) = self.caller_name().unwrap_or_default();
        let node = match caller {
            Caller::User(user) => user.node.map(|node| node.0),
            Caller::Key(_) | Caller::Role(_) | Caller::Unknown(_) => None,
        };
        Some((name, node, key, caller.role()?.name()))
    }

    /// The handle of the same caller for as long as there is such a user: the caller of this
    /// function checks the expiry of the token.
    pub(in crate::db) fn without_end(&self) -> Database {
        match self.caller() {
            Some(Caller::User(user)) => {
                let user = User { expires: None, ..user.clone() };
                self.with_caller(Arc::new(Caller::User(user)))
            }
            _ => self.clone(),
        }
    }

    /// Checks that the caller administers the entire database: a guardian of the namespace 0.
    ///
    /// ```
    /// use hexgraph::db::{Database, access::KeyRole};
    ///
    /// let db = Database::in_memory();
    /// db.check_superadmin()?;
    /// assert!(db.with_role(KeyRole::Client).check_superadmin().is_err());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Access` for anybody else.
    pub fn check_superadmin(&self) -> Result<()> {
        self.check_role(KeyRole::Admin)?;
        // An unauthenticated caller gets that error.
        self.check_existing()?;
        if self.caller().is_some() && self.namespace_id() != 0 {
            let message = "Only superadmin is allowed to do this operation".to_owned();
            return Err(AccessError::Denied { message }.into());
        }
        self.check_guardian()
    }

    /// As [`Database::check_guardian`], with the error of administrative requests: there, a missing
    /// token is an error of authorization and not of authentication.
    ///
    /// ```
    /// use hexgraph::db::{Database, access::KeyRole};
    ///
    /// let db = Database::in_memory();
    /// db.check_administrator()?;
    /// assert!(db.with_role(KeyRole::ReadOnly).check_administrator().is_err());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::check_guardian`].
    pub fn check_administrator(&self) -> Result<()> {
        match self.caller() {
            Some(Caller::Unknown(error)) if *error == absent() => {
                Err(AccessError::Denied { message: error.message().to_owned() }.into())
            }
            _ => {
                self.check_role(KeyRole::Admin)?;
                self.check_guardian()
            }
        }
    }

    /// Checks that the caller may execute mutations. Returns which predicates the caller may
    /// change, for the deletion of all that a node has.
    ///
    /// # Errors
    ///
    /// `Access` with the predicates that the caller may not change; `Access` for an unauthenticated
    /// caller.
    pub(in crate::db) fn check_writes(
        &self,
        mutations: &[Mutation<'_>],
    ) -> Result<impl Fn(&str) -> bool + use<>> {
        if !mutations.is_empty() {
            self.check_may_write()?;
        }
        let rights = self.rights()?;
        if let Some(rights) = &rights {
            let quads = mutations.iter().flat_map(|it| it.sets.iter().chain(&it.deletes));
            let names = quads.filter_map(|quad| match quad.predicate {
                Predicate::Name(name) => Some(name),
                _ => None,
            });
            check(rights, Right::Write, "mutate", names)?;
        }
        Ok(move |name: &str| rights.as_ref().is_none_or(|rights| rights.has(Right::Write, name)))
    }

    /// Checks that the caller may still change the predicates that a transaction has changed: after
    /// a right was revoked or the user was deleted, nothing more is changed.
    ///
    /// # Errors
    ///
    /// As [`Database::check_writes`].
    pub(in crate::db) fn check_commit(&self, names: &[Arc<str>]) -> Result<()> {
        if names.is_empty() {
            return Ok(());
        }
        self.check_may_write()?;
        let Some(rights) = self.rights()? else { return Ok(()) };
        check(&rights, Right::Write, "mutate", names.iter().map(|name| &**name))
    }

    /// Checks that the caller may define anything at all, before a text that is long is read.
    ///
    /// # Errors
    ///
    /// `Access` for a caller who may not; `Access` for an unauthenticated caller.
    pub(in crate::db) fn check_may_alter(&self, text: &str) -> Result<()> {
        self.check_role(KeyRole::Admin)?;
        match self.rights()? {
            Some(rights) if LONG_SCHEMA < text.len() && !rights.has_any(Right::Alter) => {
                let message = "unauthorized to alter any predicate\n".to_owned();
                Err(AccessError::Denied { message }.into())
            }
            _ => Ok(()),
        }
    }

    /// Checks that the caller may set the definitions of a text. A type is defined by who may
    /// define all of its fields, those that it has and those that it gets.
    ///
    /// # Errors
    ///
    /// `Access` with the predicates that the caller may not define; `Access` for an unauthenticated
    /// caller.
    pub(in crate::db) fn check_alter(&self, text: &str) -> Result<()> {
        self.check_role(KeyRole::Admin)?;
        let Some(rights) = self.rights()? else { return Ok(()) };
        let text = parse_schema(text)?;
        let version = self.entire_version()?;
        let fields = text.types.iter().flat_map(|def| &def.fields);
        let fields = fields.map(|field| field.trim_start_matches('~'));
        let names = text.predicates.iter().map(|def| def.name.as_str());
        check(&rights, Right::Alter, "alter", names.chain(fields))?;
        text.types.iter().try_for_each(|def| check_type(&rights, &version, &def.name))
    }

    /// What takes the values that the caller may not read out of a report: who may define a
    /// predicate may not do that for it.
    ///
    /// # Errors
    ///
    /// As [`Database::rights`].
    pub(in crate::db) fn hides_unread(&self) -> Result<impl Fn(&mut SchemaReport) + use<>> {
        let rights = self.rights()?;
        Ok(move |report: &mut SchemaReport| {
            rights.iter().for_each(|rights| rights.hide_values(report));
        })
    }

    /// Checks that the caller may drop something.
    ///
    /// # Errors
    ///
    /// `Access` when not; `Schema` for what access control itself needs; `Access` for an
    /// unauthenticated caller.
    pub(in crate::db) fn check_drop(&self, what: &Drop) -> Result<()> {
        let is_needed = |name: &str| PREDICATES.contains(&name) || name.starts_with("dgraph.type.");
        if let Drop::Predicate(name) | Drop::Type(name) = what
            && self.access_list().is_some()
            && is_needed(name)
        {
            let kind = if matches!(what, Drop::Type(_)) { "type" } else { "predicate" };
            let message = format!("{kind} {name} is pre-defined and is not allowed to be dropped");
            return Err(Error::schema(message));
        }
        self.check_role(KeyRole::Admin)?;
        let Some(rights) = self.rights()? else { return Ok(()) };
        match what {
            Drop::All | Drop::Data if rights.is_guardian() => Ok(()),
            Drop::All | Drop::Data => {
                let user = self.user().unwrap_or_default();
                let message = format!(
                    "only guardians are allowed to drop all data, but the current user is {user}"
                );
                Err(AccessError::Denied { message }.into())
            }
            Drop::Predicate(name) => check(&rights, Right::Alter, "alter", [name.as_str()]),
            Drop::Type(name) => check_type(&rights, &*self.entire_version()?, name),
        }
    }
}

/// Reports the predicates for which a caller lacks a right, in the words of Dgraph, their
/// names ascending.
fn check<'a>(
    rights: &Rights,
    right: Right,
    verb: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Result<()> {
    let missing: BTreeSet<&str> =
        names.into_iter().filter(|name| !rights.has(right, name)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let mut message = format!("unauthorized to {verb} following predicates: ");
    for name in missing {
        message.push_str(name);
        message.push(' ');
    }
    message.push('\n');
    Err(AccessError::Denied { message: bounded(message) }.into())
}

/// Says which fields that a type has somebody may not alter. Those that may not be seen are not
/// named, and only mentioned if there are no others.
fn check_type(rights: &Rights, version: &Version, name: &str) -> Result<()> {
    let fields = version.schema.types.get(name).map_or(&[][..], |def| &def.fields);
    let names = || fields.iter().map(|field| field.trim_start_matches('~'));
    check(rights, Right::Alter, "alter", names().filter(|name| rights.has(Right::Read, name)))?;
    if names().all(|name| rights.has(Right::Alter, name)) {
        return Ok(());
    }
    let message = format!("unauthorized to alter type {name}: it has fields of others\n");
    Err(AccessError::Denied { message }.into())
}

/// That there is no token.
fn absent() -> AccessError {
    AccessError::Unauthenticated { message: "no accessJwt available".to_owned() }
}
