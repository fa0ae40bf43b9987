//! The result of a query.

use super::cached::Cached;
use crate::convert::arrow::ArrowTable;
use crate::convert::dict_sink::{DictSink, Fault};
use crate::convert::errors::{to_python, warn_of};
use crate::interrupt::interruptible;
use hexgraph::db::{AnswerMemory, QueryAnswer, RequestContext, Warning};
use hexgraph_base::answer::RowForm;
use hexgraph_base::types::bounded;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyInt, PyIterator, PyList, PyString, PyTuple};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The time limit for converting the printed part of a result, before it is shortened.
const SHOWN_TIME_MAX: Duration = Duration::from_millis(200);

/// The result of a query, which is converted on request.
///
/// `result["q"]` is the list of objects of block q; with only one block, `for node in result`
/// iterates over its objects. A result up to about 256 KiB is copied when 32 more results were
/// made; a larger one holds its version of the database, which `memory()` reports. Neither changes
/// when the data change or the database is closed.
///
/// >>> import hexgraph
/// >>> db = hexgraph.connect()
/// >>> _ = db.mutate(set='_:a <name> "Ada" .')
/// >>> for node in db.query("{ q(func: has(name)) { name } }"):
/// ...     node["name"]
/// 'Ada'
#[pyclass(frozen, name = "Result", module = "hexgraph")]
pub struct PyResultSet {
    retained: Arc<Cached>,
    /// The number of objects, once it was requested: to count them costs as much as to write them.
    count: OnceLock<usize>,
    warns: bool,
}

impl PyResultSet {
    /// Wraps an answer. With `warns`, rows, objects and tables made of it come with Python's
    /// warnings.
    pub fn new(py: Python<'_>, answer: QueryAnswer, warns: bool) -> PyResultSet {
        let (retained, oldest) = Cached::new(answer);
        if let Some(oldest) = oldest {
            py.detach(|| oldest.copy_out());
        }
        PyResultSet { retained, count: OnceLock::new(), warns }
    }

    fn answer(&self) -> Arc<QueryAnswer> {
        self.retained.get()
    }

    fn table(&self, py: Python<'_>, block: Option<String>) -> PyResult<ArrowTable> {
        interruptible(py, None, |control| {
            let table = ArrowTable::new(self.answer().table_with(block.as_deref(), control)?)?;
            Ok(table.drawing(control))
        })
    }

    /// Makes Python's warnings of those of the answer, since rows and tables have no field for
    /// them; fails where a filter makes errors of them. A schema without a name knows none, and so
    /// none is misspelt.
    fn warn(&self, py: Python<'_>) -> PyResult<()> {
        if !self.warns {
            return Ok(());
        }
        let answer = self.answer();
        let mut warnings = answer.warnings();
        if !warnings.is_empty() && !answer.has_schema() {
            warnings.retain(|warning| !warning.kind.is_unknown_name());
        }
        warn_of(py, &warnings, Warning::to_string)
    }

