//! What a mutation is made of in Python, and what came of it.

use super::result::PyResultSet;
use crate::db::Mutation;
use crate::db::MutationAnswer;
use crate::db::Statements;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;

/// What an upsert did.
#[pyclass(frozen, name = "Upsert", module = "hexgraph")]
pub struct PyUpsert {
    uids: BTreeMap<String, String>,
    result: Option<Py<PyResultSet>>,
}

impl PyUpsert {
    /// What Python sees of an answer.
    pub fn new(py: Python<'_>, answer: MutationAnswer) -> PyResult<PyUpsert> {
        let result = answer.queries.map(|queries| Py::new(py, PyResultSet::new(queries)));
        Ok(PyUpsert { uids: answer.uids, result: result.transpose()? })
    }
}

#[pymethods]
impl PyUpsert {
    /// The uids of new nodes, by the names of their blank nodes, and by `uid(v)` for a variable
    /// that found none.
    #[getter]
    fn uids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        uid_dict(py, &self.uids)
    }

    /// What the query found before the change.
    #[getter]
    fn result(&self, py: Python<'_>) -> Option<Py<PyResultSet>> {
        self.result.as_ref().map(|result| result.clone_ref(py))
    }

    fn __repr__(&self) -> String {
        let count = self.uids.len();
        format!("<hexgraph.Upsert: {count} new node{}>", if count == 1 { "" } else { "s" })
    }
}

/// The texts of a mutation; empty for none.
pub struct Texts<'a> {
    /// N-Quads that are set.
    pub set: &'a str,
    /// N-Quads that are deleted.
    pub delete: &'a str,
    /// JSON that is set.
    pub set_json: &'a str,
    /// JSON that is deleted.
    pub delete_json: &'a str,
}

impl<'a> Texts<'a> {
    /// The mutation.
    pub fn mutation(&self, cond: &'a str) -> Mutation<'a> {
        let statements = |quads: &'a str, json: &'a str| {
            let quads = (!quads.is_empty()).then_some(Statements::NQuads(quads));
            quads.into_iter().chain((!json.is_empty()).then_some(Statements::Json(json))).collect()
        };
        Mutation {
            condition: cond.into(),
            set: statements(self.set, self.set_json),
            delete: statements(self.delete, self.delete_json),
        }
    }

    /// The text that an error is about: empty unless there is only one.
    pub fn only(&self) -> &'a str {
        let all = [self.set, self.delete, self.set_json, self.delete_json];
        let mut given = all.into_iter().filter(|text| !text.is_empty());
        match (given.next(), given.next()) {
            (Some(text), None) => text,
            _ => "",
        }
    }
}

/// A mutation that came as a dict.
#[derive(Default)]
pub struct OwnedMutation {
    set: String,
    delete: String,
    set_json: String,
    delete_json: String,
    cond: String,
}

impl OwnedMutation {
    /// Reads a dict.
    ///
    /// # Errors
    ///
    /// `TypeError` for a key that means nothing, and for values that are no text.
    pub fn read(given: &Bound<'_, PyDict>) -> PyResult<OwnedMutation> {
        let mut mutation = OwnedMutation::default();
        for (key, value) in given.iter() {
            let key: String = key.extract()?;
            let text = match &*key {
                "set" => &mut mutation.set,
                "delete" => &mut mutation.delete,
                "cond" => &mut mutation.cond,
                "set_json" => {
                    mutation.set_json = to_json(Some(&value))?;
                    continue;
                }
                "delete_json" => {
                    mutation.delete_json = to_json(Some(&value))?;
                    continue;
                }
                other => {
                    return Err(PyTypeError::new_err(format!(
                        "a mutation has no key {other:?}: it is \"set\", \"delete\", \
                         \"set_json\", \"delete_json\" or \"cond\""
                    )));
                }
            };
            *text = value.extract()?;
        }
        Ok(mutation)
    }

    /// The mutation.
    pub fn mutation(&self) -> Mutation<'_> {
        let OwnedMutation { set, delete, set_json, delete_json, cond } = self;
        Texts { set, delete, set_json, delete_json }.mutation(cond)
    }
}

/// JSON text of what may be text already; empty for None.
///
/// # Errors
///
/// `TypeError` for an object that JSON has no place for, `ValueError` for a number that is none.
pub fn to_json(given: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
    let Some(given) = given.filter(|given| !given.is_none()) else { return Ok(String::new()) };
    if let Ok(text) = given.extract::<String>() {
        return Ok(text);
    }
    given.py().import("hexgraph.encoding")?.call_method1("to_json", (given,))?.extract()
}

/// Uids by name.
pub fn uid_dict<'py>(
    py: Python<'py>,
    uids: &BTreeMap<String, String>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, uid) in uids {
        dict.set_item(name, uid)?;
    }
    Ok(dict)
}
