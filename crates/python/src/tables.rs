//! Tables of Python as tables to load.

use super::interrupt::interruptible_with;
use super::source::{PyLoadReport, to_schema_text};
use crate::convert::errors::{to_python, to_python_with_text};
use hexgraph::db::{Control, LoadProgress, LoadReport, byte_count, files_of};
use hexgraph::tables::{ID_PREDICATE, IdSpace, Table, TableOptions, is_table_name};
use hexgraph_base::types::{Result, ValueType};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use pyo3_arrow::PyRecordBatchReader;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The options that loads of nodes and of edges have in common, as Python passes them.
pub(crate) struct GivenOptions<'a, 'py> {
    /// The schema, as a text or the path of a file.
    pub schema: Option<&'a Bound<'py, PyAny>>,
    /// The names of value types, by column.
    pub types: Option<BTreeMap<String, String>>,
    /// What happens to values that can't be stored: `"raise"` or `"skip"`.
    pub on_error: &'a str,
    /// The bound on memory, as a number of bytes or a text such as `"512MiB"`.
    pub memory: Option<&'a Bound<'py, PyAny>>,
}

impl GivenOptions<'_, '_> {
    /// Converts the options.
    ///
    /// # Errors
    ///
    /// `ValueError` for what is none.
    pub(crate) fn read(self) -> PyResult<TableOptions> {
        let mut types = BTreeMap::new();
        for (column, name) in self.types.into_iter().flatten() {
            let Some(value_type) = ValueType::from_name(&name) else {
                let hint = ValueType::hint_for(&name);
                let fault = format!("types[{column:?}]: there is no type {name:?} ({hint})");
                return Err(PyValueError::new_err(fault));
            };
            types.insert(column, value_type);
        }
        Ok(TableOptions {
            schema: self.schema.map(to_schema_text).transpose()?,
            types,
            skip_errors: skips(self.on_error)?,
            progress: LoadProgress::default(),
            memory: to_memory(self.memory)?,
        })
    }
}

/// Reads the number of bytes that a load may take; 0 stands for no bound. A text may end in a unit, such as `MiB` or `MB`. The
/// least bound that makes sense is checked by the load.
///
/// # Errors
///
/// `QueryError` for what is no number of bytes.
pub(crate) fn to_memory(given: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
    let Some(given) = given else { return Ok(0) };
    byte_count("memory", &given.str()?.to_cow()?).map_err(to_python)
}

/// Returns true if values that can't be stored are to be left out.
///
/// # Errors
///
/// `ValueError` for anything but "raise" and "skip".
pub(crate) fn skips(on_error: &str) -> PyResult<bool> {
    match on_error {
        "raise" => Ok(false),
        "skip" => Ok(true),
        _ => Err(PyValueError::new_err("on_error is \"raise\" or \"skip\"")),
    }
}

/// Converts an argument to tables. It is whatever [`to_table`] takes, a folder, a pattern of files, or a list of these.
///
/// # Errors
///
/// `TypeError` when it is none of these; `QueryError` for what means no file.
pub(crate) fn to_tables(py: Python<'_>, given: &Bound<'_, PyAny>) -> PyResult<Vec<Table>> {
    if let Ok(path) = given.extract::<PathBuf>() {
        let files = files_of(&path, is_table_name).map_err(to_python)?;
        return Ok(files.into_iter().map(Table::File).collect());
    }
    if given.is_instance_of::<PyList>() || given.is_instance_of::<PyTuple>() {
        let mut tables = Vec::new();
        for one in given.try_iter()? {
            tables.extend(to_tables(py, &one?)?);
        }
        return Ok(tables);
    }
    Ok(vec![to_table(py, given)?])
}

