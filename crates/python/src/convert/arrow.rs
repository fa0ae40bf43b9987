//! Tables as Arrow, handed over through the PyCapsule interface.

use super::arrow_columns::{column, item};
use super::flatten::{exploded, flattened};
use crate::convert::errors::to_python;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, LargeListArray, LargeStringArray,
    NullArray, RecordBatch, RecordBatchOptions, StringArray, StructArray,
    TimestampMicrosecondArray, TimestampNanosecondArray,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use hexgraph_base::answer::{Cells, Lists, Structs, Table, Texts, Values};
use hexgraph_base::types::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyList, PyTuple};
use pyo3_arrow::ffi::{ArrayIterator, to_schema_pycapsule, to_stream_pycapsule};
use std::sync::Arc;

type NamedColumn<'py> = (String, &'static str, Bound<'py, PyAny>, Bound<'py, PyBytes>);

const NANOS: i64 = 1_000_000_000;

/// A table in Arrow's layout: `pyarrow.table(t)`, `polars.DataFrame(t)` and their like take it.
#[pyclass(frozen, module = "hexgraph")]
pub struct ArrowTable {
    batch: RecordBatch,
}

impl ArrowTable {
    /// Converts a table to Arrow's layout without copying texts. Times are in nanoseconds, or in microseconds where
    /// some time lies outside of the years 1678 to 2261.
    pub fn new(table: Table) -> Result<ArrowTable> {
        let rows = table.rows;
        let mut fields = Vec::new();
        let mut arrays = Vec::new();
        for column in table.columns {
            let array = array_of(column.cells).map_err(internal)?;
            fields.push(Field::new(column.name, array.data_type().clone(), true));
            arrays.push(array);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new_with_options(schema, arrays, &options);
        Ok(ArrowTable { batch: batch.map_err(internal)? })
    }

    /// Wraps columns that are in Arrow's layout already.
    pub(crate) fn of_batch(batch: RecordBatch) -> ArrowTable {
        ArrowTable { batch }
    }

    /// Returns the table as a stream of one batch.
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
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.batch.num_rows()
    }

    /// The columns for numpy: name, dtype (or "text" or "object"), values as bytes (or a list),
    /// and a byte for each value that says whether it is missing.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Vec<NamedColumn<'py>>> {
        let schema = self.batch.schema();
        let columns = schema.fields().iter().zip(self.batch.columns());
        columns
            .map(|(field, array)| {
                let (kind, values, missing) = column(py, array)?;
                Ok((field.name().clone(), kind, values, missing))
            })
            .collect()
    }

    /// The rows as tuples, the `first` ones or all: objects are dicts, lists of them lists of dicts, times `datetime` in UTC.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.mutate(set='<0x1f> <name> "Ada" .')
    /// >>> db.query("{ q(func: has(name)) { uid name } }").to_arrow().rows()
    /// [('0x1f', 'Ada')]
    #[pyo3(signature = (first = None))]
    fn rows<'py>(&self, py: Python<'py>, first: Option<usize>) -> PyResult<Bound<'py, PyList>> {
        let rows = PyList::empty(py);
        for row in 0..self.batch.num_rows().min(first.unwrap_or(usize::MAX)) {
            let cells = self.batch.columns().iter().map(|array| item(py, array, row));
            rows.append(PyTuple::new(py, cells.collect::<PyResult<Vec<_>>>()?)?)?;
        }
        Ok(rows)
    }

    /// The table without nested columns: an object becomes columns `boss.name`, and a list of objects
    /// rows, beside which the other columns are repeated; of two such lists in a row, each item with
    /// each. A row with an empty list stays one row. Lists of values stay lists.
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
        let batch = py.detach(|| flattened(&self.batch)).map_err(to_python)?;
        Ok(ArrowTable { batch })
    }

    /// The table with a row for each item of the lists in a column; the items of objects become columns
    /// `knows.name`. Rows without an item stay.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.alter("tag: [string] .")
    /// >>> _ = db.mutate(set='<1> <tag> "a" .\n<1> <tag> "b" .')
    /// >>> db.query("{ q(func: uid(1)) { uid tag } }").to_arrow().explode("tag").rows()
    /// [('0x1', 'a'), ('0x1', 'b')]
    ///
    /// Raises QueryError for a column that there is not, or that has no lists; LimitError for more than
    /// 100 million rows.
    pub(crate) fn explode(&self, py: Python<'_>, column: &str) -> PyResult<ArrowTable> {
        let batch = py.detach(|| exploded(&self.batch, column)).map_err(to_python)?;
        Ok(ArrowTable { batch })
    }

    /// The table as a pandas.DataFrame. Numbers with gaps have pandas' nullable types, nested columns are
    /// lists and dicts. pyarrow is not needed.
    fn to_pandas<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        this.py().import("hexgraph.frames")?.call_method1("to_pandas", (this,))
    }

    /// The table as a polars.DataFrame.
    fn to_polars<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        this.py().import("hexgraph.frames")?.call_method1("to_polars", (this,))
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

