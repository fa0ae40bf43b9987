//! Changes of the schema, and of everything at once.
//!
//! A writer acquires the writer lock on a thread that is none of the pool, and lets the pool
//! compute: a thread of the pool that waited for the lock could be the one that the writer waits
//! for.

use crate::db::database::Database;
use crate::db::guard::guarded;
use crate::db::open::Open;
use crate::db::operation::Drop;
use hexgraph_base::schema::{SchemaReport, schema_weight};
use hexgraph_base::types::pool::AllThreads;
use hexgraph_base::types::{Error, Result};
use hexgraph_store::exec::RequestContext;
use hexgraph_store::graph;
use hexgraph_store::graph::{Check, Definitions, RebuildLock, Redefinition, SchemaChange, Version};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A change of the schema that takes longer than this is followed by a checkpoint, so that recovery
/// need not repeat it.
const SLOW: Duration = Duration::from_millis(200);
/// How often indexes are built concurrently with writers before they are built under the writer
/// lock. More than once happens when the predicate was given another base meanwhile, by a commit on
/// far too many changes.
const TRIES_CONCURRENT: usize = 3;

/// Predicates that were built concurrently with writers, with their reports.
struct ConcurrentBuild {
    redefinition: Redefinition,
    report: SchemaReport,
}

/// # Schema
impl Database {
    /// Sets the definitions of a schema text and builds the indexes that they request. A definition
    /// replaces the one that its predicate or type had, as in Dgraph: indexes, `@reverse`, `@lang`
    /// and fields of a type that it does not name are dropped, those that a GraphQL schema declared
    /// too. What was added, changed, dropped and built is reported.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// let report = db.alter("name: string @index(term) .\nknows: [uid] @reverse .")?;
    /// assert!(report.added.iter().any(|item| item.of == "name"));
    /// // What is wrong is named with its position, and nothing is changed.
    /// assert!(db.alter("name: strnig .").is_err());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Syntax` or `Schema` for what is wrong with the text; `Query` when an open transaction has
    /// changed one of the predicates that would be defined otherwise: it is aborted, so the next
    /// try succeeds. Nothing is changed then.
    pub fn alter(&self, text: &str) -> Result<SchemaReport> {
        self.check_may_alter(text)?;
        let reservation = self.budget().reservation();
        reservation.reserve(schema_weight(text))?;
        self.check_alter(text)?;
        let hide = self.hides_unread()?;
        let resolve = |version: &Version| graph::resolve(version, text);
        let mut report = self.define_while(resolve, &|| Ok(()))?;
        hide(&mut report);
        Ok(report)
    }

    /// As [`Database::alter`], until `context` says stop: the calling thread only waits, and
    /// returns then within a moment. An index that is being built on another thread stops soon, and
    /// is discarded.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext};
    /// use std::time::Duration;
    ///
    /// let db = Database::in_memory();
    /// let context = RequestContext::new().with_timeout(Duration::from_secs(60));
    /// db.alter_with("name: string @index(exact) .", &context)?;
    /// assert!(db.schema_text()?.contains("@index(exact)"));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::alter`]; `Limit` when `context` stops it. Nothing is changed then.
    pub fn alter_with(&self, text: &str, context: &RequestContext) -> Result<SchemaReport> {
        self.prepare(context);
        self.check_may_alter(text)?;
        context.reserve(schema_weight(text))?;
        self.check_alter(text)?;
        let hide = self.hides_unread()?;
        let (database, text) = (self.clone(), text.to_owned());
        // It goes on for a moment when the request is over, and has its memory as long.
        let reservation = context.reservation().cloned();
        let mut report = guarded(|| {
            context.run_detached(move |canceller| {
                let _reservation = reservation;
                let resolve = |version: &Version| graph::resolve(version, &text);
                database.define_while(resolve, &|| canceller.check())
            })
        })?;
        hide(&mut report);
        Ok(report)
    }

