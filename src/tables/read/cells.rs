//! Arrow's many types of columns as the few types that values have.

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float32Array, Float64Array, GenericListArray, Int64Array,
    LargeListArray, LargeStringArray, OffsetSizeTrait,
};
use arrow_buffer::OffsetBuffer;
use arrow_cast::display::array_value_to_string;
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, TimeUnit};
use hexgraph_base::types::{DateTime, ValueRef, ValueType};
use std::ops::Range;
use std::sync::Arc;

const NANOS: i64 = 1_000_000_000;

/// The extension type of a column of pandas' periods, whose cells are numbers of months, days or
/// hours.
const PERIOD: &str = "pandas.period";

/// The extension type of a column of UUIDs, and the bytes of one.
const UUID: &str = "arrow.uuid";
const UUID_LEN: i32 = 16;

/// Why a column, or a cell of it, has no values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in crate::tables) enum ColumnError {
    /// Its cells are lists of lists.
    #[error("a list of lists is no value")]
    NestedLists,
    /// Its cells are objects.
    #[error("an object is no value (leave the column out, or make columns of its fields)")]
    Objects,
    /// Its type is none that values have.
    #[error("Arrow's type {name} has no type of values")]
    NoValues {
        /// The type, as Arrow writes it.
        name: String,
    },
    /// Its cells are periods of pandas.
    #[error("a period is no value: `.dt.to_timestamp()` makes times of a column of pandas")]
    Period,
    /// The cell is a number above all ints.
    #[error(
        "an int has 64 bits, of which one is its sign: give the column the type string with `types`"
    )]
    LargeInt,
    /// The cell is a vector that lacks a number.
    #[error("a number of the vector is missing (leave the vector out)")]
    Gap,
    /// The column can't be read as the type that it is to have.
    #[error("{reason}")]
    Cast {
        /// What Arrow says.
        reason: String,
    },
}

/// What the cells of a column are for, which says what they are read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tables) enum Form {
    /// What they are by nature.
    Natural,
    /// Vectors: so lists of floats are one value each.
    Vector,
    /// Values with any number of digits: decimals, and ints that are too large, become texts.
    Digits,
    /// The same for ints: a fraction of zeros is left out.
    Full,
}

impl Form {
    /// The form of the cells of a predicate of a type.
    pub(in crate::tables) fn of(value_type: ValueType) -> Form {
        match value_type {
            ValueType::Vector => Form::Vector,
            ValueType::String | ValueType::BigFloat => Form::Digits,
            ValueType::Int => Form::Full,
            _ => Form::Natural,
        }
    }

    fn retains_digits(self) -> bool {
        matches!(self, Form::Digits | Form::Full)
    }
}

/// A cell that can't be read, though its column can. It counts as missing.
#[derive(Debug, PartialEq)]
pub(in crate::tables) struct UnreadableCell {
    /// The row in the batch.
    pub row: usize,
    /// The cell as a text, where that says something.
    pub value: Option<String>,
    /// The reason.
    pub reason: ColumnError,
}

/// One column of a batch, reduced to the types that values have.
pub(in crate::tables) enum Cells {
    /// All cells are null.
    Empty,
    /// Integers of any width.
    Int(Int64Array),
    /// Floats and decimals. A NaN is no value, as nulls are none.
    Float(Float64Array),
    /// Truth values.
    Bool(BooleanArray),
    /// Texts.
    Text(LargeStringArray),
    /// Instants, and how many of their units make a second.
    Time(Int64Array, i64),
    /// Lists of floats that are one value each.
    Vector(LargeListArray, Float32Array),
    /// Lists of values.
    List(LargeListArray, Box<Cells>),
}

/// Returns the type that the values of a column have by nature, and true if a row has many of them;
/// `None` for a column of nulls.
///
/// # Errors
///
/// [`ColumnError::NestedLists`] or [`ColumnError::NoValues`] when there is no such type.
pub(in crate::tables) fn natural_type(
    data_type: &DataType,
) -> Result<Option<(ValueType, bool)>, ColumnError> {
    use DataType as D;
    let value_type = match data_type {
        D::Null => return Ok(None),
        D::Int8 | D::Int16 | D::Int32 | D::Int64 => ValueType::Int,
        D::UInt8 | D::UInt16 | D::UInt32 | D::UInt64 => ValueType::Int,
        D::Float16 | D::Float32 | D::Float64 => ValueType::Float,
        D::Decimal32(..) | D::Decimal64(..) | D::Decimal128(..) | D::Decimal256(..) => {
            ValueType::Float
        }
        D::Boolean => ValueType::Bool,
        D::Utf8 | D::LargeUtf8 | D::Utf8View => ValueType::String,
        // Times of a day, and UUIDs, are texts; durations are seconds.
        D::Time32(_) | D::Time64(_) | D::FixedSizeBinary(UUID_LEN) => ValueType::String,
        D::Duration(_) => ValueType::Float,
        D::Timestamp(..) | D::Date32 | D::Date64 => ValueType::DateTime,
        D::Dictionary(_, values) => return natural_type(values),
        D::FixedSizeList(item, _) if is_float(item.data_type()) => ValueType::Vector,
        D::List(item) | D::LargeList(item) | D::FixedSizeList(item, _) => {
            return match natural_of(item)? {
                Some((_, true)) => Err(ColumnError::NestedLists),
                item => Ok(item.map(|(value_type, _)| (value_type, true))),
            };
        }
        D::Struct(_) | D::Map(..) => return Err(ColumnError::Objects),
        other => return Err(ColumnError::NoValues { name: other.to_string() }),
    };
    Ok(Some((value_type, false)))
}

