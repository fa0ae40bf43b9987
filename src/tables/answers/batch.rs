//! The rows of an answer in Arrow's layout.

use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, LargeListArray,
    LargeStringArray, NullArray, RecordBatch, RecordBatchOptions, StringArray, StructArray,
    Time64NanosecondArray, TimestampMicrosecondArray, TimestampNanosecondArray,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use hexgraph_base::answer::{
    CellOffsets, Cells, Lists, Structs, Table, TemporalUnit, Temporals, Texts, Values,
};
use hexgraph_base::types::{Error, Result};
use std::sync::Arc;

/// Converts a table to Arrow's layout without copying texts. Times are in nanoseconds, or in
/// microseconds where some time lies outside of the years 1678 to 2261. O(cells).
///
/// ```
/// use hexgraph::{db::Database, tables::record_batch};
///
/// let db = Database::in_memory();
/// db.mutate("<1> <name> \"Ada\" .\n<2> <name> \"Bob\" .", "")?;
/// let answer = db.query("{ q(func: has(name)) { uid name } }")?;
/// let batch = record_batch(answer.table(None)?)?;
/// assert_eq!((batch.num_rows(), batch.num_columns()), (2, 2));
/// # Ok::<(), hexgraph::types::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Query`] when the columns don't fit each other.
pub fn record_batch(table: Table) -> Result<RecordBatch> {
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
    RecordBatch::try_new_with_options(schema, arrays, &options).map_err(internal)
}

/// A column of rows that are no answer.
#[derive(Debug, Clone)]
pub enum PlainColumn {
    /// Texts.
    Texts(Vec<String>),
    /// Numbers.
    Numbers(Vec<i64>),
}

/// Makes rows of columns with names, which are equally long.
///
/// ```
/// use hexgraph::tables::{PlainColumn, plain_rows};
///
/// let names = PlainColumn::Texts(vec!["Ada".into(), "Bob".into()]);
/// let ages = PlainColumn::Numbers(vec![36, 41]);
/// let rows = plain_rows(vec![("name", names), ("age", ages.clone())])?;
/// assert_eq!((rows.num_rows(), rows.num_columns()), (2, 2));
/// let short = PlainColumn::Numbers(vec![1]);
/// assert!(plain_rows(vec![("age", ages), ("other", short)]).is_err());
/// # Ok::<(), hexgraph::types::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Query`] when they are not.
pub fn plain_rows(columns: Vec<(&str, PlainColumn)>) -> Result<RecordBatch> {
    let columns = columns.into_iter().map(|(name, column)| {
        let array: ArrayRef = match column {
            PlainColumn::Texts(texts) => Arc::new(StringArray::from(texts)),
            PlainColumn::Numbers(numbers) => Arc::new(Int64Array::from(numbers)),
        };
        (name, array)
    });
    RecordBatch::try_from_iter(columns).map_err(internal)
}

fn internal(error: ArrowError) -> Error {
    Error::query(format!("the rows make no Arrow table: {error}"))
}

fn array_of(cells: Cells) -> std::result::Result<ArrayRef, ArrowError> {
    Ok(match cells {
        Cells::Null(count) => Arc::new(NullArray::new(count)),
        Cells::Int(Values { values, valid }) => {
            Arc::new(Int64Array::new(values.into(), nulls(valid)))
        }
        Cells::Float(Values { values, valid }) => {
            Arc::new(Float64Array::new(values.into(), nulls(valid)))
        }
        Cells::Bool(Values { values, valid }) => {
            Arc::new(BooleanArray::new(values.into(), nulls(valid)))
        }
        Cells::Time(Values { values, valid }) => {
            let times = TimestampNanosecondArray::new(values.into(), nulls(valid));
            Arc::new(times.with_timezone("UTC"))
        }
        Cells::WideTime(Values { values, valid }) => {
            let micros = values.iter().map(|&(seconds, nanos)| {
                seconds.saturating_mul(1_000_000).saturating_add(i64::from(nanos / 1_000))
            });
            let values: ScalarBuffer<i64> = micros.collect();
            let times = TimestampMicrosecondArray::new(values, nulls(valid));
            Arc::new(times.with_timezone("UTC"))
        }
        Cells::Temporal(temporals) => temporal_array(*temporals),
        Cells::Text(texts) => text_array(texts)?,
        Cells::List(lists) => list_array(*lists)?,
        Cells::Struct(structs) => struct_array(*structs)?,
    })
}

