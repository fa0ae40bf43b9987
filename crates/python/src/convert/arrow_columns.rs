//! The columns of a table in the forms of numpy and pandas, without an Arrow library.

use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, FixedSizeListArray, Float32Array, Float64Array,
    Int64Array, LargeListArray, LargeStringArray, StringArray, StructArray, Time64NanosecondArray,
    TimestampMicrosecondArray, TimestampNanosecondArray, UInt64Array,
};
use arrow_schema::DataType;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{
    PyByteArray, PyBytes, PyDate, PyDateTime, PyDelta, PyDict, PyList, PyTime, PyTzInfo,
};
use pyo3_arrow::buffer::PyArrowBuffer;

/// The microseconds of a second, and of a day.
const MICROS: i64 = 1_000_000;
const DAY: i64 = 86_400 * MICROS;

/// The bytes of an object of Python in addition to its content, with its slot: a number needs as
/// much, and an empty text.
const OBJECT_BYTES: u64 = 56;

/// A column: what its values are (a dtype of numpy, or "text" or "object"), the values as bytes or
/// as a list, and a byte for each that says whether it is missing.
pub(crate) type PyColumn<'py> = (&'static str, Bound<'py, PyAny>, Bound<'py, PyBytes>);

/// Converts one array to a column. Numbers and times are copied as they lie in memory, eight bytes
/// each in the order of the machine; truth values are a byte each. Where a value is missing its
/// bytes mean nothing. Text and lists cost a Python object each.
pub(crate) fn column<'py>(py: Python<'py>, array: &ArrayRef) -> PyResult<PyColumn<'py>> {
    let make = |bytes: &[u8]| PyBytes::new(py, bytes).into_any();
    let (kind, values) = match plain(array, make) {
        Some(column) => column,
        None => (kind_of_others(array), items(py, array)?),
    };
    let missing = missing(array).unwrap_or_else(|| vec![0; array.len()]);
    Ok((kind, values, PyBytes::new(py, &missing)))
}

/// A column for a data frame: its values as a bytearray, which the frame may write to, and the byte
/// for each that says whether it is missing, `None` where none is. The values of texts are `None`
/// where `with_texts` does not request them. The dtype of timestamps has their zone, if they have
/// one.
pub(crate) fn frame_column<'py>(
    py: Python<'py>,
    array: &ArrayRef,
    with_texts: bool,
) -> PyResult<(String, Bound<'py, PyAny>, Option<Bound<'py, PyBytes>>)> {
    let make = |bytes: &[u8]| PyByteArray::new(py, bytes).into_any();
    let (kind, values) = match (plain(array, make), kind_of_others(array)) {
        (Some(column), _) => column,
        (None, "text") if !with_texts => ("text", py.None().into_bound(py)),
        (None, kind) => (kind, items(py, array)?),
    };
    let kind = match (array.data_type(), kind.strip_suffix(']')) {
        (DataType::Timestamp(_, Some(zone)), Some(unit)) => format!("{unit}, {zone}]"),
        _ => kind.to_owned(),
    };
    Ok((kind, values, missing(array).map(|missing| PyBytes::new(py, &missing))))
}

/// The dtype and the bytes of a column of numbers, times or truth values.
fn plain<'py>(
    array: &ArrayRef,
    make: impl Fn(&[u8]) -> Bound<'py, PyAny>,
) -> Option<(&'static str, Bound<'py, PyAny>)> {
    Some(if let Some(array) = of::<Int64Array>(array) {
        ("int64", make(bytemuck::cast_slice(array.values())))
    } else if let Some(array) = of::<UInt64Array>(array) {
        ("uint64", make(bytemuck::cast_slice(array.values())))
    } else if let Some(array) = of::<Float64Array>(array) {
        ("float64", make(bytemuck::cast_slice(array.values())))
    } else if let Some(array) = of::<BooleanArray>(array) {
        let truths: Vec<u8> = array.values().iter().map(u8::from).collect();
        ("bool", make(&truths))
    } else if let Some(array) = of::<TimestampNanosecondArray>(array) {
        ("datetime64[ns]", make(bytemuck::cast_slice(array.values())))
    } else if let Some(array) = of::<TimestampMicrosecondArray>(array) {
        ("datetime64[us]", make(bytemuck::cast_slice(array.values())))
    } else {
        return None;
    })
}

