//! Queries and their answers.

use super::checked::{Capacity, CheckedSink};
use super::plans::{QueryRequest, Variables};
use super::retained::copied::{AnswerMemory, Copied};
use super::shown::shown_blocks;
use super::warnings::{Warning, WarningKind, doubtful, ignored, unknown_names};
use crate::db::database::Database;
use crate::db::guard::guarded;
use crate::db::operation::Latency;
use hexgraph_base::answer::{Key, RowForm, Shape};
use hexgraph_base::budget::Reservation;
use hexgraph_base::plan::{Block, Query};
use hexgraph_base::types::pool::Pool;
use hexgraph_base::types::{Error, FragmentSink, Result, Sink, Uid};
use hexgraph_store::exec;
use hexgraph_store::exec::{Answer, COMMON_LEVELS, ExecOptions, Limits, RequestContext};
use hexgraph_store::graph::{PredicateStats, Version, stats};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// A query whose plan the caller makes.
#[derive(Clone, Copy)]
pub(super) struct RequestedQuery<'a> {
    pub(super) text: &'a str,
    pub(super) variables: &'a Variables,
    pub(super) debug: bool,
}

/// The answer to a query. It holds the nodes of the result and their version; values are read from
/// that version when the answer is written. [`QueryAnswer::copied_out`] makes a copy of a short one
/// that does not retain its version.
pub struct QueryAnswer {
    result: Outcome,
    latency: Latency,
    commit: u64,
    /// The memory of the nodes, reserved in the budget while the answer exists.
    reservation: Option<Arc<Reservation>>,
    /// The threads of the database, which help to write a large answer.
    pool: Option<Arc<Pool>>,
}

/// The result.
enum Outcome {
    /// Nodes, and the version that has their values.
    Held(Answer),
    /// All forms of the answer, serialised.
    Copied(Box<Copied>),
}

/// # Queries
impl Database {
    /// Answers a query, or a request with values of its variables, from the newest version.
    ///
    /// ```
    /// use hexgraph::db::Database;
    ///
    /// let db = Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .\n<1> <knows> <2> .\n<2> <name> \"Bob\" .", "")?;
    /// let answer = db.query("{ q(func: has(name)) { name } }")?;
    /// assert_eq!(answer.to_json()?.0, r#"{"q":[{"name":"Ada"},{"name":"Bob"}]}"#);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::query_with`].
    pub fn query(&self, request: impl Into<QueryRequest>) -> Result<QueryAnswer> {
        self.query_with(&request.into(), &RequestContext::new())
    }

    /// Answers a query from the newest version. Runs on the calling thread; the threads of the
    /// database help where there is much to do.
    ///
    /// ```
    /// use hexgraph::db::{Database, ParameterValue, QueryRequest, RequestContext, Variables};
    /// use std::time::Duration;
    ///
    /// let db = Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .\n<2> <name> \"Bob\" .", "")?;
    /// let request = QueryRequest {
    ///     text: "query q($count: int) { q(func: has(name), first: $count) { name } }".to_owned(),
    ///     variables: Variables::from([("$count".to_owned(), ParameterValue::from("1"))]),
    ///     ..QueryRequest::default()
    /// };
    /// let context = RequestContext::new().with_timeout(Duration::from_secs(10));
    /// let answer = db.query_with(&request, &context)?;
    /// assert_eq!(answer.to_json()?.0, r#"{"q":[{"name":"Ada"}]}"#);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Syntax`, `Schema` or `Query` for what is wrong with the request; `Limit` when `context`
    /// stops it; `Corrupt` when it meets a damaged part of the file.
    pub fn query_with(
        &self,
        request: &QueryRequest,
        context: &RequestContext,
    ) -> Result<QueryAnswer> {
        self.query_version(self.version()?, request, context)
    }

    /// Answers a query from the given version.
    ///
    /// # Errors
    ///
    /// As [`Database::query`].
    pub(in crate::db) fn query_version(
        &self,
        version: Arc<Version>,
        request: &QueryRequest,
        context: &RequestContext,
    ) -> Result<QueryAnswer> {
        self.query_amended(version, request, Ok, context)
    }

