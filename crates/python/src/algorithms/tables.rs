//! Algorithms on graphs: what `hexgraph.algo` needs of the native half.

use super::run_query::run_query;
use crate::convert::arrow::ArrowTable;
use crate::database::PyDatabase;
use arrow_array::{
    ArrayRef, FixedSizeListArray, Float32Array, Float64Array, Int64Array, UInt64Array,
};
use arrow_buffer::{BooleanBuffer, NullBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};
use hexgraph::db::{
    ALGORITHMS, AlgorithmNumbers, AlgorithmReport, AlgorithmTable, ArgumentDef, ArgumentKind,
    COMMON_ARGUMENTS,
};
use hexgraph::tables::texts_array;
use hexgraph_base::types::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use std::sync::Arc;

/// The numbers that are looked at at a time for one that is missing.
const CHUNK: usize = 1024;

/// Run the query of an algorithm, whose block has no variable, and return its result as a table:
/// the columns path (for paths), uid, to (for pairs), xid (where nodes have one), and the numbers
/// or vectors under the algorithm's name; and how it was computed.
#[pyfunction]
#[pyo3(signature = (database, dql, timeout = None))]
pub(crate) fn run_algorithm(
    py: Python<'_>,
    database: &PyDatabase,
    dql: String,
    timeout: Option<f64>,
) -> PyResult<(ArrowTable, Rounds)> {
    run_query(py, database, dql, timeout, |answer, control| {
        let result = answer.into_algorithm(control)?;
        let rounds = rounds_of(&result.report);
        Ok((arrow_table(result)?.drawing(control), rounds))
    })
}

/// The rounds of an algorithm, by how much the last one changed the result, and whether that was
/// less than the tolerance; None where that is not measured, and where nothing is waited for.
pub(super) type Rounds = (usize, Option<f64>, Option<bool>);

/// How a result was computed, for Python.
pub(super) fn rounds_of(report: &AlgorithmReport) -> Rounds {
    (report.iterations, report.residual, report.converged)
}

/// The table of all algorithms: a dict for each, with its arguments.
#[pyfunction]
pub(crate) fn algorithms(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let rows = PyList::empty(py);
    for algorithm in ALGORITHMS {
        let row = PyDict::new(py);
        row.set_item("name", algorithm.name)?;
        row.set_item("summary", algorithm.summary)?;
        row.set_item("gives", algorithm.gives.name())?;
        row.set_item("weights", algorithm.takes_weights)?;
        let directions = algorithm.directions.iter().map(|direction| direction.name());
        row.set_item("directions", directions.collect::<Vec<_>>())?;
        row.set_item("source", algorithm.source)?;
        let arguments = PyList::empty(py);
        for argument in algorithm.arguments.iter().chain(COMMON_ARGUMENTS) {
            arguments.append(argument_row(py, argument)?)?;
        }
        row.set_item("arguments", arguments)?;
        rows.append(row)?;
    }
    Ok(rows)
}

fn argument_row<'py>(py: Python<'py>, argument: &ArgumentDef) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("name", argument.name)?;
    row.set_item("summary", argument.summary)?;
    match argument.kind {
        ArgumentKind::Int { least, most, default } => {
            row.set_item("kind", "int")?;
            row.set_item("range", (least, most))?;
            row.set_item("default", default)?;
        }
        ArgumentKind::Float { least, most, default } => {
            row.set_item("kind", "float")?;
            row.set_item("range", (least, most))?;
            row.set_item("default", default)?;
        }
        ArgumentKind::Bool { default } => {
            row.set_item("kind", "bool")?;
            row.set_item("default", default)?;
        }
        ArgumentKind::Choice(words) => {
            row.set_item("kind", "choice")?;
            row.set_item("range", words)?;
            row.set_item("default", words.first())?;
        }
        ArgumentKind::Nodes { is_required } => {
            row.set_item("kind", "nodes")?;
            row.set_item("required", is_required)?;
        }
        ArgumentKind::Numbers { least, most, is_integer, default } => {
            row.set_item("kind", if is_integer { "ints" } else { "floats" })?;
            row.set_item("range", (least, most))?;
            row.set_item("default", PyTuple::new(py, default)?)?;
        }
        ArgumentKind::Groups => {
            row.set_item("kind", "groups")?;
            row.set_item("required", true)?;
        }
    }
    Ok(row)
}

