//! Mutations and upserts: a query whose variables select what to change, and the changes.

use super::reading::Reading;
use super::upsert::Prepared;
use crate::db::database::Database;
use crate::db::guard::guarded;
use crate::db::operation::Latency;
use crate::db::query::answer::QueryAnswer;
use crate::db::query::plans::{Variables, reserve_plan};
use crate::db::query::shown::shown_blocks;
use hexgraph_base::plan::{Filter, Query, Reads};
use hexgraph_base::schema::Actor;
use hexgraph_base::types::{Error, Result, Uid};
use hexgraph_dql::{Document, RdfBlock, UpsertCondition};
use hexgraph_store::exec::{Answer, RequestContext, Upsert, past_limit};
use hexgraph_store::graph::{
    Changes, Commit, Effect, Losses, MutationReport, MutationTexts, Stager, Statements, Version,
    encode_changes, encode_next_uid,
};
use hexgraph_store::{exec, graph};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A request to change data. Its mutations are executed in their order, all or none.
#[derive(Debug, Clone, Default)]
pub struct MutationRequest<'a> {
    /// A query in DQL, empty for none: the mutations may use its variables as `uid(v)` and
    /// `val(x)`. It sees the data as they are before all mutations.
    pub query: Cow<'a, str>,
    /// The values of the query's `$` variables.
    pub variables: Variables,
    /// The mutations, in the order in which they are executed.
    pub mutations: Vec<Mutation<'a>>,
}

/// One mutation. Its deletes are executed before its sets.
#[derive(Debug, Clone, Default)]
pub struct Mutation<'a> {
    /// `@if(...)` about variables of the query: where it does not hold, nothing is done. Empty
    /// for none.
    pub condition: Cow<'a, str>,
    /// The triples to set.
    pub set: Vec<Statements<'a>>,
    /// The triples to delete.
    pub delete: Vec<Statements<'a>>,
}

/// The result of a mutation.
#[derive(Default)]
pub struct MutationAnswer {
    /// The uids of the new nodes, by their names in the request: the name of a blank node without
    /// `_:`, `uid(v)` for an empty variable, `dg.<number>.<number>` for an object of JSON without a
    /// uid.
    pub uids: BTreeMap<String, String>,
    /// The answer of the query; `None` where the request has none.
    pub queries: Option<QueryAnswer>,
    /// True if the request was a query without mutations.
    pub is_query: bool,
    /// The number of the version that the request read, or of its transaction.
    pub start: u64,
    /// The number of the commit; `None` for a mere query and in an open transaction.
    pub commit: Option<u64>,
    /// The conflict keys of what was changed in an open transaction.
    pub keys: Vec<u64>,
    /// The predicates that were changed in an open transaction, by name.
    pub predicates: Vec<String>,
    /// The number of statements that were executed.
    pub statements: u64,
    /// The values that are stored as less than they are, since the types of their predicates do not
    /// hold them.
    pub losses: Losses,
    /// What they did in effect.
    pub effect: Effect,
    /// The times of the request.
    pub latency: Latency,
}

impl<'a> MutationRequest<'a> {
    /// A request that deletes and sets N-Quads, the deletes first.
    ///
    /// ```
    /// use hexgraph::db::{Database, MutationRequest, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// let request = MutationRequest::n_quads("<1> <name> \"Ada\" .", "");
    /// assert_eq!(db.mutate_with(&request, &RequestContext::new())?.statements, 1);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn n_quads(set: &'a str, delete: &'a str) -> MutationRequest<'a> {
        let set = vec![Statements::NQuads(set)];
        let delete = vec![Statements::NQuads(delete)];
        let mutations = vec![Mutation { set, delete, ..Mutation::default() }];
        MutationRequest { mutations, ..MutationRequest::default() }
    }
}

/// # Mutations
impl Database {
    /// Deletes and sets N-Quads in one commit, the deletes first.
    ///
    /// In a directory the change is in the log when this returns, as durable as
    /// [`crate::db::SyncPolicy`] says.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// let done = db.mutate("_:ada <name> \"Ada\" .\n_:ada <born> \"1815\" .", "")?;
    /// let ada = &done.uids["ada"];
    /// db.mutate("", &format!("<{ada}> <born> * ."))?;
    /// assert!(!db.query("{ q(func: has(born)) { uid } }")?.has_rows()?);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Syntax`, `Schema` or `Query` for what is wrong with a line; nothing is changed then.
    pub fn mutate(&self, set: &str, delete: &str) -> Result<MutationAnswer> {
        self.mutate_with(&MutationRequest::n_quads(set, delete), &RequestContext::new())
    }