    fn dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.head(py, usize::MAX, ValueForm::Json, &RequestContext::new())
    }

    /// Converts at most `objects_max` objects of each list, until `control` stops it.
    fn head<'py>(
        &self,
        py: Python<'py>,
        objects_max: usize,
        form: ValueForm,
        control: &RequestContext,
    ) -> PyResult<Bound<'py, PyAny>> {
        let fault = Fault::new(control);
        let sink = form.set(DictSink::new(py, &fault));
        let written = self.answer().write_head(objects_max, sink, control);
        match fault.take() {
            Some(error) => Err(error),
            None => Ok(written.map_err(to_python)?.finish()),
        }
    }

    /// Converts the first objects of each list: `most` of them, or fewer where lists are so deep in
    /// each other that this takes long. A tree of twelve levels with twenty branches each has more
    /// nodes than memory.
    fn beginning<'py>(&self, py: Python<'py>, most: usize) -> PyResult<Bound<'py, PyAny>> {
        for fewer in [most, 5, 2] {
            let control = RequestContext::new().with_timeout(SHOWN_TIME_MAX);
            match self.head(py, fewer, ValueForm::Json, &control) {
                Err(error) if error.get_type(py).name()? == "LimitError" => {}
                done => return done,
            }
        }
        self.head(py, 1, ValueForm::Json, &RequestContext::new())
    }

    /// Renders the first rows by a function of `hexgraph.display`.
    fn shown(&self, py: Python<'_>, function: &str) -> PyResult<String> {
        let display = py.import("hexgraph.display")?;
        let most: usize = display.getattr("ROWS_SHOWN")?.extract()?;
        let head = self.beginning(py, most.saturating_add(1))?;
        let counts = PyDict::new(py);
        for (block, count) in self.answer().root_counts() {
            counts.set_item(block, count)?;
        }
        display.call_method1(function, (head, counts, self.warnings()))?.extract()
    }

    /// Returns the objects of the only block.
    fn only_block<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let block = self.only_name()?;
        match self.answer().row_form(Some(&block)).map_err(to_python)? {
            RowForm::Groups | RowForm::Joined => {
                Ok(self.records(py, &block, ValueForm::Json)?.into_any())
            }
            RowForm::Flat | RowForm::Nested => {
                let result = self.dict(py)?.cast_into::<PyDict>()?.get_item(block)?;
                Ok(result.unwrap_or_else(|| PyList::empty(py).into_any()))
            }
        }
    }

    /// Returns the name of the only block.
    fn only_name(&self) -> PyResult<String> {
        self.answer().block_name(None).map_err(|error| {
            to_python(
                error.with_hint(
                    "frames() has a table of each, and result[\"name\"] the objects of one",
                ),
            )
        })
    }

    /// Returns the groups of a block, or its objects as one, as dicts.
    fn records<'py>(
        &self,
        py: Python<'py>,
        block: &str,
        form: ValueForm,
    ) -> PyResult<Bound<'py, PyList>> {
        let records = PyList::empty(py);
        let result = self.head(py, usize::MAX, form, &RequestContext::new())?;
        let result = result.cast_into::<PyDict>()?.get_item(block)?;
        let Some(result) = result else { return Ok(records) };
        if self.answer().row_form(Some(block)).map_err(to_python)? == RowForm::Groups {
            for object in result.try_iter()? {
                for group in object?.get_item("@groupby")?.try_iter()? {
                    records.append(group?)?;
                }
            }
            return Ok(records);
        }
        let joined = PyDict::new(py);
        for object in result.try_iter()? {
            joined.update(object?.cast::<PyDict>()?.as_mapping())?;
        }
        if !joined.is_empty() {
            records.append(joined)?;
        }
        Ok(records)
    }
}

/// How the values of an answer become objects of Python.
#[derive(Clone, Copy)]
enum ValueForm {
    /// As `json.loads` makes them of the JSON.
    Json,
    /// As in rows and tables.
    Rows {
        /// Whether uids are ints, and not texts.
        int_uids: bool,
    },
}

impl ValueForm {
    /// The sink that makes them so.
    fn set<'a, 'py>(self, sink: DictSink<'a, 'py>) -> DictSink<'a, 'py> {
        match self {
            ValueForm::Json => sink,
            ValueForm::Rows { int_uids } => sink.with_int_uids(int_uids).with_all_times(true),
        }
    }
}

/// Whether uids are requested as ints: the type that they are to have is `int`, or `str`.
fn expects_ints(py: Python<'_>, uids: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
    match uids {
        None => Ok(false),
        Some(uids) if uids.is(py.get_type::<PyInt>()) => Ok(true),
        Some(uids) if uids.is(py.get_type::<PyString>()) => Ok(false),
        Some(other) => {
            let other = bounded(other.repr()?);
            Err(PyValueError::new_err(format!("uids are of type str or int, not {other}")))
        }
    }
}

