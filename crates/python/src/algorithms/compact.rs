//! Compact graphs as arrays, in compressed sparse rows (CSR): what `db.edges`, `db.matrix` and
//! `hexgraph.networkx` read.

use super::run_query::run_query;
use super::tables::{Rounds, float_column, int_column, rounds_of, vector_column};
use crate::convert::arrow::ArrowTable;
use crate::convert::errors::to_python;
use crate::database::PyDatabase;
use crate::interrupt::interruptible;
use crate::requests::to_timeout;
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, UInt64Array};
use arrow_buffer::{Buffer, ScalarBuffer};
use bytes::Bytes;
use hexgraph::db::{AlgorithmOutcome, AlgorithmOutput, CompactCall, CompactGraph, EdgeArrays};
use hexgraph_base::types::{Error, Result};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3_arrow::buffer::PyArrowBuffer;
use std::sync::Arc;

/// The edges between some nodes, as rows of targets. Its arrays are buffers, which numpy reads
/// where they lie.
#[pyclass(frozen, name = "CompactGraph", module = "hexgraph._native")]
pub struct PyCompactGraph {
    graph: Arc<CompactGraph>,
}

/// One array of a graph: it holds the graph while the array is in use.
struct Part {
    graph: Arc<CompactGraph>,
    bytes: fn(&CompactGraph) -> &[u8],
}

impl AsRef<[u8]> for Part {
    fn as_ref(&self) -> &[u8] {
        (self.bytes)(&self.graph)
    }
}

