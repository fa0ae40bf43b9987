//! Tables as Arrow, handed over through the PyCapsule interface.

use super::arrow_columns::{
    PyColumn, column, column_bytes, frame_column, item, numbers, object_bytes,
};
use crate::convert::errors::to_python;
use arrow_array::{Array, ArrayRef, FixedSizeListArray, Float32Array, RecordBatch, StructArray};
use arrow_schema::{Field, Schema};
use hexgraph::db::RequestContext;
use hexgraph::tables::{
    Reserve, RowFormat, exploded, flattened, greatest_rows, record_batch, with_fields,
    with_text_uids, write_rows,
};
use hexgraph_base::answer::Table;
use hexgraph_base::budget::{Budget, Reservation};
use hexgraph_base::types::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyList, PyTuple};
use pyo3_arrow::buffer::PyArrowBuffer;
use pyo3_arrow::ffi::{ArrayIterator, to_schema_pycapsule, to_stream_pycapsule};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most rows of a table that are printed.
const PRINTED_ROWS: usize = 20;

/// The bytes of a tuple in addition to its cells, with its slot in a list.
const ROW_BYTES: u64 = 64;

/// A column for numpy, as [`ArrowTable::columns`] says: name, dtype, values, missing values.
type NamedColumn<'py> = (String, &'static str, Bound<'py, PyAny>, Bound<'py, PyBytes>);

/// A column for a data frame, as [`ArrowTable::_frame_columns`] says.
type FrameColumn<'py> = (String, String, Bound<'py, PyAny>, Option<Bound<'py, PyBytes>>);

/// A table in Arrow's layout, for `pyarrow.table(t)`, `polars.DataFrame(t)` and similar.
///
/// >>> import hexgraph
/// >>> db = hexgraph.connect()
/// >>> _ = db.mutate(set='<1> <name> "Ada" .\n<2> <name> "Bob" .')
/// >>> table = db.query("{ q(func: has(name)) { uid name } }").to_arrow()
/// >>> table
/// <hexgraph.ArrowTable: 2 rows, columns uid: Utf8, name: Utf8>
/// >>> import pyarrow
/// >>> pyarrow.table(table)["name"].to_pylist()
/// ['Ada', 'Bob']
#[pyclass(frozen, module = "hexgraph")]
pub struct ArrowTable {
    batch: RecordBatch,
    /// The budget of its conversions; `None` for the table of no database.
    budget: Option<Budget>,
}

impl ArrowTable {
    /// Converts a table to Arrow's layout; see [`record_batch`].
    pub fn new(table: Table) -> Result<ArrowTable> {
        Ok(ArrowTable { batch: record_batch(table)?, budget: None })
    }

    /// The table, whose conversions use the budget of a request.
    pub(crate) fn drawing(self, control: &RequestContext) -> ArrowTable {
        ArrowTable {
            budget: control.reservation().map(|reservation| reservation.budget().clone()),
            ..self
        }
    }

    /// Another table with the same budget.
    fn with(&self, batch: RecordBatch) -> ArrowTable {
        ArrowTable { batch, budget: self.budget.clone() }
    }