/// As [`natural_type`], of a field, whose extension type counts, too.
///
/// # Errors
///
/// As [`natural_type`], and [`ColumnError::Period`].
pub(in crate::tables) fn natural_of(
    field: &Field,
) -> Result<Option<(ValueType, bool)>, ColumnError> {
    if field.metadata().get(EXTENSION_TYPE_NAME_KEY).is_some_and(|name| name == PERIOD) {
        return Err(ColumnError::Period);
    }
    let is_uuid = || field.metadata().get(EXTENSION_TYPE_NAME_KEY).is_some_and(|it| it == UUID);
    if let DataType::FixedSizeBinary(_) = field.data_type()
        && !is_uuid()
    {
        return Err(ColumnError::NoValues { name: field.data_type().to_string() });
    }
    natural_type(field.data_type())
}

/// Whether cells are decimals, perhaps in a dictionary.
pub(in crate::tables) fn is_decimal(data_type: &DataType) -> bool {
    use DataType as D;
    match data_type {
        D::Dictionary(_, values) => is_decimal(values),
        D::Decimal32(..) | D::Decimal64(..) | D::Decimal128(..) | D::Decimal256(..) => true,
        _ => false,
    }
}

fn is_float(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Float16 | DataType::Float32 | DataType::Float64)
}

impl Cells {
    /// Reads the cells of a column, except those that it returns separately.
    ///
    /// # Errors
    ///
    /// [`ColumnError`] when the column has no values.
    pub(in crate::tables) fn of(
        array: &ArrayRef,
        form: Form,
    ) -> Result<(Cells, Vec<UnreadableCell>), ColumnError> {
        if let DataType::Dictionary(_, values) = array.data_type() {
            return Cells::of(&exactly(array, values)?, form);
        }
        let all = |cells| Ok((cells, Vec::new()));
        let data_type = array.data_type();
        let Some((value_type, is_list)) = natural_type(data_type)? else {
            return all(Cells::Empty);
        };
        let array = &narrowed(array)?;
        if value_type == ValueType::Vector && !is_list
            || form == Form::Vector && value_type == ValueType::Float && is_list
        {
            return vectors(array);
        }
        if is_list {
            return lists(array, form);
        }
        let cast_to = |expected| exactly(array, &expected);
        all(match value_type {
            ValueType::Int => return ints(array, form),
            ValueType::Float if form.retains_digits() && is_decimal(data_type) => {
                Cells::Text(decimals(array, form)?)
            }
            ValueType::Float if matches!(data_type, DataType::Duration(_)) => {
                Cells::Float(seconds(array)?)
            }
            ValueType::Float if has_many_digits(data_type) => Cells::Float(nearest(array)?),
            ValueType::Float => Cells::Float(cast_to(DataType::Float64)?.as_primitive().clone()),
            ValueType::Bool => Cells::Bool(cast_to(DataType::Boolean)?.as_boolean().clone()),
            ValueType::DateTime => times(array)?,
            _ if matches!(data_type, DataType::FixedSizeBinary(_)) => Cells::Text(
                array.as_fixed_size_binary().iter().map(|it| it.map(uuid_text)).collect(),
            ),
            _ => Cells::Text(cast_to(DataType::LargeUtf8)?.as_string().clone()),
        })
    }

    /// Returns the positions of the values of a row, for [`Cells::get`].
    pub(in crate::tables) fn row(&self, row: usize) -> Range<usize> {
        let is_null = match self {
            Cells::Empty => true,
            Cells::Int(array) | Cells::Time(array, _) => array.is_null(row),
            Cells::Float(array) => array.is_null(row),
            Cells::Bool(array) => array.is_null(row),
            Cells::Text(array) => array.is_null(row),
            Cells::Vector(array, _) => array.is_null(row),
            Cells::List(array, _) if array.is_null(row) => true,
            Cells::List(array, _) => return item_range(array, row),
        };
        if is_null { 0..0 } else { row..row + 1 }
    }

