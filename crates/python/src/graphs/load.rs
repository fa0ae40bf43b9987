//! Loads graphs from files of GraphML, and from tables that Python has made of others.

use crate::database::PyDatabase;
use crate::source::PyLoadReport;
use crate::tables::{OptionArguments, reader_of, to_missing, with_bar};
use hexgraph::tables::GraphOptions;
use pyo3::prelude::*;
use std::path::PathBuf;

/// The options of a load of a graph, as Python passes them.
#[derive(FromPyObject)]
pub(crate) struct GraphArgument<'py> {
    /// What loads have in common.
    #[pyo3(item)]
    table: OptionArguments<'py>,
    /// The types that all nodes get.
    #[pyo3(item)]
    node_types: Vec<String>,
    /// The predicate of the edges.
    #[pyo3(item)]
    predicate: String,
    /// The predicate of the ids of nodes.
    #[pyo3(item)]
    xid: String,
    /// What happens to endpoints that are no nodes: `"make"` or `"raise"`.
    #[pyo3(item)]
    missing: String,
    /// Remarks of the report on a graph that Python has read.
    #[pyo3(item)]
    notes: Vec<String>,
    /// Warnings of the report: likely mistakes in the graph.
    #[pyo3(item)]
    warnings: Vec<String>,
}

/// Loads a graph: what `load_graph` of `hexgraph.methods` calls. It is the path of a file of
/// GraphML, or a pair of tables, of nodes and of edges.
///
/// # Errors
///
/// As [`OptionArguments::read`]; LoadError, SchemaError and QueryError.
#[pyfunction]
pub(crate) fn load_graph(
    py: Python<'_>,
    db: &Bound<'_, PyDatabase>,
    graph: &Bound<'_, PyAny>,
    options: GraphArgument<'_>,
) -> PyResult<PyLoadReport> {
    let GraphArgument { table, node_types, predicate, xid, missing, notes, warnings } = options;
    let (progress, missing) = (table.progress.clone(), to_missing(&missing)?);
    let table = table.read()?;
    let (read, schema) = (table.progress.clone(), table.schema.clone());
    let options = GraphOptions { node_types, predicate, ids: xid, missing, table };
    let database = db.get().database();
    if let Ok(path) = graph.extract::<PathBuf>() {
        return with_bar(py, progress.as_ref(), read, schema.as_deref(), |control| {
            database.load_graph_with(&path, options, control)
        });
    }
    let (nodes, edges) = graph.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
    let tables = [reader_of(&nodes)?, reader_of(&edges)?];
    with_bar(py, progress.as_ref(), read, schema.as_deref(), |control| {
        let mut report = database.load_graph_tables(tables, options, control)?;
        report.notes.extend(notes);
        report.warnings.extend(warnings);
        Ok(report)
    })
}
