//! What the connection to a cluster, which is written in Python, has in common with the embedded
//! database: how Python's objects become requests, and how an answer in JSON becomes a table.

use crate::convert::arrow::ArrowTable;
use crate::convert::encoding::{encode, text_of};
use crate::convert::errors::to_python;
use crate::convert::json_table::table_of;
use crate::convert::variables::to_variables;
use crate::source::to_schema_text;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::collections::HashMap;

/// The arguments of requests that may be given as Python's objects, which become JSON, or as a
/// text, which is passed on. A name has to be one of these, since error messages need it for the
/// life of the program.
const JSON_ARGUMENTS: [&str; 5] = ["set_json", "delete_json", "variables", "set", "delete"];

/// Converts the value of the argument `name` to JSON; a text stays what it is. Times become texts.
#[pyfunction]
pub(crate) fn encode_json(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let Some(name) = JSON_ARGUMENTS.into_iter().find(|existing| *existing == name) else {
        return Err(PyValueError::new_err(format!("no argument {name:?} is JSON")));
    };
    match value.cast::<PyString>() {
        Ok(text) => Ok(text_of(text, || name.to_owned())?.to_owned()),
        Err(_) => Ok(encode(name, value)?.json),
    }
}

/// Returns the text of a schema: what the file at a path holds, or a text as it is.
#[pyfunction]
pub(crate) fn schema_text(given: &Bound<'_, PyAny>) -> PyResult<String> {
    to_schema_text(given)
}

/// Converts the values of variables to texts. Returns for each variable its name with `$`, its text
/// and, if it is a list, the texts of its items.
#[pyfunction]
#[pyo3(signature = (given))]
pub(crate) fn variable_texts(
    given: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<(String, String, Option<Vec<String>>)>> {
    let variables = to_variables(given)?.into_iter();
    let texts = variables.map(|(name, value)| {
        (name, value.text().to_owned(), value.items().map(<[String]>::to_vec))
    });
    Ok(texts.collect())
}

/// Converts the rows of the block named `block` of an answer in JSON to a table. The columns that
/// `order` names come first, in that order; the columns of an object stand where the object stands.
/// `types` has the names of the value types of the schema by the keys of the answer. A column of
/// another key whose texts are all instants becomes a column of times.
#[pyfunction]
#[pyo3(signature = (json, block, order, types))]
pub(crate) fn json_table(
    py: Python<'_>,
    json: &[u8],
    block: String,
    order: Vec<String>,
    types: HashMap<String, String>,
) -> PyResult<ArrowTable> {
    // The bytes object does not change, and the caller holds it.
    let table = py.detach(|| table_of(json, block, order, &types).and_then(ArrowTable::new));
    table.map_err(to_python)
}
