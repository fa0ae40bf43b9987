//! Queries in Cypher, with conversion of parameters and rows between Python and Cypher.

use super::deleting::Owner;
use crate::convert::arrow::ArrowTable;
use crate::convert::errors::{to_python, to_python_with_text, warn_of};
use crate::convert::variables::is_gap;
use crate::database::PyDatabase;
use crate::interrupt::{interruptible, interruptible_with};
use crate::requests::to_timeout;
use hexgraph::cypher::{Context, Map, Value, function};
use hexgraph::db::{CypherAnswer, RequestContext, Warning};
use hexgraph_base::types::Error;
use jiff::{Timestamp, tz::TimeZone};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use std::sync::Arc;

/// The maximum nesting of lists and dicts in a parameter.
const DEPTH_MAX: usize = 100;

/// The answer to a query in openCypher, which is converted on request.
#[pyclass(frozen, name = "CypherAnswer", module = "hexgraph._native")]
pub(crate) struct PyCypherAnswer {
    answer: CypherAnswer,
}

#[pymethods]
impl PyCypherAnswer {
    fn columns(&self) -> Vec<String> {
        self.answer.columns.iter().map(|name| name.to_string()).collect()
    }

    /// The first rows as tuples, or all.
    #[pyo3(signature = (first = None))]
    fn rows<'py>(&self, py: Python<'py>, first: Option<usize>) -> PyResult<Bound<'py, PyList>> {
        let rows = PyList::empty(py);
        for row in self.answer.rows().take(first.unwrap_or(usize::MAX)) {
            let cells: PyResult<Vec<_>> = row.iter().map(|value| to_object(py, value)).collect();
            rows.append(PyTuple::new(py, cells?)?)?;
        }
        Ok(rows)
    }

    fn to_json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        let (json, _) = interruptible(py, None, |context| self.answer.to_json(context))?;
        Ok(PyString::new(py, &json))
    }

    /// The table, and a warning for each column that loses something.
    fn to_arrow(&self, py: Python<'_>) -> PyResult<(ArrowTable, Vec<String>)> {
        interruptible(py, None, |context| {
            let (table, warnings) = self.answer.table(context)?;
            Ok((ArrowTable::new(table)?.drawing(context), warnings))
        })
    }

    fn __len__(&self) -> usize {
        self.answer.row_count()
    }
}

/// Run a query in openCypher.
#[pyfunction]
pub(crate) fn run_cypher(
    py: Python<'_>,
    owner: Owner<'_>,
    text: &str,
    params: Option<&Bound<'_, PyAny>>,
    timeout: Option<f64>,
) -> PyResult<PyCypherAnswer> {
    let timeout = to_timeout(timeout)?;
    let params = to_params(params)?;
    let to_exception = |error| to_python_with_text(error, text);
    let (answer, warns) = match &owner {
        Owner::Database(owner) => {
            let database = owner.database();
            let run = |context: &RequestContext| database.cypher_with(text, &params, context);
            (interruptible_with(py, timeout, |_| Ok(()), run, to_exception)?, owner.warns())
        }
        Owner::Txn(owner) => {
            let txn = owner.txn();
            let run = |context: &RequestContext| txn.cypher_with(text, &params, context);
            (interruptible_with(py, timeout, |_| Ok(()), run, to_exception)?, owner.warns())
        }
    };
    if warns {
        warn_of(py, answer.warnings(), Warning::to_string)?;
    }
    Ok(PyCypherAnswer { answer })
}

/// Run a query in openCypher for each row of a table of parameters.
#[pyfunction]
pub(crate) fn run_cypher_many(
    py: Python<'_>,
    owner: PyRef<'_, PyDatabase>,
    text: &str,
    table: &Bound<'_, PyAny>,
    number: &str,
    timeout: Option<f64>,
) -> PyResult<PyCypherAnswer> {
    let timeout = to_timeout(timeout)?;
    let given = py.import("hexgraph.frames")?.call_method1("rows_of", (table,))?;
    let mut rows = Vec::new();
    for (position, row) in given.try_iter()?.enumerate() {
        rows.push(row_params(&row?, position)?);
    }
    let database = owner.database();
    let run = |context: &RequestContext| database.cypher_many(text, &rows, number, context);
    let to_exception = |error| to_python_with_text(error, text);
    let answer = interruptible_with(py, timeout, |_| Ok(()), run, to_exception)?;
    if owner.warns() {
        warn_of(py, answer.warnings(), Warning::to_string)?;
    }
    Ok(PyCypherAnswer { answer })
}

/// The parameters of a row of a table. A missing value is null.
fn row_params(row: &Bound<'_, PyAny>, position: usize) -> PyResult<Map> {
    let Ok(row) = row.cast::<PyDict>() else {
        let kind = row.get_type().name()?;
        let fault = format!("row {position}: parameters are a dict of their values, not {kind}");
        return Err(PyTypeError::new_err(fault));
    };
    let values = PyDict::new(row.py());
    for (name, value) in row.iter() {
        let value = if is_gap(&value)? { row.py().None().into_bound(row.py()) } else { value };
        values.set_item(name, value)?;
    }
    to_map(&values, &format!("row {position}"), DEPTH_MAX)
}

