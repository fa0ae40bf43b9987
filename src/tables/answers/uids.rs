//! Columns of uids: as texts, as all answers have them, and additional columns of their nodes.

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, UInt64Array};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema};
use arrow_select::concat::concat;
use arrow_select::take::take;
use hexgraph_base::types::{Error, Result, Uid};
use std::sync::Arc;

/// The column of the nodes that a table is about.
const UID: &str = "uid";

/// The bytes of most uids as texts, about.
const UID_BYTES: usize = 8;

/// Makes texts of the columns of uids: `0x1f`. O(rows).
///
/// ```
/// use arrow_array::{RecordBatch, UInt64Array, cast::AsArray};
/// use hexgraph::tables::with_text_uids;
/// use std::sync::Arc;
///
/// let uids = Arc::new(UInt64Array::from(vec![31])) as _;
/// let batch = RecordBatch::try_from_iter([("uid", uids)]).unwrap();
/// let texts = with_text_uids(&batch)?;
/// assert_eq!(texts.column(0).as_string::<i32>().value(0), "0x1f");
/// # Ok::<(), hexgraph::types::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Query`] for texts of more than 2 GB.
pub fn with_text_uids(batch: &RecordBatch) -> Result<RecordBatch> {
    let schema = batch.schema();
    let columns = schema.fields().iter().zip(batch.columns());
    let columns = columns.map(|(field, array)| match array.data_type() {
        DataType::UInt64 => {
            let field = Field::new(field.name(), DataType::Utf8, field.is_nullable());
            Ok((Arc::new(field), texts(array.as_primitive::<UInt64Type>())?))
        }
        _ => Ok((Arc::clone(field), Arc::clone(array))),
    });
    batch_of(columns.collect::<Result<_>>()?)
}

/// Puts the columns of `fields`, which come in parts, after the uids of a table, to each row those
/// of its `uid`. All have a column `uid`: the table numbers, in any order; `fields` texts, each
/// once, whose numbers ascend. O(rows of the result · log).
///
/// ```
/// use arrow_array::{RecordBatch, StringArray, UInt64Array, cast::AsArray};
/// use hexgraph::tables::with_fields;
/// use std::sync::Arc;
///
/// let uids = Arc::new(UInt64Array::from(vec![2, 1])) as _;
/// let ranks = RecordBatch::try_from_iter([("uid", uids)]).unwrap();
/// let uids = Arc::new(StringArray::from(vec!["0x1", "0x2"])) as _;
/// let names = Arc::new(StringArray::from(vec!["Ada", "Bob"])) as _;
/// let fields = RecordBatch::try_from_iter([("uid", uids), ("name", names)]).unwrap();
/// let table = with_fields(&ranks, &[fields])?;
/// assert_eq!(table.column(1).as_string::<i32>().value(0), "Bob");
/// # Ok::<(), hexgraph::types::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Query`] for tables without such columns, for parts with columns of several types, and
/// for two columns of one name.
pub fn with_fields(batch: &RecordBatch, fields: &[RecordBatch]) -> Result<RecordBatch> {
    let fields = &joined(fields)?;
    let uids = batch.column_by_name(UID).and_then(|array| array.as_primitive_opt::<UInt64Type>());
    let existing = fields.column_by_name(UID).and_then(|array| array.as_string_opt::<i32>());
    let (Some(uids), Some(existing)) = (uids, existing) else {
        return Err(Error::query("there are no nodes whose fields could be read"));
    };
    let existing: Vec<Option<Uid>> =
        existing.iter().map(|text| text.and_then(Uid::parse)).collect();
    let row = |uid: &u64| existing.binary_search(&Some(Uid(*uid))).ok().map(|row| row as u64);
    let rows: UInt64Array = uids.values().iter().map(row).collect();
    let mut columns = columns_of(batch);
    let (schema, mut position) = (fields.schema(), 1);
    for (field, array) in schema.fields().iter().zip(fields.columns()) {
        if field.name() == UID {
            continue;
        }
        if batch.column_by_name(field.name()).is_some() {
            let message = format!("two columns are called {:?}", field.name());
            return Err(Error::query(message).with_hint("give the field an alias: `other: name`"));
        }
        let field = Field::new(field.name(), field.data_type().clone(), true);
        columns.insert(position, (Arc::new(field), take(array, &rows, None).map_err(wrong)?));
        position += 1;
    }
    batch_of(columns)
}

