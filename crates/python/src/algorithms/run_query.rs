//! Queries whose answer becomes the result of an algorithm.

use crate::convert::errors::{to_python_without_position, warn_of};
use crate::database::PyDatabase;
use crate::interrupt::interruptible_with;
use crate::requests::to_timeout;
use hexgraph::db::{QueryAnswer, QueryRequest, RequestContext, Warning, WarningKind};
use hexgraph_base::types::Result;
use pyo3::prelude::*;

/// Runs a query and extracts the result from its answer, both within the timeout.
pub(super) fn run_query<T: Send>(
    py: Python<'_>,
    database: &PyDatabase,
    dql: String,
    timeout: Option<f64>,
    extract: impl FnOnce(QueryAnswer, &RequestContext) -> Result<T> + Send,
) -> PyResult<T> {
    let timeout = to_timeout(timeout)?;
    let request = QueryRequest { text: dql, ..QueryRequest::default() };
    let work = |control: &RequestContext| {
        let answer = database.database().query_with(&request, control)?;
        let unknown = answer.warnings();
        Ok((extract(answer, control)?, unknown))
    };
    // The caller named an algorithm and its arguments, and has not seen this text: no position is
    // reported.
    let (result, mut unknown) =
        interruptible_with(py, timeout, |_| Ok(()), work, to_python_without_position)?;
    if database.warns() {
        // Whether an algorithm converged is part of its result.
        unknown.retain(|warning| warning.kind != WarningKind::NotConverged);
        warn_of(py, &unknown, Warning::without_position)?;
    }
    Ok(result)
}