fn to_params(given: Option<&Bound<'_, PyAny>>) -> PyResult<Map> {
    let empty = || Map::new(Vec::new()).map_err(|error| to_python(Error::from(error)));
    let Some(given) = given else { return empty() };
    let Ok(dict) = given.cast::<PyDict>() else {
        let kind = given.get_type().name()?;
        let form = r#"{"name": value}, and the text has them as $name"#;
        let fault = format!("parameters are a dict of their values, not {kind}: {form}");
        return Err(PyTypeError::new_err(fault));
    };
    to_map(dict, "a parameter", DEPTH_MAX)
}

fn to_map(dict: &Bound<'_, PyDict>, name: &str, depth: usize) -> PyResult<Map> {
    let mut entries = Vec::new();
    for (key, value) in dict.iter() {
        let Ok(key) = key.cast::<PyString>() else {
            let kind = key.get_type().name()?;
            return Err(PyTypeError::new_err(format!("a key of {name} is a str, not {kind}")));
        };
        let key: Arc<str> = key.to_str()?.trim_start_matches('$').into();
        let value = to_value(&value, &format!("`{key}`"), depth)?;
        entries.push((key, value));
    }
    Map::new(entries).map_err(|error| to_python(Error::from(error)))
}

/// Converts a Python value to a Cypher value.
fn to_value(given: &Bound<'_, PyAny>, name: &str, depth: usize) -> PyResult<Value> {
    let fault = |error| to_python(Error::from(error));
    if depth == 0 {
        return Err(PyTypeError::new_err(format!(
            "{name} is nested deeper than {DEPTH_MAX} levels"
        )));
    }
    if given.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(truth) = given.cast::<PyBool>() {
        return Ok(Value::Bool(truth.is_true()));
    }
    if given.is_instance_of::<PyInt>() {
        return given.extract().map(Value::Int).map_err(|_| {
            PyOverflowError::new_err(format!(
                "{name} is an int beyond 64 bits; pass it as a float or a str"
            ))
        });
    }
    if let Ok(number) = given.cast::<PyFloat>() {
        return Ok(Value::Float(number.value()));
    }
    if let Ok(text) = given.cast::<PyString>() {
        return Ok(Value::from(text.to_str()?));
    }
    if let Ok(dict) = given.cast::<PyDict>() {
        return to_map(dict, name, depth - 1).map(Value::Map);
    }
    if given.is_instance_of::<PyList>() || given.is_instance_of::<PyTuple>() {
        let items: PyResult<Vec<_>> =
            given.try_iter()?.map(|item| to_value(&item?, name, depth - 1)).collect();
        return Value::list(items?).map_err(fault);
    }
    if let Some(value) = to_temporal(given)? {
        return Ok(value);
    }
    // Scalars of numpy.
    if given.get_type().name()?.to_cow()?.starts_with("bool") {
        return given.is_truthy().map(Value::Bool);
    }
    if given.hasattr("__index__")? {
        return given.extract().map(Value::Int);
    }
    if given.hasattr("__float__")? {
        return given.extract().map(Value::Float);
    }
    let kind = given.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "{name} is of type {kind}, which has no value in Cypher: pass None, a bool, int, float, str, list, dict, or a value of datetime"
    )))
}

/// Converts a date, time, datetime or timedelta; `None` for other types.
fn to_temporal(given: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
    let module = given.py().import("datetime")?;
    let is = |name: &str| given.is_instance(&module.getattr(name)?);
    let is_aware = || PyResult::Ok(!given.getattr("tzinfo")?.is_none());
    let (name, text) = if is("datetime")? {
        let name = if is_aware()? { "datetime" } else { "localdatetime" };
        (name, given.call_method0("isoformat")?.extract()?)
    } else if is("date")? {
        ("date", given.call_method0("isoformat")?.extract()?)
    } else if is("time")? {
        let name = if is_aware()? { "time" } else { "localtime" };
        (name, given.call_method0("isoformat")?.extract()?)
    } else if is("timedelta")? {
        let part = |name: &str| given.getattr(name)?.extract::<i64>();
        let (days, seconds, micros) = (part("days")?, part("seconds")?, part("microseconds")?);
        ("duration", format!("P{days}DT{seconds}.{micros:06}S"))
    } else {
        return Ok(None);
    };
    let context = Context::new(Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC), 0);
    let function = function(name).ok_or_else(|| PyTypeError::new_err("no temporal functions"))?;
    let value = function.call(&[Value::from(text)], &context);
    value.map(Some).map_err(|error| to_python(Error::from(error)))
}

/// Converts a Cypher value to a Python value. Temporal values become ISO 8601 strings, without
/// loss; a point becomes a dict.
fn to_object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(truth) => PyBool::new(py, *truth).to_owned().into_any(),
        Value::Int(number) => number.into_pyobject(py)?.into_any(),
        Value::Float(number) => number.into_pyobject(py)?.into_any(),
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::List(list) => {
            let items: PyResult<Vec<_>> = list.iter().map(|item| to_object(py, item)).collect();
            PyList::new(py, items?)?.into_any()
        }
        Value::Map(map) => {
            let dict = PyDict::new(py);
            for (key, value) in map.entries() {
                dict.set_item(&**key, to_object(py, value)?)?;
            }
            dict.into_any()
        }
        Value::Point(point) => {
            let dict = PyDict::new(py);
            dict.set_item("srid", point.srid() as i64)?;
            for (name, coordinate) in ["x", "y", "z"].iter().zip(point.coordinates()) {
                dict.set_item(name, coordinate)?;
            }
            dict.into_any()
        }
        other => PyString::new(py, &other.to_string()).into_any(),
    })
}
