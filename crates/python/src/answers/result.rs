//! What a query found.

use crate::convert::arrow::ArrowTable;
use crate::convert::dict_sink::{DictSink, Fault};
use crate::convert::errors::to_python;
use crate::interrupt::interruptible;
use hexgraph::db::{Control, QueryAnswer};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyIterator, PyList, PyString};

/// What a query found, converted when it is asked for.
///
/// `result["q"]` is the list of what block q found; where there is only one block, `for node in
/// result` goes through its objects.
///
/// >>> import hexgraph
/// >>> db = hexgraph.connect()
/// >>> _ = db.mutate(set='_:a <name> "Ada" .')
/// >>> for node in db.query("{ q(func: has(name)) { name } }"):
/// ...     node["name"]
/// 'Ada'
#[pyclass(frozen, name = "Result", module = "hexgraph")]
pub struct PyResultSet {
    answer: QueryAnswer,
}

impl PyResultSet {
    /// Wraps an answer.
    pub fn new(answer: QueryAnswer) -> PyResultSet {
        PyResultSet { answer }
    }

    fn dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.head(py, usize::MAX)
    }

    /// Converts at most `objects_max` objects of each list.
    fn head<'py>(&self, py: Python<'py>, objects_max: usize) -> PyResult<Bound<'py, PyAny>> {
        let control = Control::new();
        let fault = Fault::new(&control);
        let written = self.answer.write_head(objects_max, DictSink::new(py, &fault), &control);
        match fault.take() {
            Some(error) => Err(error),
            None => Ok(written.map_err(to_python)?.finish()),
        }
    }

    /// Renders the first rows by a function of `hexgraph.display`.
    fn shown(&self, py: Python<'_>, function: &str) -> PyResult<String> {
        let display = py.import("hexgraph.display")?;
        let most: usize = display.getattr("ROWS_SHOWN")?.extract()?;
        let head = self.head(py, most.saturating_add(1))?;
        let counts = PyDict::new(py);
        for (block, count) in self.answer.root_counts() {
            counts.set_item(block, count)?;
        }
        display.call_method1(function, (head, counts))?.extract()
    }

    /// Returns the objects of the only block.
    fn only_block<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let block = self.answer.block_name(None).map_err(to_python)?;
        let found = self.dict(py)?.cast_into::<PyDict>()?.get_item(block)?;
        Ok(found.unwrap_or_else(|| PyList::empty(py).into_any()))
    }
}

