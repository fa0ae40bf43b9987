//! Values of Python as values of variables.

use crate::db::Variables;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBool;
use pyo3::types::PyDict;
use pyo3::types::PyFloat;
use pyo3::types::PyInt;
use pyo3::types::PyList;
use pyo3::types::PyString;
use pyo3::types::PyTuple;

/// The variables of a request. Names may come with their `$` or without.
///
/// # Errors
///
/// `TypeError` that names the variable whose value has no text in DQL.
pub fn to_variables(given: Option<&Bound<'_, PyDict>>) -> PyResult<Variables> {
    let mut variables = Variables::new();
    for (name, value) in given.into_iter().flat_map(|given| given.iter()) {
        let name: String = name.extract()?;
        let name = name.trim_start_matches('$');
        let Some(text) = text_of(&value)? else {
            let kind = value.get_type().name()?.to_string();
            return Err(PyTypeError::new_err(format!(
                "variable ${name}: a value of type {kind} has no text in DQL, pass it as str"
            )));
        };
        variables.insert(format!("${name}"), text);
    }
    Ok(variables)
}

fn text_of(value: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Some(text.to_string()));
    }
    if let Ok(truth) = value.cast::<PyBool>() {
        return Ok(Some(truth.is_true().to_string()));
    }
    if value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>() {
        return Ok(Some(value.str()?.to_string()));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        return list_text(value);
    }
    // Dates and times; then the scalars of numpy and its kin, and decimals.
    if value.hasattr("isoformat")? {
        return Ok(Some(value.call_method0("isoformat")?.extract()?));
    }
    if value.hasattr("item")? {
        let inner = value.call_method0("item")?;
        return if inner.hasattr("item")? { Ok(None) } else { text_of(&inner) };
    }
    if value.hasattr("__float__")? {
        return Ok(Some(value.str()?.to_string()));
    }
    Ok(None)
}

fn list_text(values: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let mut texts = Vec::new();
    for value in values.try_iter()? {
        let Some(text) = text_of(&value?)? else { return Ok(None) };
        texts.push(text);
    }
    Ok(Some(format!("[{}]", texts.join(", "))))
}
