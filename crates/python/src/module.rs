//! What Python sees of the native half.

use super::algorithms::compact::{PyCompactGraph, compact_graph, graph_of_arrays, numbers_table};
use super::algorithms::tables::{algorithms, run_algorithm};
use super::calls::cypher::{PyCypherAnswer, run_cypher, run_cypher_many};
use super::calls::deleting::delete_nodes;
use super::cluster::{encode_json, json_table, schema_text, variable_texts};
use super::database::PyDatabase;
use super::drawn::generate::generate;
use super::drawn::layout::layout;
use super::graphs::load::load_graph;
use super::interrupt::{Cancel, detached, signal_came};
use super::mutation::PyUpsert;
use super::requests::{Checks, to_timeout};
use super::server::PyServer;
use super::source::{PyLoadReport, PySchemaReport};
use super::tables::sniff_file;
use super::txn::PyTxn;
use super::words::{cypher_functions, dql_keywords};
use crate::answers::each::PyAnswers;
use crate::answers::explanation::PyExplanation;
use crate::answers::pages::PyPages;
use crate::answers::result::PyResultSet;
use crate::answers::subscription::PySubscription;
use crate::convert::arrow::ArrowTable;
use crate::convert::errors::fetch_exceptions;
use crate::convert::python_columns::columns_table;
use hexgraph::db::{Database, Memory, OpenOptions, memory_count};
use hexgraph_base::types::Error;
use hexgraph_server::cli;
use hexgraph_server::cli::Interrupt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;

/// The native half of hexgraph.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    fetch_exceptions(module.py())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<PyDatabase>()?;
    module.add_class::<PyResultSet>()?;
    module.add_class::<PyPages>()?;
    module.add_class::<PyAnswers>()?;
    module.add_class::<PySubscription>()?;
    module.add_class::<PyUpsert>()?;
    module.add_class::<PyTxn>()?;
    module.add_class::<ArrowTable>()?;
    module.add_class::<PyLoadReport>()?;
    module.add_class::<PySchemaReport>()?;
    module.add_class::<PyServer>()?;
    module.add_class::<PyExplanation>()?;
    module.add_class::<Cancel>()?;
    module.add_class::<PyCompactGraph>()?;
    module.add_class::<PyCypherAnswer>()?;
    module.add_function(wrap_pyfunction!(delete_nodes, module)?)?;
    module.add_function(wrap_pyfunction!(run_cypher, module)?)?;
    module.add_function(wrap_pyfunction!(run_cypher_many, module)?)?;
    module.add_function(wrap_pyfunction!(encode_json, module)?)?;
    module.add_function(wrap_pyfunction!(variable_texts, module)?)?;
    module.add_function(wrap_pyfunction!(json_table, module)?)?;
    module.add_function(wrap_pyfunction!(schema_text, module)?)?;
    module.add_function(wrap_pyfunction!(columns_table, module)?)?;
    module.add_function(wrap_pyfunction!(algorithms, module)?)?;
    module.add_function(wrap_pyfunction!(dql_keywords, module)?)?;
    module.add_function(wrap_pyfunction!(cypher_functions, module)?)?;
    module.add_function(wrap_pyfunction!(run_algorithm, module)?)?;
    module.add_function(wrap_pyfunction!(generate, module)?)?;
    module.add_function(wrap_pyfunction!(load_graph, module)?)?;
    module.add_function(wrap_pyfunction!(layout, module)?)?;
    module.add_function(wrap_pyfunction!(compact_graph, module)?)?;
    module.add_function(wrap_pyfunction!(graph_of_arrays, module)?)?;
    module.add_function(wrap_pyfunction!(numbers_table, module)?)?;
    module.add_function(wrap_pyfunction!(sniff_file, module)?)?;
    module.add_function(wrap_pyfunction!(open_database, module)?)?;
    module.add_function(wrap_pyfunction!(run_command, module)?)
}

/// Open the database in a directory, or an empty one in memory.
#[pyfunction]
#[pyo3(signature = (path, read_only, resources, limits, txn_timeout, durability, strict = false, warns = true))]
#[expect(clippy::too_many_arguments, reason = "`connect` has them by name")]
fn open_database(
    py: Python<'_>,
    path: Option<PathBuf>,
    read_only: bool,
    resources: (usize, Option<String>),
    limits: Vec<(String, String)>,
    txn_timeout: Option<f64>,
    durability: (String, String, bool, String),
    strict: bool,
    warns: bool,
) -> PyResult<PyDatabase> {
    let checks = Checks { strict, warns };
    let (threads, memory) = resources;
    let mut options = OpenOptions { read_only, threads, ..OpenOptions::default() };
    if let Some(idle) = to_timeout(txn_timeout)? {
        options.transactions.idle = idle;
    }
    for (name, value) in limits {
        let set = options.limits.set(&name, &value);
        set.map_err(to_value_error)?;
    }
    if let Some(memory) = memory {
        options.memory = Memory::Work(memory_count(&memory).map_err(to_value_error)?);
    }
    let (sync, checkpoint, map, fold) = durability;
    options.no_map = !map;
    options.set_sync(&sync).map_err(to_value_error)?;
    options.set_checkpoint(&checkpoint).map_err(to_value_error)?;
    options.set_fold(&fold).map_err(to_value_error)?;
    let Some(path) = path else {
        return Ok(PyDatabase::new(Database::in_memory_with(options), (None, false), checks));
    };
    let opened = detached(py, || Database::connect(&path, options));
    let database = opened.map_err(crate::convert::errors::to_python)?;
    Ok(PyDatabase::new(database, (Some(path), read_only), checks))
}

fn to_value_error(error: Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Run the command line; the program's name comes first. Returns the exit status.
#[pyfunction]
fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| cli::run(arguments, Interrupt::Host(signal_came)))
}
