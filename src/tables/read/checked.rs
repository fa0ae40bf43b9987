//! Columns of batches that other libraries made. Arrow's arrays are read without a test of each
//! access, so what they say of themselves is tested once, before the first cell is read: where
//! texts, lists and keys lie, that texts are UTF-8, and how many nulls there are.
//!
//! Only what is read is looked at: what lies below a null may be anything, and so may items between
//! lists and entries of a dictionary that no row has. Costs one pass over the texts.

use arrow_array::cast::AsArray;
use arrow_array::{
    AnyDictionaryArray, Array, ArrayRef, GenericListArray, GenericStringArray, OffsetSizeTrait,
    RecordBatch, StringViewArray,
};
use arrow_schema::DataType;
use hexgraph_base::types::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The table that batches are parts of.
#[derive(Debug)]
pub(super) struct Full {
    /// Its name.
    pub name: String,
    /// The positions in it of the columns that the batches have.
    pub positions: Vec<usize>,
    /// The number of its first row, where the rows of tables before it are counted, too.
    pub first_row: u64,
}

/// Checks all columns of a batch that begins with a row, whose number is as [`Full::first_row`] is.
///
/// # Errors
///
/// [`Error::Load`] with row and column of the first damage.
pub(super) fn check_batch(batch: &RecordBatch, table: &Full, first_row: u64) -> Result<()> {
    for (at, array) in batch.columns().iter().enumerate() {
        // What the library itself tests panics.
        let checked = catch_unwind(AssertUnwindSafe(|| check(array)));
        let checked = checked.unwrap_or_else(|_| Err(Damage::full("its buffers do not fit it")));
        let Err(Damage { row, reason }) = checked else { continue };
        let column = batch.schema_ref().field(at).name().clone();
        let first_line = first_row - table.first_row + 1;
        let line = first_line + row.unwrap_or_default() as u64;
        let message = match row {
            Some(_) => format!("row {line}, column {column:?}: {reason}"),
            None => format!("column {column:?} is damaged: {reason}"),
        };
        let position = table.positions.get(at).map_or(0, |position| *position as u32) + 1;
        return Err(Error::Load { file: table.name.clone(), line, column: position, message });
    }
    Ok(())
}

type Checked = std::result::Result<(), Damage>;

/// What is wrong with an array.
#[derive(Debug, PartialEq)]
struct Damage {
    /// The row, where it is one.
    row: Option<usize>,
    reason: String,
}

impl Damage {
    fn full(reason: impl Into<String>) -> Damage {
        Damage { row: None, reason: reason.into() }
    }

    fn of_row(row: usize, reason: &str) -> Damage {
        Damage { row: Some(row), reason: reason.to_owned() }
    }

    /// The same damage, of the row that has the item.
    fn within(self, row_of: impl Fn(usize) -> Option<usize>) -> Damage {
        Damage { row: self.row.and_then(row_of), ..self }
    }
}

const NO_UTF8: &str = "the bytes of a text are not UTF-8 (as bytes they are a column of binary, \
                       which has to be decoded)";

fn check(array: &ArrayRef) -> Checked {
    let data = array.to_data();
    data.validate().map_err(|fault| Damage::full(format!("its buffers do not fit ({fault})")))?;
    if let Some(nulls) = array.nulls()
        && nulls.len() - nulls.inner().count_set_bits() != nulls.null_count()
    {
        return Err(Damage::full("it has another number of nulls than it says"));
    }
    match array.data_type() {
        DataType::Utf8 => texts(array.as_string::<i32>()),
        DataType::LargeUtf8 => texts(array.as_string::<i64>()),
        DataType::Utf8View => views(array.as_string_view()),
        DataType::Dictionary(..) => entries(array.as_any_dictionary()),
        DataType::List(_) => lists(array.as_list::<i32>()),
        DataType::LargeList(_) => lists(array.as_list::<i64>()),
        DataType::FixedSizeList(_, len) => {
            let len = *len as usize;
            let checked = check(array.as_fixed_size_list().values());
            checked.map_err(|damage| damage.within(|item| item.checked_div(len)))
        }
        // Numbers are what their bits are, and columns of other types have no values.
        _ => Ok(()),
    }
}