    /// Answers a query from a version by the plan that `amend` makes of the text's.
    ///
    /// # Errors
    ///
    /// As [`Database::query`].
    pub(in crate::db) fn query_amended(
        &self,
        version: Arc<Version>,
        request: &QueryRequest,
        amend: impl FnOnce(Arc<Query>) -> Result<Arc<Query>>,
        context: &RequestContext,
    ) -> Result<QueryAnswer> {
        let QueryRequest { text, variables, debug } = request;
        let requested = RequestedQuery { text, variables, debug: *debug };
        let plan = || amend(self.plan(text, variables, context)?);
        self.query_planned(version, requested, plan, context)
    }

    /// Answers a query from a version by the plan that `plan` makes.
    ///
    /// # Errors
    ///
    /// As [`Database::query`].
    pub(super) fn query_planned(
        &self,
        version: Arc<Version>,
        requested: RequestedQuery<'_>,
        plan: impl FnOnce() -> Result<Arc<Query>>,
        context: &RequestContext,
    ) -> Result<QueryAnswer> {
        guarded(|| {
            let started = Instant::now();
            self.prepare(context);
            let plan = plan()?;
            let parsing = started.elapsed();
            let options = self.options(requested.debug);
            let mut answer = self.run(version, plan, options, context)?;
            answer.latency.parsing = parsing;
            if self.limits().slow <= answer.latency.total() {
                self.slow_log().note(requested.text, requested.variables, answer.latency);
            }
            Ok(answer)
        })
    }

    /// The options of execution for a request, derived from the limits.
    pub(in crate::db) fn options(&self, debug: bool) -> ExecOptions {
        let Limits { normalize, result, .. } = *self.limits();
        ExecOptions { debug, normalize, result }
    }

    /// Executes a plan on a version.
    pub(in crate::db) fn run(
        &self,
        version: Arc<Version>,
        plan: Arc<Query>,
        options: ExecOptions,
        context: &RequestContext,
    ) -> Result<QueryAnswer> {
        let started = Instant::now();
        let commit = version.commit;
        self.prepare(context);
        let plan = match version.view() {
            Some(view) => shown_blocks(plan, view),
            None => plan,
        };
        let answer = exec::execute(version, plan, options, context)?;
        let latency = Latency { processing: started.elapsed(), ..Latency::default() };
        Ok(QueryAnswer::new(answer, latency, commit, context))
    }

    /// The answer to a query of the engine itself, to whom nothing is hidden.
    ///
    /// # Errors
    ///
    /// As [`Database::query`].
    pub(in crate::db) fn query_full(
        &self,
        version: &Arc<Version>,
        text: &str,
        variables: Variables,
    ) -> Result<Json> {
        let request = QueryRequest { text: text.to_owned(), variables, debug: false };
        let context = RequestContext::new();
        let answer = self.query_version(Arc::clone(version), &request, &context)?;
        let (json, _) = answer.to_json_with(&context)?;
        serde_json::from_str(&json).map_err(|error| Error::internal(error.to_string()))
    }
}

/// # What the answer has
impl QueryAnswer {
    /// Wraps the answer of the executor, computed on the version of `commit`.
    pub(in crate::db) fn new(
        answer: Answer,
        latency: Latency,
        commit: u64,
        context: &RequestContext,
    ) -> QueryAnswer {
        let (reservation, pool) = (context.reservation().cloned(), context.pool().cloned());
        QueryAnswer { result: Outcome::Held(answer), latency, commit, reservation, pool }
    }

    /// As [`QueryAnswer::held_answer`], to move something out of it.
    pub(super) fn held_answer_mut(&mut self) -> Option<&mut Answer> {
        match &mut self.result {
            Outcome::Held(answer) => Some(answer),
            Outcome::Copied(_) => None,
        }
    }

    /// The executor's answer; `None` for an answer that was copied out.
    pub(in crate::db) fn held_answer(&self) -> Option<&Answer> {
        match &self.result {
            Outcome::Held(answer) => Some(answer),
            Outcome::Copied(_) => None,
        }
    }