    /// Runs a request in one commit.
    ///
    /// The query finds what the mutations change: where another writer changes what it reads, it is
    /// run again. `context` stops it.
    ///
    /// ```
    /// use hexgraph::db::{Database, Mutation, MutationRequest, RequestContext, Statements};
    ///
    /// let db = Database::in_memory();
    /// db.alter("email: string @index(exact) @upsert .")?;
    /// let text = "{ \"uid\": \"uid(user)\", \"email\": \"ada@example.org\" }";
    /// let request = MutationRequest {
    ///     query: "{ user as var(func: eq(email, \"ada@example.org\")) }".into(),
    ///     mutations: vec![Mutation { set: vec![Statements::Json(text)], ..Mutation::default() }],
    ///     ..MutationRequest::default()
    /// };
    /// db.mutate_with(&request, &RequestContext::new())?;
    /// // The second one finds the node of the first.
    /// db.mutate_with(&request, &RequestContext::new())?;
    /// assert_eq!(db.query("{ q(func: has(email)) { email } }")?.row_count()?, 1);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Syntax`, `Schema` or `Query` for what is wrong with any part of it, `Limit` when it is too
    /// large or was stopped; nothing is changed then.
    pub fn mutate_with(
        &self,
        request: &MutationRequest<'_>,
        context: &RequestContext,
    ) -> Result<MutationAnswer> {
        self.with_request(request, context, |job| self.run_now(job, context))
    }

    /// Executes a request in DQL in one commit: `{ set { ... } delete { ... } }`, `upsert { ... }`,
    /// or only a query.
    ///
    /// ```
    /// use hexgraph::db::Database;
    ///
    /// let db = Database::in_memory();
    /// let done = db.mutate_text("{ set { _:a <name> \"Ada\" . } }")?;
    /// assert_eq!(done.statements, 1);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::mutate_text_with`].
    pub fn mutate_text(&self, request: &str) -> Result<MutationAnswer> {
        self.mutate_text_with(request, &RequestContext::new())
    }

    /// Runs a request in DQL: `{ set { ... } delete { ... } }`, `upsert { ... }`, or a mere query.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// let upsert = "upsert {
    ///     query { ada as var(func: has(name)) }
    ///     mutation { set { uid(ada) <born> \"1815\" . } }
    /// }";
    /// let done = db.mutate_text_with(upsert, &RequestContext::new())?;
    /// assert_eq!(done.statements, 1);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::mutate_with`]; `Syntax` when it is no such request.
    pub fn mutate_text_with(
        &self,
        request: &str,
        context: &RequestContext,
    ) -> Result<MutationAnswer> {
        self.with_text(request, context, |job| self.run_now(job, context))
    }

    /// Reserves `count` consecutive uids, which no new node will get, and returns the first.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// let first = db.assign_uids(100)?;
    /// let next = db.assign_uids(1)?;
    /// assert_eq!(next.0, first.0 + 100);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Query` for 0; `Limit` for more than the limit `uids`, and when there are not so many left.
    /// What new nodes need is retained for them, however often this is called.
    pub fn assign_uids(&self, count: u64) -> Result<Uid> {
        if count == 0 {
            return Err(Error::query("Nothing to be leased"));
        }
        let most = self.limits().uids;
        if most < count {
            return Err(past_limit(
                &format!("{count} uids in one call are more than {most}"),
                "uids",
            ));
        }
        self.allocate_uids(count)
    }

    /// As [`Database::assign_uids`], as many as the caller has a bound for.
    ///
    /// # Errors
    ///
    /// `Limit` when there are not so many left.
    pub(crate) fn allocate_uids(&self, count: u64) -> Result<Uid> {
        self.check_may_write()?;
        self.check_guardian()?;
        let first = self.entire_version()?.uids.allocate_run(count)?.start;
        // A commit without a change, so that logs and snapshots know.
        self.change(None, |version, commit| {
            if let Some(record) = &mut commit.record {
                encode_next_uid(version.uids.next(), record);
            }
            Ok((Version::clone(version), ()))
        })?;
        Ok(Uid(first))
    }

