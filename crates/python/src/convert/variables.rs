//! Values of Python as values of the `$variables` of a query, which are texts or lists of texts.

use super::encoding::{members_of, text_of as surrogate_free};
use hexgraph::db::{ParameterValue, Variables};
use hexgraph_base::types::bounded;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PyRange, PySet, PyString, PyTuple,
};

/// How deep lists may be in each other, the outermost included: coordinates of a geometry have four
/// levels. A deeper one is refused as a value that has no text.
const DEPTH_MAX: usize = 4;

/// The variables of a request. Names may come with their `$` or without; of `a` and `$a` the later
/// one counts.
///
/// # Errors
///
/// `TypeError` for what is no dict, for a name that is no str, and for a value of a type that has
/// no text in DQL; `ValueError` for a value that is none: None, NaN, a text with half a character.
/// The message names the variable.
pub(crate) fn to_variables(given: Option<&Bound<'_, PyAny>>) -> PyResult<Variables> {
    match dict_of_variables(given)? {
        Some(given) => variables_of(given, |_| Ok(false)),
        None => Ok(Variables::new()),
    }
}

/// The dict that variables are given in.
///
/// # Errors
///
/// `TypeError` for anything else, with the form that is expected.
pub(crate) fn dict_of_variables<'a, 'py>(
    given: Option<&'a Bound<'py, PyAny>>,
) -> PyResult<Option<&'a Bound<'py, PyDict>>> {
    let Some(given) = given else { return Ok(None) };
    let dict = given.cast::<PyDict>().map_err(|_| {
        let kind = given.get_type().name().map_or_else(|_| "that".to_owned(), |it| it.to_string());
        let form =
            r#"{"name": value}, where the text declares them: query q($name: string) { ... }"#;
        PyTypeError::new_err(format!("variables are a dict of their values, not {kind}: {form}"))
    });
    dict.map(Some)
}

/// The variables of a dict, but for those whose values are `left_out`.
fn variables_of<'py>(
    given: &Bound<'py, PyDict>,
    left_out: impl Fn(&Bound<'py, PyAny>) -> PyResult<bool>,
) -> PyResult<Variables> {
    let mut variables = Variables::new();
    for member in members_of(given) {
        let (name, value) = member?;
        if left_out(&value)? {
            continue;
        }
        let Ok(text) = name.cast::<PyString>() else {
            let kind = name.get_type().name()?;
            let fault = format!("the name of a variable is a str, not {kind}: {{\"name\": value}}");
            return Err(PyTypeError::new_err(fault));
        };
        let name = surrogate_free(text, || "the name of a variable".to_owned())?;
        let name = name.trim_start_matches('$');
        let Some(value) = given_of(&value, name)? else { return Err(no_text(&value, name)) };
        variables.insert(format!("${name}"), value);
    }
    Ok(variables)
}

/// The variables of many questions, one dict or row of a table for each. A missing value of a row
/// is left out, so that the default in the query counts.
///
/// # Errors
///
/// `TypeError` for what is no table, with the number of the row that is no dict; as
/// [`to_variables`].
pub(crate) fn to_rows(given: &Bound<'_, PyAny>) -> PyResult<Vec<Variables>> {
    let rows = given.py().import("hexgraph.frames")?.call_method1("rows_of", (given,))?;
    // A list may say that it is longer than it is.
    let mut all = Vec::new();
    for (position, row) in rows.try_iter()?.enumerate() {
        all.push(row_variables(&row?, position)?);
    }
    Ok(all)
}

/// The variables of one of many questions, that of row `position`.
///
/// # Errors
///
/// As [`to_rows`].
pub(crate) fn row_variables(row: &Bound<'_, PyAny>, position: usize) -> PyResult<Variables> {
    let Ok(row) = row.cast::<PyDict>() else {
        let kind = row.get_type().name()?;
        let message = format!("row {position}: the variables of a query are a dict, not {kind}");
        return Err(PyTypeError::new_err(message));
    };
    variables_of(row, is_gap)
}

/// True for a cell of a table without a value: the missing value of pandas, too, which can't say
/// whether it differs from itself.
pub(crate) fn is_gap(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let is_usual = value.is_instance_of::<PyString>() || value.is_instance_of::<PyInt>();
    Ok(!is_usual && (is_missing(value) || value.get_type().name()? == "NAType"))
}

/// True for None, and for NaN and the missing times of pandas and numpy, which differ from
/// themselves. A value whose comparison fails, or has no truth value as that of an array, is not
/// missing.
fn is_missing(value: &Bound<'_, PyAny>) -> bool {
    value.is_none() || value.ne(value).unwrap_or(false)
}

fn no_text(value: &Bound<'_, PyAny>, name: &str) -> PyErr {
    let kind = value.get_type().name().map_or_else(|_| "unknown".into(), |kind| kind.to_string());
    let message = format!(
        "variable ${name}: a value of type {kind} has no text in DQL; \
         pass text, a number, a boolean, a date or time, or a list of them"
    );
    PyTypeError::new_err(bounded(message))
}