    /// Converts the table by `convert`, which reserves its memory before it allocates it. The
    /// interpreter's lock is released meanwhile.
    fn converted(
        &self,
        py: Python<'_>,
        convert: impl FnOnce(&RecordBatch, Reserve<'_>) -> Result<RecordBatch> + Send,
    ) -> PyResult<ArrowTable> {
        let reservation = self.budget.as_ref().map(Budget::reservation);
        let reserve =
            |bytes| reservation.as_ref().map_or(Ok(()), |reservation| reservation.reserve(bytes));
        let batch = py.detach(|| convert(&self.batch, &reserve)).map_err(to_python)?;
        Ok(self.with(batch))
    }

    /// Reserves the memory of the data for Python, until the result is dropped.
    fn capacity(&self, bytes: impl FnOnce() -> u64) -> PyResult<Option<Reservation>> {
        let Some(budget) = &self.budget else { return Ok(None) };
        let reservation = budget.reservation();
        reservation.reserve(bytes()).map_err(to_python)?;
        Ok(Some(reservation))
    }

    /// As [`ArrowTable::capacity`], of its columns.
    fn space_for_columns(&self, with_texts: bool) -> PyResult<Option<Reservation>> {
        self.capacity(|| self.batch.columns().iter().map(|it| column_bytes(it, with_texts)).sum())
    }

    /// Makes a table of rows.
    pub(crate) fn of_rows(batch: RecordBatch) -> ArrowTable {
        ArrowTable { batch, budget: None }
    }

    /// Makes a table of named columns; `may_be_null` says in which of them values may be missing,
    /// for the schema of the table.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] for columns of several lengths.
    pub(crate) fn of_columns(
        columns: Vec<(String, ArrayRef)>,
        may_be_null: impl Fn(&ArrayRef) -> bool,
    ) -> Result<ArrowTable> {
        let field = |(name, array): &(String, ArrayRef)| {
            Field::new(name, array.data_type().clone(), may_be_null(array))
        };
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let arrays = columns.into_iter().map(|(_, array)| array).collect();
        let wrong = |error| Error::query(format!("the columns make no table: {error}"));
        let batch = RecordBatch::try_new(schema, arrays).map_err(wrong)?;
        Ok(ArrowTable { batch, budget: None })
    }

    /// Returns the table with other columns at some positions.
    ///
    /// # Errors
    ///
    /// As [`ArrowTable::of_columns`].
    pub(crate) fn with_columns(self, others: BTreeMap<usize, ArrayRef>) -> Result<ArrowTable> {
        if others.is_empty() {
            return Ok(self);
        }
        let schema = self.batch.schema();
        let names = schema.fields().iter().map(|field| field.name().clone());
        let mut columns: Vec<_> = names.zip(self.batch.columns().iter().cloned()).collect();
        for (position, array) in others {
            columns[position].1 = array;
        }
        ArrowTable::of_columns(columns, |_| true)
    }

    /// Returns the table as a stream of one batch, without copying the columns. Where
    /// `requested_schema`, a capsule of Arrow's C interface, requests other types, the columns are
    /// cast if that is possible and have their own types if not.
    ///
    /// # Errors
    ///
    /// When the capsule holds no schema.
    pub fn stream<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let array: ArrayRef = Arc::new(StructArray::from(self.batch.clone()));
        let field = Arc::new(Field::new("", array.data_type().clone(), false));
        let stream = ArrayIterator::new([Ok(array)], field);
        Ok(to_stream_pycapsule(py, Box::new(stream), requested_schema)?)
    }
}

#[pymethods]
impl ArrowTable {
    /// The names of the columns.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.mutate(set='<1> <name> "Ada" .')
    /// >>> db.query("{ q(func: has(name)) { called: name uid } }").to_arrow().column_names
    /// ['called', 'uid']
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The number of rows.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.mutate(set='<1> <name> "Ada" .\n<2> <name> "Bob" .')
    /// >>> table = db.query("{ q(func: has(name)) { name } }").to_arrow()
    /// >>> table.num_rows, len(table)
    /// (2, 2)
    #[getter]
    fn num_rows(&self) -> usize {
        self.batch.num_rows()
    }