/// Converts a path, or any object that hands out Arrow columns, to a table.
///
/// # Errors
///
/// `TypeError` when it is neither.
fn to_table(py: Python<'_>, given: &Bound<'_, PyAny>) -> PyResult<Table> {
    if let Ok(path) = given.extract::<PathBuf>() {
        return Ok(Table::File(path));
    }
    // Frames of pandas are copied to Arrow there, and lazy ones of polars are computed.
    let given = py.import("hexgraph.frames")?.call_method1("to_arrow", (given,))?;
    if !given.hasattr("__arrow_c_stream__")? {
        let kind = given.get_type().name()?;
        let advice = match given.is_instance_of::<PyDict>() {
            true => ": dicts go to mutate(set_json=...), or become polars.DataFrame(rows)",
            false => "",
        };
        return Err(PyTypeError::new_err(format!(
            "a table is a path, or a data frame with __arrow_c_stream__, not {kind}{advice}"
        )));
    }
    let capsule = given.call_method0("__arrow_c_stream__")?;
    let reader = PyRecordBatchReader::from_arrow_pycapsule(capsule.cast()?)?;
    Ok(Table::Batches(reader.into_reader()?))
}

/// Says what the ids in a column are: uids, or values of a predicate.
pub(crate) fn to_ids(predicate: &str, are_uids: bool) -> IdSpace {
    if are_uids { IdSpace::Uid } else { IdSpace::Predicate(predicate.to_owned()) }
}

/// The predicates of sources and of targets: one name for both, or a pair of them.
#[derive(FromPyObject)]
pub(crate) enum IdPredicates {
    /// The same for sources and targets.
    #[pyo3(transparent)]
    One(String),
    /// One for sources and one for targets.
    Two(String, String),
}

/// Says what the ids of sources and those of targets are.
pub(crate) fn to_id_spaces(predicates: Option<IdPredicates>, are_uids: bool) -> (IdSpace, IdSpace) {
    let (source, target) = match predicates {
        None => (ID_PREDICATE.to_owned(), ID_PREDICATE.to_owned()),
        Some(IdPredicates::One(name)) => (name.clone(), name),
        Some(IdPredicates::Two(source, target)) => (source, target),
    };
    (to_ids(&source, are_uids), to_ids(&target, are_uids))
}

/// Keys by column: of a list, each column's own name. A name alone is a list of one.
///
/// # Errors
///
/// `TypeError` for anything but names.
pub(crate) fn to_facets(given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<(String, String)>> {
    let Some(given) = given else { return Ok(Vec::new()) };
    if let Ok(name) = given.extract::<String>() {
        return Ok(vec![(name.clone(), name)]);
    }
    if let Ok(dict) = given.cast::<PyDict>() {
        return dict.iter().map(|(name, key)| Ok((name.extract()?, key.extract()?))).collect();
    }
    let Ok(names) = given.extract::<Vec<String>>() else {
        let fault = "facets is a list of columns, or a dict of columns and the keys of facets";
        return Err(PyTypeError::new_err(format!("{fault}, not {}", given.get_type().name()?)));
    };
    Ok(names.into_iter().map(|name| (name.clone(), name)).collect())
}

/// Runs a load, which Ctrl-C stops, and shows a progress bar if one is wanted. The lock of the interpreter is released while
/// the load runs, and taken to move the bar. `wanted` is a truth value, a function that is called with the progress, or
/// nothing. `schema` is the text to which the place of a schema's error refers.
///
/// # Errors
///
/// As the load; `KeyboardInterrupt`.
pub(crate) fn with_bar(
    py: Python<'_>,
    wanted: Option<&Bound<'_, PyAny>>,
    read: LoadProgress,
    schema: Option<&str>,
    load: impl FnOnce(&Control) -> Result<LoadReport> + Send,
) -> PyResult<PyLoadReport> {
    let bar = py.import("hexgraph.progress")?.call_method1("bar", (wanted,))?.unbind();
    let tick = bar.clone_ref(py);
    let report = interruptible_with(
        py,
        None,
        move |py| {
            tick.call_method1(py, "update", (read.done(), read.total(), read.records())).map(drop)
        },
        load,
        |error| to_python_with_text(error, schema.unwrap_or_default()),
    );
    // The bar goes whatever became of the load. Its own error comes first, although the load may have been stored.
    bar.call_method1(py, "close", ())?;
    Ok(PyLoadReport::new(report?))
}
