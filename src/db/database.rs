//! [`Database`]: a handle of a graph, its threads, its cache of plans, and the directory that it is
//! stored in.

#[cfg(feature = "graphql")]
use super::access::{AccessList, Caller};
#[cfg(feature = "graphql")]
use super::graphql::Schemas;
use super::guard::guarded;
use super::handles::Handle;
use super::namespaces::{Namespace, NamespaceSet};
use super::open::Open;
use super::operation::{OpenOptions, Stats};
use crate::db::query::plans::{Variables, reserve_plan};
use crate::db::query::slow::SlowLog;
use hexgraph_base::budget::Budget;
use hexgraph_base::plan::Query;
use hexgraph_base::types::pool::{AllThreads, Pool};
use hexgraph_base::types::{Error, Result};
use hexgraph_dql::Document;
use hexgraph_store::durability::{Disk, Files};
use hexgraph_store::exec::{Limits, RequestContext};
use hexgraph_store::graph;
use hexgraph_store::graph::{Claim, Commit, Version};
use std::path::Path;
use std::process;
use std::sync::Arc;

/// An open database. A clone is another handle of the same one; all may be used at once, from any
/// thread. Readers never lock and never wait for a writer.
#[derive(Clone)]
pub struct Database {
    /// All that is in the directory.
    pub(in crate::db) all: Arc<NamespaceSet>,
    /// What is read and changed through this handle.
    pub(in crate::db) own: Arc<Namespace>,
    /// Whom the handle belongs to, where users have rights; `None` for one that may do everything.
    #[cfg(feature = "graphql")]
    caller: Option<Arc<Caller>>,
    /// Which of the handles it is that [`Database::connect`] gave; `None` for the one of an owner.
    handle: Option<Arc<Handle>>,
}

/// # Opening and closing
impl Database {
    /// Creates an empty database in memory, with default options.
    ///
    /// ```
    /// use hexgraph::db::Database;
    ///
    /// let db = Database::in_memory();
    /// assert_eq!(db.stats()?.nodes, 0);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn in_memory() -> Database {
        Database::in_memory_with(OpenOptions::default())
    }

    /// Creates an empty database in memory with the threads, limits and budget of `options`.
    ///
    /// ```
    /// use hexgraph::db::{Database, Memory, OpenOptions};
    ///
    /// let options = OpenOptions { threads: 2, memory: Memory::Work(64 << 20), ..OpenOptions::default() };
    /// let db = Database::in_memory_with(options);
    /// assert_eq!(db.budget().bound(), 64 << 20);
    /// ```
    pub fn in_memory_with(options: OpenOptions) -> Database {
        let budget = options.memory.budget();
        Database::of_full(NamespaceSet::new(
            Open::in_memory(options, &budget, None),
            (options, &budget),
        ))
    }

    /// Opens the database in a directory, which is created where it is missing and `options` do not
    /// say read-only. Costs O(number of predicates), since data is read where it lies, and
    /// O(changes since the last checkpoint). The handle is for the namespace 0; the others are
    /// opened when they are requested.
    ///
    /// ```
    /// use hexgraph::db::{Database, OpenOptions};
    ///
    /// let folder = tempfile::tempdir().unwrap();
    /// let db = Database::open(folder.path(), OpenOptions::default())?;
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// db.close()?;
    /// let db = Database::open(folder.path(), OpenOptions::default())?;
    /// assert_eq!(db.stats()?.nodes, 1);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Io` when there is no database, or another process writes to it; `Corrupt` when its
    /// snapshot or its log is damaged or of another kind.
    pub fn open(path: &Path, options: OpenOptions) -> Result<Database> {
        Database::open_with(path, options, Arc::new(Disk))
    }

    /// Opens a directory as [`Database::open`] does, but reads and writes through `files`. Tests
    /// use this to make operations of the disk fail.
    ///
    /// # Errors
    ///
    /// As [`Database::open`].
    pub(crate) fn open_with(
        path: &Path,
        options: OpenOptions,
        files: Arc<dyn Files>,
    ) -> Result<Database> {
        guarded(|| {
            let budget = options.memory.budget();
            let open = Open::at(path, (options, &budget, None), &files)?;
            let all = NamespaceSet::new(open, (options, &budget)).writing_through(files);
            let database = Database::of_full(all);
            database.begin_namespaces()?;
            Ok(database)
        })
    }

    /// The handle of the namespace 0.
    fn of_full(all: NamespaceSet) -> Database {
        Database::of_set(Arc::new(all))
    }

    /// A handle of the namespace 0 of a database that is open.
    pub(super) fn of_set(all: Arc<NamespaceSet>) -> Database {
        let own = Arc::clone(all.main());
        Database {
            all,
            own,
            #[cfg(feature = "graphql")]
            caller: None,
            handle: None,
        }
    }

    /// The same, closed with a handle.
    pub(super) fn with_handle(self, handle: Arc<Handle>) -> Database {
        Database { handle: Some(handle), ..self }
    }

    /// A handle like this one, for a namespace that is open.
    pub(in crate::db) fn within(&self, own: Arc<Namespace>) -> Database {
        Database { own, ..self.clone() }
    }

    /// Closes the database with all of its namespaces: writes a snapshot of each unless its log is
    /// short, and unlocks the directory. Later calls fail with [`Error::Closed`]; closing again
    /// does nothing. Queries that are running finish on the version that they read. A handle of
    /// [`Database::connect`] closes the database only where it is the last one.
    ///
    /// ```
    /// use hexgraph::{db::Database, types::Error};
    ///
    /// let db = Database::in_memory();
    /// db.close()?;
    /// assert!(matches!(db.commit(), Err(Error::Closed)));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::checkpoint`]; what could not be closed stays open in that case.
    pub fn close(&self) -> Result<()> {
        guarded(|| match &self.handle {
            Some(handle) => handle.close(),
            None => self.all.close(),
        })
    }
}

