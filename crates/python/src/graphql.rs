//! GraphQL requests from the arguments of Python, and their answers as dicts.

use super::interrupt::{detached, interruptible};
use super::requests::to_timeout;
use crate::answers::subscription::PySubscription;
use crate::convert::encoding::encode;
use crate::convert::errors::to_python;
use crate::convert::json::loads;
use crate::convert::variables::dict_of_variables;
use hexgraph::db::Database;
use hexgraph::db::graphql::{GraphqlError, Headers, Request, Response};
use hexgraph_base::types::stack;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::time::Duration;

const NO_SCHEMA: &str = "there is no GraphQL schema: set one with db.graphql_schema(\"...\")";

/// The arguments of a request except for its text.
pub(crate) struct GraphqlArguments<'a, 'py> {
    /// The values of the request's variables.
    pub variables: Option<&'a Bound<'py, PyAny>>,
    /// The name of the operation that is to be executed.
    pub operation: Option<String>,
    /// The headers that a client would send, such as a token.
    pub headers: Option<&'a Bound<'py, PyDict>>,
    /// The time limit in seconds.
    pub timeout: Option<f64>,
}

impl GraphqlArguments<'_, '_> {
    fn read(self, query: String) -> PyResult<(Request, Headers, Option<Duration>)> {
        let GraphqlArguments { variables, operation, headers, timeout } = self;
        let request = Request { variables: to_map(variables)?, operation, ..Request::new(query) };
        Ok((request, to_headers(headers)?, to_timeout(timeout)?))
    }
}

/// Begins a subscription.
///
/// # Errors
///
/// What is wrong with the arguments or the request.
pub(crate) fn subscribe(
    py: Python<'_>,
    database: &Database,
    query: String,
    arguments: GraphqlArguments<'_, '_>,
) -> PyResult<PySubscription> {
    let (request, headers, timeout) = arguments.read(query)?;
    PySubscription::begin(py, database, &request, &headers, timeout)
}

/// Runs a request and returns its response as Python objects: a dict with `data`, unless nothing
/// was executed, and `errors` where there are any.
///
/// # Errors
///
/// What is wrong with the arguments; what is wrong with the request is in the answer.
pub(crate) fn ask<'py>(
    py: Python<'py>,
    database: &Database,
    query: String,
    arguments: GraphqlArguments<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let (request, headers, timeout) = arguments.read(query)?;
    let json = interruptible(py, timeout, |control| {
        let mut response = database.graphql_with(&request, &headers, control);
        // Without a schema all requests are refused, with a message that names each method to set
        // one, those of a server, too. The caller is in Python, so only the method of Python is
        // named.
        let is_refused = response.data.is_none() && !request.query.is_empty();
        if is_refused && matches!(database.graphql_schema(), Ok(None)) {
            response = Response::refused(vec![GraphqlError::new(NO_SCHEMA)]);
        }
        // An interrupt is the caller's, and no answer. The response has no `extensions` here.
        control.check().map(|()| response.to_json(""))
    })?;
    loads(py, &json)
}

/// Sets the schema when there is one, and returns the one in force: None without any.
///
/// # Errors
///
/// The faults of the schema.
pub(crate) fn schema(
    py: Python<'_>,
    database: &Database,
    sdl: Option<String>,
) -> PyResult<Option<String>> {
    match sdl {
        Some(sdl) => interruptible(py, None, |control| {
            database.set_graphql_schema_with(&sdl, control).map(|set| Some(set.schema))
        }),
        None => {
            let existing = detached(py, || database.graphql_schema()).map_err(to_python)?;
            Ok(existing.map(|existing| existing.schema))
        }
    }
}

fn to_map(
    variables: Option<&Bound<'_, PyAny>>,
) -> PyResult<serde_json::Map<String, serde_json::Value>> {
    let Some(variables) = dict_of_variables(variables)? else {
        return Ok(serde_json::Map::new());
    };
    let json = encode("variables", variables.as_any())?.json;
    let wrong = |error: serde_json::Error| PyTypeError::new_err(format!("variables: {error}"));
    stack::with_space(|| serde_json::from_str(&json)).map_err(wrong)
}

fn to_headers(headers: Option<&Bound<'_, PyDict>>) -> PyResult<Headers> {
    let pairs = headers.into_iter().flatten();
    pairs.map(|(name, value)| Ok((name.extract::<String>()?, value.extract::<String>()?))).collect()
}