#[pymethods]
impl PyResultSet {
    /// The data as plain Python objects: a dict from the name of each block to its list of objects.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.mutate(set='_:a <name> "Ada" .')
    /// >>> db.query("{ q(func: has(name)) { name } }").to_dict()
    /// {'q': [{'name': 'Ada'}]}
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.warn(py)?;
        self.dict(py)
    }

    /// The objects of a block as tuples, with a value (or None) for each of `columns`. A uid is a
    /// string; nested objects are dicts. Each group of `@groupby` at a block is a tuple, and a
    /// block without nodes has one. `block` is optional if there is only one. With `uids=int` each
    /// uid is an int, which is faster to make and compare. The first instant of the year 1, an
    /// empty string in JSON, is "0001-01-01T00:00:00Z", as in frames.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.mutate(set='<0x1f> <name> "Ada" .')
    /// >>> _ = db.alter("age: int .")
    /// >>> db.query("{ q(func: has(name)) { uid name age } }").rows()
    /// [('0x1f', 'Ada', None)]
    /// >>> db.query("{ q(func: has(name)) { uid name } }").rows(uids=int)
    /// [(31, 'Ada')]
    #[pyo3(signature = (block = None, *, uids = None))]
    fn rows<'py>(
        &self,
        py: Python<'py>,
        block: Option<&str>,
        uids: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let values = ValueForm::Rows { int_uids: expects_ints(py, uids)? };
        self.warn(py)?;
        let control = RequestContext::new();
        let (block, keys) =
            interruptible(py, None, |control| self.answer().keys_with(block, control))?;
        let form = self.answer().row_form(Some(&block)).map_err(to_python)?;
        if matches!(form, RowForm::Groups | RowForm::Joined) {
            let rows = PyList::empty(py);
            for record in self.records(py, &block, values)? {
                let cells = keys.iter().map(|key| record.call_method1("get", (key,)));
                rows.append(PyTuple::new(py, cells.collect::<PyResult<Vec<_>>>()?)?)?;
            }
            return Ok(rows);
        }
        let fault = Fault::new(&control);
        let sink = values.set(DictSink::of_rows(py, &fault, block, keys));
        let written = self.answer().write(sink, &control);
        match fault.take() {
            Some(error) => Err(error),
            None => written.map_err(to_python)?.finish_rows(),
        }
    }

    /// The keys of the objects of a block, in the order of the query, as for `rows`, `to_arrow` and
    /// the frames. `name@*` and `@facets` add the keys that occur in an object.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.mutate(set='<1> <name> "Ada" .')
    /// >>> _ = db.alter("age: int .")
    /// >>> result = db.query("{ q(func: has(name)) { uid called: name age } }")
    /// >>> result.columns(), result.rows()
    /// (['uid', 'called', 'age'], [('0x1', 'Ada', None)])
    #[pyo3(signature = (block = None))]
    fn columns(&self, py: Python<'_>, block: Option<&str>) -> PyResult<Vec<String>> {
        Ok(interruptible(py, None, |control| self.answer().keys_with(block, control))?.1)
    }

    /// The result as N-Quads: a line for each fact, level by level.
    ///
    /// Raises QueryError for what N-Quads can't express: groups, count(uid), @normalize,
    /// @ignorereflex, checkpwd and facets.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.mutate(set='<0x1f> <name> "Ada" .')
    /// >>> print(db.query("{ q(func: has(name)) { name } }").to_rdf(), end="")
    /// <0x1f> <name> "Ada" .
    fn to_rdf(&self, py: Python<'_>) -> PyResult<String> {
        Ok(interruptible(py, None, |control| self.answer().to_rdf_with(control))?.0)
    }

    /// The data as JSON text.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.mutate(set='_:a <name> "Ada" .')
    /// >>> db.query("{ q(func: has(name)) { name } }").json()
    /// '{"q":[{"name":"Ada"}]}'
    fn json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        let write = |control: &RequestContext| self.answer().to_json_with(control);
        let (json, _) = interruptible(py, None, write)?;
        Ok(PyString::new(py, &json))
    }

    /// The rows of a block as an Arrow table, which every Arrow library reads without a copy
    /// through `__arrow_c_stream__`: the names, the order and the rows of `columns` and `rows`.
    /// Nested objects are structs, lists of nodes are lists of structs; `flatten` makes a flat
    /// table of them. Columns without a value have the type of the schema. `block` is optional if
    /// there is only one. The values of other blocks are not always read, so an error in them may
    /// go unreported.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.mutate(set='_:a <name> "Ada" .')
    /// >>> db.query("{ q(func: has(name)) { name } }").to_arrow()
    /// <hexgraph.ArrowTable: 1 row, columns name: Utf8>
    ///
    /// A table has no field for `warnings`: here, and with `rows`, `to_dict` and all frames, they
    /// are Python warnings of the categories `hexgraph.UnknownNameWarning` and
    /// `hexgraph.QueryWarning`.
    ///
    /// Raises QueryError if a key has values of several kinds.
    #[pyo3(signature = (block = None))]
    fn to_arrow(&self, py: Python<'_>, block: Option<String>) -> PyResult<ArrowTable> {
        self.warn(py)?;
        self.table(py, block)
    }

    /// The rows of a block as a pandas.DataFrame; as `to_arrow`. Numbers with gaps have pandas'
    /// nullable types. pyarrow is not needed.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.load_nodes([{"name": "Ada", "born": 1815}, {"name": "Bob"}], id=None)
    /// >>> db.query("{ q(func: has(name)) { name born } }").to_pandas().dtypes["born"]
    /// Int64Dtype()
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
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.load_nodes([{"name": "Ada", "born": 1815}, {"name": "Bob", "born": 1820}], id=None)
    /// >>> frame = db.query("{ q(func: has(name)) { name born } }").to_polars()
    /// >>> frame["born"].mean()
    /// 1817.5
    #[pyo3(signature = (block = None))]
    fn to_polars<'py>(
        &self,
        py: Python<'py>,
        block: Option<String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let table = self.to_arrow(py, block)?;
        py.import("hexgraph.frames")?.call_method1("to_polars", (table,))
    }

    /// The rows of a block as a table without nested columns: objects become columns `boss.name`,
    /// lists of nodes become rows with the other columns repeated; as `ArrowTable.flatten`.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.mutate(set='<1> <name> "Ada" .\n<1> <knows> <2> .\n<2> <name> "Bob" .')
    /// >>> db.query("{ q(func: uid(1)) { name knows { name } } }").flatten().rows()
    /// [('Ada', 'Bob')]
    #[pyo3(signature = (block = None))]
    fn flatten(&self, py: Python<'_>, block: Option<String>) -> PyResult<ArrowTable> {
        self.to_arrow(py, block)?.flatten(py)
    }

    /// The rows of a block with a row for each item of the lists in a column; as
    /// `ArrowTable.explode`.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.alter("tag: [string] .")
    /// >>> _ = db.mutate(set='<1> <tag> "a" .\n<1> <tag> "b" .')
    /// >>> db.query("{ q(func: uid(1)) { uid tag } }").explode("tag").rows()
    /// [('0x1', 'a'), ('0x1', 'b')]
    #[pyo3(signature = (column, block = None))]
    fn explode(&self, py: Python<'_>, column: &str, block: Option<String>) -> PyResult<ArrowTable> {
        self.to_arrow(py, block)?.explode(py, column)
    }

    /// A table of each block, by its name, in the order of the query: Arrow tables, or with `kind`
    /// "pandas" or "polars" frames.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.mutate(set='<1> <name> "Ada" .')
    /// >>> dql = "{ all(func: has(name)) { name } some(func: has(name), first: 1) { count(uid) } }"
    /// >>> db.query(dql).frames()
    /// {'all': <hexgraph.ArrowTable: 1 row, columns name: Utf8>, 'some': <hexgraph.ArrowTable: 1 row, columns count: Int64>}
    #[pyo3(signature = (kind = "arrow"))]
    fn frames<'py>(&self, py: Python<'py>, kind: &str) -> PyResult<Bound<'py, PyDict>> {
        self.warn(py)?;
        let frames = PyDict::new(py);
        for block in self.answer().block_names() {
            let table = Bound::new(py, self.table(py, Some(block.clone()))?)?;
            let frame = match kind {
                "arrow" => table.into_any(),
                "pandas" => table.call_method0("to_pandas")?,
                "polars" => table.call_method0("to_polars")?,
                _ => {
                    let fault =
                        format!("kind is \"arrow\", \"pandas\" or \"polars\", not {kind:?}");
                    return Err(PyValueError::new_err(fault));
                }
            };
            frames.set_item(block, frame)?;
        }
        Ok(frames)
    }

    /// Likely mistakes in the query, as sentences with a position: predicates, types and languages
    /// that the schema does not have, and that have no values; `first` and `offset` with
    /// `@groupby`; variables without a value where `math` or a filter uses them.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.mutate(set='_:a <name> "Ada" .')
    /// >>> db.query("{ q(func: has(name)) { nmae } }").warnings
    /// ['line 1 column 24: there is no predicate `nmae` (did you mean `name`?)']
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.answer().warnings().iter().map(ToString::to_string).collect()
    }

    /// Whether the block has exactly one row, as a block without nodes.
    fn _is_joined(&self, block: &str) -> PyResult<bool> {
        Ok(self.answer().row_form(Some(block)).map_err(to_python)? == RowForm::Joined)
    }

    /// The hops of the paths of `shortest`, as a table: the number of the path and of the hop, from
    /// 0, the uids and the predicate of the edge, the requested facets of the edges, and the
    /// "total" of the path. A facet with the name of one of these columns is named as in JSON,
    /// `road|from`.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.mutate(set='<1> <road> <2> (km=5) .\n<2> <road> <3> (km=7) .')
    /// >>> result = db.query("{ shortest(from: 1, to: 3) { road @facets(km) } }")
    /// >>> table = result.paths()
    /// >>> table.column_names
    /// ['path', 'hop', 'from', 'predicate', 'to', 'km', 'total']
    /// >>> table.rows()
    /// [(0, 0, '0x1', 'road', '0x2', 5, 12), (0, 1, '0x2', 'road', '0x3', 7, 12)]
    fn paths<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("hexgraph.frames")?.call_method1("paths_of", (self.dict(py)?,))
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

    /// The bytes of memory of the result: "own", its own data, and "version", the data of its
    /// version of the database. The latter is shared with other results, and with the database
    /// until it changes there. A result up to about 256 KiB is copied, by this call if not before,
    /// and holds no version.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.mutate(set='<1> <name> "Ada" .')
    /// >>> result = db.query("{ q(func: has(name)) { name } }")
    /// >>> result.memory()["version"]
    /// 0
    /// >>> db.close()
    /// >>> result.rows()
    /// [('Ada',)]
    fn memory<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let AnswerMemory { own, version } = py.detach(|| {
            self.retained.copy_out();
            self.answer().memory()
        });
        let bytes = PyDict::new(py);
        bytes.set_item("own", own)?;
        bytes.set_item("version", version)?;
        Ok(bytes)
    }

    /// Seconds that the query took, by phase: "parsing" and "processing".
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> spent = db.query("{ q(func: uid(1)) { uid } }").latency
    /// >>> sorted(spent), sum(spent.values()) < 1
    /// (['parsing', 'processing'], True)
    #[getter]
    fn latency<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let latency = self.answer().latency();
        let seconds = PyDict::new(py);
        seconds.set_item("parsing", latency.parsing.as_secs_f64())?;
        seconds.set_item("processing", latency.processing.as_secs_f64())?;
        Ok(seconds)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        if let Some(count) = self.count.get() {
            return Ok(*count);
        }
        let block = self.only_name()?;
        let count = match self.answer().row_form(Some(&block)).map_err(to_python)? {
            RowForm::Groups | RowForm::Joined => self.records(py, &block, ValueForm::Json)?.len(),
            RowForm::Flat | RowForm::Nested => {
                interruptible(py, None, |control| self.answer().row_count_with(control))?
            }
        };
        Ok(*self.count.get_or_init(|| count))
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        interruptible(py, None, |control| self.answer().has_rows_with(control))
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        block: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let result = self.dict(py)?.cast_into::<PyDict>()?;
        result.get_item(block)?.ok_or_else(|| {
            let names = result.keys().iter().map(|name| name.to_string()).collect::<Vec<_>>();
            let block = block.repr().map(|text| text.to_string()).unwrap_or_default();
            let (block, names) = (bounded(block), bounded(names.join(", ")));
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