    /// Sets the definitions that `resolve` makes of a version, and reports what they change.
    /// Indexes are built while other writers go on; the last changes are added under the writer
    /// lock. `resolve` is called several times: for conflicting transactions, for each version that
    /// indexes are built of, and for the newest one under the lock. Aborted transactions stay
    /// aborted, even if the change fails.
    ///
    /// # Errors
    ///
    /// As [`Database::alter`]; those of `resolve` and of `check`.
    pub(in crate::db) fn define_while(
        &self,
        resolve: impl Fn(&Version) -> Result<Definitions>,
        check: Check<'_>,
    ) -> Result<SchemaReport> {
        let (open, pool) = (self.open_state()?, self.pool()?);
        open.check_writable()?;
        self.budget().check_growth()?;
        let altered = guarded(|| {
            let version = self.entire_version()?;
            Ok(graph::altered(&version, &resolve(&version)?))
        })?;
        self.abort_pending(&altered.iter().map(String::as_str).collect::<Vec<_>>())?;
        let started = Instant::now();
        let report = guarded(|| {
            let lock = open.store.rebuild_lock();
            for _ in 0..TRIES_CONCURRENT {
                let Some(mut built) = self.build_concurrently((&open, &pool), &resolve, check)?
                else {
                    continue;
                };
                if self.put_definitions(&lock, &mut built, &resolve, check)? {
                    return Ok(built.report);
                }
            }
            self.define_locked(&lock, &pool, &resolve, check)
        })?;
        // A long operation would be as long again after a crash.
        match SLOW < started.elapsed() {
            true => Open::request_checkpoint(&open).map(|()| report),
            false => Ok(report),
        }
    }

    /// Builds what the newest version becomes, and applies the changes of writers until only few
    /// are left. `None` when it can't.
    fn build_concurrently(
        &self,
        (open, pool): (&Open, &AllThreads),
        resolve: &impl Fn(&Version) -> Result<Definitions>,
        check: Check<'_>,
    ) -> Result<Option<ConcurrentBuild>> {
        let before = open.store.head();
        let definitions = resolve(&before)?;
        let report = graph::report(&before, &definitions);
        let mut redefinition = pool.install(|| Redefinition::new(&before, definitions, check))?;
        drop(before);
        let mut fits = true;
        graph::catch_up_outside(|| {
            check()?;
            let rows = redefinition.catch_up(&open.store.head())?;
            fits = rows.is_some();
            Ok(rows.unwrap_or(0))
        })?;
        Ok(fits.then_some(ConcurrentBuild { redefinition, report }))
    }

    /// Publishes what was built, with the last changes. Returns false where it does not go with the
    /// newest version.
    fn put_definitions(
        &self,
        lock: &RebuildLock<'_>,
        built: &mut ConcurrentBuild,
        resolve: &impl Fn(&Version) -> Result<Definitions>,
        check: Check<'_>,
    ) -> Result<bool> {
        let redefinition = &mut built.redefinition;
        let change = SchemaChange::Define(redefinition.definitions().clone());
        let mut is_overtaken = false;
        let done = self.change_schema(
            lock,
            |_| Ok(change),
            |_, head| {
                check()?;
                let fits = resolve(head)? == *redefinition.definitions()
                    && redefinition.catch_up(head)?.is_some();
                if !fits {
                    is_overtaken = true;
                    // The error only releases the lock without a commit: the caller sees `false`
                    // instead.
                    return Err(Error::internal(
                        "what was built does not go with the newest version",
                    ));
                }
                check().map(|()| redefinition.version(head))
            },
        );
        if is_overtaken { Ok(false) } else { done.map(|()| true) }
    }