/// Refuses a single value that Python would write as a text, such as `nan`, which is no value in
/// DQL.
fn check(name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    if let Ok(text) = value.cast::<PyString>() {
        return surrogate_free(text, || format!("variable ${name}")).map(drop);
    }
    if is_missing(value) {
        let shown = value.repr()?;
        return Err(PyValueError::new_err(bounded(format_args!(
            "variable ${name}: {shown} is no value: leave it out, with a default in the query"
        ))));
    }
    Ok(())
}

/// The value of a variable: a list as its items, anything else as its text; `None` for a type that
/// has no text in DQL.
fn given_of(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<ParameterValue>> {
    let Some(values) = items_of(value)? else {
        check(name, value)?;
        return Ok(text_of(value)?.map(ParameterValue::from));
    };
    let mut items = Vec::with_capacity(values.len());
    for item in values {
        match item_text(name, &item, 1)? {
            // An item that is a list itself is one text, as coordinates are written: only the
            // outermost list stays one.
            Some(text) => items.push(text),
            None => return Err(no_text(&item, name)),
        }
    }
    Ok(Some(ParameterValue::list(items)))
}

/// An item of a list as text; a list in a list as `[one, other]`. `depth` is the number of lists
/// around the item.
fn item_text(name: &str, item: &Bound<'_, PyAny>, depth: usize) -> PyResult<Option<String>> {
    let Some(values) = items_of(item)? else {
        check(name, item)?;
        return text_of(item);
    };
    if depth == DEPTH_MAX {
        return Ok(None);
    }
    let mut texts = Vec::with_capacity(values.len());
    for value in values {
        let Some(text) = item_text(name, &value, depth + 1)? else { return Ok(None) };
        texts.push(text);
    }
    Ok(Some(format!("[{}]", texts.join(", "))))
}

/// The items of a list, of an array of numpy and its kin, or of a column of a frame, in the order
/// of iteration; `None` for a single value.
fn items_of<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
    let is_list = value.is_instance_of::<PyList>()
        || value.is_instance_of::<PyTuple>()
        || value.is_instance_of::<PySet>()
        || value.is_instance_of::<PyFrozenSet>()
        || value.is_instance_of::<PyRange>();
    if is_list {
        return value.try_iter()?.collect::<PyResult<_>>().map(Some);
    }
    // Nearly every value is one of these. Looking up a missing attribute costs as much as the rest
    // of a short query: Python words an error for each.
    let is_single = value.is_instance_of::<PyString>()
        || value.is_instance_of::<PyInt>()
        || value.is_instance_of::<PyFloat>();
    if is_single {
        return Ok(None);
    }
    // The methods of numpy and pandas, of polars, and of pyarrow. Dates have none of them.
    for method in ["tolist", "to_list", "to_pylist"] {
        if !value.hasattr(method)? {
            continue;
        }
        // An array without dimensions is a single value.
        if let Ok(dimensions) = value.getattr("ndim")
            && dimensions.extract::<usize>().is_ok_and(|dimensions| dimensions == 0)
        {
            return Ok(None);
        }
        // Its own list would have times in nanoseconds as ints.
        if kind_of(value)? == Some('M') {
            return value.try_iter()?.collect::<PyResult<_>>().map(Some);
        }
        let list = value.call_method0(method)?;
        return match list.cast::<PyList>() {
            Ok(list) => Ok(Some(list.iter().collect())),
            Err(_) => Ok(None),
        };
    }
    Ok(None)
}

/// The kind of a value or array of numpy: `M` for times.
fn kind_of(value: &Bound<'_, PyAny>) -> PyResult<Option<char>> {
    let Ok(kind) = value.getattr("dtype").and_then(|dtype| dtype.getattr("kind")) else {
        return Ok(None);
    };
    Ok(kind.extract::<String>()?.chars().next())
}

/// A single value as the text that it has in DQL; `None` for a value of a type that has none.
/// Python code of the value may run, and its exceptions are passed on.
fn text_of(value: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Some(text.to_string()));
    }
    // This comes before the ints, which truth values are in Python.
    if let Ok(truth) = value.cast::<PyBool>() {
        return Ok(Some(truth.is_true().to_string()));
    }
    if value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>() {
        return Ok(Some(value.str()?.to_string()));
    }
    // A time of numpy is its own text.
    if kind_of(value)? == Some('M') {
        return Ok(Some(value.str()?.to_string()));
    }
    // Dates and times; then the scalars of numpy and its kin, and decimals.
    if value.hasattr("isoformat")? {
        return Ok(Some(value.call_method0("isoformat")?.extract()?));
    }
    if value.hasattr("item")? {
        let inner = value.call_method0("item")?;
        // An item of the same kind would lead here without end: that of a `longdouble` is itself.
        return if inner.hasattr("item")? { Ok(None) } else { text_of(&inner) };
    }
    // Decimals and fractions have their own text, which is exact.
    if value.hasattr("__float__")? || value.get_type().name()? == "UUID" {
        return Ok(Some(value.str()?.to_string()));
    }
    Ok(None)
}
