//! Deletes nodes with everything.

use super::database::PyDatabase;
use super::interrupt::interruptible_with;
use super::requests::to_timeout;
use crate::convert::errors::to_python_with_text;
use crate::convert::variables::to_variables;
use hexgraph::db::Nodes;
use hexgraph_base::types::Uid;
use pyo3::prelude::*;

/// Delete nodes by their uids, or those that a query selects. Return how many nodes, values and edges are gone.
#[pyfunction]
pub(crate) fn delete_nodes(
    py: Python<'_>,
    database: &PyDatabase,
    uids: Vec<u64>,
    dql: Option<&str>,
    variables: Option<&Bound<'_, PyAny>>,
    timeout: Option<f64>,
) -> PyResult<(u64, u64, u64)> {
    let timeout = to_timeout(timeout)?;
    let variables = to_variables(variables)?;
    let uids: Vec<Uid> = uids.into_iter().map(Uid).collect();
    let nodes = match dql {
        Some(dql) => Nodes::Query(dql, &variables),
        None => Nodes::Uids(&uids),
    };
    let done = interruptible_with(
        py,
        timeout,
        |_| Ok(()),
        |control| database.database().delete(&nodes, control),
        |error| to_python_with_text(error, dql.unwrap_or_default()),
    )?;
    Ok((done.nodes, done.values, done.edges))
}
