//! Arrow's many types of columns as the few types that values have.

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float32Array, Float64Array, Int64Array, LargeListArray,
    LargeStringArray,
};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, FieldRef, TimeUnit};
use hexgraph_base::types::{DateTime, ValueRef, ValueType};
use std::ops::Range;
use std::sync::Arc;

const NANOS: i64 = 1_000_000_000;

/// Why a column has no values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in crate::tables) enum ColumnError {
    /// Its cells are lists of lists.
    #[error("a list of lists is no value")]
    NestedLists,
    /// Its type is none that values have.
    #[error("Arrow's type {name} has no type of values")]
    NoValues {
        /// The type, as Arrow writes it.
        name: String,
    },
    /// A cell does not fit the type that the column is read as.
    #[error("{reason}")]
    Cast {
        /// What Arrow says.
        reason: String,
    },
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

/// Returns the type that the values of a column have by nature, and true if a row has many of them; `None`
/// for a column of nulls.
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
        D::Timestamp(..) | D::Date32 | D::Date64 => ValueType::DateTime,
        D::Dictionary(_, values) => return natural_type(values),
        D::FixedSizeList(item, _) if is_float(item.data_type()) => ValueType::Vector,
        D::List(item) | D::LargeList(item) | D::FixedSizeList(item, _) => {
            return match natural_type(item.data_type())? {
                Some((_, true)) => Err(ColumnError::NestedLists),
                item => Ok(item.map(|(value_type, _)| (value_type, true))),
            };
        }
        other => return Err(ColumnError::NoValues { name: other.to_string() }),
    };
    Ok(Some((value_type, false)))
}

fn is_float(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Float16 | DataType::Float32 | DataType::Float64)
}

impl Cells {
    /// Reads the cells of a column. `as_vector` reads lists of floats as vectors.
    ///
    /// # Errors
    ///
    /// [`ColumnError`] when the column has no values.
    pub(in crate::tables) fn of(array: &ArrayRef, as_vector: bool) -> Result<Cells, ColumnError> {
        if let DataType::Dictionary(_, values) = array.data_type() {
            return Cells::of(&exactly(array, values)?, as_vector);
        }
        let data_type = array.data_type();
        let Some((value_type, is_list)) = natural_type(data_type)? else { return Ok(Cells::Empty) };
        if value_type == ValueType::Vector && !is_list
            || as_vector && value_type == ValueType::Float && is_list
        {
            return vectors(array);
        }
        if is_list {
            let item = Arc::clone(child_of(data_type));
            let lists = exactly(array, &DataType::LargeList(item))?;
            let lists: &LargeListArray = lists.as_list();
            let items = Cells::of(lists.values(), false)?;
            return Ok(Cells::List(lists.clone(), Box::new(items)));
        }
        let cast_to = |wanted| exactly(array, &wanted);
        Ok(match value_type {
            ValueType::Int => Cells::Int(cast_to(DataType::Int64)?.as_primitive().clone()),
            ValueType::Float => Cells::Float(cast_to(DataType::Float64)?.as_primitive().clone()),
            ValueType::Bool => Cells::Bool(cast_to(DataType::Boolean)?.as_boolean().clone()),
            ValueType::DateTime => times(array)?,
            _ => Cells::Text(cast_to(DataType::LargeUtf8)?.as_string().clone()),
        })
    }

    /// Returns the places of the values of a row, for [`Cells::get`].
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

    /// Returns the value at a place; `None` for a null, a NaN, and a vector with a null in it.
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

fn vectors(array: &ArrayRef) -> Result<Cells, ColumnError> {
    let item = child_of(array.data_type()).as_ref().clone().with_data_type(DataType::Float32);
    let lists = exactly(array, &DataType::LargeList(Arc::new(item)))?;
    let lists: &LargeListArray = lists.as_list();
    Ok(Cells::Vector(lists.clone(), lists.values().as_primitive().clone()))
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

/// Converts a column to a type. It fails at the first cell that does not fit, where Arrow would make a null of it.
fn exactly(array: &ArrayRef, wanted: &DataType) -> Result<ArrayRef, ColumnError> {
    if array.data_type() == wanted {
        return Ok(Arc::clone(array));
    }
    let options = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(array, wanted, &options)
        .map_err(|error| ColumnError::Cast { reason: error.to_string() })
}