    /// Returns the value at a position; `None` for a null, a NaN, and a vector with a null in it.
    pub(in crate::tables) fn get(&self, at: usize) -> Option<ValueRef<'_>> {
        Some(match self {
            Cells::Empty => return None,
            Cells::Int(array) => ValueRef::Int(array.value(at)),
            Cells::Float(array) => {
                ValueRef::Float(Some(array.value(at)).filter(|it| !it.is_nan())?)
            }
            Cells::Bool(array) => ValueRef::Bool(array.value(at)),
            Cells::Text(array) => ValueRef::String(array.value(at)),
            Cells::Time(array, units) => ValueRef::DateTime(instant(array.value(at), *units)),
            Cells::Vector(array, numbers) => {
                let range = item_range(array, at);
                let has_null =
                    numbers.null_count() != 0 && range.clone().any(|at| numbers.is_null(at));
                ValueRef::Vector(Some(&numbers.values()[range]).filter(|_| !has_null)?)
            }
            Cells::List(_, items) => {
                let at = items.row(at).next()?;
                return items.get(at);
            }
        })
    }
}

/// Returns the instant that lies a number of units after 1970; so many of them make a second.
#[inline]
pub(in crate::tables) fn instant(number: i64, units: i64) -> DateTime {
    DateTime::from_unix(number.div_euclid(units), number.rem_euclid(units) * (NANOS / units))
}

fn item_range(array: &LargeListArray, row: usize) -> Range<usize> {
    let offsets = array.value_offsets();
    offsets[row] as usize..offsets[row + 1] as usize
}

fn child_of(data_type: &DataType) -> &FieldRef {
    match data_type {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => item,
        _ => unreachable!("only lists have children here"),
    }
}

/// Reads ints. Those above all of 64 bits are texts where these preserve their digits, and
/// mismatches elsewhere.
fn ints(array: &ArrayRef, form: Form) -> Result<(Cells, Vec<UnreadableCell>), ColumnError> {
    let lenient = CastOptions { safe: true, ..CastOptions::default() };
    let cast = cast_with_options(array, &DataType::Int64, &lenient).map_err(cast_fault)?;
    if cast.null_count() == array.null_count() {
        return Ok((Cells::Int(cast.as_primitive().clone()), Vec::new()));
    }
    if form.retains_digits() {
        return Ok((Cells::Text(texts(array)?), Vec::new()));
    }
    let mismatches = (0..array.len()).filter(|&row| cast.is_null(row) && array.is_valid(row));
    let mismatches = mismatches.map(|row| {
        let value = array_value_to_string(array, row).ok();
        UnreadableCell { row, value, reason: ColumnError::LargeInt }
    });
    Ok((Cells::Int(cast.as_primitive().clone()), mismatches.collect()))
}

/// Durations as seconds.
fn seconds(array: &ArrayRef) -> Result<Float64Array, ColumnError> {
    let units = match array.data_type() {
        DataType::Duration(TimeUnit::Second) => 1.0,
        DataType::Duration(TimeUnit::Millisecond) => 1e3,
        DataType::Duration(TimeUnit::Microsecond) => 1e6,
        _ => 1e9,
    };
    let numbers = exactly(array, &DataType::Int64)?;
    let numbers = numbers.as_primitive::<arrow_array::types::Int64Type>();
    Ok(numbers.iter().map(|number| number.map(|number| number as f64 / units)).collect())
}

/// The bytes of a UUID as its text.
fn uuid_text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(36);
    for (index, byte) in bytes.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

/// Decimals as texts, as ints are written where ints are requested and the fraction is zero.
fn decimals(array: &ArrayRef, form: Form) -> Result<LargeStringArray, ColumnError> {
    let all = texts(array)?;
    if form != Form::Full {
        return Ok(all);
    }
    let full = |text| match str::split_once(text, '.') {
        Some((full, fraction)) if fraction.bytes().all(|digit| digit == b'0') => full,
        _ => text,
    };
    Ok(all.iter().map(|text| text.map(full)).collect())
}

/// Whether decimals may have more digits than a float, or a fraction of more than a power of ten
/// that is one: else the float that is the nearest comes out of one division.
fn has_many_digits(data_type: &DataType) -> bool {
    use DataType as D;
    match *data_type {
        D::Decimal32(precision, scale)
        | D::Decimal64(precision, scale)
        | D::Decimal128(precision, scale)
        | D::Decimal256(precision, scale) => 15 < precision || 22 < scale,
        _ => false,
    }
}