/// The kind of a result, its arrays, and how it was computed.
type Computed = (&'static str, Vec<PyArrowBuffer>, Rounds);

/// Return the compact graph that a query has run its algorithm on: the first block that has no
/// variable.
#[pyfunction]
#[pyo3(signature = (database, dql, timeout = None))]
pub(crate) fn compact_graph(
    py: Python<'_>,
    database: &PyDatabase,
    dql: String,
    timeout: Option<f64>,
) -> PyResult<PyCompactGraph> {
    let graph = run_query(py, database, dql, timeout, |answer, control| {
        answer.compact_graph_with(control)
    })?;
    Ok(PyCompactGraph { graph: Arc::new(graph) })
}

/// The kind of a column of vectors, before their length: "float32x128".
const VECTOR: &str = "float32x";

/// Make the compact graph of edges between nodes that are numbered from 0 on: sources and targets
/// as uint32, weights as float64, and what the nodes are called, ascending, as uint64.
#[pyfunction]
#[pyo3(signature = (database, uids, sources, targets, weights = None, *, directed = true))]
pub(crate) fn graph_of_arrays(
    py: Python<'_>,
    database: &PyDatabase,
    uids: PyBackedBytes,
    sources: PyBackedBytes,
    targets: PyBackedBytes,
    weights: Option<PyBackedBytes>,
    directed: bool,
) -> PyResult<PyCompactGraph> {
    let graph = interruptible(py, None, |control| {
        let uids: Vec<u64> = numbers(&uids, "uids")?;
        let (from, to) = (numbers(&sources, "sources")?, numbers(&targets, "targets")?);
        let weights = weights.as_ref().map(|it| numbers::<f64>(it, "weights")).transpose()?;
        let edges = EdgeArrays {
            nodes: uids.len(),
            sources: &from,
            targets: &to,
            weights: weights.as_deref(),
            is_undirected: !directed,
        };
        database.database().graph_of_arrays(&edges, uids, control)
    })?;
    Ok(PyCompactGraph { graph: Arc::new(graph) })
}

/// Bytes as numbers, wherever they lie in memory.
fn numbers<T: bytemuck::AnyBitPattern>(bytes: &[u8], name: &str) -> Result<Vec<T>> {
    if !bytes.len().is_multiple_of(size_of::<T>()) {
        return Err(Error::query(format!("`{name}` ends within a number")));
    }
    Ok(bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect())
}

/// A table of numbers: each column has a name, "int64", "uint64", "float64", "floats" or "ints" (in
/// which NaN and the least number stand for none) or "float32x8" (vectors of 8), and its values as
/// bytes.
#[pyfunction]
pub(crate) fn numbers_table(columns: Vec<(String, String, PyBackedBytes)>) -> PyResult<ArrowTable> {
    let read = |(name, kind, bytes): (String, String, PyBackedBytes)| {
        let buffer = Buffer::from(&*bytes);
        if buffer.len() % size_of::<u64>() != 0 && !kind.starts_with(VECTOR) {
            return Err(Error::query(format!("column `{name}` ends within a number")));
        }
        let array: ArrayRef = match kind.as_str() {
            "int64" => Arc::new(Int64Array::new(ScalarBuffer::from(buffer), None)),
            "uint64" => Arc::new(UInt64Array::new(ScalarBuffer::from(buffer), None)),
            "float64" => Arc::new(Float64Array::new(ScalarBuffer::from(buffer), None)),
            "floats" => float_column(ScalarBuffer::from(buffer)),
            "ints" => int_column(ScalarBuffer::from(buffer)),
            other if other.starts_with(VECTOR) => {
                let length = other[VECTOR.len()..]
                    .parse()
                    .map_err(|_| Error::query(format!("column `{name}` can't be of `{other}`")))?;
                vector_column(length, ScalarBuffer::from(buffer).to_vec())?
            }
            _ => return Err(Error::query(format!("column `{name}` can't be of `{kind}`"))),
        };
        Ok((name, array))
    };
    let columns = columns.into_iter().map(read).collect::<Result<Vec<_>>>();
    columns.and_then(table_of).map_err(to_python)
}

#[pymethods]
impl PyCompactGraph {
    /// Whether edges have no direction: then rows have each edge in both directions, and a loop
    /// once.
    #[getter]
    fn is_undirected(&self) -> bool {
        self.graph.is_undirected()
    }

    /// The uids of the nodes, ascending, as uint64; a node's number is its position.
    fn uids(&self) -> PyArrowBuffer {
        self.part(|graph| bytemuck::cast_slice(graph.uids()))
    }

    /// The offset of the row of each node, and the end of the last one: the buffer, and "int32" or
    /// "int64", whichever is enough.
    fn starts(&self, py: Python<'_>) -> (PyArrowBuffer, &'static str) {
        py.detach(|| match i32::try_from(self.graph.targets().len()) {
            Ok(_) => {
                let starts: Vec<i32> = self.graph.starts().map(|start| start as i32).collect();
                (PyArrowBuffer::new(Buffer::from_vec(starts)), "int32")
            }
            Err(_) => {
                let starts: Vec<i64> = self.graph.starts().map(|start| start as i64).collect();
                (PyArrowBuffer::new(Buffer::from_vec(starts)), "int64")
            }
        })
    }

    /// The numbers of the targets, row after row, as uint32.
    fn targets(&self) -> PyArrowBuffer {
        self.part(|graph| bytemuck::cast_slice(graph.targets()))
    }

    /// The weights of the edges, as float64; None if each is 1.
    fn weights(&self) -> Option<PyArrowBuffer> {
        self.graph.weights()?;
        Some(self.part(|graph| bytemuck::cast_slice(graph.weights().unwrap_or_default())))
    }

    /// The edges as a table: source, target (uids), and `weight` under this name where edges have
    /// weights.
    fn table(&self, py: Python<'_>, weight: Option<String>) -> PyResult<ArrowTable> {
        interruptible(py, None, |control| {
            let (uids, targets) = (self.graph.uids(), self.graph.targets());
            let numbers = 2 + usize::from(self.graph.weights().is_some());
            control.charge(numbers * size_of::<u64>() * targets.len())?;
            let mut sources = Vec::with_capacity(targets.len());
            for (uid, end) in uids.iter().zip(self.graph.starts().skip(1)) {
                sources.resize(end, *uid);
            }
            let to: Vec<u64> = targets.iter().map(|to| uids[*to as usize]).collect();
            let mut columns: Vec<(String, ArrayRef)> = vec![
                ("source".to_owned(), Arc::new(UInt64Array::from(sources))),
                ("target".to_owned(), Arc::new(UInt64Array::from(to))),
            ];
            if let (Some(name), Some(weights)) = (weight, self.graph.weights()) {
                columns.push((name, Arc::new(Float64Array::from(weights.to_vec()))));
            }
            table_of(columns)
        })
    }

    /// Run an algorithm on the graph. `arguments` are texts, `nodes` lists of numbers. Returns
    /// "floats" (NaN for none), "ints" (the least for none), "float", "nodes", "pairs", "some"
    /// (nodes and their floats), "paths" (the end offset of each, the nodes, their numbers) or
    /// "vectors" (their length, and their numbers) with their arrays, and how it was computed.
    #[pyo3(signature = (database, name, arguments, nodes, *, threads = None, seed = 0, timeout = None))]
    #[expect(clippy::too_many_arguments, reason = "they have names")]
    fn compute(
        &self,
        py: Python<'_>,
        database: &PyDatabase,
        name: String,
        arguments: Vec<(String, String)>,
        nodes: Vec<(String, Vec<u32>)>,
        threads: Option<usize>,
        seed: u64,
        timeout: Option<f64>,
    ) -> PyResult<Computed> {
        let call = CompactCall { name, arguments, nodes, threads, seed };
        let result = interruptible(py, to_timeout(timeout)?, |control| {
            database.database().compute_on(&self.graph, &call, control)
        })?;
        Ok(arrays_of(result))
    }

    fn __len__(&self) -> usize {
        self.graph.uids().len()
    }
}

impl PyCompactGraph {
    fn part(&self, bytes: fn(&CompactGraph) -> &[u8]) -> PyArrowBuffer {
        let part = Part { graph: Arc::clone(&self.graph), bytes };
        PyArrowBuffer::new(Buffer::from(Bytes::from_owner(part)))
    }
}

fn arrays_of(result: AlgorithmOutcome) -> Computed {
    let buffer = |bytes: Buffer| PyArrowBuffer::new(bytes);
    let (kind, arrays) = match result.output {
        AlgorithmOutput::Floats(numbers) => ("floats", vec![Buffer::from_vec(numbers)]),
        AlgorithmOutput::Ints(numbers) => ("ints", vec![Buffer::from_vec(numbers)]),
        AlgorithmOutput::Float(number) => ("float", vec![Buffer::from_vec(vec![number])]),
        AlgorithmOutput::Nodes(nodes) => ("nodes", vec![Buffer::from_vec(nodes)]),
        AlgorithmOutput::Pairs(pairs) => {
            let from: Vec<u32> = pairs.iter().map(|pair| pair.0).collect();
            let to: Vec<u32> = pairs.iter().map(|pair| pair.1).collect();
            let numbers: Vec<f64> = pairs.iter().map(|pair| pair.2).collect();
            let endpoints = [from, to].map(Buffer::from_vec);
            ("pairs", endpoints.into_iter().chain([Buffer::from_vec(numbers)]).collect())
        }
        AlgorithmOutput::Some(result) => {
            let (nodes, numbers): (Vec<u32>, Vec<f64>) = result.into_iter().unzip();
            ("some", vec![Buffer::from_vec(nodes), Buffer::from_vec(numbers)])
        }
        AlgorithmOutput::Paths(paths) => {
            let offsets: Vec<i64> = paths.bounds.iter().map(|end| *end as i64).collect();
            let numbers = match paths.distances {
                Some(distances) => distances,
                None => paths.steps().map(|(.., position)| position as f64).collect(),
            };
            let nodes = Buffer::from_vec(paths.nodes);
            ("paths", vec![Buffer::from_vec(offsets), nodes, Buffer::from_vec(numbers)])
        }
        AlgorithmOutput::Vectors(vectors) => {
            let length = Buffer::from_vec(vec![vectors.dimensions as i64]);
            ("vectors", vec![length, Buffer::from_vec(vectors.values)])
        }
    };
    let arrays = arrays.into_iter().map(buffer).collect();
    (kind, arrays, rounds_of(&result.report))
}

fn table_of(columns: Vec<(String, ArrayRef)>) -> Result<ArrowTable> {
    ArrowTable::of_columns(columns, |array| array.null_count() != 0)
}
