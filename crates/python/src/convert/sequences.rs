//! Sequences of Python, which may say that they are longer than they are.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// Reads the items of a list or another sequence. Its length is not trusted for allocation.
///
/// # Errors
///
/// `TypeError` for what is no sequence; those of its iterator and of the items.
pub(crate) fn items_of<'py, T>(given: &Bound<'py, PyAny>) -> PyResult<Vec<T>>
where
    T: for<'a> FromPyObject<'a, 'py>,
{
    let is_sequence = given.hasattr("__getitem__")?
        && !given.is_instance_of::<PyString>()
        && !given.is_instance_of::<PyDict>();
    if !is_sequence {
        return Err(PyTypeError::new_err("it is no sequence"));
    }
    let mut items = Vec::new();
    for item in given.try_iter()? {
        items.push(item?.extract::<T>().map_err(Into::into)?);
    }
    Ok(items)
}
