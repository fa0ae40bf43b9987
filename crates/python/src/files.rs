//! Loads of files, and exports by the form that is requested.

use super::interrupt::interruptible;
use super::source::{PyLoadReport, to_export_folder, to_schema_text, to_sources};
use super::tables::{OptionArguments, skips, to_memory, with_bar};
use hexgraph::db::{Database, LoadOptions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::Path;

/// Loads triples, or the folder that an export to .parquet wrote; then sets a GraphQL schema, if
/// one is given.
///
/// # Errors
///
/// `ValueError` and `TypeError` for what is wrong with the arguments; those of the load.
pub(crate) fn load(
    py: Python<'_>,
    database: &Database,
    source: &Bound<'_, PyAny>,
    (graphql_schema, xid): (Option<&Bound<'_, PyAny>>, Option<String>),
    given: OptionArguments<'_>,
) -> PyResult<PyLoadReport> {
    let graphql = graphql_schema.map(to_schema_text).transpose()?;
    let (graphql, progress) = (graphql.as_deref(), given.progress.clone());
    if let Some(folder) = to_export_folder(source) {
        if xid.is_some() {
            let fault = "xid= names the predicate of names in N-Quads, and an export to .parquet has uids: leave it out";
            return Err(PyValueError::new_err(fault));
        }
        let options = given.read()?;
        let (read, schema) = (options.progress.clone(), options.schema.clone());
        return with_bar(py, progress.as_ref(), read, schema.as_deref(), |control| {
            let load = || database.load_folder_with(&folder, options, control);
            database.load_before_graphql(graphql, control, load)
        });
    }
    let (skip_errors, memory) = (skips(&given.on_error)?, to_memory(given.memory.as_ref())?);
    let sources = to_sources(source, given.schema.is_some())?;
    let schema = given.schema.as_ref().map(to_schema_text).transpose()?;
    let options = LoadOptions { skip_errors, memory, xid, ..LoadOptions::default() };
    let (schema, read) = (schema.as_deref(), options.progress.clone());
    with_bar(py, progress.as_ref(), read, schema, |control| {
        let load = || database.load_with(sources, schema, options, control);
        database.load_before_graphql(graphql, control, load)
    })
}

/// Writes the data to `path`: by the end of its name without a format, else in that form. Returns
/// the number of triples.
///
/// # Errors
///
/// `ValueError` for an unknown format; those of the export.
pub(crate) fn export(
    py: Python<'_>,
    database: &Database,
    path: &Path,
    format: Option<&str>,
) -> PyResult<u64> {
    let report = match format {
        None => interruptible(py, None, |control| database.export_as_with(path, control))?,
        Some("dgraph") => {
            interruptible(py, None, |control| database.export_for_loaders_with(path, control))?
        }
        Some(other) => {
            let fault = "format is \"dgraph\", or left out: then the file extension decides";
            return Err(PyValueError::new_err(format!("{fault}; not {other:?}")));
        }
    };
    Ok(report.triples)
}

/// What `repr` shows of a database.
pub(crate) fn shown(database: &Database, path: Option<&Path>, read_only: bool) -> String {
    let path = path.map_or(":memory:".to_owned(), |path| path.display().to_string());
    let mode = if read_only { ", read-only" } else { "" };
    let namespace = match database.namespace_id() {
        0 => String::new(),
        id => format!(", namespace {id}"),
    };
    format!("<hexgraph.Database {path}{namespace}{mode}>")
}