    /// Builds everything under the writer lock: others have repeatedly replaced its input.
    fn define_locked(
        &self,
        lock: &RebuildLock<'_>,
        pool: &AllThreads,
        resolve: &impl Fn(&Version) -> Result<Definitions>,
        check: Check<'_>,
    ) -> Result<SchemaReport> {
        let mut report = SchemaReport::default();
        let define = |version: &Version| {
            let definitions = resolve(version)?;
            report = graph::report(version, &definitions);
            Ok(SchemaChange::Define(definitions))
        };
        self.change_schema(lock, define, |change, version| {
            check()?;
            let next = pool.install(|| change.execute(version, check))?;
            check().map(|()| next)
        })?;
        Ok(report)
    }

    /// Drops data, definitions, or both. Open transactions that have changed something are aborted
    /// when all data are dropped. Uids are not used again, unless everything is dropped, more than
    /// 2^29 were handed out, and there are no other namespaces, which have uids of the same
    /// counter: then it starts anew, so that it never runs out.
    ///
    /// ```
    /// use hexgraph::db::{Database, Drop};
    ///
    /// let db = Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .\n<1> <born> \"1815\" .", "")?;
    /// db.drop(&Drop::Predicate("born".to_owned()))?;
    /// assert!(!db.query("{ q(func: has(born)) { uid } }")?.has_rows()?);
    /// db.drop(&Drop::Data)?;
    /// assert!(!db.query("{ q(func: has(name)) { uid } }")?.has_rows()?);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Schema` for a predicate that is defined by the engine itself; `Query` when an open
    /// transaction has changed the predicate: it is aborted, so the next try succeeds.
    pub fn drop(&self, what: &Drop) -> Result<()> {
        self.check_drop(what)?;
        match what {
            Drop::All | Drop::Data => drop(self.abort_txns(None)?),
            Drop::Predicate(name) => self.abort_pending(&[name])?,
            // A type holds no data, so no transaction conflicts with it.
            Drop::Type(_) => {}
        }
        let change = match what {
            Drop::All => SchemaChange::DropAll,
            Drop::Data => SchemaChange::DropData,
            Drop::Predicate(name) => SchemaChange::DropPredicate(name.clone()),
            Drop::Type(name) => SchemaChange::DropType(name.clone()),
        };
        let execute = |change: &SchemaChange, version: &Version| {
            let mut next = change.execute(version, &|| Ok(()))?;
            if self.uses_common_uids() {
                next.uids = Arc::clone(&version.uids);
            }
            Ok(next)
        };
        let open = self.open_state()?;
        let lock = open.store.rebuild_lock();
        // What is dropped is freed after the writer lock.
        let before = open.store.head();
        self.change_schema(&lock, |_| Ok(change), execute)?;
        drop((lock, before));
        // Users are data, too: without any nobody could log in.
        match what {
            Drop::All | Drop::Data => self.restore_access(),
            Drop::Predicate(_) | Drop::Type(_) => Ok(()),
        }
    }

    /// Publishes what `execute` makes of the newest version by the change that `resolve` gives. In
    /// a directory the change itself is logged, not what it makes, so recovery executes it again.
    /// No other thread builds predicates meanwhile.
    fn change_schema(
        &self,
        _lock: &RebuildLock<'_>,
        resolve: impl FnOnce(&Version) -> Result<SchemaChange>,
        execute: impl FnOnce(&SchemaChange, &Version) -> Result<Version>,
    ) -> Result<()> {
        let done = self.change(None, |version, commit| {
            // A transaction that begins to change one of the predicates before this is published
            // conflicts when it commits.
            commit.is_complete = true;
            let change = resolve(version)?;
            // There is a record in a directory, and none in memory.
            if let Some(record) = &mut commit.record {
                change.encode(record);
            }
            Ok((execute(&change, version)?, ()))
        });
        done.map(|_| ())
    }

    /// Aborts the transactions that have changed one of the predicates.
    ///
    /// # Errors
    ///
    /// `Query` when there is one.
    fn abort_pending(&self, names: &[&str]) -> Result<()> {
        match !names.is_empty() && self.abort_txns(Some(names))? {
            true => Err(Error::query("Pending transactions found. Please retry operation")),
            false => Ok(()),
        }
    }
}