/// The dtype and the numbers of a column where they lie. Where some are missing all are copied as
/// floats, and these are NaN.
pub(crate) fn numbers<'py>(
    py: Python<'py>,
    array: &ArrayRef,
) -> PyResult<Option<(&'static str, Bound<'py, PyAny>)>> {
    let (kind, buffer) = if let Some(array) = of::<Int64Array>(array) {
        if array.null_count() != 0 {
            return with_gaps(py, array.iter().map(|number| number.map(|it| it as f64)));
        }
        ("int64", array.values().inner())
    } else if let Some(array) = of::<Float64Array>(array) {
        if array.null_count() != 0 {
            return with_gaps(py, array.iter());
        }
        ("float64", array.values().inner())
    } else if let Some(array) = of::<UInt64Array>(array).filter(|array| array.null_count() == 0) {
        ("uint64", array.values().inner())
    } else {
        return Ok(None);
    };
    Ok(Some((kind, PyArrowBuffer::new(buffer.clone()).into_bound_py_any(py)?)))
}

/// Numbers, some missing, in memory that may be written to.
fn with_gaps<'py>(
    py: Python<'py>,
    numbers: impl ExactSizeIterator<Item = Option<f64>>,
) -> PyResult<Option<(&'static str, Bound<'py, PyAny>)>> {
    let bytes = PyByteArray::new_with(py, size_of::<f64>() * numbers.len(), |bytes| {
        let cells = bytes.chunks_exact_mut(size_of::<f64>());
        cells.zip(numbers).for_each(|(cell, number)| {
            cell.copy_from_slice(&number.unwrap_or(f64::NAN).to_ne_bytes());
        });
        Ok(())
    })?;
    Ok(Some(("float64", bytes.into_any())))
}

fn kind_of_others(array: &ArrayRef) -> &'static str {
    let is_text = of::<StringArray>(array).is_some() || of::<LargeStringArray>(array).is_some();
    if is_text { "text" } else { "object" }
}

fn items<'py>(py: Python<'py>, array: &ArrayRef) -> PyResult<Bound<'py, PyAny>> {
    let items: PyResult<Vec<_>> =
        (0..array.len()).map(|position| item(py, array, position)).collect();
    Ok(PyList::new(py, items?)?.into_any())
}

/// A byte for each value, 1 where it is missing; `None` where none is.
fn missing(array: &ArrayRef) -> Option<Vec<u8>> {
    // A column without a missing value may have a list of them nevertheless, so they are counted.
    let nulls = array.nulls().filter(|nulls| nulls.null_count() != 0)?;
    Some(nulls.iter().map(|is_valid| u8::from(!is_valid)).collect())
}

/// Converts one value to a Python object: a scalar, a list, or a dict. Tables of answers have no
/// other types.
pub(crate) fn item<'py>(
    py: Python<'py>,
    array: &ArrayRef,
    position: usize,
) -> PyResult<Bound<'py, PyAny>> {
    if array.is_null(position) {
        return Ok(py.None().into_bound(py));
    }
    if let Some(array) = of::<StringArray>(array) {
        array.value(position).into_bound_py_any(py)
    } else if let Some(array) = of::<LargeStringArray>(array) {
        array.value(position).into_bound_py_any(py)
    } else if let Some(array) = of::<Int64Array>(array) {
        array.value(position).into_bound_py_any(py)
    } else if let Some(array) = of::<UInt64Array>(array) {
        array.value(position).into_bound_py_any(py)
    } else if let Some(array) = of::<Float64Array>(array) {
        array.value(position).into_bound_py_any(py)
    } else if let Some(array) = of::<Float32Array>(array) {
        array.value(position).into_bound_py_any(py)
    } else if let Some(array) = of::<BooleanArray>(array) {
        array.value(position).into_bound_py_any(py)
    } else if let Some(times) = of::<TimestampNanosecondArray>(array) {
        time(py, times.value(position).div_euclid(1_000), times.timezone())
    } else if let Some(times) = of::<TimestampMicrosecondArray>(array) {
        time(py, times.value(position), times.timezone())
    } else if let Some(days) = of::<Date32Array>(array) {
        let days = PyDelta::new(py, days.value(position), 0, 0, false)?;
        PyDate::new(py, 1970, 1, 1)?.add(days)
    } else if let Some(nanos) = of::<Time64NanosecondArray>(array) {
        time_of_day(py, nanos.value(position) / 1_000)
    } else if let Some(array) = of::<LargeListArray>(array) {
        items(py, &array.value(position))
    } else if let Some(array) = of::<FixedSizeListArray>(array) {
        items(py, &array.value(position))
    } else if let Some(array) = of::<StructArray>(array) {
        let object = PyDict::new(py);
        for (field, column) in array.fields().iter().zip(array.columns()) {
            // What a node lacks is not in its dict, as in `to_dict`.
            if !column.is_null(position) {
                object.set_item(field.name(), item(py, column, position)?)?;
            }
        }
        Ok(object.into_any())
    } else {
        Ok(py.None().into_bound(py))
    }
}

