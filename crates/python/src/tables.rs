//! Tables of Python as tables to load, with the options of such a load.
//!
//! The package in Python checks the names of the arguments and passes the options as a dict; the
//! structures here are read from it.

use super::interrupt::{interruptible, interruptible_with};
use super::source::{PyLoadReport, check_lists, to_schema_text};
use crate::convert::arrow::ArrowTable;
use crate::convert::errors::{to_python, to_python_with_text};
use crate::convert::sequences::items_of;
use arrow_array::{
    RecordBatch, RecordBatchIterator, RecordBatchOptions, RecordBatchReader, new_null_array,
};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use hexgraph::db::{LoadProgress, LoadReport, RequestContext, byte_count, files_of};
use hexgraph::tables::{
    EdgeOptions, Encoding, ForeignKey, IdSpace, Missing, NO_SEPARATOR, Names, NodeOptions,
    PointColumns, Ragged, SniffedOption, Table, TableOptions, TextOptions, is_readable_name, sniff,
};
use hexgraph_base::types::{Result, ValueType};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use pyo3_arrow::PyRecordBatchReader;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

/// The options that loads of nodes and of edges have in common, as Python passes them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct OptionArguments<'py> {
    /// The schema, as a text or the path of a file.
    pub schema: Option<Bound<'py, PyAny>>,
    /// The names of value types, by column.
    pub types: Option<BTreeMap<String, String>>,
    /// What happens to values that can't be stored: `"raise"` or `"skip"`.
    pub on_error: String,
    /// The bound on memory, as a number of bytes or a text such as `"512MiB"`.
    pub memory: Option<Bound<'py, PyAny>>,
    /// The character between the cells of a text file.
    pub separator: Option<String>,
    /// The encoding of a text file.
    pub encoding: Option<String>,
    /// Whether the first record has names.
    pub header: Option<bool>,
    /// The character around fields, empty for none.
    pub quote: Option<String>,
    /// The character that makes the next one literal within quotes.
    pub escape: Option<String>,
    /// The character with which comments begin, empty for none.
    pub comment: Option<String>,
    /// The number of lines before the first record.
    pub skip: Option<u64>,
    /// Texts that are missing values.
    pub null_values: Option<Vec<String>>,
    /// Whether an empty field in quotes is a missing value.
    pub quoted_null: bool,
    /// What happens to records of another width: `"error"`, `"skip"` or `"fill"`.
    pub ragged: String,
    /// What happens to columns with invalid names: `"clean"`, `"keep"` or `"error"`.
    pub names: String,
    /// The names of the columns of a file that has none.
    pub column_names: Option<Vec<String>>,
    /// The column that has the path of the file.
    pub filename: Option<String>,
    /// Whether a bar is shown, or the function that is reported the progress.
    pub progress: Option<Bound<'py, PyAny>>,
}

impl Default for OptionArguments<'_> {
    fn default() -> Self {
        OptionArguments {
            schema: None,
            types: None,
            on_error: "raise".to_owned(),
            memory: None,
            separator: None,
            encoding: None,
            header: None,
            quote: None,
            escape: None,
            comment: None,
            skip: None,
            null_values: None,
            quoted_null: false,
            ragged: "error".to_owned(),
            names: "clean".to_owned(),
            column_names: None,
            filename: None,
            progress: None,
        }
    }
}

