//! Making, opening, listing and dropping namespaces, and reading and changing the reserved
//! database.

use super::namespace::{Namespace, RESERVED};
use super::registry::{QUERY, Registry, SCHEMA};
use super::set::NamespaceLock;
use crate::db::change::mutate::{Mutation, MutationRequest};
use crate::db::database::Database;
use crate::db::guard::guarded;
use crate::db::query::plans::Variables;
use hexgraph_base::types::{Error, Result};
use hexgraph_dql::ParameterValue;
use hexgraph_store::exec::RequestContext;
use hexgraph_store::graph::{Statements, resolve};
use serde_json::{Value as Json, json};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// The most namespaces that there may be: each one that is open has files and caches of its own.
const NAMESPACES_MAX: usize = 10_000;

/// The bound of uids is moved on by this many at a time.
const UID_STEP: u64 = 4096;

/// # Namespaces
impl Database {
    /// The number of the namespace that this handle reads and changes.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// assert_eq!(db.namespace_id(), 0);
    /// ```
    pub fn namespace_id(&self) -> u64 {
        self.own.id
    }

    /// The numbers of all namespaces, ascending.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// let id = db.create_namespace(None)?;
    /// assert_eq!(db.namespaces()?, [0, id]);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails only when the database is closed.
    pub fn namespaces(&self) -> Result<Vec<u64>> {
        self.check_superadmin()?;
        Ok([0].into_iter().chain(self.registry()?.namespaces.iter().copied()).collect())
    }

