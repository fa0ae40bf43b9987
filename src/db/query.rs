//! Questions and their answers.

use super::checked::Checked;
use super::database::Database;
use super::explain::Explanation;
use super::guard::guarded;
use super::operation::Latency;
use super::plans::Variables;
use super::rows::RowCounter;
use super::slow::SlowQuery;
use crate::answer::JsonSink;
use crate::exec;
use crate::exec::Answer;
use crate::exec::Control;
use crate::exec::ExecOptions;
use crate::exec::Limits;
use crate::exec::Trace;
use crate::graph::Version;
use crate::plan::Query;
use crate::types::Error;
use crate::types::Result;
use crate::types::Sink;
use crate::types::Uid;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use std::time::Instant;

/// A query.
#[derive(Debug, Clone, Default)]
pub struct QueryRequest {
    /// The DQL.
    pub text: String,
    /// The values of its variables, by name with its `$`.
    pub variables: Variables,
    /// True to have the uid in every object.
    pub debug: bool,
}

/// The answer to a query: what it found, and the version that it is read from.
pub struct QueryAnswer {
    answer: Answer,
    latency: Latency,
    commit: u64,
}

impl Database {
    /// Answers a query from the newest version. Runs on the calling thread; what it shares out to
    /// the threads of the pool it does only where there is much to do.
    ///
    /// # Errors
    ///
    /// `Syntax`, `Schema` or `Query` for what is wrong with the request; `Limit` when `control`
    /// stops it; `Corrupt` when it meets a damaged part of the file.
    pub fn query(&self, request: &QueryRequest, control: &Control) -> Result<QueryAnswer> {
        self.query_version(self.version()?, request, control)
    }

    /// Answers a query from a version.
    ///
    /// # Errors
    ///
    /// As [`Database::query`].
    pub(super) fn query_version(
        &self,
        version: Arc<Version>,
        request: &QueryRequest,
        control: &Control,
    ) -> Result<QueryAnswer> {
        self.query_amended(version, request, |plan| plan, control)
    }

    /// Answers a query from a version by the plan that `amend` makes of the text's.
    ///
    /// # Errors
    ///
    /// As [`Database::query`].
    pub(super) fn query_amended(
        &self,
        version: Arc<Version>,
        request: &QueryRequest,
        amend: impl FnOnce(Arc<Query>) -> Arc<Query>,
        control: &Control,
    ) -> Result<QueryAnswer> {
        guarded(|| {
            let started = Instant::now();
            let plan = amend(self.plan(&request.text, &request.variables)?);
            let parsing = started.elapsed();
            let options = self.options(request.debug);
            let mut answer = self.run(version, plan, options, control)?;
            answer.latency.parsing = parsing;
            if self.limits().slow <= answer.latency.total() {
                self.slow_log().note(request, answer.latency);
            }
            Ok(answer)
        })
    }

    /// Answers a query and tells how: the steps with what was expected and what came out.
    ///
    /// # Errors
    ///
    /// As [`Database::query`].
    pub fn explain(&self, request: &QueryRequest, control: &Control) -> Result<Explanation> {
        control.start_trace();
        let answer = self.query(request, control)?;
        let steps = control.trace().map(Trace::steps).unwrap_or_default();
        Ok(Explanation::new(&request.text, steps, answer.latency()))
    }

    /// The last queries that took longer than the limit `slow`, the newest last.
    pub fn slow_queries(&self) -> Vec<SlowQuery> {
        self.slow_log().queries()
    }

    /// The options of a request.
    pub(super) fn options(&self, debug: bool) -> ExecOptions {
        let Limits { normalize, result, .. } = *self.limits();
        ExecOptions { debug, normalize, result }
    }