/// # What the database has, and what it may use
impl Database {
    /// Returns the entire schema in the language that [`Database::alter`] reads.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// db.alter("name: string @index(exact) .")?;
    /// assert!(db.schema_text()?.contains("name"));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails only when it is closed.
    pub fn schema_text(&self) -> Result<String> {
        Ok(self.version()?.schema.to_text())
    }

    /// Counts nodes and the sizes of all predicates. Costs one pass over the node sets of all
    /// predicates.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .\n<2> <name> \"Bob\" .", "")?;
    /// assert_eq!(db.stats()?.nodes, 2);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Corrupt` when it meets a damaged part of the file.
    pub fn stats(&self) -> Result<Stats> {
        let version = self.version()?;
        guarded(|| Ok(stats_of(&version)))
    }

    /// Returns the number of the last commit. Later commits have greater numbers, with gaps between
    /// them.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// let before = db.commit()?;
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// assert!(before < db.commit()?);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails only when it is closed.
    pub fn commit(&self) -> Result<u64> {
        Ok(self.version()?.commit)
    }

    /// Returns what the caller sees of the newest published version.
    ///
    /// # Errors
    ///
    /// `Closed`; `Access` for an unauthenticated caller.
    pub(super) fn version(&self) -> Result<Arc<Version>> {
        self.seen(self.entire_version()?)
    }

    /// Returns the newest published version with all its data, for any caller.
    pub(super) fn entire_version(&self) -> Result<Arc<Version>> {
        // A guard of the swap and not a clone: readers touch no shared reference count but that of
        // the version.
        self.check_handle()?;
        let open = self.own.open.load();
        open.as_ref().map(|open| open.store.version()).ok_or_else(|| self.own.closed())
    }

    /// The users and their rights, where they are requested.
    #[cfg(feature = "graphql")]
    pub(in crate::db) fn access_list(&self) -> Option<&AccessList> {
        self.own.access.get()
    }

