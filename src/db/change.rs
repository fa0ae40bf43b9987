//! Changes: of the schema, of single triples, of everything at once.
//!
//! A writer takes its turn on a thread that is none of the pool, and lets the pool compute: a
//! thread of the pool that waited for its turn could be the one that the writer waits for.

use super::database::Database;
use super::guard::guarded;
use super::input::Input;
use super::operation::Drop;
use super::operation::Latency;
use super::operation::LoadOptions;
use super::operation::LoadReport;
use super::operation::MutationAnswer;
use super::operation::Source;
use crate::dql;
use crate::dql::Mutation;
use crate::exec::Canceller;
use crate::exec::Control;
use crate::graph;
use crate::graph::LoadSource;
use crate::graph::Version;
use crate::types::Error;
use crate::types::Result;
use std::time::Instant;

impl Database {
    /// Adds definitions to the schema and builds the indexes that they ask for.
    ///
    /// # Errors
    ///
    /// `Syntax` or `Schema` for what is wrong with the text; nothing is changed then.
    pub fn alter(&self, text: &str) -> Result<()> {
        let pool = self.pool()?;
        self.change(true, |version| pool.install(|| Ok((graph::alter(version, text)?, ()))))
    }

    /// Drops data, definitions, or both. Uids are not used again.
    ///
    /// # Errors
    ///
    /// `Schema` for a predicate that is defined by the engine itself.
    pub fn drop(&self, what: &Drop) -> Result<()> {
        self.change(true, |version| {
            let next = match what {
                Drop::All => graph::drop_all(version),
                Drop::Data => graph::drop_data(version),
                Drop::Predicate(name) => graph::drop_attr(version, name)?,
                Drop::Type(name) => graph::drop_type(version, name)?,
            };
            Ok((next, ()))
        })
    }

    /// Adds the definitions of `schema_text` and the triples of a source. All of them become
    /// visible at once. The calling thread only waits, and stops waiting when `control` says so.
    ///
    /// # Errors
    ///
    /// `Load` with the first line that can't be stored, unless `options` skip such lines; as
    /// [`Database::alter`] for the schema; `Limit` when `control` stops it. Nothing is changed
    /// then.
    pub fn load(
        &self,
        source: Source,
        schema_text: Option<&str>,
        options: LoadOptions,
        control: &Control,
    ) -> Result<LoadReport> {
        let started = Instant::now();
        let name = source.name();
        let reader = Box::new(Input::open(source, options.progress)?);
        let load = Load {
            database: self.clone(),
            schema_text: schema_text.map(str::to_owned),
            source: LoadSource { name, reader },
            skip_errors: options.skip_errors,
        };
        let mut report = guarded(|| control.run_detached(|canceller| load.run(canceller)))?;
        report.elapsed = started.elapsed();
        Ok(report)
    }

    /// Deletes and sets N-Quads in one commit, the deletes first.
    ///
    /// In a directory the change is on the disk after the next [`Database::checkpoint`], at the
    /// latest when the database is closed.
    ///
    /// # Errors
    ///
    /// `Syntax`, `Schema` or `Query` for what is wrong with a line; nothing is changed then.
    pub fn mutate(&self, set: &str, delete: &str) -> Result<MutationAnswer> {
        let started = Instant::now();
        let pool = self.is_forked().then(|| self.pool()).transpose()?;
        let report = self.change(false, |version| {
            let apply = || graph::apply(version, set, delete);
            pool.map_or_else(apply, |pool| pool.install(apply))
        })?;
        let latency = Latency { processing: started.elapsed(), ..Latency::default() };
        let uids = report.uids.into_iter().map(|(label, uid)| (label, uid.to_string()));
        Ok(MutationAnswer { uids: uids.collect(), commit: self.commit()?, latency })
    }

    /// Carries out a request `{ set { ... } delete { ... } }` in one commit.
    ///
    /// # Errors
    ///
    /// As [`Database::mutate`]; `Syntax` when it is no such request.
    pub fn mutate_text(&self, request: &str) -> Result<MutationAnswer> {
        let started = Instant::now();
        let request = dql::parse_mutation(request)?;
        let parsing = started.elapsed();
        let [Mutation { condition: None, set, delete }] = &request.mutations[..] else {
            return Err(Error::query("not supported yet: upserts and queries in a mutation"));
        };
        if request.query.is_some() {
            return Err(Error::query("not supported yet: the query of an upsert"));
        }
        let mut answer = self.mutate(set, delete)?;
        answer.latency.parsing = parsing;
        Ok(answer)
    }
}

/// A load on its way to the thread that does it.
struct Load {
    database: Database,
    schema_text: Option<String>,
    source: LoadSource,
    skip_errors: bool,
}

impl Load {
    fn run(self, canceller: &Canceller) -> Result<LoadReport> {
        let pool = self.database.pool()?;
        let Load { database, schema_text, source, skip_errors } = self;
        let report = database.change(true, |version| {
            let load =
                || load_into(version, schema_text.as_deref(), source, skip_errors, canceller);
            let (next, report) = pool.install(load)?;
            canceller.check()?;
            Ok((next, report))
        })?;
        Ok(LoadReport::from(report))
    }
}

fn load_into(
    version: &Version,
    schema_text: Option<&str>,
    source: LoadSource,
    skip_errors: bool,
    canceller: &Canceller,
) -> Result<(Version, graph::LoadReport)> {
    let altered = schema_text.map(|text| graph::alter(version, text)).transpose()?;
    let check = |_| canceller.check();
    let options = graph::LoadOptions { skip_errors, progress: Some(&check) };
    graph::load(altered.as_ref().unwrap_or(version), vec![source], &options)
}
