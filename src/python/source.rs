//! What is loaded, and what came of it.

use super::errors::to_python;
use crate::db::LoadReport;
use crate::db::Source;
use crate::db::files_of;
use crate::db::has_triples;
use crate::tables::is_export_folder;
use bytes::Bytes;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use pyo3::types::PyTuple;
use std::path::Path;
use std::path::PathBuf;

/// What a load did.
#[pyclass(frozen, name = "LoadReport", module = "hexgraph")]
pub struct PyLoadReport {
    report: LoadReport,
}

impl PyLoadReport {
    /// What Python sees of a report.
    pub fn new(report: LoadReport) -> PyLoadReport {
        PyLoadReport { report }
    }
}

#[pymethods]
impl PyLoadReport {
    /// The number of triples that were stored.
    #[getter]
    fn triples(&self) -> u64 {
        self.report.triples
    }

    /// The number of distinct nodes in them.
    #[getter]
    fn nodes(&self) -> u64 {
        self.report.nodes
    }

    /// How long it took.
    #[getter]
    fn seconds(&self) -> f64 {
        self.report.elapsed.as_secs_f64()
    }

    /// The number of lines that were left out.
    #[getter]
    fn skipped(&self) -> u64 {
        self.report.skipped
    }

    /// The first lines that were left out, as (line number, reason).
    #[getter]
    fn skipped_lines(&self) -> Vec<(u64, String)> {
        let lines = self.report.skipped_lines.iter();
        lines.map(|line| (line.line, line.reason.clone())).collect()
    }

    fn __repr__(&self) -> String {
        let LoadReport { triples, nodes, skipped, .. } = &self.report;
        let seconds = self.seconds();
        format!(
            "<hexgraph.LoadReport: {triples} triples, {nodes} nodes, {seconds:.2} s, \
             {skipped} lines skipped>"
        )
    }
}

/// The path of a folder that an export of tables wrote.
pub fn to_export_folder(given: &Bound<'_, PyAny>) -> Option<PathBuf> {
    given.extract::<PathBuf>().ok().filter(|path| is_export_folder(path))
}

/// Sources: what [`to_source`] takes, a folder or a pattern of files, or a sequence of these.
///
/// # Errors
///
/// `TypeError` when it is none of these; `QueryError` for what means no file.
pub fn to_sources(given: &Bound<'_, PyAny>) -> PyResult<Vec<Source>> {
    if let Ok(path) = given.extract::<PathBuf>() {
        let files = files_of(&path, has_triples).map_err(to_python)?;
        return Ok(files.into_iter().map(Source::File).collect());
    }
    if given.is_instance_of::<PyList>() || given.is_instance_of::<PyTuple>() {
        let mut sources = Vec::new();
        for one in given.try_iter()? {
            sources.extend(to_sources(&one?)?);
        }
        return Ok(sources);
    }
    Ok(vec![to_source(given)?])
}

/// A path, bytes, or a binary file that is read to its end: no Python code runs during the load.
///
/// # Errors
///
/// `TypeError` when it is none of these.
fn to_source(given: &Bound<'_, PyAny>) -> PyResult<Source> {
    if let Ok(path) = given.extract::<PathBuf>() {
        return Ok(Source::File(path));
    }
    if given.hasattr("read")? {
        return to_bytes(&given.call_method0("read")?, "a file must be open in binary mode");
    }
    to_bytes(given, "load takes a path, bytes, or a binary file, or a list of these")
}

fn to_bytes(given: &Bound<'_, PyAny>, otherwise: &str) -> PyResult<Source> {
    let bytes: Vec<u8> = match given.cast::<pyo3::types::PyBytes>() {
        Ok(bytes) => bytes.as_bytes().to_vec(),
        Err(_) if given.is_instance_of::<pyo3::types::PyByteArray>() => given.extract()?,
        Err(_) => {
            let kind = given.get_type().name()?;
            return Err(PyTypeError::new_err(format!("{otherwise}, not {kind}")));
        }
    };
    Ok(Source::Bytes(Bytes::from(bytes)))
}

/// The text of a schema: the content of the file when a path is given, else the text itself.
///
/// # Errors
///
/// `OSError` when the file can't be read.
pub fn to_schema_text(given: &Bound<'_, PyAny>) -> PyResult<String> {
    let Ok(text) = given.extract::<String>() else {
        let path: PathBuf = given.extract()?;
        return Ok(std::fs::read_to_string(path)?);
    };
    // A schema has a colon or a brace, and so may a path; but a schema names no file.
    let is_path = !text.contains('\n') && Path::new(&text).is_file();
    if is_path { Ok(std::fs::read_to_string(text)?) } else { Ok(text) }
}
