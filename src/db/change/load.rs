//! Loads: of lines here, of tables in `crate::tables`, which publishes them by what stands here.
//!
//! A load builds columns concurrently with writers, and in a directory writes them to a snapshot. A
//! small load into a large graph is committed like a mutation.

use super::input::{Input, LoadProgress, Source, small_texts};
use crate::db::database::Database;
use crate::db::guard::guarded;
use crate::db::operation::LoadOptions;
use hexgraph_base::types::{Error, Result};
use hexgraph_store::exec::{Canceller, RequestContext};
use hexgraph_store::graph;
use hexgraph_store::graph::{
    Commit, LoadReport, LoadSource, SmallLoad, SpillOptions, Version, encode_changes,
};
use std::cell::Cell;
use std::slice;
use std::sync::Arc;
use std::time::Instant;

/// The smallest memory bound of a load, in bytes.
const LOAD_MEMORY_MIN: u64 = 16 << 20;

/// # Loading triples
impl Database {
    /// Adds the triples of a source, or of several, with default options.
    ///
    /// ```
    /// use hexgraph::db::{Database, Source};
    ///
    /// let db = Database::in_memory();
    /// let triples = "_:ada <name> \"Ada\" .\n_:ada <knows> _:bob .\n_:bob <name> \"Bob\" .\n";
    /// let report = db.load(Source::Bytes(triples.into()))?;
    /// assert_eq!((report.triples, report.new_nodes), (3, 2));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::load_with`].
    pub fn load(&self, sources: impl Into<Vec<Source>>) -> Result<LoadReport> {
        self.load_with(sources, None, LoadOptions::default(), &RequestContext::new())
    }

    /// Adds the definitions of `schema_text` and the triples of a source, or of several. All of
    /// them become visible at once; a label of a blank node means the same node in all. The calling
    /// thread only waits, and stops waiting when `context` says so. A few statements that are
    /// loaded into a large graph cost O(statements · log).
    ///
    /// ```
    /// use hexgraph::db::{Database, LoadOptions, RequestContext, Source};
    ///
    /// let db = Database::in_memory();
    /// let lines = "<1> <born> \"1815\" .\n<2> <born> \"long ago\" .\n";
    /// let options = LoadOptions { skip_errors: true, ..LoadOptions::default() };
    /// let report = db.load_with(
    ///     Source::Bytes(lines.into()),
    ///     Some("born: int @index(int) ."),
    ///     options,
    ///     &RequestContext::new(),
    /// )?;
    /// assert_eq!((report.triples, report.skipped), (1, 1));
    /// assert_eq!(report.skipped_lines[0].line, 2);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Load` with the first line that can't be stored, unless `options` skip such lines; as
    /// [`Database::alter`] for the schema; `Limit` when `context` stops it. Nothing is changed
    /// then.
    pub fn load_with(
        &self,
        sources: impl Into<Vec<Source>>,
        schema_text: Option<&str>,
        options: LoadOptions,
        context: &RequestContext,
    ) -> Result<LoadReport> {
        let sources = sources.into();
        let names: Vec<String> = sources.iter().map(Source::name).collect();
        let is_plain = schema_text.is_none() && options.memory == 0;
        if let Some(texts) = is_plain.then(|| small_texts(&sources)).flatten() {
            return self.load_detached(context, move |database, canceller| {
                database.publish_small(canceller, |version| {
                    let sources = opened(&names, texts.clone(), &options.progress)?;
                    load_into(version, None, sources, (&options, None), canceller)
                })
            });
        }
        let sources = opened(&names, sources, &options.progress)?;
        let schema_text = schema_text.map(str::to_owned);
        let spill = self.spill_options(options.memory)?;
        self.publish_load(context, move |version, canceller| {
            load_into(version, schema_text.as_deref(), sources, (&options, spill), canceller)
        })
    }

    /// How a load is bounded to so many bytes in memory; 0 for not at all. What is left of loads
    /// that ended without notice is removed.
    ///
    /// # Errors
    ///
    /// `Io` on an error of the operating system, `Query` for less than 16 MiB.
    pub(crate) fn spill_options(&self, memory: u64) -> Result<Option<SpillOptions>> {
        if memory == 0 {
            return Ok(None);
        }
        if memory < LOAD_MEMORY_MIN {
            let least = LOAD_MEMORY_MIN >> 20;
            return Err(Error::query(format!("a load needs a memory of {least} MiB or more")));
        }
        let open = self.open_state()?;
        open.check_writable()?;
        let folder = match open.folder() {
            Some(folder) => {
                graph::remove_left(folder)?;
                folder.to_owned()
            }
            None => std::env::temp_dir(),
        };
        Ok(Some(SpillOptions { folder, memory }))
    }