impl OptionArguments<'_> {
    /// Converts the options.
    ///
    /// # Errors
    ///
    /// `ValueError` for an option whose value means nothing, with the name of the option; what the
    /// schema's text or file and the number of bytes are refused for.
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
        let text = TextOptions {
            header: self.header,
            quote: self.quote.map(|text| optional_character("quote", &text)).transpose()?,
            escape: self.escape.map(|text| character("escape", &text)).transpose()?,
            comment: self.comment.map(|text| optional_character("comment", &text)).transpose()?,
            skip: self.skip,
            null_values: self.null_values.unwrap_or_default(),
            quoted_null: self.quoted_null,
            ragged: Ragged::from_name(&self.ragged)
                .map_err(|fault| PyValueError::new_err(fault.to_string()))?,
            columns: self.column_names,
        };
        let encoding = self.encoding.map(|name| Encoding::from_name(&name)).transpose();
        Ok(TableOptions {
            schema: self.schema.as_ref().map(to_schema_text).transpose()?,
            types,
            skip_errors: skips(&self.on_error)?,
            progress: LoadProgress::default(),
            memory: to_memory(self.memory.as_ref())?,
            separator: self.separator.map(|text| separator(&text)).transpose()?,
            encoding: encoding.map_err(|fault| PyValueError::new_err(fault.to_string()))?,
            text,
            names: Names::from_name(&self.names)
                .map_err(|fault| PyValueError::new_err(fault.to_string()))?,
            file_column: self.filename,
        })
    }
}

/// A character of a text file that an option gives.
fn character(option: &str, text: &str) -> PyResult<u8> {
    match text.as_bytes() {
        [character] if character.is_ascii() => Ok(*character),
        _ => {
            let fault = format!("{option} is one ASCII character, not {text:?}");
            Err(PyValueError::new_err(fault))
        }
    }
}

/// A character that an option gives, where an empty text says that there is none.
fn optional_character(option: &str, text: &str) -> PyResult<Option<u8>> {
    if text.is_empty() { Ok(None) } else { character(option, text).map(Some) }
}

/// A separator; an empty text says that there is none.
fn separator(text: &str) -> PyResult<u8> {
    optional_character("separator", text).map(|character| character.unwrap_or(NO_SEPARATOR))
}

/// The options of a load of nodes.
#[derive(FromPyObject)]
pub(crate) struct NodeArguments<'py> {
    /// The options of all loads.
    #[pyo3(item)]
    pub table: OptionArguments<'py>,
    /// The column of external ids of the nodes; `None` if each row is a new node.
    #[pyo3(item)]
    id: Option<String>,
    /// The predicate that stores the external ids.
    #[pyo3(item)]
    xid: Option<String>,
    /// Whether the external ids are uids; `xid` is ignored then.
    #[pyo3(item)]
    uid: bool,
    /// The types that all nodes get.
    #[pyo3(item)]
    node_types: Vec<String>,
    /// Predicates by column; `None` for a column that is left out.
    #[pyo3(item)]
    columns: Option<BTreeMap<String, Option<String>>>,
    /// Predicate, column of latitudes, column of longitudes.
    #[pyo3(item)]
    points: Vec<(String, String, String)>,
    /// The columns that are edges: column, predicate, type, and the predicate of the targets'
    /// external ids.
    #[pyo3(item)]
    edges: Vec<(String, Option<String>, Option<String>, String)>,
    /// What happens to external ids that no node has: `"make"`, `"skip"` or `"raise"`.
    #[pyo3(item)]
    missing: String,
    /// Whether the names of predicates are prefixed with the type.
    #[pyo3(item)]
    prefix: bool,
}

impl NodeArguments<'_> {
    /// Converts the options.
    ///
    /// # Errors
    ///
    /// As [`OptionArguments::read`].
    pub(crate) fn read(self) -> PyResult<NodeOptions> {
        let point =
            |(predicate, latitude, longitude)| PointColumns { predicate, latitude, longitude };
        let key = |(column, predicate, node_type, target): (String, _, _, String)| ForeignKey {
            predicate,
            node_type,
            ..ForeignKey::new(&column, &target)
        };
        Ok(NodeOptions {
            id: self.id,
            ids: to_ids(self.xid, self.uid),
            node_types: self.node_types,
            edges: self.edges.into_iter().map(key).collect(),
            missing: to_missing(&self.missing)?,
            prefix: self.prefix,
            columns: self.columns.unwrap_or_default(),
            points: self.points.into_iter().map(point).collect(),
            table: self.table.read()?,
        })
    }
}

