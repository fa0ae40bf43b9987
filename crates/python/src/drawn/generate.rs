//! Graphs that are drawn by rules.

use crate::database::PyDatabase;
use crate::source::PyLoadReport;
use crate::tables::with_bar;
use hexgraph::db::LoadProgress;
use hexgraph::tables::Generated;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Adds a graph that is drawn: what the functions of `hexgraph.datasets` call. `numbers` are those of the kind, in its order, the seed
/// last.
///
/// # Errors
///
/// `ValueError` for a kind that there is not; QueryError for numbers of which no graph can be made.
#[pyfunction]
pub(crate) fn generate(
    py: Python<'_>,
    db: &Bound<'_, PyDatabase>,
    kind: &str,
    numbers: (u64, u64, u64),
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyLoadReport> {
    let (one, other, seed) = numbers;
    let graph = match kind {
        "social" => Generated::Social { people: one, follows: other, seed },
        "kronecker" => {
            // A scale that is out of 32 bits is out of its bounds, too.
            let scale = u32::try_from(one).unwrap_or(u32::MAX);
            Generated::Kronecker { scale, edges: other, seed }
        }
        "grid" => Generated::Grid { width: one, height: other, seed },
        "temporal" => Generated::Temporal { people: one, events: other, seed },
        _ => return Err(PyValueError::new_err(format!("there is no graph {kind:?}"))),
    };
    let database = db.get().database();
    let read = LoadProgress::default();
    with_bar(py, progress, read.clone(), None, |control| {
        database.generate_with(&graph, read, control)
    })
}
