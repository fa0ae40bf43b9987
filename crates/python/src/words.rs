//! The words of the languages, for lexers and for completion.

use hexgraph::cypher::FUNCTIONS;
use hexgraph::db::{KeywordKind, keyword_table};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The words of DQL: a list for each of their kinds.
#[pyfunction]
pub(super) fn dql_keywords(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let table = keyword_table();
    let words = PyDict::new(py);
    for kind in KeywordKind::ALL {
        let of_kind = table.iter().filter(|word| word.kind == kind);
        words.set_item(kind.name(), of_kind.map(|word| &*word.name).collect::<Vec<_>>())?;
    }
    Ok(words)
}

/// The names of the functions of openCypher.
#[pyfunction]
pub(super) fn cypher_functions() -> Vec<&'static str> {
    FUNCTIONS.iter().map(|function| function.name).collect()
}
