//! Queries and their answers.

use super::checked::{CheckedSink, Room, too_long};
use super::kept::copied::{AnswerMemory, Copied};
use super::plans::{QueryRequest, Variables};
use super::shown::shown_blocks;
use super::warnings::{Warning, WarningKind, doubtful, ignored, unknown_names};
use crate::db::database::Database;
use crate::db::guard::guarded;
use crate::db::operation::Latency;
use hexgraph_base::answer::{
    ChunkSink, JsonSink, Key, KeySink, NestedSink, RowForm, Shape, Table, TableSink, columns,
    need_data,
};
use hexgraph_base::budget::Share;
use hexgraph_base::plan::{Block, Query};
use hexgraph_base::types::pool::Pool;
use hexgraph_base::types::{Error, PieceSink, Result, Sink, Uid};
use hexgraph_store::exec;
use hexgraph_store::exec::{Answer, COMMON_LEVELS, Control as RequestContext, ExecOptions, Limits};
use hexgraph_store::graph::{PredicateStats, Version, stats};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// A query whose plan is made by whoever asks.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) text: &'a str,
    pub(super) variables: &'a Variables,
    pub(super) debug: bool,
}

/// The answer to a query. It holds the nodes that were found and the version that they were found in; values are read from
/// that version when the answer is written. [`QueryAnswer::copied_out`] makes a copy of a short one that is free of its version.
pub struct QueryAnswer {
    found: Found,
    latency: Latency,
    commit: u64,
    /// The memory of the found nodes, drawn from the budget for as long as the answer exists.
    share: Option<Arc<Share>>,
    /// The threads of the database, which help to write a large answer.
    pool: Option<Arc<Pool>>,
}

