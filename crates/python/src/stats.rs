//! How large a database is, as a dict.

use hexgraph::db::{PredicateStats, Stats};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Converts the numbers of a database.
///
/// # Errors
///
/// What Python raises: when there is no memory.
pub(crate) fn stats_dict<'py>(py: Python<'py>, stats: &Stats) -> PyResult<Bound<'py, PyDict>> {
    let Stats { nodes, commit, predicates } = stats;
    let counts = PyDict::new(py);
    for predicate in predicates {
        counts.set_item(&*predicate.name, predicate_stats(py, predicate)?)?;
    }
    let stats = PyDict::new(py);
    stats.set_item("nodes", nodes)?;
    stats.set_item("commit", commit)?;
    stats.set_item("predicates", counts)?;
    Ok(stats)
}

fn predicate_stats<'py>(py: Python<'py>, stats: &PredicateStats) -> PyResult<Bound<'py, PyDict>> {
    let PredicateStats { column_bytes, index_bytes, reverse_bytes, facet_bytes, .. } = stats;
    let entry = PyDict::new(py);
    entry.set_item("nodes", stats.subjects)?;
    entry.set_item("values", stats.values)?;
    entry.set_item("bytes", column_bytes + index_bytes + reverse_bytes + facet_bytes)?;
    let parts = PyDict::new(py);
    for (part, bytes) in [
        ("values", column_bytes),
        ("indexes", index_bytes),
        ("reverse", reverse_bytes),
        ("facets", facet_bytes),
    ] {
        parts.set_item(part, bytes)?;
    }
    entry.set_item("parts", parts)?;
    Ok(entry)
}
