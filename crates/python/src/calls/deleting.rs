//! Deletes nodes with everything.

use crate::convert::errors::to_python_with_text;
use crate::convert::variables::to_variables;
use crate::database::PyDatabase;
use crate::interrupt::interruptible_with;
use crate::requests::to_timeout;
use crate::txn::PyTxn;
use hexgraph::db::{Nodes, RequestContext};
use hexgraph_base::types::Uid;
use pyo3::prelude::*;

/// What deletes: at once, or with the commit.
#[derive(FromPyObject)]
pub(crate) enum Owner<'py> {
    Database(PyRef<'py, PyDatabase>),
    Txn(PyRef<'py, PyTxn>),
}

/// Delete nodes by their uids, or those that a query selects. Return how many nodes, values and
/// edges are gone.
#[pyfunction]
pub(crate) fn delete_nodes(
    py: Python<'_>,
    owner: Owner<'_>,
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
    let to_exception = |error| to_python_with_text(error, dql.unwrap_or_default());
    let done = match &owner {
        Owner::Database(owner) => {
            let database = owner.database();
            let delete = |control: &RequestContext| database.delete_with(&nodes, control);
            interruptible_with(py, timeout, |_| Ok(()), delete, to_exception)?
        }
        Owner::Txn(owner) => {
            let txn = owner.txn();
            let delete = |control: &RequestContext| txn.delete_with(&nodes, control);
            interruptible_with(py, timeout, |_| Ok(()), delete, to_exception)?
        }
    };
    Ok((done.nodes, done.values, done.edges))
}
