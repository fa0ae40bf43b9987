//! Exports, by the form that is asked for.

use super::interrupt::interruptible;
use hexgraph::db::Database;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::Path;

/// Writes the data to `path`: by the end of its name without a format, else in that form. Returns the number of triples.
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
        None => interruptible(py, None, |control| database.export_as(path, control))?,
        Some("dgraph") => {
            interruptible(py, None, |control| database.export_for_loaders(path, control))?
        }
        Some(other) => {
            let fault = "format is \"dgraph\", or left out: then the end of the path tells it";
            return Err(PyValueError::new_err(format!("{fault}; not {other:?}")));
        }
    };
    Ok(report.triples)
}