    /// A handle of a namespace, which is opened where it was not. It has the rights of this one.
    ///
    /// # Errors
    ///
    /// `Query` when there is no such namespace; as [`Database::open`] where it has to be opened.
    ///
    /// ```
    /// # use hexgraph::db::Database;
    /// let database = Database::in_memory();
    /// let id = database.create_namespace(None)?;
    /// let other = database.namespace(id)?;
    /// other.mutate("_:a <name> \"Ada\" .", "")?;
    /// assert_eq!((database.stats()?.nodes, other.stats()?.nodes), (0, 1));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn namespace(&self, id: u64) -> Result<Database> {
        if id == self.own.id {
            return Ok(self.clone());
        }
        self.check_superadmin()?;
        self.without_caller().namespace_full(id)
    }

    /// The handle of a namespace that may do everything in it.
    ///
    /// # Errors
    ///
    /// As [`Database::namespace`].
    pub(in crate::db) fn namespace_full(&self, id: u64) -> Result<Database> {
        if id != RESERVED
            && let Some(existing) = self.all.opened(id)
        {
            return Ok(self.without_caller().within(existing));
        }
        if !self.registry()?.namespaces.contains(&id) {
            let hint = "`namespaces` lists those that there are";
            return Err(Error::query(format!("there is no namespace {id}")).with_hint(hint));
        }
        guarded(|| {
            let lock = self.all.lock();
            // It may have been dropped meanwhile.
            if !self.registry()?.namespaces.contains(&id) {
                return Err(Error::query(format!("there is no namespace {id}")));
            }
            self.begin_namespace(id, None, false, &lock)
        })
    }

    /// Makes a namespace, and returns its number. Where there are users, it gets a first one, whose
    /// password is `password`, or the default one. The number is durable, and never reused.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// let tenant = db.namespace(db.create_namespace(None)?)?;
    /// tenant.mutate("_:a <name> \"Ada\" .", "")?;
    /// assert!(!db.query("{ q(func: has(name)) { name } }")?.has_rows()?, "graphs are kept apart");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `ReadOnly`; `Access` for who is no guardian of the namespace 0; `Query` for a password that
    /// is too short; `Limit` when there are too many; `Io` on an error of the operating system.
    pub fn create_namespace(&self, password: Option<&str>) -> Result<u64> {
        self.check_superadmin()?;
        self.check_all_writable()?;
        guarded(|| {
            let lock = self.all.lock();
            if self.all.opened(RESERVED).is_none() {
                // Before the folder of the first one, which nobody would know of after a crash.
                self.begin_reserved(&lock)?;
            }
            let registry = self.registry()?;
            if NAMESPACES_MAX <= registry.namespaces.len() {
                let message = format!("there are {NAMESPACES_MAX} namespaces, no more may be made");
                return Err(Error::Limit { message });
            }
            let id = registry.next.max(1);
            // What is left of one that was being made when the process ended.
            self.all.remove(id, &lock)?;
            if let Err(error) = self.begin_namespace(id, password, true, &lock) {
                // It was never returned.
                let _ = self.all.remove(id, &lock);
                return Err(error);
            }
            let entry = json!({ "hexgraph.namespace": id });
            if let Err(error) = self.note(("", &[]), &entry, &lock) {
                // The entry may be on the disk all the same. Then the next to open the directory
                // finds the folder; if not, removes it.
                self.all.shut(id, &lock);
                return Err(error);
            }
            Ok(id)
        })
    }

    /// Drops a namespace with all that is in it. Handles of it fail from now on.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// let id = db.create_namespace(None)?;
    /// db.drop_namespace(id)?;
    /// assert!(db.namespace(id).is_err());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::create_namespace`]; `Query` when there is none, and for 0.
    pub fn drop_namespace(&self, id: u64) -> Result<()> {
        self.check_superadmin()?;
        self.check_all_writable()?;
        if id == 0 {
            return Err(Error::query("namespace [0] cannot be deleted"));
        }
        guarded(|| {
            let lock = self.all.lock();
            if !self.registry()?.namespaces.contains(&id) {
                return Err(Error::query(format!("there is no namespace {id}")));
            }
            let query = "query q($id: int) { n as var(func: eq(hexgraph.namespace, $id)) }";
            let entry = json!({ "uid": "uid(n)", "hexgraph.namespace.dropped": now() });
            // From here on it is gone, whatever becomes of its folder.
            self.note((query, &[("$id", id.to_string())]), &entry, &lock)?;
            self.all.remove(id, &lock)
        })
    }

    /// Opens a namespace, prepares it for users where there are some, and puts it into the set.
    fn begin_namespace(
        &self,
        id: u64,
        password: Option<&str>,
        is_new: bool,
        lock: &NamespaceLock<'_>,
    ) -> Result<Database> {
        let opened = self.all.open(id, is_new, lock)?;
        let handle = self.without_caller().within(Arc::clone(&opened));
        // Before anybody finds it: without users everybody may do everything.
        self.extend_access(&handle, password)?;
        self.all.retain(&opened, lock);
        Ok(handle)
    }

    /// What the reserved database says.
    ///
    /// # Errors
    ///
    /// `Closed` when the database is closed; as [`Database::query`].
    pub(in crate::db) fn registry(&self) -> Result<Arc<Registry>> {
        self.check_handle()?;
        let Some(reserved) = self.all.opened(RESERVED) else {
            self.all.main().open.load().as_ref().ok_or(Error::Closed)?;
            return Ok(Arc::new(Registry { next: 1, ..Registry::default() }));
        };
        let open = reserved.open.load_full().ok_or(Error::Closed)?;
        let version = open.store.version();
        if let Some(existing) = &*self.all.registry.load()
            && existing.commit == version.commit
        {
            return Ok(Arc::clone(existing));
        }
        let handle = self.without_caller().within(reserved);
        let answer = handle.query_full(&version, QUERY, Variables::new())?;
        let read = Arc::new(Registry::of_answer(version.commit, &answer));
        self.all.registry.store(Some(Arc::clone(&read)));
        Ok(read)
    }

    /// Sets an object of the reserved database, which is made where there is none, together with
    /// what `query` finds.
    ///
    /// # Errors
    ///
    /// As [`Database::create_namespace`].
    pub(in crate::db) fn note(
        &self,
        (query, variables): (&str, &[(&str, String)]),
        entry: &Json,
        lock: &NamespaceLock<'_>,
    ) -> Result<()> {
        let reserved = match self.all.opened(RESERVED) {
            Some(existing) => existing,
            None => self.begin_reserved(lock)?,
        };
        let set = entry.to_string();
        let given = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), ParameterValue::from(value.clone())));
        let request = MutationRequest {
            query: query.into(),
            variables: given.collect(),
            mutations: vec![Mutation { set: vec![Statements::Json(&set)], ..Mutation::default() }],
        };
        self.without_caller()
            .within(reserved)
            .mutate_with(&request, &RequestContext::new())
            .map(drop)
    }

    fn begin_reserved(&self, lock: &NamespaceLock<'_>) -> Result<Arc<Namespace>> {
        self.all.check_no_others()?;
        let reserved = self.all.open(RESERVED, true, lock)?;
        let handle = self.without_caller().within(Arc::clone(&reserved));
        handle.define_while(|version| resolve(version, SCHEMA), &|| Ok(()))?;
        self.all.retain(&reserved, lock);
        Ok(reserved)
    }

    /// Checks that the database accepts changes.
    ///
    /// # Errors
    ///
    /// `ReadOnly`, `Closed`.
    pub(in crate::db) fn check_all_writable(&self) -> Result<()> {
        self.check_handle()?;
        let open = self.all.main().open.load_full().ok_or(Error::Closed)?;
        open.check_writable()
    }

    /// True when other namespaces have uids of the same counter, or did once.
    pub(in crate::db) fn uses_common_uids(&self) -> bool {
        self.all.opened(RESERVED).is_some() || !self.all.others().is_empty()
    }

    /// Notes how far uids were handed out, where there are several namespaces: one that is not open
    /// when the database is opened again can't say which it has. One commit in some thousand new
    /// nodes writes to the reserved database.
    ///
    /// # Errors
    ///
    /// As [`Database::create_namespace`].
    pub(in crate::db) fn retain_uids(&self) -> Result<()> {
        if self.own.id == RESERVED {
            return Ok(());
        }
        let Some(reserved) = self.all.opened(RESERVED) else { return Ok(()) };
        let next = self.all.uids()?.next();
        let mut bound = self.all.uid_bound();
        if next <= *bound || self.registry()?.namespaces.is_empty() {
            return Ok(());
        }
        let entry = json!({ "uid": "uid(n)", "hexgraph.uids": next + UID_STEP }).to_string();
        let request = MutationRequest {
            query: "{ n as var(func: has(hexgraph.uids)) }".into(),
            mutations: vec![Mutation {
                set: vec![Statements::Json(&entry)],
                ..Mutation::default()
            }],
            ..MutationRequest::default()
        };
        self.without_caller().within(reserved).mutate_with(&request, &RequestContext::new())?;
        *bound = next + UID_STEP;
        Ok(())
    }

    /// Opens the reserved database where there is one, and removes what is left of namespaces that
    /// it does not know: those that were being made or dropped when the process ended. Where there
    /// is none, as in a copy that was made without it, nothing is removed.
    ///
    /// # Errors
    ///
    /// As [`Database::open`].
    pub(in crate::db) fn begin_namespaces(&self) -> Result<()> {
        self.all.open_reserved()?;
        if self.all.opened(RESERVED).is_none() {
            return Ok(());
        }
        let registry = self.registry()?;
        if 0 < registry.uids {
            // Namespaces that are not open yet may have them.
            self.all.uids()?.skip_to(registry.uids);
            *self.all.uid_bound() = registry.uids;
        }
        self.all.remove_others(|id| registry.namespaces.contains(&id))
    }
}

/// The present time, in seconds since 1970.
pub(in crate::db) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