fn arrow_table(table: AlgorithmTable) -> Result<ArrowTable> {
    let AlgorithmTable { name, path, uids, to, xids, numbers, .. } = table;
    let mut columns: Vec<(String, ArrayRef)> = Vec::new();
    if let Some(path) = path {
        columns.push(("path".to_owned(), path_column(path)));
    }
    let is_of_graph =
        uids.is_empty() && matches!(&numbers, AlgorithmNumbers::Floats(it) if it.len() == 1);
    if !is_of_graph {
        columns.push(("uid".to_owned(), Arc::new(UInt64Array::from(uids))));
    }
    if let Some(to) = to {
        columns.push(("to".to_owned(), Arc::new(UInt64Array::from(to))));
    }
    if let Some(xids) = xids {
        columns.push(("xid".to_owned(), texts_array(xids)?));
    }
    match numbers {
        AlgorithmNumbers::Floats(numbers) => columns.push((name, float_column(numbers.into()))),
        AlgorithmNumbers::Ints(numbers) => columns.push((name, int_column(numbers.into()))),
        AlgorithmNumbers::Vectors(length, numbers) => {
            columns.push((name, vector_column(length, numbers)?));
        }
        AlgorithmNumbers::Nothing => {}
    }
    let may_be_null = |array: &ArrayRef| {
        let kind = array.data_type();
        matches!(kind, DataType::Float64 | DataType::Int64 | DataType::Utf8 | DataType::LargeUtf8)
    };
    ArrowTable::of_columns(columns, may_be_null)
}

/// Numbers of paths. They are integers and no uids, so they are signed.
fn path_column(path: Vec<u64>) -> ArrayRef {
    Arc::new(path.into_iter().map(|number| number as i64).collect::<Int64Array>())
}

/// Floats without a copy; NaN represents none.
pub(super) fn float_column(numbers: ScalarBuffer<f64>) -> ArrayRef {
    let nulls = nulls_of(&numbers, |number| number.is_nan());
    Arc::new(Float64Array::new(numbers, nulls))
}

/// Integers without a copy; the least one represents none.
pub(super) fn int_column(numbers: ScalarBuffer<i64>) -> ArrayRef {
    let nulls = nulls_of(&numbers, |number| AlgorithmNumbers::is_missing(*number));
    Arc::new(Int64Array::new(numbers, nulls))
}

/// Which numbers are there; `None` where all are.
fn nulls_of<T>(numbers: &[T], is_missing: impl Fn(&T) -> bool) -> Option<NullBuffer> {
    let has_missing = |some: &[T]| some.iter().fold(false, |any, it| any | is_missing(it));
    // Chunks are scanned completely: without an early exit the loop is vectorised.
    let has_gaps = numbers.chunks(CHUNK).any(has_missing);
    let is_there = |position: usize| !is_missing(&numbers[position]);
    has_gaps.then(|| NullBuffer::new(BooleanBuffer::collect_bool(numbers.len(), is_there)))
}

/// Vectors as lists of one length, which is what a load makes vectors of, and other libraries
/// tensors.
pub(super) fn vector_column(length: usize, numbers: Vec<f32>) -> Result<ArrayRef> {
    let item = Arc::new(Field::new("item", DataType::Float32, false));
    let length = i32::try_from(length)
        .map_err(|_| Error::query(format!("vectors of {length} numbers are too long")))?;
    let values: ArrayRef = Arc::new(Float32Array::from(numbers));
    FixedSizeListArray::try_new(item, length, values, None)
        .map(|array| Arc::new(array) as ArrayRef)
        .map_err(|error| Error::query(format!("the vectors make no column: {error}")))
}