/// One table of several with the same columns. A column without any value in some of them has its
/// type from the others.
fn joined(parts: &[RecordBatch]) -> Result<RecordBatch> {
    let [first, _, ..] = parts else {
        return Ok(parts
            .first()
            .cloned()
            .unwrap_or_else(|| RecordBatch::new_empty(Schema::empty().into())));
    };
    let schema = first.schema();
    let column = |field: &FieldRef| {
        let arrays = parts.iter().filter_map(|part| part.column_by_name(field.name()));
        let arrays: Vec<&ArrayRef> = arrays.collect();
        let kinds = arrays.iter().map(|array| array.data_type());
        let kind = kinds.clone().find(|kind| **kind != DataType::Null).unwrap_or(&DataType::Null);
        let cast = |array: &&ArrayRef| arrow_cast::cast(*array, kind).map_err(wrong);
        let arrays = arrays.iter().map(cast).collect::<Result<Vec<ArrayRef>>>()?;
        let arrays: Vec<&dyn Array> = arrays.iter().map(AsRef::as_ref).collect();
        let field = Field::new(field.name(), kind.clone(), true);
        Ok((Arc::new(field), concat(&arrays).map_err(wrong)?))
    };
    batch_of(schema.fields().iter().map(column).collect::<Result<_>>()?)
}

fn texts(uids: &UInt64Array) -> Result<ArrayRef> {
    let mut bytes: Vec<u8> = Vec::with_capacity(UID_BYTES * uids.len());
    let mut offsets: Vec<i32> = Vec::with_capacity(uids.len() + 1);
    offsets.push(0);
    for uid in uids.values() {
        Uid(*uid).text().append_to(&mut bytes);
        // Of one that is too great the last one is too: it is refused below.
        offsets.push(i32::try_from(bytes.len()).unwrap_or(-1));
    }
    if offsets.last() == Some(&-1) {
        return Err(Error::query("so many uids are more text than a column can have"));
    }
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    let texts = StringArray::try_new(offsets, Buffer::from_vec(bytes), uids.nulls().cloned());
    Ok(Arc::new(texts.map_err(wrong)?))
}

fn columns_of(batch: &RecordBatch) -> Vec<(FieldRef, ArrayRef)> {
    let schema = batch.schema();
    schema.fields().iter().map(Arc::clone).zip(batch.columns().iter().map(Arc::clone)).collect()
}

fn batch_of(columns: Vec<(FieldRef, ArrayRef)>) -> Result<RecordBatch> {
    let (fields, arrays): (Vec<FieldRef>, Vec<ArrayRef>) = columns.into_iter().unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(wrong)
}

fn wrong(error: ArrowError) -> Error {
    Error::query(format!("the columns make no table: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::types::Int64Type;
    use arrow_array::{Float64Array, Int64Array, NullArray};

    fn table(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
        RecordBatch::try_from_iter(columns).unwrap()
    }

    #[test]
    fn uids_are_texts_with_field_columns() {
        let uids: ArrayRef = Arc::new(UInt64Array::from(vec![31, 1, u64::MAX, 31]));
        let ranks: ArrayRef = Arc::new(Float64Array::from(vec![0.5, 0.25, 0.125, 0.5]));
        let result = table(vec![("uid", Arc::clone(&uids)), ("rank", ranks)]);
        let existing: ArrayRef = Arc::new(StringArray::from(vec!["0x1", "0x1f"]));
        let ages: ArrayRef = Arc::new(Int64Array::from(vec![Some(7), None]));
        let all = table(vec![("uid", Arc::clone(&existing)), ("age", ages)]);
        let parts = [all.slice(0, 1), all.slice(1, 1)];
        let no_ages: ArrayRef = Arc::new(NullArray::new(1));
        let untyped = table(vec![("uid", existing.slice(1, 1)), ("age", no_ages)]);
        for fields in [vec![all], parts.to_vec(), vec![parts[0].clone(), untyped]] {
            let reported = with_text_uids(&with_fields(&result, &fields).unwrap()).unwrap();
            let names: Vec<String> =
                reported.schema().fields().iter().map(|field| field.name().clone()).collect();
            assert_eq!(names, ["uid", "age", "rank"]);
            let texts: Vec<_> = reported.column(0).as_string::<i32>().iter().flatten().collect();
            assert_eq!(texts, ["0x1f", "0x1", "0xffffffffffffffff", "0x1f"]);
            let ages = reported.column(1).as_primitive::<Int64Type>();
            assert_eq!(ages.iter().collect::<Vec<_>>(), [None, Some(7), None, None]);
        }
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1]));
        let one = table(vec![("uid", existing.slice(0, 1)), ("rank", numbers)]);
        let twice = with_fields(&result, &[one]);
        assert!(twice.unwrap_err().to_string().contains("two columns"));
    }
}
