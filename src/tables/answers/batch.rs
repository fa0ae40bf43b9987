//! The rows of an answer in Arrow's layout.

use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, LargeListArray, LargeStringArray,
    NullArray, RecordBatch, RecordBatchOptions, StringArray, StructArray,
    TimestampMicrosecondArray, TimestampNanosecondArray,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use hexgraph_base::answer::{Cells, Lists, Structs, Table, Texts, Values};
use hexgraph_base::types::{Error, Result};
use std::sync::Arc;

const NANOS: i64 = 1_000_000_000;

/// Converts a table to Arrow's layout without copying texts. Times are in nanoseconds, or in microseconds where some time lies
/// outside of the years 1678 to 2261. O(cells).
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