    /// Carries a plan out.
    pub(super) fn run(
        &self,
        version: Arc<Version>,
        plan: Arc<Query>,
        options: ExecOptions,
        control: &Control,
    ) -> Result<QueryAnswer> {
        let started = Instant::now();
        let commit = version.commit;
        let job = || exec::execute(version, plan, options, control);
        let answer = self.compute(control, job)?;
        let latency = Latency { processing: started.elapsed(), ..Latency::default() };
        Ok(QueryAnswer { answer, latency, commit })
    }
}

impl QueryAnswer {
    /// What a request found on the version of a commit.
    pub(super) fn new(answer: Answer, latency: Latency, commit: u64) -> QueryAnswer {
        QueryAnswer { answer, latency, commit }
    }

    /// Writes the object with the blocks, until `control` stops it. Returns the sink.
    ///
    /// # Errors
    ///
    /// As [`Database::query`]: values are read when they are written.
    pub fn write<S: Sink>(&self, sink: S, control: &Control) -> Result<S> {
        guarded(|| {
            let mut sink = Checked::new(sink, control, self.answer.options().result);
            self.answer.write(&mut sink)?;
            Ok(sink.into_inner())
        })
    }

    /// The object with the blocks as JSON text, and how long it took to write.
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::write`].
    pub fn to_json(&self) -> Result<(String, Duration)> {
        self.to_json_within(&Control::new())
    }

    /// As [`QueryAnswer::to_json`], until `control` stops it.
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::write`].
    pub fn to_json_within(&self, control: &Control) -> Result<(String, Duration)> {
        let started = Instant::now();
        let json = self.write(JsonSink::new(), control)?.into_bytes();
        let json = String::from_utf8(json).expect("the sink writes UTF-8 from texts");
        Ok((json, started.elapsed()))
    }

    /// The facts that were found as lines of N-Quads, and how long they took to write.
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::write`]; `Query` for what has no place in N-Quads: groups, `count(uid)`,
    /// `@normalize`, `@ignorereflex`, `checkpwd` and facets.
    pub fn to_rdf(&self) -> Result<(String, Duration)> {
        guarded(|| {
            let started = Instant::now();
            let mut lines = Vec::new();
            self.answer.write_rdf(&mut lines)?;
            let lines = String::from_utf8(lines).expect("facts are written from texts");
            Ok((lines, started.elapsed()))
        })
    }

    /// The name of a block that was asked for, or of the only one; with the keys of its fields in
    /// their order.
    ///
    /// # Errors
    ///
    /// `Query` when there is no such block, or more than one to choose from.
    pub fn keys(&self, block: Option<&str>) -> Result<(String, Vec<String>)> {
        let names: Vec<&str> = self.answer.block_names().collect();
        let name = match (block, names.as_slice()) {
            (Some(wanted), _) if names.contains(&wanted) => wanted,
            (Some(wanted), _) => {
                let message = format!("the answer has no block {wanted:?}, it has: ");
                return Err(Error::query(message + &names.join(", ")));
            }
            (None, [only]) => only,
            (None, _) => {
                let message = "the answer has several blocks, choose one: ".to_owned();
                return Err(Error::query(message + &names.join(", ")));
            }
        };
        Ok((name.to_owned(), self.answer.keys(name)))
    }

    /// The number of objects in all blocks together.
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::write`].
    pub fn row_count(&self, control: &Control) -> Result<usize> {
        Ok(self.write(RowCounter::default(), control)?.rows())
    }

    /// The times it took, without encoding.
    pub fn latency(&self) -> Latency {
        self.latency
    }

    /// The number of the commit that the answer shows.
    pub fn commit(&self) -> u64 {
        self.commit
    }

    /// The uid of the last root node of a block, by the block's place in the plan.
    pub(super) fn last_root(&self, block: usize) -> Option<Uid> {
        self.answer.last_root(block)
    }

    /// For each predicate the number of nodes that it was asked of, and under the empty name the
    /// roots of the blocks.
    pub fn touched(&self) -> BTreeMap<&str, u64> {
        self.answer.touched()
    }
}