#[pymethods]
impl PyResultSet {
    /// The data as plain Python objects: the name of each block and the list of what it found.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.mutate(set='_:a <name> "Ada" .')
    /// >>> db.query("{ q(func: has(name)) { name } }").to_dict()
    /// {'q': [{'name': 'Ada'}]}
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.dict(py)
    }

    /// The objects of a block as tuples, with a value (or None) for each of `columns`. A uid is a
    /// text, as everywhere; nested objects are dicts. `block` may be left out where there is only
    /// one.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.mutate(set='<0x1f> <name> "Ada" .')
    /// >>> db.query("{ q(func: has(name)) { uid name age } }").rows()
    /// [('0x1f', 'Ada', None)]
    #[pyo3(signature = (block = None))]
    fn rows<'py>(&self, py: Python<'py>, block: Option<&str>) -> PyResult<Bound<'py, PyList>> {
        let control = Control::new();
        let (block, keys) = interruptible(py, None, |control| self.answer.keys(block, control))?;
        let fault = Fault::new(&control);
        let sink = DictSink::of_rows(py, &fault, block, keys);
        let written = self.answer.write(sink, &control);
        match fault.take() {
            Some(error) => Err(error),
            None => written.map_err(to_python)?.finish_rows(),
        }
    }

    /// The keys of the objects of a block: in the order of the query, as the tuples of `rows` and the
    /// columns of `to_arrow` and the frames have it. `name@*` and `@facets` bring the keys that some
    /// object has.
    #[pyo3(signature = (block = None))]
    fn columns(&self, py: Python<'_>, block: Option<&str>) -> PyResult<Vec<String>> {
        Ok(interruptible(py, None, |control| self.answer.keys(block, control))?.1)
    }

    /// What was found as N-Quads: a line for each fact, level by level.
    ///
    /// Raises QueryError for what has no place there: groups, count(uid), @normalize,
    /// @ignorereflex, checkpwd and facets.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.mutate(set='<0x1f> <name> "Ada" .')
    /// >>> print(db.query("{ q(func: has(name)) { name } }").to_rdf(), end="")
    /// <0x1f> <name> "Ada" .
    fn to_rdf(&self, py: Python<'_>) -> PyResult<String> {
        Ok(interruptible(py, None, |control| self.answer.to_rdf_within(control))?.0)
    }

    /// The data as JSON text.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.mutate(set='_:a <name> "Ada" .')
    /// >>> db.query("{ q(func: has(name)) { name } }").json()
    /// '{"q":[{"name":"Ada"}]}'
    fn json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        let write = |control: &Control| self.answer.to_json_within(control);
        let (json, _) = interruptible(py, None, write)?;
        Ok(PyString::new(py, &json))
    }

    /// The rows of a block as a table that every Arrow library takes without a copy, through
    /// `__arrow_c_stream__`. Nested objects become columns `a.b`. `block` may be left out where
    /// there is only one.
    ///
    /// Raises QueryError where rows hold lists of nodes: such a result is a tree, `@normalize`
    /// makes it a table.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.mutate(set='_:a <name> "Ada" .')
    /// >>> db.query("{ q(func: has(name)) { name } }").to_arrow()
    /// <hexgraph.ArrowTable: 1 row, columns name: Utf8>
    #[pyo3(signature = (block = None))]
    fn to_arrow(&self, py: Python<'_>, block: Option<String>) -> PyResult<ArrowTable> {
        interruptible(py, None, |control| {
            ArrowTable::new(self.answer.table(block.as_deref(), control)?)
        })
    }

    /// The rows of a block as a pandas.DataFrame; as `to_arrow`. Numbers with gaps have pandas'
    /// nullable types. pyarrow is not needed.
    #[pyo3(signature = (block = None))]
    fn to_pandas<'py>(
        &self,
        py: Python<'py>,
        block: Option<String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let table = self.to_arrow(py, block)?;
        py.import("hexgraph.frames")?.call_method1("to_pandas", (table,))
    }

    /// The rows of a block as a polars.DataFrame; as `to_arrow`.
    #[pyo3(signature = (block = None))]
    fn to_polars<'py>(
        &self,
        py: Python<'py>,
        block: Option<String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let table = self.to_arrow(py, block)?;
        py.import("hexgraph.frames")?.call_method1("to_polars", (table,))
    }

    /// The only block as an Arrow stream; see `to_arrow`.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        self.to_arrow(py, None)?.stream(py, requested_schema)
    }

    /// Seconds that the query took, by what they were spent on: "parsing" and "processing".
    #[getter]
    fn latency<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let latency = self.answer.latency();
        let seconds = PyDict::new(py);
        seconds.set_item("parsing", latency.parsing.as_secs_f64())?;
        seconds.set_item("processing", latency.processing.as_secs_f64())?;
        Ok(seconds)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        interruptible(py, None, |control| self.answer.row_count(control))
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        interruptible(py, None, |control| self.answer.has_rows(control))
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        block: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let found = self.dict(py)?.cast_into::<PyDict>()?;
        found.get_item(block)?.ok_or_else(|| {
            let names = found.keys().iter().map(|name| name.to_string()).collect::<Vec<_>>();
            let block = block.repr().map(|text| text.to_string()).unwrap_or_default();
            let names = names.join(", ");
            PyKeyError::new_err(format!("the answer has no block {block}, it has: {names}"))
        })
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.only_block(py)?.try_iter()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.shown(py, "to_text")
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        self.shown(py, "to_html")
    }
}