    /// Has users and rights from now on. Returns false where there were some before.
    #[cfg(feature = "graphql")]
    pub(in crate::db) fn set_access_list(&self, list: AccessList) -> bool {
        self.own.access.set(list).is_ok()
    }

    /// Whom the handle belongs to; `None` for one that may do everything.
    #[cfg(feature = "graphql")]
    pub(in crate::db) fn caller(&self) -> Option<&Caller> {
        self.caller.as_deref()
    }

    /// The handle of a caller.
    #[cfg(feature = "graphql")]
    pub(in crate::db) fn with_caller(&self, caller: Arc<Caller>) -> Database {
        Database { caller: Some(caller), ..self.clone() }
    }

    /// The handle that may do everything.
    #[cfg(feature = "graphql")]
    pub(in crate::db) fn without_caller(&self) -> Database {
        Database { caller: None, ..self.clone() }
    }

    /// The limits of each single request.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// assert_eq!(db.limits().timeout, None);
    /// ```
    pub fn limits(&self) -> &Limits {
        &self.own.limits
    }

    /// The budget in which all requests reserve memory.
    ///
    /// ```
    /// use hexgraph::db::{Database, Memory, OpenOptions};
    ///
    /// let memory = Memory::Work(32 << 20);
    /// let db = Database::in_memory_with(OpenOptions { memory, ..OpenOptions::default() });
    /// assert_eq!(db.budget().bound(), 32 << 20);
    /// ```
    pub fn budget(&self) -> &Budget {
        &self.own.budget
    }

    /// Gives a request the limits of the database, a reservation in its memory, and its threads,
    /// where it has none of its own.
    pub(super) fn prepare(&self, context: &RequestContext) {
        context.set_limits(*self.limits());
        context.set_budget(self.budget());
        context.set_pool(&self.own.pool);
        context.set_graphs(&self.own.graphs);
    }

    /// The cache of GraphQL schemas, with the options and the HTTP client of GraphQL.
    #[cfg(feature = "graphql")]
    pub(super) fn graphql_schemas(&self) -> &Schemas {
        &self.own.graphql
    }

    /// The log of slow queries.
    pub(super) fn slow_log(&self) -> &SlowLog {
        &self.own.slow
    }

    /// Returns the plan of a query text, from the cache where it was planned before.
    ///
    /// # Errors
    ///
    /// `Limit` when the text is longer than the limit `text`; `Syntax` and `Query` for a text that
    /// is wrong.
    pub(super) fn plan(
        &self,
        text: &str,
        variables: &Variables,
        context: &RequestContext,
    ) -> Result<Arc<Query>> {
        self.check_length(text)?;
        self.own.plans.plan(text, variables, context)
    }

    /// Parses a query text, which is not put into the cache. The memory for it is reserved for
    /// `context`.
    ///
    /// # Errors
    ///
    /// `Limit` when the text is longer than the limit `text`; `Syntax`.
    pub(super) fn document(&self, text: &str, context: &RequestContext) -> Result<Document> {
        self.check_length(text)?;
        reserve_plan(text.len(), context)?;
        hexgraph_dql::parse(text)
    }

    /// Checks the length of a text against the limit `text`.
    pub(super) fn check_length(&self, text: &str) -> Result<()> {
        let most = self.limits().text;
        if most < text.len() as u64 {
            let what = format!("the text has {} bytes, more than {most}", text.len());
            let message = format!("{what}: request less, or raise the limit `text`");
            return Err(Error::Limit { message });
        }
        Ok(())
    }

    /// Returns all threads of the database, for a load or for many questions; they are started at
    /// the first call. Until what is returned is dropped, other requests stay on their own threads.
    ///
    /// ```
    /// use hexgraph::db::{Database, OpenOptions};
    ///
    /// let db = Database::in_memory_with(OpenOptions { threads: 2, ..OpenOptions::default() });
    /// let threads = db.pool()?;
    /// assert!(db.has_started_threads());
    /// drop(threads);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Limit` when the system can't start the threads.
    pub fn pool(&self) -> Result<AllThreads> {
        self.own.pool.all()
    }