fn texts<O: OffsetSizeTrait>(array: &GenericStringArray<O>) -> Checked {
    let (offsets, data) = (array.value_offsets(), array.value_data());
    check_offsets(offsets, data.len())?;
    let (first, last) = (offsets[0].as_usize(), offsets[array.len()].as_usize());
    if let Ok(text) = std::str::from_utf8(&data[first..last])
        && offsets.iter().all(|offset| text.is_char_boundary(offset.as_usize() - first))
    {
        return Ok(());
    }
    match (0..array.len()).find(|&row| array.is_valid(row) && !has_text(array, row)) {
        Some(row) => Err(Damage::of_row(row, NO_UTF8)),
        None => Ok(()),
    }
}

/// Checks that the offsets ascend, and the last one is at most `len`.
fn check_offsets<O: OffsetSizeTrait>(offsets: &[O], len: usize) -> Checked {
    let is_complete = |pair: &[O]| O::zero() <= pair[0] && pair[0] <= pair[1];
    if let Some(row) = offsets.windows(2).position(|pair| !is_complete(pair)) {
        return Err(Damage::of_row(row, "its end is before its start"));
    }
    if len < offsets[offsets.len() - 1].as_usize() {
        return Err(Damage::full("a row ends behind its buffer"));
    }
    Ok(())
}

fn views(array: &StringViewArray) -> Checked {
    if array.to_data().validate_values().is_ok() {
        return Ok(());
    }
    let is_text = |row: usize| array.slice(row, 1).to_data().validate_values().is_ok();
    match (0..array.len()).find(|&row| array.is_valid(row) && !is_text(row)) {
        Some(row) => Err(Damage::of_row(row, "a text ends behind its buffer, or is not UTF-8")),
        None => Ok(()),
    }
}

fn entries(array: &dyn AnyDictionaryArray) -> Checked {
    let (keys, values) = (array.keys(), array.values());
    let fits = |array: &dyn Array| array.to_data().validate_values().is_ok();
    if !fits(array) {
        let row = (0..array.len()).find(|&row| keys.is_valid(row) && !fits(&array.slice(row, 1)));
        return Err(row.map_or_else(
            || Damage::full("its keys do not fit its dictionary"),
            |row| Damage::of_row(row, "its key is none of the dictionary"),
        ));
    }
    let Err(damage) = check_entries(array, values) else { return Ok(()) };
    Err(damage)
}

/// Checks the entries that rows have, or all of them where these are not more.
fn check_entries(array: &dyn AnyDictionaryArray, values: &ArrayRef) -> Checked {
    if values.is_empty() {
        return Ok(());
    }
    let (keys, positions) = (array.keys(), array.normalized_keys());
    let mut rows = (0..array.len()).filter(|&row| keys.is_valid(row));
    if values.len() <= array.len() {
        let Err(damage) = check(values) else { return Ok(()) };
        let Some(entry) = damage.row else { return Err(damage) };
        if let Some(row) = rows.clone().find(|&row| positions[row] == entry) {
            return Err(Damage { row: Some(row), ..damage });
        }
        // No row has this entry; another one may be damaged, too.
    }
    rows.try_for_each(|row| {
        let entry = positions[row];
        let is_text = match values.data_type() {
            DataType::Utf8 => has_text(values.as_string::<i32>(), entry),
            DataType::LargeUtf8 => has_text(values.as_string::<i64>(), entry),
            _ => false,
        };
        if is_text {
            return Ok(());
        }
        check(&values.slice(entry, 1)).map_err(|damage| damage.within(|_| Some(row)))
    })
}

fn has_text<O: OffsetSizeTrait>(array: &GenericStringArray<O>, row: usize) -> bool {
    let offset = |position: usize| array.value_offsets()[position].to_usize();
    let range = offset(row).zip(offset(row + 1));
    let bytes = range.and_then(|(start, end)| array.value_data().get(start..end));
    bytes.is_some_and(|bytes| std::str::from_utf8(bytes).is_ok())
}

fn lists<O: OffsetSizeTrait>(array: &GenericListArray<O>) -> Checked {
    let offsets = array.value_offsets();
    check_offsets(offsets, array.values().len())?;
    let (first, last) = (offsets[0].as_usize(), offsets[array.len()].as_usize());
    check(&array.values().slice(first, last - first)).map_err(|damage| {
        damage.within(|item| {
            offsets.partition_point(|start| start.as_usize() <= first + item).checked_sub(1)
        })
    })
}
