//! Queries, mutations and upserts, on a database or in a transaction. All of them convert the
//! Python arguments here and call the engine.

use super::interrupt::interruptible_with;
use super::mutation::{MutationArguments, PyUpsert, Texts, uid_dict, warn_of_losses};
use crate::answers::result::PyResultSet;
use crate::convert::errors::to_python_with_text;
use crate::convert::variables::to_variables;
use hexgraph::db::{
    Database, MutationAnswer, MutationRequest, QueryAnswer, QueryRequest, RequestContext, Txn,
    Warning,
};
use hexgraph_base::types::{Error, Result};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::time::Duration;

/// The receiver of a request: a database or a transaction.
#[derive(Clone, Copy)]
pub(crate) enum Target<'a> {
    /// The database: queries see its newest version, and changes are committed at once.
    Database(&'a Database),
    /// A transaction: queries see its own version, and changes wait for its commit.
    Txn(&'a Txn),
}

/// How likely mistakes in a query, such as unknown names, are reported.
#[derive(Clone, Copy)]
pub struct Checks {
    /// Whether names that are not in the schema are errors.
    pub strict: bool,
    /// Whether rows, dicts and tables emit Python warnings.
    pub warns: bool,
}

impl Checks {
    /// The same, with `strict` replaced by an argument, if there is one.
    pub fn with_strict(self, strict: Option<bool>) -> Checks {
        Checks { strict: strict.unwrap_or(self.strict), ..self }
    }
}

/// The arguments of a query, without its variables.
pub(crate) struct QueryCall {
    /// The query.
    pub dql: String,
    /// The time limit in seconds.
    pub timeout: Option<f64>,
    /// Whether every object has its uid.
    pub debug: bool,
    /// How likely mistakes are reported.
    pub checks: Checks,
}

/// The arguments of an upsert, in addition to those of its first mutation.
pub(crate) struct UpsertArguments<'a, 'py> {
    /// The query.
    pub dql: &'a str,
    /// The values of its variables.
    pub variables: Option<&'a Bound<'py, PyAny>>,
    /// The condition of the first mutation.
    pub cond: &'a str,
    /// The other mutations.
    pub mutations: Option<&'a Bound<'py, PyAny>>,
    /// The time limit in seconds.
    pub timeout: Option<f64>,
    /// Whether the result emits Python warnings.
    pub warns: bool,
}

/// Rejects arguments that `query` does not have, and suggests the intended ones.
///
/// # Errors
///
/// `TypeError` if there are any.
pub(crate) fn refuse_arguments(py: Python<'_>, other: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    match other {
        None => Ok(()),
        Some(other) => {
            py.import("hexgraph.guesses")?.call_method1("refuse_of_query", (other,)).map(drop)
        }
    }
}

impl Target<'_> {
    /// Answers a query.
    pub(crate) fn query(
        self,
        py: Python<'_>,
        requested: QueryCall,
        variables: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyResultSet> {
        let QueryCall { dql, timeout, debug, checks } = requested;
        let variables = to_variables(variables)?;
        let timeout = to_timeout(timeout)?;
        let request = QueryRequest { text: dql, variables, debug };
        let answer = interruptible_with(
            py,
            timeout,
            |_| Ok(()),
            |control| self.ask(&request, control),
            |error| to_python_with_text(error, &request.text),
        );
        let answer = answer?;
        if checks.strict
            && let Some(Warning { message, at, hint, .. }) = answer.unknown().into_iter().next()
        {
            let error = Error::query_at(at, message).with_hint(hint);
            return Err(to_python_with_text(error, &request.text));
        }
        Ok(PyResultSet::new(py, answer, checks.warns))
    }

    /// Runs a mutation, and returns the uids of new nodes by their names. With `warns`, values that
    /// were converted with loss emit a Python warning.
    pub(crate) fn mutate<'py>(
        self,
        py: Python<'py>,
        arguments: &MutationArguments<'_, 'py>,
        warns: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let texts = Texts::read(arguments, "")?;
        let mutations = vec![texts.mutation()];
        let request = MutationRequest { mutations, ..MutationRequest::default() };
        let done = interruptible_with(
            py,
            None,
            |_| Ok(()),
            |control| self.change(&request, control),
            |error| to_python_with_text(error, texts.only()),
        );
        let done = done?;
        if warns {
            warn_of_losses(py, &done.losses)?;
        }
        uid_dict(py, &done.uids)
    }

    /// Runs an upsert: a query, and mutations that use its result.
    pub(crate) fn upsert<'py>(
        self,
        py: Python<'py>,
        upsert: UpsertArguments<'_, 'py>,
        arguments: &MutationArguments<'_, 'py>,
    ) -> PyResult<PyUpsert> {
        let UpsertArguments { dql, variables, cond, mutations, timeout, warns } = upsert;
        let timeout = to_timeout(timeout)?;
        let variables = to_variables(variables)?;
        let texts = Texts::read(arguments, cond)?;
        let more = mutations.map(Texts::of_list).transpose()?.unwrap_or_default();
        let mut mutations = vec![texts.mutation()];
        // The first mutation is empty when all of them came as a list.
        mutations.retain(|it| !it.set.is_empty() || !it.delete.is_empty());
        mutations.extend(more.iter().map(Texts::mutation));
        // Without a mutation the text may be an entire upsert block, which brings its own.
        let is_block = mutations.is_empty() && variables.is_empty() && cond.is_empty();
        let request = MutationRequest { query: dql.into(), variables, mutations };
        let done = interruptible_with(
            py,
            timeout,
            |_| Ok(()),
            |control| match is_block {
                true => self.change_text(dql, control),
                false => self.change(&request, control),
            },
            |error| to_python_with_text(error, if is_block { dql } else { "" }),
        );
        PyUpsert::new(py, done?, warns)
    }

    fn ask(self, request: &QueryRequest, control: &RequestContext) -> Result<QueryAnswer> {
        match self {
            Target::Database(database) => database.query_with(request, control),
            Target::Txn(txn) => txn.query_with(request, control),
        }
    }

    fn change(
        self,
        request: &MutationRequest<'_>,
        control: &RequestContext,
    ) -> Result<MutationAnswer> {
        match self {
            Target::Database(database) => database.mutate_with(request, control),
            Target::Txn(txn) => txn.mutate_with(request, control),
        }
    }

    fn change_text(self, text: &str, control: &RequestContext) -> Result<MutationAnswer> {
        match self {
            Target::Database(database) => database.mutate_text_with(text, control),
            Target::Txn(txn) => txn.mutate_text_with(text, control),
        }
    }
}

/// Converts a number of seconds to a duration.
///
/// # Errors
///
/// `ValueError` for a negative number, NaN, or a number beyond the range of durations.
pub(crate) fn to_timeout(seconds: Option<f64>) -> PyResult<Option<Duration>> {
    let Some(seconds) = seconds else { return Ok(None) };
    Duration::try_from_secs_f64(seconds).map(Some).map_err(|_| {
        let fault = format!("a timeout is a number of seconds from 0 on, not {seconds}");
        PyValueError::new_err(fault)
    })
}