/// A time in microseconds since 1970, as a `datetime` of its zone, or of none. A double has not the
/// digits of all of them, so they stay integers; the nanoseconds that Python has not are cut. An
/// exception of Python is passed on for a year beyond 9999.
fn time<'py>(py: Python<'py>, micros: i64, zone: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
    let utc = zone.map(|_| PyTzInfo::utc(py)).transpose()?;
    let utc = utc.as_deref();
    let epoch = PyDateTime::new(py, 1970, 1, 1, 0, 0, 0, 0, utc)?;
    let (days, rest) = (micros.div_euclid(DAY), micros.rem_euclid(DAY));
    // Fewer than 2^63 microseconds are 106,751,991 days at most, and a rest is less than one of
    // them.
    let (seconds, rest) = ((rest / MICROS) as i32, (rest % MICROS) as i32);
    let time = epoch.add(PyDelta::new(py, days as i32, seconds, rest, false)?)?;
    match zone {
        None | Some("UTC") => Ok(time),
        Some(zone) => time.call_method1("astimezone", (zone_of(py, zone)?,)),
    }
}

/// The `tzinfo` of a name, or of an offset such as `+02:00`.
fn zone_of<'py>(py: Python<'py>, zone: &str) -> PyResult<Bound<'py, PyAny>> {
    let Some((hours, minutes)) = zone.strip_prefix(['+', '-']).and_then(|it| it.split_once(':'))
    else {
        return py.import("zoneinfo")?.getattr("ZoneInfo")?.call1((zone,));
    };
    let seconds = hours.parse::<i32>()? * 3600 + minutes.parse::<i32>()? * 60;
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let offset = PyDelta::new(py, 0, sign * seconds, 0, true)?;
    Ok(PyTzInfo::fixed_offset(py, offset)?.into_any())
}

/// A time of day in microseconds since midnight, as a `time`.
fn time_of_day(py: Python<'_>, micros: i64) -> PyResult<Bound<'_, PyAny>> {
    let seconds = micros / MICROS;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let micros = (micros % MICROS) as u32;
    Ok(PyTime::new(py, hour as u8, minute as u8, second as u8, micros, None)?.into_any())
}

/// The bytes of [`column`] and [`frame_column`], approximately.
pub(crate) fn column_bytes(array: &ArrayRef, with_texts: bool) -> u64 {
    // A byte says whether a value is missing.
    let own = match array.data_type() {
        DataType::Boolean => 1,
        DataType::Int64 | DataType::UInt64 | DataType::Float64 | DataType::Timestamp(..) => 8,
        DataType::Utf8 | DataType::LargeUtf8 if !with_texts => 0,
        _ => return object_bytes(array) + array.len() as u64,
    };
    (own + 1) * array.len() as u64
}

/// The bytes of the Python objects of an array, approximately.
pub(crate) fn object_bytes(array: &ArrayRef) -> u64 {
    let within = if let Some(array) = of::<StringArray>(array) {
        // There is an end before the first one, whatever the length.
        (array.value_offsets()[array.len()] - array.value_offsets()[0]) as u64
    } else if let Some(array) = of::<LargeStringArray>(array) {
        (array.value_offsets()[array.len()] - array.value_offsets()[0]) as u64
    } else if let Some(array) = of::<LargeListArray>(array) {
        let offsets = array.value_offsets();
        let (start, end) = (offsets[0] as usize, offsets[array.len()] as usize);
        object_bytes(&array.values().slice(start, end - start))
    } else if let Some(array) = of::<FixedSizeListArray>(array) {
        object_bytes(array.values())
    } else if let Some(array) = of::<StructArray>(array) {
        array.columns().iter().map(object_bytes).sum()
    } else {
        0
    };
    OBJECT_BYTES * array.len() as u64 + within
}

fn of<T: 'static>(array: &ArrayRef) -> Option<&T> {
    array.as_any().downcast_ref::<T>()
}