/// The options of a load of edges.
#[derive(FromPyObject)]
pub(crate) struct EdgeArguments<'py> {
    /// The options of all loads.
    #[pyo3(item)]
    pub table: OptionArguments<'py>,
    /// The predicate of the edges.
    #[pyo3(item)]
    predicate: String,
    /// The column of the external ids of sources.
    #[pyo3(item)]
    source: String,
    /// The column of the external ids of targets.
    #[pyo3(item)]
    target: String,
    /// The columns that are facets; see [`to_facets`].
    #[pyo3(item)]
    facets: Option<Bound<'py, PyAny>>,
    /// The predicates that store the external ids.
    #[pyo3(item)]
    on: Option<IdPredicates>,
    /// Whether the external ids are uids; `on` is ignored then.
    #[pyo3(item)]
    uid: bool,
    /// What happens to external ids that no node has: `"make"`, `"skip"` or `"raise"`.
    #[pyo3(item)]
    missing: String,
    /// Whether types get the predicate as a field.
    #[pyo3(item)]
    owned: bool,
}

impl EdgeArguments<'_> {
    /// Converts the options.
    ///
    /// # Errors
    ///
    /// As [`OptionArguments::read`].
    pub(crate) fn read(self) -> PyResult<EdgeOptions> {
        let (source_on, target_on) = match self.on {
            None => (None, None),
            Some(IdPredicates::One(name)) => (Some(name.clone()), Some(name)),
            Some(IdPredicates::Two(source, target)) => (Some(source), Some(target)),
        };
        let missing = to_missing(&self.missing)?;
        Ok(EdgeOptions {
            source_ids: to_ids(source_on, self.uid),
            target_ids: to_ids(target_on, self.uid),
            facets: to_facets(self.facets.as_ref())?,
            missing,
            owned: self.owned,
            table: self.table.read()?,
            ..EdgeOptions::new(&self.predicate, &self.source, &self.target)
        })
    }
}

/// What happens to edges with missing endpoints.
///
/// # Errors
///
/// `ValueError` for another word than there are.
pub(crate) fn to_missing(text: &str) -> PyResult<Missing> {
    Missing::from_name(text).map_err(|fault| PyValueError::new_err(fault.to_string()))
}

/// Reads the number of bytes for a load; 0 represents no bound. A text may have a unit, such as
/// `MiB` or `MB`. The least bound that is possible is checked by the load.
///
/// # Errors
///
/// `QueryError` for what is no number of bytes.
pub(crate) fn to_memory(given: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
    let Some(given) = given else { return Ok(0) };
    byte_count("memory", &given.str()?.to_cow()?).map_err(to_python)
}

/// Returns true if values that can't be stored are left out instead of ending the load.
///
/// # Errors
///
/// `ValueError` for anything but "raise" and "skip".
pub(crate) fn skips(on_error: &str) -> PyResult<bool> {
    match on_error {
        "raise" => Ok(false),
        "skip" => Ok(true),
        other => {
            let fault = format!("on_error is \"raise\" or \"skip\", not {other:?}");
            Err(PyValueError::new_err(fault))
        }
    }
}

/// Converts an argument to tables. It is whatever [`to_table`] takes, a folder, a pattern of files,
/// or a list of these.
///
/// # Errors
///
/// `TypeError` when it is none of these; `QueryError` for what means no file.
pub(crate) fn to_tables(given: &Bound<'_, PyAny>) -> PyResult<Vec<Table>> {
    tables_within(given, 0)
}

fn tables_within(given: &Bound<'_, PyAny>, depth: usize) -> PyResult<Vec<Table>> {
    if let Ok(path) = given.extract::<PathBuf>() {
        let files = files_of(&path, is_readable_name).map_err(to_python)?;
        return Ok(files.into_iter().map(Table::File).collect());
    }
    if given.is_instance_of::<PyList>() || given.is_instance_of::<PyTuple>() {
        check_lists(depth)?;
        let mut tables = Vec::new();
        for one in given.try_iter()? {
            tables.extend(tables_within(&one?, depth + 1)?);
        }
        return Ok(tables);
    }
    Ok(vec![to_table(given)?])
}