    /// The columns for numpy: name, dtype (or "text" or "object"), values as bytes (or a list),
    /// and a byte for each value, 1 where it is missing.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.load_nodes([{"name": "Ada", "born": 1815}, {"name": "Bob"}], id=None)
    /// >>> table = db.query("{ q(func: has(name)) { name born } }").to_arrow()
    /// >>> (_, _, names, _), (name, dtype, values, missing) = table.columns()
    /// >>> names, name, dtype
    /// (['Ada', 'Bob'], 'born', 'int64')
    /// >>> memoryview(values).cast("q").tolist(), list(missing)
    /// ([1815, 0], [0, 1])
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Vec<NamedColumn<'py>>> {
        let _capacity = self.space_for_columns(true)?;
        let schema = self.batch.schema();
        let columns = schema.fields().iter().zip(self.batch.columns());
        columns
            .map(|(field, array)| {
                let (kind, values, missing) = column(py, array)?;
                Ok((field.name().clone(), kind, values, missing))
            })
            .collect()
    }

    /// The columns for a data frame: name, dtype (or "text" or "object"), values in memory of their
    /// own (or a list), and a byte for each value, 1 where it is missing, or None where none is.
    /// The values of texts are None unless they are requested.
    fn _frame_columns<'py>(
        &self,
        py: Python<'py>,
        with_texts: bool,
    ) -> PyResult<Vec<FrameColumn<'py>>> {
        let _capacity = self.space_for_columns(with_texts)?;
        let schema = self.batch.schema();
        let columns = schema.fields().iter().zip(self.batch.columns());
        columns
            .map(|(field, array)| {
                let (kind, values, missing) = frame_column(py, array, with_texts)?;
                Ok((field.name().clone(), kind, values, missing))
            })
            .collect()
    }

    /// The rows as tuples, the `first` ones or all: objects are dicts, lists of them lists of
    /// dicts, times `datetime` in their zone.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.mutate(set='<0x1f> <name> "Ada" .')
    /// >>> db.query("{ q(func: has(name)) { uid name } }").to_arrow().rows()
    /// [('0x1f', 'Ada')]
    #[pyo3(signature = (first = None))]
    fn rows<'py>(&self, py: Python<'py>, first: Option<usize>) -> PyResult<Bound<'py, PyList>> {
        let count = self.batch.num_rows().min(first.unwrap_or(usize::MAX));
        let _capacity = self.capacity(|| {
            let part = self.batch.slice(0, count);
            let cells: u64 = part.columns().iter().map(object_bytes).sum();
            cells + ROW_BYTES * count as u64
        })?;
        let rows = PyList::empty(py);
        for row in 0..count {
            let cells = self.batch.columns().iter().map(|array| item(py, array, row));
            rows.append(PyTuple::new(py, cells.collect::<PyResult<Vec<_>>>()?)?)?;
        }
        Ok(rows)
    }

    /// The table without nested columns: an object becomes columns `boss.name`, and a list of
    /// objects becomes rows with the other columns repeated; two such lists in a row give their
    /// cross product. A row with an empty list stays one row. Lists of values stay lists.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.mutate(set='<1> <name> "Ada" .\n<1> <knows> <2> .\n<1> <knows> <3> .')
    /// >>> _ = db.mutate(set='<2> <name> "Bob" .\n<3> <name> "Eve" .')
    /// >>> table = db.query("{ q(func: uid(1)) { name knows { name } } }").to_arrow()
    /// >>> table.flatten().column_names, table.flatten().rows()
    /// (['name', 'knows.name'], [('Ada', 'Bob'), ('Ada', 'Eve')])
    ///
    /// Raises LimitError for more than 100 million rows.
    pub(crate) fn flatten(&self, py: Python<'_>) -> PyResult<ArrowTable> {
        self.converted(py, flattened)
    }

    /// The table with a row for each item of the lists in a column; the items of objects become
    /// columns `knows.name`. Rows without an item stay.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.alter("tag: [string] .")
    /// >>> _ = db.mutate(set='<1> <tag> "a" .\n<1> <tag> "b" .')
    /// >>> db.query("{ q(func: uid(1)) { uid tag } }").to_arrow().explode("tag").rows()
    /// [('0x1', 'a'), ('0x1', 'b')]
    ///
    /// Raises QueryError for an unknown column, or one without lists; LimitError for more than 100
    /// million rows.
    pub(crate) fn explode(&self, py: Python<'_>, column: &str) -> PyResult<ArrowTable> {
        self.converted(py, |batch, reserve| exploded(batch, column, reserve))
    }

    /// The table as a pandas.DataFrame. Numbers with missing values have pandas' nullable types,
    /// nested columns are lists and dicts. pyarrow is not needed.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.load_nodes([{"name": "Ada", "born": 1815}, {"name": "Bob", "born": 1820}], id=None)
    /// >>> table = db.query("{ q(func: has(name)) { name born } }").to_arrow()
    /// >>> float(table.to_pandas()["born"].mean())
    /// 1817.5
    fn to_pandas<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        this.py().import("hexgraph.frames")?.call_method1("to_pandas", (this,))
    }

    /// The table as a polars.DataFrame.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.mutate(set='<1> <name> "Ada" .\n<1> <knows> <2> .\n<2> <name> "Bob" .')
    /// >>> table = db.query("{ q(func: uid(1)) { name knows { name } } }").to_arrow()
    /// >>> table.flatten().to_polars().rows()
    /// [('Ada', 'Bob')]
    fn to_polars<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        this.py().import("hexgraph.frames")?.call_method1("to_polars", (this,))
    }

    /// The table with its uids as texts, as answers have them.
    fn _with_text_uids(&self, py: Python<'_>) -> PyResult<ArrowTable> {
        let batch = py.detach(|| with_text_uids(&self.batch)).map_err(to_python)?;
        Ok(self.with(batch))
    }

    /// The table with the columns of answers, which follow each other, after its uids, to each row
    /// those of its `uid`.
    fn _with_fields(
        &self,
        py: Python<'_>,
        fields: Vec<PyRef<'_, ArrowTable>>,
    ) -> PyResult<ArrowTable> {
        let fields: Vec<RecordBatch> = fields.iter().map(|table| table.batch.clone()).collect();
        let batch = py.detach(|| with_fields(&self.batch, &fields)).map_err(to_python)?;
        Ok(self.with(batch))
    }

    /// One of the columns as `columns` has them, without its name. None for one that there is not.
    fn _column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<PyColumn<'py>>> {
        self.batch.column_by_name(name).map(|array| column(py, array)).transpose()
    }

    /// The numbers of a column where they lie, with their dtype. Where some are missing all are
    /// copied as float64, and these are NaN. None for a column of anything else.
    fn _numbers<'py>(
        &self,
        py: Python<'py>,
        name: &str,
    ) -> PyResult<Option<(&'static str, Bound<'py, PyAny>)>> {
        match self.batch.column_by_name(name) {
            Some(array) => numbers(py, array),
            None => Ok(None),
        }
    }

    /// The vectors of a column: their length, and the numbers of all as float32, where they lie.
    /// None for a column of anything else.
    fn _vectors(&self, name: &str) -> Option<(usize, PyArrowBuffer)> {
        let column = self.batch.column_by_name(name)?.as_any();
        let lists = column.downcast_ref::<FixedSizeListArray>()?;
        let numbers = lists.values().as_any().downcast_ref::<Float32Array>()?;
        let buffer = PyArrowBuffer::new(numbers.values().inner().clone());
        Some((lists.value_length() as usize, buffer))
    }

    /// The `count` rows with the greatest numbers in a column, the greatest first; rows without one
    /// are left out.
    fn _greatest(&self, py: Python<'_>, name: &str, count: usize) -> PyResult<ArrowTable> {
        let batch = py.detach(|| greatest_rows(&self.batch, name, count)).map_err(to_python)?;
        Ok(self.with(batch))
    }

    /// The first `count` rows.
    fn _first(&self, count: usize) -> ArrowTable {
        self.with(self.batch.slice(0, count.min(self.batch.num_rows())))
    }

    fn _repr_html_(this: &Bound<'_, Self>) -> PyResult<String> {
        this.py().import("hexgraph.display")?.call_method1("table_to_html", (this,))?.extract()
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        self.stream(py, requested_schema)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        Ok(to_schema_pycapsule(py, self.batch.schema().as_ref())?)
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// The first rows as columns of text, lists of objects as rows; and the number of rows where
    /// there are more.
    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        let first = self._first(PRINTED_ROWS).converted(py, flattened)?;
        let mut text = Vec::new();
        let shown = first.batch.slice(0, first.batch.num_rows().min(PRINTED_ROWS));
        write_rows(&shown, RowFormat::Table, &|_| Ok(()), &mut text).map_err(to_python)?;
        let mut text = String::from_utf8_lossy(&text).trim_end().to_owned();
        let rows = self.batch.num_rows();
        if shown.num_rows() < first.batch.num_rows() || PRINTED_ROWS < rows {
            let noun = if rows == 1 { "row" } else { "rows" };
            text.push_str(&format!("\n… {rows} {noun}"));
        }
        Ok(text)
    }

    fn __repr__(&self) -> String {
        let schema = self.batch.schema();
        let columns = schema.fields().iter();
        let columns = columns.map(|field| format!("{}: {}", field.name(), field.data_type()));
        let columns = columns.collect::<Vec<String>>().join(", ");
        let rows = self.batch.num_rows();
        let noun = if rows == 1 { "row" } else { "rows" };
        format!("<hexgraph.ArrowTable: {rows} {noun}, columns {columns}>")
    }
}
