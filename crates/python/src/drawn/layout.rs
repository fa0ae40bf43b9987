//! Positions for the nodes of a picture.

use crate::interrupt::interruptible;
use hexgraph::layout::positions;
use pyo3::prelude::*;

/// A position for each of `nodes` nodes, as two numbers from 0 to 1; `edges` are pairs of their
/// numbers. See `hexgraph.widget`.
///
/// # Errors
///
/// QueryError for more than 20,000 nodes, and for an edge of a node that there is not.
#[pyfunction]
pub(crate) fn layout(
    py: Python<'_>,
    nodes: usize,
    edges: Vec<(usize, usize)>,
) -> PyResult<Vec<(f32, f32)>> {
    let slots = interruptible(py, None, |control| positions(nodes, &edges, || control.check()))?;
    Ok(slots.into_iter().map(|[x, y]| (x, y)).collect())
}