    /// Publishes the version that `make_next` makes on the threads of the pool. The calling thread
    /// only waits, and stops waiting when `context` says so.
    ///
    /// # Errors
    ///
    /// Those of `make_next`; `Limit` when `context` stops it.
    pub(crate) fn publish_load(
        &self,
        context: &RequestContext,
        make_next: impl FnOnce(&Version, &Canceller) -> Result<(Version, LoadReport)> + Send + 'static,
    ) -> Result<LoadReport> {
        self.load_detached(context, move |database, canceller| {
            database.publish_loaded(canceller, |version| make_next(version, canceller))
        })
    }

    /// Runs a load on a thread of its own, while the calling one waits until `context` says stop.
    ///
    /// # Errors
    ///
    /// Those of `load`; `Limit` when `context` stops it.
    pub(crate) fn load_detached(
        &self,
        context: &RequestContext,
        load: impl FnOnce(&Database, &Canceller) -> Result<LoadReport> + Send + 'static,
    ) -> Result<LoadReport> {
        let (started, database) = (Instant::now(), self.clone());
        let mut report =
            guarded(|| context.run_detached(move |it: &Canceller| load(&database, it)))?;
        report.elapsed = started.elapsed();
        Ok(report)
    }

    /// Publishes what a load makes of the newest version, concurrently with writers, and in a
    /// directory by a snapshot.
    ///
    /// # Errors
    ///
    /// Those of `make_next`; `Limit` when it was stopped.
    pub(crate) fn publish_loaded(
        &self,
        canceller: &Canceller,
        make_next: impl FnOnce(&Version) -> Result<(Version, LoadReport)> + Send,
    ) -> Result<LoadReport> {
        let pool = self.pool()?;
        self.change_saved(|version| {
            let made = pool.install(|| make_next(version))?;
            canceller.check()?;
            Ok(made)
        })
    }

    /// As [`Database::publish_loaded`] for a small load whose input can be read again: in a large
    /// graph it is committed like a mutation, under the writer lock, and in a directory by a record
    /// in the log.
    ///
    /// # Errors
    ///
    /// As [`Database::publish_loaded`].
    pub(crate) fn publish_small(
        &self,
        canceller: &Canceller,
        make_next: impl Fn(&Version) -> Result<(Version, LoadReport)> + Send + Sync,
    ) -> Result<LoadReport> {
        if !self.entire_version()?.allows_small_loads() {
            return self.publish_loaded(canceller, make_next);
        }
        let pool = self.pool()?;
        let is_other = Cell::new(false);
        let committed = self.change(None, |version: &Arc<Version>, commit: &mut Commit| {
            let (next, mut report) = pool.install(|| make_next(version))?;
            canceller.check()?;
            // A record has no types of nodes, and no definitions of predicates that get no data. If
            // it is loaded as columns after all, the uids of its new nodes are lost, and it gets
            // other ones.
            let is_same = Arc::ptr_eq(&next.schema, &version.schema);
            let Some(small) = report.as_commit().filter(|_| is_same) else {
                is_other.set(true);
                return Err(Error::query("this load is none that can be committed"));
            };
            let SmallLoad { changes, keys } = small;
            if let Some(record) = &mut commit.record {
                encode_changes(slice::from_ref(&changes), record);
            }
            commit.keys = keys;
            Ok((next, report))
        });
        match committed {
            Err(_) if is_other.get() => self.publish_loaded(canceller, make_next),
            committed => committed.map(|(_, report)| report),
        }
    }
}

/// The sources under their names, each to be read once.
fn opened(
    names: &[String],
    sources: Vec<Source>,
    progress: &LoadProgress,
) -> Result<Vec<LoadSource>> {
    let inputs = Input::open(sources, progress)?;
    let source = |(name, input): (&String, Input)| LoadSource {
        name: name.clone(),
        reader: Box::new(input),
    };
    Ok(names.iter().zip(inputs).map(source).collect())
}

fn load_into(
    version: &Version,
    schema_text: Option<&str>,
    sources: Vec<LoadSource>,
    (options, spill): (&LoadOptions, Option<SpillOptions>),
    canceller: &Canceller,
) -> Result<(Version, LoadReport)> {
    let altered = schema_text.map(|text| graph::alter(version, text)).transpose()?;
    let check = |so_far: graph::LoadProgress| {
        options.progress.set_records(so_far.triples);
        canceller.check()
    };
    let has_ended = || canceller.check().is_err();
    let skip_errors = options.skip_errors;
    let options = graph::LoadOptions {
        skip_errors,
        spill,
        progress: Some(&check),
        ids: options.xid.as_deref(),
        has_ended: Some(&has_ended),
    };
    graph::load(altered.as_ref().unwrap_or(version), sources, &options)
}