    /// What was written down of an answer that was copied out.
    pub(super) fn copied_answer(&self) -> Option<&Copied> {
        match &self.result {
            Outcome::Held(_) => None,
            Outcome::Copied(copied) => Some(copied),
        }
    }

    /// The same answer with the copy in place of the nodes, with reserved memory; `None` where
    /// there is none for it.
    pub(super) fn with_copy(&self, copied: Copied) -> Option<QueryAnswer> {
        let reservation = match &self.reservation {
            None => None,
            Some(reservation) => {
                let retained = Arc::new(reservation.budget().reservation());
                retained.reserve(copied.byte_len()).ok()?;
                Some(retained)
            }
        };
        let result = Outcome::Copied(Box::new(copied));
        Some(QueryAnswer {
            result,
            latency: self.latency,
            commit: self.commit,
            reservation,
            pool: self.pool.clone(),
        })
    }

    /// The memory that the answer holds. Costs a pass over the predicates of its version.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// let answer = db.query("{ q(func: has(name)) { name } }")?;
    /// assert!(0 < answer.memory().own);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn memory(&self) -> AnswerMemory {
        match &self.result {
            Outcome::Copied(copied) => AnswerMemory { own: copied.byte_len(), version: 0 },
            Outcome::Held(answer) => {
                let bytes = |it: PredicateStats| {
                    it.column_bytes + it.index_bytes + it.reverse_bytes + it.facet_bytes
                };
                let version = stats(answer.version()).into_iter().map(bytes).sum();
                AnswerMemory { own: self.held(), version }
            }
        }
    }

    /// Writes to a sink that retains nothing beyond about `bytes_max` bytes of JSON.
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::write`]; `Limit` when it is longer.
    pub(super) fn write_within<S: Sink>(
        &self,
        sink: S,
        bytes_max: u64,
        context: &RequestContext,
    ) -> Result<S> {
        guarded(|| {
            let most = bytes_max.min(self.exec_options().result);
            let mut sink = CheckedSink::new(sink, context, most);
            self.write_to(usize::MAX, &mut sink)?;
            Ok(sink.into_inner())
        })
    }

    /// The facts as N-Quads, where they have no more than `bytes_max` bytes.
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::to_rdf`]; `Limit` when there are more.
    pub(super) fn lines_within(&self, bytes_max: u64, context: &RequestContext) -> Result<Vec<u8>> {
        guarded(|| match &self.result {
            Outcome::Copied(copied) => copied.lines().map(<[u8]>::to_vec),
            Outcome::Held(answer) => {
                let mut lines = Vec::new();
                let mut capacity = Capacity::new(context, bytes_max);
                answer.write_rdf(&mut lines, &mut |length| capacity.look(length))?;
                Ok(lines)
            }
        })
    }

    /// Writes the object with the blocks, of each list at most `objects_max` objects.
    pub(super) fn write_to(&self, objects_max: usize, sink: &mut dyn Sink) -> Result<()> {
        match &self.result {
            Outcome::Held(answer) => answer.write_head(objects_max, sink),
            Outcome::Copied(copied) => {
                copied.write_head(objects_max, sink);
                Ok(())
            }
        }
    }

    pub(super) fn write_fragments<S: FragmentSink>(
        &self,
        context: &RequestContext,
        sink: &mut S,
    ) -> Result<()> {
        match &self.result {
            Outcome::Held(answer) => answer.write_shared(context, sink),
            Outcome::Copied(_) => self.write_to(usize::MAX, sink),
        }
    }

    pub(super) fn exec_options(&self) -> &ExecOptions {
        match &self.result {
            Outcome::Held(answer) => answer.options(),
            Outcome::Copied(copied) => &copied.options,
        }
    }

    /// Makes `context` reserve in the same budget as the request did, and have the same threads.
    pub(in crate::db) fn prepare(&self, context: &RequestContext) {
        if let Some(pool) = &self.pool {
            context.set_pool(pool);
        }
        if let Some(reservation) = &self.reservation {
            context.set_budget(reservation.budget());
        }
    }

    /// The bytes of the budget that the nodes hold.
    pub(super) fn held(&self) -> u64 {
        self.reservation.as_ref().map_or(0, |reservation| reservation.used())
    }

    /// Returns the names of the visible blocks with the numbers of their root nodes. That is about
    /// the number of objects; nodes without any of the requested values give none.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .\n<2> <name> \"Bob\" .", "")?;
    /// let answer = db.query("{ q(func: has(name)) { name } one(func: uid(1)) { name } }")?;
    /// let counts: Vec<(&str, usize)> = answer.root_counts().collect();
    /// assert_eq!(counts, [("q", 2), ("one", 1)]);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn root_counts(&self) -> impl Iterator<Item = (&str, usize)> {
        let held = self.held_answer().map(Answer::root_counts);
        let copied = self.copied_answer().map(Copied::root_counts);
        held.into_iter().flatten().chain(copied.into_iter().flatten())
    }

    /// The names of the blocks, in the order of the text.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// let answer = db.query("{ b(func: uid(1)) { uid } a(func: uid(2)) { uid } }")?;
    /// assert_eq!(answer.block_names(), ["b", "a"]);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn block_names(&self) -> Vec<String> {
        self.root_counts().map(|(name, _)| name.to_owned()).collect()
    }

    /// Returns the name of the given block after checking that it exists; for `None`, the name of
    /// the only block.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// let answer = db.query("{ people(func: has(name)) { name } }")?;
    /// assert_eq!(answer.block_name(None)?, "people");
    /// assert!(answer.block_name(Some("films")).is_err());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Query` when there is no such block, or more than one to choose from.
    pub fn block_name(&self, block: Option<&str>) -> Result<String> {
        // Whoever reads all blocks requests each of perhaps thousands.
        if let Some(expected) =
            block.filter(|expected| self.root_counts().any(|(it, _)| it == *expected))
        {
            return Ok(expected.to_owned());
        }
        let names: Vec<&str> = self.root_counts().map(|(name, _)| name).collect();
        let reported = names.join(", ");
        Err(match (block, names.as_slice()) {
            (None, [only]) => return Ok((*only).to_owned()),
            (Some(expected), _) => {
                Error::query(format!("the answer has no block {expected:?}, it has: {reported}"))
            }
            (None, []) => Error::query("the answer has no blocks, so there are no rows")
                .with_hint("a schema is one value: use JSON or `to_dict()`"),
            (None, _) => {
                Error::query(format!("the answer has several blocks, choose one: {reported}"))
            }
        })
    }

    /// What is likely a mistake in the query, in the order of its text: the
    /// [`QueryAnswer::unknown`] names, what is ignored, and variables whose values are likely not
    /// what is meant where they are used. O(length of the query).
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// let answer = db.query("{ q(func: has(name)) { nmae } }")?;
    /// assert!(answer.warnings()[0].to_string().contains("nmae"));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn warnings(&self) -> Vec<Warning> {
        let (query, schema, doubts) = match &self.result {
            Outcome::Held(answer) => (answer.plan(), &answer.version().schema, answer.doubts()),
            Outcome::Copied(copied) => (&copied.query, &copied.schema, copied.doubts.as_slice()),
        };
        let mut warnings = self.unknown();
        warnings.extend(ignored(query, schema));
        warnings.extend(doubtful(query, doubts));
        warnings.extend(self.depth_warnings());
        warnings.sort_by_key(|warning| (warning.at.line, warning.at.column));
        warnings
    }

    /// The blocks whose objects nest in more than 256 levels. Only `@recurse` makes so many.
    /// O(levels).
    pub(super) fn deep_blocks(&self) -> impl Iterator<Item = &Block> {
        self.held_answer().into_iter().flat_map(|answer| {
            let blocks = &answer.plan().blocks;
            (0..blocks.len()).filter_map(|position| answer.block(position)).filter_map(|result| {
                let block = &blocks[result.block];
                let is_deep = block.recurse.is_some() && result.level.is_deeper_than(COMMON_LEVELS);
                is_deep.then_some(block)
            })
        })
    }

    /// A warning for each block that is deeper than many readers of JSON go. To be reported though
    /// nobody requests warnings: such a client can't read its answer.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// let answer = db.query("{ q(func: has(name)) { name } }")?;
    /// assert!(answer.depth_warnings().is_empty());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn depth_warnings(&self) -> Vec<Warning> {
        let warning = |block: &Block| {
            Warning {
            kind: WarningKind::DeepAnswer,
            message: format!(
                "block `{}` nests in more than {COMMON_LEVELS} levels, and many readers of JSON stop there",
                block.name
            ),
            at: block.at,
            hint: "give `@recurse` a `depth`, or ask for nodes and their distances with a block `bfs(source: …)`"
                .to_owned(),
        }
        };
        self.deep_blocks().map(warning).collect()
    }

    /// What the query names and the schema of its version does not have: predicates, types and
    /// languages that are likely misspelt. O(length of the query).
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// let answer = db.query("{ q(func: has(naem)) { name } }")?;
    /// assert_eq!(answer.unknown().len(), 1);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn unknown(&self) -> Vec<Warning> {
        match &self.result {
            Outcome::Held(answer) => unknown_names(answer.plan(), &answer.version().schema),
            Outcome::Copied(copied) => unknown_names(&copied.query, &copied.schema),
        }
    }

    /// False where the schema of its version has no name but those that every database has: then no
    /// name of a query is misspelt. O(names that every database has).
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// assert!(!db.query("{ q(func: uid(1)) { uid } }")?.has_schema());
    /// db.alter("name: string .")?;
    /// assert!(db.query("{ q(func: uid(1)) { uid } }")?.has_schema());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn has_schema(&self) -> bool {
        let schema = match &self.result {
            Outcome::Held(answer) => &answer.version().schema,
            Outcome::Copied(copied) => &copied.schema,
        };
        let is_own = |name: &&str| !name.starts_with("dgraph.");
        let mut names = schema.predicates.keys().chain(schema.types.keys());
        names.any(|name| is_own(&&**name))
    }

    /// The times of parsing and processing; encoding is zero.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// let answer = db.query("{ q(func: has(name)) { name } }")?;
    /// assert!(answer.latency().encoding.is_zero(), "nothing was written yet");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn latency(&self) -> Latency {
        self.latency
    }

    /// The number of the commit that the answer shows.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// assert_eq!(db.query("{ q(func: has(name)) { name } }")?.commit(), db.commit()?);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn commit(&self) -> u64 {
        self.commit
    }

    /// The uid of the last root node of a block, by the block's position in the plan; `None` too
    /// where the answer was copied out.
    pub(super) fn last_root(&self, block: usize) -> Option<Uid> {
        self.held_answer()?.last_root(block)
    }

    /// Returns, for each predicate, the number of nodes whose values or edges were read; the empty
    /// name has the number of root nodes of all blocks.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .\n<2> <name> \"Bob\" .", "")?;
    /// let answer = db.query("{ q(func: has(name)) { name } }")?;
    /// assert_eq!(answer.touched()["name"], 2);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn touched(&self) -> BTreeMap<&str, u64> {
        match &self.result {
            Outcome::Held(answer) => answer.touched(),
            Outcome::Copied(copied) => copied.touched(),
        }
    }

    pub(super) fn answer_keys(&self, block: &str) -> Vec<Key> {
        match &self.result {
            Outcome::Held(answer) => answer.keys(block),
            Outcome::Copied(copied) => copied.keys(block),
        }
    }

    pub(super) fn answer_shapes(&self, block: &str) -> Vec<Shape> {
        match &self.result {
            Outcome::Held(answer) => answer.shapes(block),
            Outcome::Copied(copied) => copied.shapes(block),
        }
    }

    pub(super) fn answer_row_form(&self, block: &str) -> RowForm {
        match &self.result {
            Outcome::Held(answer) => answer.row_form(block),
            Outcome::Copied(copied) => copied.row_form(block),
        }
    }

    pub(super) fn answer_block_is_written(&self, block: &str) -> bool {
        match &self.result {
            Outcome::Held(answer) => answer.block_is_written(block),
            Outcome::Copied(copied) => copied.block_is_written(block),
        }
    }
}