    /// Reads a request, and has it run.
    pub(super) fn with_request<T>(
        &self,
        request: &MutationRequest<'_>,
        context: &RequestContext,
        run: impl FnOnce(Job<'_>) -> Result<T>,
    ) -> Result<T> {
        guarded(|| {
            let started = Instant::now();
            self.prepare(context);
            let reading = Reading::new(self, context)?;
            let conditions = request.mutations.iter().map(|mutation| &*mutation.condition);
            for text in conditions.chain([&*request.query]) {
                reserve_plan(text.len(), context)?;
            }
            let query = match request.query.is_empty() {
                true => None,
                false => Some(hexgraph_dql::parse(&request.query)?),
            };
            let steps = request.mutations.iter().map(Step::parse).collect::<Result<_>>()?;
            run(Parsed { query, steps, started }.plan(&request.variables, &reading)?)
        })
    }

    /// Reads a request in DQL, and has it run.
    pub(super) fn with_text<T>(
        &self,
        request: &str,
        context: &RequestContext,
        run: impl FnOnce(Job<'_>) -> Result<T>,
    ) -> Result<T> {
        guarded(|| {
            let started = Instant::now();
            self.prepare(context);
            let reading = Reading::new(self, context)?;
            // RDF is copied out of the text.
            let rdf_len = hexgraph_dql::rdf_len(request);
            context.reserve(rdf_len as u64)?;
            reserve_plan(request.len() - rdf_len, context)?;
            let hexgraph_dql::MutationRequest { query, mutations } =
                hexgraph_dql::parse_mutation(request)?;
            let steps = mutations.iter().map(Step::of_text).collect();
            run(Parsed { query, steps, started }.plan(&Variables::new(), &reading)?)
        })
    }

    /// The version with changes, whose record and keys become those of the commit.
    pub(super) fn apply(
        &self,
        changes: Changes,
        version: &Version,
        commit: &mut Commit,
        context: &RequestContext,
    ) -> Result<(Version, Effect)> {
        if let Some(record) = &mut commit.record {
            encode_changes(std::slice::from_ref(&changes), record);
        }
        let keys = &mut commit.keys;
        self.compute(context, || changes.apply_keyed(version, keys, &|| context.check()))
    }

    /// Carries a request out as a transaction of its own.
    fn run_now(&self, job: Job<'_>, context: &RequestContext) -> Result<MutationAnswer> {
        if !job.changes() {
            return Ok(self.stage(job, &self.entire_version()?, context)?.answer);
        }
        let finish = |staged: Staged, version: &Arc<Version>, commit: &mut Commit| {
            let Staged { changes, mut answer, .. } = staged;
            let (next, effect) = self.apply(changes, version, commit, context)?;
            answer.effect = effect;
            Ok((next, answer))
        };
        let (commit, answer) = match job.takes_long(&*self.entire_version()?) {
            false => self.change(None, |version, commit| {
                finish(self.stage(job, version, context)?, version, commit)
            })?,
            true => {
                let prepare = |version: &Arc<Version>| {
                    // It is prepared again where another writer changes what it reads.
                    let mut staged = self.stage(job.clone(), version, context)?;
                    Ok(Prepared { reads: mem::take(&mut staged.reads), staged })
                };
                let fits = |staged: &Staged, version: &Version| staged.changes.fit(&version.schema);
                self.change_prepared(context, prepare, fits, finish)?
            }
        };
        Ok(MutationAnswer { commit: Some(commit), ..answer })
    }

    /// Finds out what a request changes in a version, and what it answers.
    ///
    /// # Errors
    ///
    /// As [`Database::mutate_with`].
    pub(in crate::db) fn stage(
        &self,
        job: Job<'_>,
        version: &Arc<Version>,
        context: &RequestContext,
    ) -> Result<Staged> {
        let started = Instant::now();
        let (parsing, is_query) = (job.parsing, !job.changes());
        let mut reads = Reads::default();
        reads.add_query(&job.query);
        let may_write = self.check_writes(&job.mutations)?;
        let seen = self.seen(Arc::clone(version))?;
        let job = match seen.view() {
            Some(view) => Job { query: shown_blocks(job.query, view), ..job },
            None => job,
        };
        let ran = self.compute(context, || job.run(version, seen, &may_write, context));
        let (changes, result, report) = ran?;
        if changes.adds() {
            self.budget().check_growth()?;
        }
        report.reads.iter().for_each(|name| reads.add(name));
        let latency = Latency { parsing, processing: started.elapsed(), encoding: Duration::ZERO };
        let queries =
            result.map(|answer| QueryAnswer::new(answer, latency, version.commit, context));
        let uids = report.uids.into_iter().map(|(name, uid)| (name, uid.to_string())).collect();
        let answer = MutationAnswer {
            uids,
            queries,
            is_query,
            start: version.commit,
            statements: report.triples,
            losses: report.losses,
            latency,
            ..MutationAnswer::default()
        };
        Ok(Staged { changes, answer, reads })
    }
}

/// What a request changes, and what it answers.
pub(in crate::db) struct Staged {
    /// The changes, not yet executed.
    pub changes: Changes,
    /// The answer, without a commit.
    pub answer: MutationAnswer,
    /// The predicates that decide what both are.
    pub reads: Reads,
}

/// A request whose texts are parsed.
struct Parsed<'a> {
    query: Option<Document>,
    steps: Vec<Step<'a>>,
    started: Instant,
}

struct Step<'a> {
    condition: Option<UpsertCondition>,
    texts: MutationTexts<'a>,
}