fn internal(error: ArrowError) -> Error {
    Error::query(format!("the rows make no Arrow table: {error}"))
}

fn array_of(cells: Cells) -> std::result::Result<ArrayRef, ArrowError> {
    Ok(match cells {
        Cells::Null(count) => Arc::new(NullArray::new(count)),
        Cells::Int(Values { values, valid }) => {
            Arc::new(Int64Array::new(values.into(), Some(valid.into())))
        }
        Cells::Float(Values { values, valid }) => {
            Arc::new(Float64Array::new(values.into(), Some(valid.into())))
        }
        Cells::Bool(Values { values, valid }) => {
            Arc::new(BooleanArray::new(values.into(), Some(valid.into())))
        }
        Cells::Time(times) => time_array(times),
        Cells::Text(texts) => text_array(texts)?,
        Cells::List(lists) => list_array(*lists)?,
        Cells::Struct(structs) => struct_array(*structs)?,
    })
}

fn time_array(times: Values<(i64, u32)>) -> ArrayRef {
    let nulls = Some(NullBuffer::from(times.valid));
    let in_nanos = times.values.iter().map(|&(seconds, nanos)| {
        seconds.checked_mul(NANOS).and_then(|whole| whole.checked_add(i64::from(nanos)))
    });
    match in_nanos.collect::<Option<Vec<i64>>>() {
        Some(values) => {
            Arc::new(TimestampNanosecondArray::new(values.into(), nulls).with_timezone("UTC"))
        }
        None => {
            let micros = times.values.iter().map(|&(seconds, nanos)| {
                seconds.saturating_mul(1_000_000).saturating_add(i64::from(nanos / 1_000))
            });
            let values: ScalarBuffer<i64> = micros.collect();
            Arc::new(TimestampMicrosecondArray::new(values, nulls).with_timezone("UTC"))
        }
    }
}

fn text_array(texts: Texts) -> std::result::Result<ArrayRef, ArrowError> {
    let Texts { bytes, ends, valid } = texts;
    let nulls = Some(NullBuffer::from(valid));
    let bytes_len = bytes.len();
    let bytes = Buffer::from_vec(bytes.into_bytes());
    // Arrow's strings have offsets of 32 bits, its large strings of 64.
    Ok(if i32::try_from(bytes_len).is_ok() {
        let offsets = [0].into_iter().chain(ends.into_iter().map(|end| end as i32));
        let offsets = OffsetBuffer::new(offsets.collect());
        Arc::new(StringArray::try_new(offsets, bytes, nulls)?)
    } else {
        Arc::new(LargeStringArray::try_new(large_offsets(ends), bytes, nulls)?)
    })
}

fn list_array(lists: Lists) -> std::result::Result<ArrayRef, ArrowError> {
    let Lists { items, ends, valid } = lists;
    let items = array_of(items)?;
    let field = Arc::new(Field::new("item", DataType::clone(items.data_type()), true));
    let nulls = Some(NullBuffer::from(valid));
    Ok(Arc::new(LargeListArray::try_new(field, large_offsets(ends), items, nulls)?))
}

fn struct_array(structs: Structs) -> std::result::Result<ArrayRef, ArrowError> {
    let Structs { columns, valid } = structs;
    let nulls = NullBuffer::from(valid);
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    for column in columns {
        let array = array_of(column.cells)?;
        fields.push(Field::new(column.name, array.data_type().clone(), true));
        arrays.push(array);
    }
    if fields.is_empty() {
        return Ok(Arc::new(StructArray::new_empty_fields(nulls.len(), Some(nulls))));
    }
    Ok(Arc::new(StructArray::try_new(fields.into(), arrays, Some(nulls))?))
}

fn large_offsets(ends: Vec<usize>) -> OffsetBuffer<i64> {
    OffsetBuffer::new([0].into_iter().chain(ends.into_iter().map(|end| end as i64)).collect())
}