/// Converts a path, or any object that hands out Arrow columns, to a table.
///
/// # Errors
///
/// `TypeError` when it is neither.
fn to_table(given: &Bound<'_, PyAny>) -> PyResult<Table> {
    if let Ok(path) = given.extract::<PathBuf>() {
        return Ok(Table::File(path));
    }
    if !given.hasattr("__arrow_c_stream__")? {
        let kind = given.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "a table is a path, a data frame, a list of dicts or a dict of columns, not {kind}"
        )));
    }
    let reader = reader_of(given)?;
    let schema = reader.schema();
    let empty: Vec<usize> = (0..schema.fields().len())
        .filter(|&position| has_nothing(schema.field(position).data_type()))
        .collect();
    let module = given.get_type().module()?;
    if empty.is_empty() || module.to_cow()?.split('.').next() != Some("polars") {
        return Ok(Table::Batches(reader));
    }
    // polars exports columns without a type in the layout of Arrow before 1.0, with one buffer too
    // many. Columns of another type replace them here.
    let other = PyDict::new(given.py());
    let literal = given.py().import("polars")?.call_method1("lit", (false,))?;
    for &position in &empty {
        other.set_item(schema.field(position).name(), &literal)?;
    }
    let reader = reader_of(&given.call_method("with_columns", (), Some(&other))?)?;
    let schema_of_nulls = Arc::clone(&schema);
    let batches = reader.map(move |batch| with_nulls(&batch?, &schema_of_nulls, &empty));
    Ok(Table::Batches(Box::new(RecordBatchIterator::new(batches, schema))))
}

/// The batches of what hands out Arrow columns.
///
/// # Errors
///
/// Those of the library that hands them out.
pub(crate) fn reader_of(given: &Bound<'_, PyAny>) -> PyResult<Box<dyn RecordBatchReader + Send>> {
    let capsule = given.call_method0("__arrow_c_stream__")?;
    let reader = PyRecordBatchReader::from_arrow_pycapsule(capsule.cast()?)?.into_reader()?;
    let (schema, batches) = (reader.schema(), Fitting(reader));
    Ok(Box::new(RecordBatchIterator::new(batches, schema)))
}

/// Batches as they are handed out, whose arrays may have other buffers and children than those of
/// their types: that is detected by a panic, which is an error here. What is in the buffers is
/// checked when it is read.
struct Fitting(Box<dyn RecordBatchReader + Send>);

impl Iterator for Fitting {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = catch_unwind(AssertUnwindSafe(|| self.0.next()));
        let fault = "an array of the table has other buffers than those of its type";
        next.unwrap_or_else(|_| Some(Err(ArrowError::CDataInterface(fault.to_owned()))))
    }
}

/// Whether the cells of a column are null, or lists without a value.
fn has_nothing(data_type: &DataType) -> bool {
    match data_type {
        DataType::Null => true,
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            has_nothing(item.data_type())
        }
        _ => false,
    }
}

/// A batch with nulls in the columns at some positions, whatever is in them.
fn with_nulls(
    batch: &RecordBatch,
    schema: &SchemaRef,
    empty: &[usize],
) -> std::result::Result<RecordBatch, ArrowError> {
    let mut columns = batch.columns().to_vec();
    for &position in empty {
        columns[position] = new_null_array(schema.field(position).data_type(), batch.num_rows());
    }
    let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &rows)
}

/// Says what the ids in a column are: uids, or values of a predicate. `None` leaves it to the load,
/// which decides as [`NodeOptions::ids`] and [`EdgeOptions::source_ids`] say.
fn to_ids(predicate: Option<String>, are_uids: bool) -> Option<IdSpace> {
    if are_uids { Some(IdSpace::Uid) } else { predicate.map(IdSpace::Predicate) }
}