    /// The threads of the database, whose idle ones are borrowed for work.
    pub(super) fn shared_pool(&self) -> &Arc<Pool> {
        &self.own.pool
    }

    /// True once threads of the database were started in this process.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// assert!(!db.has_started_threads(), "they are started when they are needed");
    /// ```
    pub fn has_started_threads(&self) -> bool {
        self.own.pool.is_started()
    }

    /// The number of threads that large work may use, with the thread that requests it.
    pub(super) fn threads(&self) -> usize {
        self.own.pool.threads()
    }

    /// Runs `job`, which prepares a change, under the limits of a request. A forked child installs
    /// a pool of its own first, since the threads of rayon's global pool exist only in the parent.
    ///
    /// # Errors
    ///
    /// Those of `job`; `Limit` when the system gives no threads.
    pub(super) fn compute<T: Send>(
        &self,
        context: &RequestContext,
        job: impl FnOnce() -> Result<T> + Send,
    ) -> Result<T> {
        self.prepare(context);
        if self.is_forked() { context.install(&*self.pool()?, job) } else { job() }
    }

    /// True in a child that was forked from the process that opened the database.
    fn is_forked(&self) -> bool {
        self.own.process != process::id()
    }

    /// Publishes the version that `make_next` derives from the newest one, while other writers go
    /// on. In a directory it is first written to a snapshot instead of the log, as loads are.
    pub(super) fn change_saved<T>(
        &self,
        make_next: impl FnOnce(&Arc<Version>) -> Result<(Version, T)>,
    ) -> Result<T> {
        let open = self.open_state()?;
        guarded(|| {
            open.check_writable()?;
            self.retain_uids()?;
            let done = open.write_saved(|version| self.with_recorded_uids(make_next(version)?))?;
            open.transactions.note_version(&open.store.version());
            Open::retain(&open)?;
            Ok(done)
        })
    }

    /// Publishes the version that `make_next` derives from the newest one, unless `claim` conflicts
    /// with a later commit. In a directory its record is appended to the log first. Returns the
    /// number of the commit, and what `make_next` returned.
    pub(super) fn change<T>(
        &self,
        claim: Option<Claim<'_>>,
        make_next: impl FnOnce(&Arc<Version>, &mut Commit) -> Result<(Version, T)>,
    ) -> Result<(u64, T)> {
        let open = self.open_state()?;
        guarded(|| {
            open.check_writable()?;
            self.retain_uids()?;
            let done = open.store.write(claim, |version, commit| {
                self.with_recorded_uids(make_next(version, commit)?)
            })?;
            open.transactions.note_version(&open.store.version());
            Open::retain(&open)?;
            Ok(done)
        })
    }

    /// Records the uids that a version has allocated, before it is published. Most were recorded in
    /// advance, without the writer lock.
    fn with_recorded_uids<T>(&self, made: T) -> Result<T> {
        self.retain_uids().map(|()| made)
    }

    /// The data and the directory of an open database.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`] when it is closed; [`Error::Query`] when the namespace was dropped.
    pub(super) fn open_state(&self) -> Result<Arc<Open>> {
        self.check_handle()?;
        self.own.open.load_full().ok_or_else(|| self.own.closed())
    }

    /// Checks that the handle was not closed, whatever becomes of others.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub(super) fn check_handle(&self) -> Result<()> {
        match self.handle.as_ref().is_some_and(|handle| handle.is_closed()) {
            true => Err(Error::Closed),
            false => Ok(()),
        }
    }
}

fn stats_of(version: &Version) -> Stats {
    Stats {
        nodes: version.subject_count(),
        commit: version.commit,
        predicates: graph::stats(version),
    }
}