fn temporal_array(temporals: Temporals) -> ArrayRef {
    let Temporals { unit, cells: Values { values, valid } } = temporals;
    let nulls = nulls(valid);
    match unit {
        TemporalUnit::Days => {
            // The days of all years that a date can have fit 32 bits.
            let days: ScalarBuffer<i32> = values.iter().map(|&days| days as i32).collect();
            Arc::new(Date32Array::new(days, nulls))
        }
        TemporalUnit::NanosOfDay => Arc::new(Time64NanosecondArray::new(values.into(), nulls)),
        TemporalUnit::Nanos(zone) => {
            let times = TimestampNanosecondArray::new(values.into(), nulls);
            Arc::new(times.with_timezone_opt(zone))
        }
        TemporalUnit::Micros(zone) => {
            let times = TimestampMicrosecondArray::new(values.into(), nulls);
            Arc::new(times.with_timezone_opt(zone))
        }
    }
}

/// Which cells are null; `None` where none is.
fn nulls(valid: Vec<bool>) -> Option<NullBuffer> {
    (!valid.is_empty()).then(|| NullBuffer::from(valid))
}

/// Converts texts to an array of Arrow without copying them: a large one if 31 bits are too few for
/// the offsets.
///
/// ```
/// use hexgraph::{db::{Database, RequestContext}, tables::texts_array};
///
/// let db = Database::in_memory();
/// db.alter("xid: string .")?;
/// db.mutate("<1> <knows> <2> .\n<1> <xid> \"ada\" .\n<2> <xid> \"bob\" .", "")?;
/// let answer = db.query("{ degree() { knows } }")?;
/// let table = answer.into_algorithm(&RequestContext::new())?;
/// let names = texts_array(table.xids.expect("the nodes have names"))?;
/// assert_eq!(names.len(), 2);
/// # Ok::<(), hexgraph::types::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Query`] when they are no UTF-8.
pub fn texts_array(texts: Texts) -> Result<ArrayRef> {
    text_array(texts).map_err(internal)
}

fn text_array(texts: Texts) -> std::result::Result<ArrayRef, ArrowError> {
    let Texts { bytes, offsets, valid } = texts;
    let (bytes, nulls) = (Buffer::from_vec(bytes), nulls(valid));
    // Arrow's strings have offsets of 32 bits, its large strings of 64.
    Ok(match offsets {
        CellOffsets::Narrow(offsets) => {
            Arc::new(StringArray::try_new(OffsetBuffer::new(offsets.into()), bytes, nulls)?)
        }
        CellOffsets::Wide(offsets) => {
            Arc::new(LargeStringArray::try_new(OffsetBuffer::new(offsets.into()), bytes, nulls)?)
        }
    })
}

fn list_array(lists: Lists) -> std::result::Result<ArrayRef, ArrowError> {
    let Lists { items, offsets, valid } = lists;
    let items = array_of(items)?;
    let field = Arc::new(Field::new("item", DataType::clone(items.data_type()), true));
    let offsets = match offsets {
        CellOffsets::Narrow(offsets) => offsets.into_iter().map(i64::from).collect(),
        CellOffsets::Wide(offsets) => offsets,
    };
    let offsets = OffsetBuffer::new(offsets.into());
    Ok(Arc::new(LargeListArray::try_new(field, offsets, items, nulls(valid))?))
}

fn struct_array(structs: Structs) -> std::result::Result<ArrayRef, ArrowError> {
    let Structs { columns, valid, .. } = structs;
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