/// The predicates of sources and of targets: one name for both, or a pair of them.
#[derive(FromPyObject)]
enum IdPredicates {
    /// The same for sources and targets.
    #[pyo3(transparent)]
    One(String),
    /// One for sources and one for targets.
    Two(String, String),
}

/// The columns that are facets, each with the key of its facet. A dict names both; with a list of
/// columns, or the name of one, the key is the column's own name.
///
/// # Errors
///
/// `TypeError` for anything but names.
fn to_facets(given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<(String, String)>> {
    let Some(given) = given else { return Ok(Vec::new()) };
    if let Ok(name) = given.extract::<String>() {
        return Ok(vec![(name.clone(), name)]);
    }
    if let Ok(dict) = given.cast::<PyDict>() {
        return dict.iter().map(|(name, key)| Ok((name.extract()?, key.extract()?))).collect();
    }
    let Ok(names) = items_of::<String>(given) else {
        let fault = "facets is a list of columns, or a dict of columns and the keys of facets";
        return Err(PyTypeError::new_err(format!("{fault}, not {}", given.get_type().name()?)));
    };
    Ok(names.into_iter().map(|name| (name.clone(), name)).collect())
}

/// Runs a load, which Ctrl-C stops, and shows a progress bar if one is requested. The lock of the
/// interpreter is released while the load runs, and acquired to move the bar. `expected` is a truth
/// value, a function that is called with the progress, or nothing. `schema` is the text to which
/// the position of a schema's error refers.
///
/// # Errors
///
/// As the load; `KeyboardInterrupt`.
pub(crate) fn with_bar(
    py: Python<'_>,
    expected: Option<&Bound<'_, PyAny>>,
    read: LoadProgress,
    schema: Option<&str>,
    load: impl FnOnce(&RequestContext) -> Result<LoadReport> + Send,
) -> PyResult<PyLoadReport> {
    let bar = py.import("hexgraph.progress")?.call_method1("bar", (expected,))?.unbind();
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
    // The bar goes whatever became of the load. Its own error comes first, although the load may
    // have been stored.
    bar.call_method1(py, "close", ())?;
    Ok(PyLoadReport::new(report?))
}

/// Find out how a file is read as a table: what `hexgraph.sniff` calls. Returns its parts in a
/// dict.
///
/// # Errors
///
/// As a load.
#[pyfunction]
pub(crate) fn sniff_file<'py>(
    py: Python<'py>,
    file: PathBuf,
    options: OptionArguments<'py>,
    rows: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let options = options.read()?;
    let sniffed = interruptible(py, None, |control| sniff(&file, &options, rows, control))?;
    let arguments = PyDict::new(py);
    for (name, value) in &sniffed.options {
        match value {
            SniffedOption::Text(text) => arguments.set_item(name, text)?,
            SniffedOption::Flag(is_so) => arguments.set_item(name, is_so)?,
            SniffedOption::Number(number) => arguments.set_item(name, number)?,
            SniffedOption::Texts(texts) => arguments.set_item(name, texts)?,
            SniffedOption::Types(types) => {
                let by_column = PyDict::new(py);
                types.iter().try_for_each(|(column, name)| by_column.set_item(column, name))?;
                arguments.set_item(name, by_column)?;
            }
        }
    }
    let columns = sniffed.columns.iter();
    let columns = columns.map(|it| (&it.name, &it.predicate, &it.type_text)).collect::<Vec<_>>();
    let table = ArrowTable::of_rows(sniffed.rows.clone());
    let parts = PyDict::new(py);
    parts.set_item("file", &sniffed.file)?;
    parts.set_item("description", &sniffed.description)?;
    parts.set_item("arguments", arguments)?;
    parts.set_item("columns", columns)?;
    parts.set_item("rows", table)?;
    parts.set_item("warnings", &sniffed.warnings)?;
    parts.set_item("is_whole", sniffed.is_complete)?;
    parts.set_item("text", sniffed.text().map_err(to_python)?)?;
    Ok(parts)
}