impl<'a> Step<'a> {
    fn parse(mutation: &'a Mutation<'_>) -> Result<Step<'a>> {
        let condition = match mutation.condition.is_empty() {
            true => None,
            false => Some(hexgraph_dql::parse_condition(&mutation.condition)?),
        };
        Ok(Step { condition, texts: MutationTexts::new(&mutation.set, &mutation.delete) })
    }

    fn of_text(mutation: &'a hexgraph_dql::Mutation) -> Step<'a> {
        let parts = |blocks: &'a [RdfBlock]| -> Vec<Statements<'a>> {
            blocks.iter().map(|block| Statements::Part(&block.text, block.at)).collect()
        };
        let (set, delete) = (parts(&mutation.set), parts(&mutation.delete));
        let condition = mutation.condition.clone();
        Step { condition, texts: MutationTexts::new(&set, &delete) }
    }
}

impl Parsed<'_> {
    fn plan(&self, variables: &Variables, reading: &Reading<'_>) -> Result<Job<'_>> {
        if self.query.is_none() && self.steps.is_empty() {
            return Err(Error::query("empty request: it holds neither a mutation nor a query"));
        }
        let mut new_nodes = 0;
        let read = self.steps.iter().map(|step| step.texts.statements(&mut new_nodes, reading));
        let mutations = read.collect::<Result<Vec<graph::Mutation<'_>>>>()?;
        reading.finish()?;
        let mut names = Vec::new();
        for mutation in &mutations {
            mutation.add_variables(&mut names);
        }
        names.sort_unstable();
        names.dedup();
        let conditions: Vec<Option<&UpsertCondition>> =
            self.steps.iter().map(|step| step.condition.as_ref()).collect();
        let empty = Document::empty();
        let document = self.query.as_ref().unwrap_or(&empty);
        let plan = document.plan_upsert(variables, &conditions, &names)?;
        Ok(Job {
            has_query: self.query.is_some(),
            query: Arc::new(plan.query),
            conditions: plan.conditions,
            names,
            mutations,
            parsing: self.started.elapsed(),
        })
    }
}

/// A request that is ready to be run on a version.
#[derive(Clone)]
pub(in crate::db) struct Job<'a> {
    has_query: bool,
    query: Arc<Query>,
    conditions: Vec<Option<Filter>>,
    names: Vec<String>,
    mutations: Vec<graph::Mutation<'a>>,
    /// The time of parsing.
    parsing: Duration,
}

impl Job<'_> {
    /// True if the request has mutations besides its query.
    pub(in crate::db) fn changes(&self) -> bool {
        !self.mutations.is_empty()
    }

    /// True if preparing it may be slow: it has a query, or it hashes passwords.
    fn takes_long(&self, version: &Version) -> bool {
        !self.query.blocks.is_empty()
            || self.query.schema.is_some()
            || graph::names_passwords(&version.schema, &self.mutations)
    }

    /// What the request changes in a version, and what it answers: its query sees what is `seen` of
    /// it.
    fn run(
        self,
        version: &Arc<Version>,
        seen: Arc<Version>,
        may_write: &(dyn Fn(&str) -> bool + Sync),
        context: &RequestContext,
    ) -> Result<(Changes, Option<Answer>, MutationReport)> {
        let Upsert { answer, holds, bindings } =
            exec::execute_upsert(seen, self.query, &self.conditions, &self.names, context)?;
        let charge = |bytes| context.charge(bytes);
        let actor = Actor::User(may_write);
        let stager = Stager { actor, passwords: context, charge: &charge };
        let retained = self.mutations.into_iter().zip(holds).filter(|(_, holds)| *holds);
        let retained = retained.map(|(mutation, _)| mutation).collect();
        let (changes, report) = graph::stage(version, retained, &bindings, stager)?;
        // Dgraph looks for equal values with a query, so it answers one then.
        let answer = (self.has_query || changes.sets_unique()).then_some(answer);
        Ok((changes, answer, report))
    }
}