/// What was found.
enum Found {
    /// Nodes, and the version that has their values.
    Held(Answer),
    /// All that can be asked of the answer, written down.
    Copied(Box<Copied>),
}

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

    /// Answers a query from the newest version. Runs on the calling thread; the threads of the database help where there is much
    /// to do.
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
        let asked = Asked { text, variables, debug: *debug };
        let plan = || amend(self.plan(text, variables, context)?);
        self.query_planned(version, asked, plan, context)
    }

    /// Answers a query from a version by the plan that `plan` makes.
    ///
    /// # Errors
    ///
    /// As [`Database::query`].
    pub(super) fn query_planned(
        &self,
        version: Arc<Version>,
        asked: Asked<'_>,
        plan: impl FnOnce() -> Result<Arc<Query>>,
        context: &RequestContext,
    ) -> Result<QueryAnswer> {
        guarded(|| {
            let started = Instant::now();
            self.prepare(context);
            let plan = plan()?;
            let parsing = started.elapsed();
            let options = self.options(asked.debug);
            let mut answer = self.run(version, plan, options, context)?;
            answer.latency.parsing = parsing;
            if self.limits().slow <= answer.latency.total() {
                self.slow_log().note(asked.text, asked.variables, answer.latency);
            }
            Ok(answer)
        })
    }

    /// The options of execution for a request, taken from the limits.
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
    pub(in crate::db) fn ask_whole(
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

impl QueryAnswer {
    /// Wraps the answer of the executor, found on the version of `commit`.
    pub(in crate::db) fn new(
        answer: Answer,
        latency: Latency,
        commit: u64,
        context: &RequestContext,
    ) -> QueryAnswer {
        let (share, pool) = (context.share().cloned(), context.pool().cloned());
        QueryAnswer { found: Found::Held(answer), latency, commit, share, pool }
    }

    /// As [`QueryAnswer::held_answer`], to take something out of it.
    pub(super) fn held_answer_mut(&mut self) -> Option<&mut Answer> {
        match &mut self.found {
            Found::Held(answer) => Some(answer),
            Found::Copied(_) => None,
        }
    }

    /// What the executor found; `None` for an answer that was copied out.
    pub(in crate::db) fn held_answer(&self) -> Option<&Answer> {
        match &self.found {
            Found::Held(answer) => Some(answer),
            Found::Copied(_) => None,
        }
    }

    /// What was written down of an answer that was copied out.
    pub(super) fn copied_answer(&self) -> Option<&Copied> {
        match &self.found {
            Found::Held(_) => None,
            Found::Copied(copied) => Some(copied),
        }
    }

    /// The same answer with the copy in place of what was found, whose memory is drawn; `None` where there is none for it.
    pub(super) fn with_copy(&self, copied: Copied) -> Option<QueryAnswer> {
        let share = match &self.share {
            None => None,
            Some(share) => {
                let kept = Arc::new(share.budget().share());
                kept.draw(copied.byte_len()).ok()?;
                Some(kept)
            }
        };
        let found = Found::Copied(Box::new(copied));
        Some(QueryAnswer {
            found,
            latency: self.latency,
            commit: self.commit,
            share,
            pool: self.pool.clone(),
        })
    }

    /// The memory that the answer holds. Costs a pass over the predicates of its version.
    pub fn memory(&self) -> AnswerMemory {
        match &self.found {
            Found::Copied(copied) => AnswerMemory { own: copied.byte_len(), version: 0 },
            Found::Held(answer) => {
                let bytes = |it: PredicateStats| {
                    it.column_bytes + it.index_bytes + it.reverse_bytes + it.facet_bytes
                };
                let version = stats(answer.version()).into_iter().map(bytes).sum();
                AnswerMemory { own: self.held(), version }
            }
        }
    }

    /// Writes to a sink that keeps nothing beyond about `bytes_max` bytes of JSON.
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
        guarded(|| match &self.found {
            Found::Copied(copied) => copied.lines().map(<[u8]>::to_vec),
            Found::Held(answer) => {
                let mut lines = Vec::new();
                let mut room = Room::new(context, bytes_max);
                answer.write_rdf(&mut lines, &mut |length| room.look(length))?;
                Ok(lines)
            }
        })
    }

    /// Writes the object with the blocks, of each list at most `objects_max` objects.
    pub(super) fn write_to(&self, objects_max: usize, sink: &mut dyn Sink) -> Result<()> {
        match &self.found {
            Found::Held(answer) => answer.write_head(objects_max, sink),
            Found::Copied(copied) => {
                copied.write_head(objects_max, sink);
                Ok(())
            }
        }
    }

    fn write_pieces<S: PieceSink>(&self, context: &RequestContext, sink: &mut S) -> Result<()> {
        match &self.found {
            Found::Held(answer) => answer.write_shared(context, sink),
            Found::Copied(_) => self.write_to(usize::MAX, sink),
        }
    }

    pub(super) fn exec_options(&self) -> &ExecOptions {
        match &self.found {
            Found::Held(answer) => answer.options(),
            Found::Copied(copied) => &copied.options,
        }
    }

    /// Makes `context` draw from the same budget as the request did, and have the same threads.
    pub(in crate::db) fn prepare(&self, context: &RequestContext) {
        if let Some(pool) = &self.pool {
            context.set_pool(pool);
        }
        if let Some(share) = &self.share {
            context.set_budget(share.budget());
        }
    }

    /// The bytes of the budget that the found nodes hold.
    pub(super) fn held(&self) -> u64 {
        self.share.as_ref().map_or(0, |share| share.used())
    }

    /// Writes the object with the blocks, until `context` stops it. Returns the sink.
    ///
    /// # Errors
    ///
    /// As [`Database::query`]: values are read when they are written.
    pub fn write<S: Sink>(&self, sink: S, context: &RequestContext) -> Result<S> {
        self.write_head(usize::MAX, sink, context)
    }

    /// As [`QueryAnswer::write`], but no more than the first `objects_max` objects of each list:
    /// costs as much as is written.
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::write`].
    pub fn write_head<S: Sink>(
        &self,
        objects_max: usize,
        sink: S,
        context: &RequestContext,
    ) -> Result<S> {
        self.prepare(context);
        guarded(|| {
            let mut sink = CheckedSink::new(sink, context, self.exec_options().result);
            self.write_to(objects_max, &mut sink)?;
            Ok(sink.into_inner())
        })
    }

    /// As [`QueryAnswer::write`], for a sink that takes pieces: other threads help to write a large answer.
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::write`].
    pub fn write_shared<S: PieceSink>(&self, sink: S, context: &RequestContext) -> Result<S> {
        self.prepare(context);
        guarded(|| {
            let mut sink = CheckedSink::new(sink, context, self.exec_options().result);
            self.write_pieces(context, &mut sink)?;
            Ok(sink.into_inner())
        })
    }

    /// Returns the names of the visible blocks with the numbers of their root nodes. That is about the number of objects; nodes
    /// without any of the asked values give none.
    pub fn root_counts(&self) -> impl Iterator<Item = (&str, usize)> {
        let held = self.held_answer().map(Answer::root_counts);
        let copied = self.copied_answer().map(Copied::root_counts);
        held.into_iter().flatten().chain(copied.into_iter().flatten())
    }

    /// The object with the blocks as JSON text, and how long it took to write.
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::write`].
    pub fn to_json(&self) -> Result<(String, Duration)> {
        self.to_json_with(&RequestContext::new())
    }

    /// As [`QueryAnswer::to_json`], until `context` stops it.
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::write`].
    pub fn to_json_with(&self, context: &RequestContext) -> Result<(String, Duration)> {
        let started = Instant::now();
        let json = self.write_shared(JsonSink::new(), context)?.into_bytes();
        let json = String::from_utf8(json).expect("the sink writes UTF-8 from texts");
        Ok((json, started.elapsed()))
    }

    /// As [`QueryAnswer::to_json_with`], where it has no more than about so many bytes; `None` for
    /// a longer one, which [`QueryAnswer::write_chunks`] writes in pieces.
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::write`].
    pub fn to_short_json(
        &self,
        bytes_max: u64,
        context: &RequestContext,
    ) -> Result<Option<(String, Duration)>> {
        let started = Instant::now();
        let most = bytes_max.min(self.exec_options().result);
        let is_long = OnceLock::new();
        self.prepare(context);
        let before = context.share().map_or(0, |share| share.used());
        let written = guarded(|| {
            let mut sink = CheckedSink::new(JsonSink::new(), context, most);
            sink.tell_when_too_long(&is_long);
            self.write_pieces(context, &mut sink)?;
            Ok(sink.into_inner())
        });
        match written {
            Ok(json) => Ok(Some((json.into_string(), started.elapsed()))),
            // Only the length stopped it, and the limit `result` is farther off: the caller writes it again in pieces, so what
            // was drawn for this attempt goes back.
            Err(_) if is_long.get().is_some() && most < self.exec_options().result => {
                if let Some(share) = context.share() {
                    share.keep_only(before);
                }
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Writes the object with the blocks as JSON text in pieces of about so many bytes.
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::write`], and those of `send`.
    pub fn write_chunks(
        &self,
        chunk_len: usize,
        context: &RequestContext,
        send: impl FnMut(Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        self.prepare(context);
        guarded(|| {
            // Pieces leave memory when they are sent, so only the length is bounded.
            let sink = ChunkSink::new(chunk_len, send);
            let mut sink = CheckedSink::new(sink, context, self.exec_options().result).passing_on();
            // By this thread alone: what waits for somebody who takes it is not made ahead.
            self.write_to(usize::MAX, &mut sink)?;
            sink.into_inner().finish()
        })
    }

    /// The facts that were found as lines of N-Quads, and how long they took to write.
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::write`]; `Query` for what has no place in N-Quads: groups, `count(uid)`,
    /// `@normalize`, `@ignorereflex`, `checkpwd` and facets.
    pub fn to_rdf(&self) -> Result<(String, Duration)> {
        self.to_rdf_with(&RequestContext::new())
    }

    /// As [`QueryAnswer::to_rdf`], until `context` stops it.
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::to_rdf`].
    pub fn to_rdf_with(&self, context: &RequestContext) -> Result<(String, Duration)> {
        self.prepare(context);
        guarded(|| {
            let started = Instant::now();
            let lines = self.lines_within(self.exec_options().result, context)?;
            let lines = String::from_utf8(lines).expect("facts are written from texts");
            Ok((lines, started.elapsed()))
        })
    }

    /// Returns the name of a block, and the keys of its objects in the order of the text.
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::keys_with`].
    pub fn keys(&self, block: Option<&str>) -> Result<(String, Vec<String>)> {
        self.keys_with(block, &RequestContext::new())
    }

    /// Returns the name of a block, and the keys of its objects in the order of the text. `None` selects the only block.
    ///
    /// Keys of facets and of all languages are not in the text; where it asks for those the whole answer is written once to
    /// find them.
    ///
    /// # Errors
    ///
    /// `Query` when there is no such block, or more than one to choose from; as
    /// [`QueryAnswer::write`].
    pub fn keys_with(
        &self,
        block: Option<&str>,
        context: &RequestContext,
    ) -> Result<(String, Vec<String>)> {
        let name = self.block_name(block)?;
        let keys = self.answer_keys(&name);
        let found = match need_data(&keys) {
            true => self.write(KeySink::new(name.clone()), context)?.finish(),
            false => Vec::new(),
        };
        Ok((name, columns(&keys, &found)))
    }

    /// The keys that the objects of a block may have, in the order of the text.
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::block_name`].
    pub(super) fn block_keys(&self, block: Option<&str>) -> Result<Vec<Key>> {
        Ok(self.answer_keys(&self.block_name(block)?))
    }

    /// The columns that the rows of a block have by the text and the schema.
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::block_name`].
    pub(super) fn block_shapes(&self, block: Option<&str>) -> Result<Vec<Shape>> {
        Ok(self.answer_shapes(&self.block_name(block)?))
    }

    /// The rows of a block as a table of columns; `None` selects the only block.
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::table_with`].
    pub fn table(&self, block: Option<&str>) -> Result<Table> {
        self.table_with(block, &RequestContext::new())
    }

    /// The rows of a block as a table: its objects, its groups, or what a block without nodes computes as one row. The columns are
    /// in the order of the text, also those that no row has; objects within rows are columns of objects. Other blocks are not read where
    /// this one is made column by column, so what is wrong with their values need not be told.
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::write`] and [`TableSink::finish`].
    pub fn table_with(&self, block: Option<&str>, context: &RequestContext) -> Result<Table> {
        let name = self.block_name(block)?;
        self.check_table_depth(&name)?;
        let mut table = match self.columns(&name, context)? {
            Some(table) => table,
            None => self.table_by_rows(&name, context)?,
        };
        table.shape(&self.answer_shapes(&name));
        table.put_in_order(&self.block_keys(Some(&name))?);
        Ok(table)
    }

    /// The rows of a block column by column; `None` where they have to be written one by one, also to find out what is wrong with one.
    fn columns(&self, block: &str, context: &RequestContext) -> Result<Option<Table>> {
        let Found::Held(answer) = &self.found else { return Ok(None) };
        self.prepare(context);
        let before = context.share().map_or(0, |share| share.used());
        let most = self.exec_options().result;
        let mut bytes = 0_u64;
        let mut look = |more: u64| {
            bytes = bytes.saturating_add(more);
            if most < bytes { Err(too_long(most)) } else { Ok(()) }
        };
        match guarded(|| answer.table(block, context, &mut look)) {
            Ok(Some(table)) => Ok(Some(table)),
            Err(error @ Error::Limit { .. }) => Err(error),
            Ok(None) | Err(_) => {
                if let Some(share) = context.share() {
                    share.keep_only(before);
                }
                Ok(None)
            }
        }
    }

    fn table_by_rows(&self, name: &str, context: &RequestContext) -> Result<Table> {
        match self.answer_row_form(name) {
            form @ (RowForm::Nested | RowForm::Joined) => {
                let sink = NestedSink::new(name.to_owned(), form == RowForm::Joined);
                self.write(sink, context)?.finish()
            }
            RowForm::Flat | RowForm::Groups => {
                let sink = || TableSink::new(Some(name.to_owned()));
                let table = match self.answer_block_is_written(name) {
                    true => self.write_shared(sink(), context)?.finish(),
                    false => Ok(Table::default()),
                };
                // Of several faults the first one is told, which is known where all rows were written by one thread.
                table.or_else(|_| self.write(sink(), context)?.finish())
            }
        }
    }

    /// What the rows of a block are made of; `None` selects the only block.
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::block_name`].
    pub fn row_form(&self, block: Option<&str>) -> Result<RowForm> {
        Ok(self.answer_row_form(&self.block_name(block)?))
    }

    /// The names of the blocks, in the order of the text.
    pub fn block_names(&self) -> Vec<String> {
        self.root_counts().map(|(name, _)| name.to_owned()).collect()
    }

    /// Returns the name of the given block after checking that it exists; for `None`, the name of the only block.
    ///
    /// # Errors
    ///
    /// `Query` when there is no such block, or more than one to choose from.
    pub fn block_name(&self, block: Option<&str>) -> Result<String> {
        // Whoever reads all blocks asks for each of perhaps thousands.
        if let Some(wanted) = block.filter(|wanted| self.root_counts().any(|(it, _)| it == *wanted))
        {
            return Ok(wanted.to_owned());
        }
        let names: Vec<&str> = self.root_counts().map(|(name, _)| name).collect();
        let told = names.join(", ");
        Err(match (block, names.as_slice()) {
            (None, [only]) => return Ok((*only).to_owned()),
            (Some(wanted), _) => {
                Error::query(format!("the answer has no block {wanted:?}, it has: {told}"))
            }
            (None, []) => Error::query("the answer has no blocks, so there are no rows")
                .with_hint("a schema is one value: use JSON or `to_dict()`"),
            (None, _) => Error::query(format!("the answer has several blocks, choose one: {told}")),
        })
    }

    /// What is likely a mistake in the query, in the order of its text: the [`QueryAnswer::unknown`] names, what is ignored, and variables whose
    /// values are likely not what is meant where they are used. O(length of the query).
    pub fn warnings(&self) -> Vec<Warning> {
        let (query, schema, doubts) = match &self.found {
            Found::Held(answer) => (answer.plan(), &answer.version().schema, answer.doubts()),
            Found::Copied(copied) => (&copied.query, &copied.schema, copied.doubts.as_slice()),
        };
        let mut warnings = self.unknown();
        warnings.extend(ignored(query, schema));
        warnings.extend(doubtful(query, doubts));
        warnings.extend(self.depth_warnings());
        warnings.sort_by_key(|warning| (warning.at.line, warning.at.column));
        warnings
    }

    /// The blocks whose objects nest in more than 256 levels. Only `@recurse` makes so many. O(levels).
    fn deep_blocks(&self) -> impl Iterator<Item = &Block> {
        self.held_answer().into_iter().flat_map(|answer| {
            let blocks = &answer.plan().blocks;
            (0..blocks.len()).filter_map(|place| answer.block(place)).filter_map(|result| {
                let block = &blocks[result.block];
                let is_deep = block.recurse.is_some() && result.level.is_deeper_than(COMMON_LEVELS);
                is_deep.then_some(block)
            })
        })
    }

    /// A warning for each block that is deeper than many readers of JSON go. To be told though nobody asks for warnings: such a client can't
    /// read its answer.
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

    /// Checks that a block can be a table: columns nest as deep as its levels.
    ///
    /// # Errors
    ///
    /// `Limit` when it is deeper than 256 levels.
    fn check_table_depth(&self, name: &str) -> Result<()> {
        match self.deep_blocks().find(|block| block.name == name) {
            None => Ok(()),
            Some(_) => Err(Error::Limit {
                message: format!(
                    "block `{name}` nests in more than {COMMON_LEVELS} levels, and a table has at most so many: give \
                     `@recurse` a `depth`, ask for nodes and their distances with a block `bfs(source: …)`, or read \
                     the answer with `to_dict()`"
                ),
            }),
        }
    }

    /// What the query names and the schema of its version does not have: predicates, types and languages that are likely
    /// misspelt. O(length of the query).
    pub fn unknown(&self) -> Vec<Warning> {
        match &self.found {
            Found::Held(answer) => unknown_names(answer.plan(), &answer.version().schema),
            Found::Copied(copied) => unknown_names(&copied.query, &copied.schema),
        }
    }

    /// False where the schema of its version has no name but those that every database has: then no name of a query is misspelt. O(names that
    /// every database has).
    pub fn has_schema(&self) -> bool {
        let schema = match &self.found {
            Found::Held(answer) => &answer.version().schema,
            Found::Copied(copied) => &copied.schema,
        };
        let is_own = |name: &&str| !name.starts_with("dgraph.");
        let mut names = schema.predicates.keys().chain(schema.types.keys());
        names.any(|name| is_own(&&**name))
    }

    /// The times of parsing and processing; encoding is zero.
    pub fn latency(&self) -> Latency {
        self.latency
    }

    /// The number of the commit that the answer shows.
    pub fn commit(&self) -> u64 {
        self.commit
    }

    /// The uid of the last root node of a block, by the block's place in the plan; `None` too where the answer was copied out.
    pub(super) fn last_root(&self, block: usize) -> Option<Uid> {
        self.held_answer()?.last_root(block)
    }

    /// Returns, for each predicate, the number of nodes whose values or edges were read; the empty name has the number of root
    /// nodes of all blocks.
    pub fn touched(&self) -> BTreeMap<&str, u64> {
        match &self.found {
            Found::Held(answer) => answer.touched(),
            Found::Copied(copied) => copied.touched(),
        }
    }

    fn answer_keys(&self, block: &str) -> Vec<Key> {
        match &self.found {
            Found::Held(answer) => answer.keys(block),
            Found::Copied(copied) => copied.keys(block),
        }
    }

    fn answer_shapes(&self, block: &str) -> Vec<Shape> {
        match &self.found {
            Found::Held(answer) => answer.shapes(block),
            Found::Copied(copied) => copied.shapes(block),
        }
    }

    fn answer_row_form(&self, block: &str) -> RowForm {
        match &self.found {
            Found::Held(answer) => answer.row_form(block),
            Found::Copied(copied) => copied.row_form(block),
        }
    }

    fn answer_block_is_written(&self, block: &str) -> bool {
        match &self.found {
            Found::Held(answer) => answer.block_is_written(block),
            Found::Copied(copied) => copied.block_is_written(block),
        }
    }
}