/// The floats that are the nearest to decimals of many digits.
fn nearest(array: &ArrayRef) -> Result<Float64Array, ColumnError> {
    let float = |text: &str| {
        text.parse().map_err(|_| ColumnError::Cast { reason: format!("{text} is no decimal") })
    };
    texts(array)?.iter().map(|text| text.map(float).transpose()).collect()
}

fn texts(array: &ArrayRef) -> Result<LargeStringArray, ColumnError> {
    Ok(exactly(array, &DataType::LargeUtf8)?.as_string().clone())
}

/// A column of lists without the items that lie before and after its lists: a batch is a part of
/// an array, whose items are all there.
fn narrowed(array: &ArrayRef) -> Result<ArrayRef, ColumnError> {
    fn of<O: OffsetSizeTrait>(array: &GenericListArray<O>) -> Result<ArrayRef, ColumnError> {
        let offsets = array.value_offsets();
        let (first, last) = (offsets[0], offsets[array.len()]);
        let items = array.values().slice(first.as_usize(), (last - first).as_usize());
        let offsets = offsets.iter().map(|&offset| offset - first).collect::<Vec<O>>();
        let field = Field::new("item", items.data_type().clone(), true);
        let (field, offsets) = (Arc::new(field), OffsetBuffer::new(offsets.into()));
        let lists = GenericListArray::try_new(field, offsets, items, array.nulls().cloned());
        Ok(Arc::new(lists.map_err(cast_fault)?))
    }
    match array.data_type() {
        DataType::List(_) => of(array.as_list::<i32>()),
        DataType::LargeList(_) => of(array.as_list::<i64>()),
        _ => Ok(Arc::clone(array)),
    }
}

/// Reads lists of values. A mismatch among these is one of the row whose list has it.
fn lists(array: &ArrayRef, form: Form) -> Result<(Cells, Vec<UnreadableCell>), ColumnError> {
    let item = Arc::clone(child_of(array.data_type()));
    let lists = exactly(array, &DataType::LargeList(item))?;
    let lists: &LargeListArray = lists.as_list();
    // A list of lists is none, so there are no vectors in it.
    let form = if form == Form::Vector { Form::Natural } else { form };
    let (items, mismatches) = Cells::of(lists.values(), form)?;
    let mismatches = mismatches.into_iter().filter_map(|mismatch| {
        let offsets = lists.value_offsets();
        let row =
            offsets.partition_point(|&start| start as usize <= mismatch.row).checked_sub(1)?;
        // Items may lie before, after and between the lists.
        (row < lists.len() && lists.is_valid(row)).then_some(UnreadableCell { row, ..mismatch })
    });
    let mismatches = mismatches.collect();
    Ok((Cells::List(lists.clone(), Box::new(items)), mismatches))
}

fn vectors(array: &ArrayRef) -> Result<(Cells, Vec<UnreadableCell>), ColumnError> {
    let item = child_of(array.data_type()).as_ref().clone().with_data_type(DataType::Float32);
    let lists = exactly(array, &DataType::LargeList(Arc::new(item)))?;
    let lists: &LargeListArray = lists.as_list();
    let numbers: Float32Array = lists.values().as_primitive().clone();
    let has_gap = |row: usize| item_range(lists, row).any(|at| numbers.is_null(at));
    let mut mismatches = Vec::new();
    if numbers.null_count() != 0 {
        let rows = (0..lists.len()).filter(|&row| lists.is_valid(row) && has_gap(row));
        mismatches.extend(rows.map(|row| UnreadableCell {
            row,
            value: None,
            reason: ColumnError::Gap,
        }));
    }
    Ok((Cells::Vector(lists.clone(), numbers), mismatches))
}

fn times(array: &ArrayRef) -> Result<Cells, ColumnError> {
    let (array, unit) = match array.data_type() {
        DataType::Date32 => (exactly(array, &DataType::Date64)?, TimeUnit::Millisecond),
        DataType::Timestamp(unit, _) => (Arc::clone(array), *unit),
        _ => (Arc::clone(array), TimeUnit::Millisecond),
    };
    let units = match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => NANOS,
    };
    // The number of units, whatever the zone is that they are shown in.
    Ok(Cells::Time(exactly(&array, &DataType::Int64)?.as_primitive().clone(), units))
}

/// Converts a column to a type that all its cells fit. A cell that does not would be an error of
/// the entire column, where Arrow would make a null of it: only [`ints`] may have such.
fn exactly(array: &ArrayRef, expected: &DataType) -> Result<ArrayRef, ColumnError> {
    if array.data_type() == expected {
        return Ok(Arc::clone(array));
    }
    let options = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(array, expected, &options).map_err(cast_fault)
}

fn cast_fault(error: ArrowError) -> ColumnError {
    ColumnError::Cast { reason: error.to_string() }
}
