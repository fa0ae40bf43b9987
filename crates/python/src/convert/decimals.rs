//! Columns of Python's decimals, with all their digits.
//!
//! Arrow's decimals of a column have one scale: the number of digits after the point. It is the
//! largest that one of the column has, so the others get zeros.

use arrow_array::{ArrayRef, Decimal128Array, Decimal256Array};
use arrow_buffer::i256;
use arrow_schema::ArrowError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::iter::repeat_n;
use std::sync::Arc;

/// The most digits that Arrow's two types have.
const DIGITS_128: usize = 38;
const DIGITS_256: usize = 76;

/// A decimal: the digits times a power of ten.
struct Decimal {
    is_negative: bool,
    digits: Vec<u8>,
    exponent: i64,
}

/// Converts a column whose values are all finite decimals, or missing. `None` for any other column,
/// and for one with more digits than Arrow's decimals have.
///
/// # Errors
///
/// Those of Python.
pub(super) fn decimals(values: &Bound<'_, PyList>) -> PyResult<Option<ArrayRef>> {
    let (mut result, mut scale, mut has_some) = (Vec::new(), 0, false);
    for value in values.iter() {
        let decimal = if value.is_none() { None } else { Some(decimal(&value)?) };
        // A column is most often distinguished from others by its first value.
        if matches!(decimal, Some(None)) {
            return Ok(None);
        }
        let decimal = decimal.flatten();
        has_some |= decimal.is_some();
        scale = scale.max(decimal.as_ref().map_or(0, |it| it.exponent.saturating_neg()));
        result.push(decimal);
    }
    let width = result.iter().flatten().map(|it| width(it, scale)).max().unwrap_or(0);
    let most = width.max(usize::try_from(scale).unwrap_or(usize::MAX));
    if !has_some || DIGITS_256 < most {
        return Ok(None);
    }
    let texts = result.iter().map(|decimal| decimal.as_ref().map(|it| unscaled(it, scale)));
    let wrong = |error: ArrowError| PyValueError::new_err(error.to_string());
    let (short, scale) = (most <= DIGITS_128, scale as i8);
    Ok(Some(if short {
        let numbers = texts.map(|text| text.and_then(|text| text.parse::<i128>().ok()));
        let array = numbers.collect::<Decimal128Array>();
        Arc::new(array.with_precision_and_scale(DIGITS_128 as u8, scale).map_err(wrong)?)
    } else {
        let numbers = texts.map(|text| text.and_then(|text| i256::from_string(&text)));
        let array = numbers.collect::<Decimal256Array>();
        Arc::new(array.with_precision_and_scale(DIGITS_256 as u8, scale).map_err(wrong)?)
    }))
}

/// Reads a decimal; `None` for any other value, and for one that is not finite.
fn decimal(value: &Bound<'_, PyAny>) -> PyResult<Option<Decimal>> {
    if value.get_type().name()? != "Decimal" {
        return Ok(None);
    }
    let parts = value.call_method0("as_tuple")?;
    // That of what is not finite is a letter.
    let Ok(exponent) = parts.getattr("exponent")?.extract::<i64>() else { return Ok(None) };
    let is_negative = parts.getattr("sign")?.extract::<u8>()? == 1;
    let digits = parts.getattr("digits")?.extract::<Vec<u8>>()?;
    Ok(Some(Decimal { is_negative, digits, exponent }))
}

/// The number of digits that a decimal has with so many of them after the point.
fn width(decimal: &Decimal, scale: i64) -> usize {
    let zeros = decimal.exponent.saturating_add(scale);
    decimal.digits.len().saturating_add(usize::try_from(zeros).unwrap_or(usize::MAX))
}

/// The digits of a decimal as an int, with so many of them after the point, within the limit.
fn unscaled(decimal: &Decimal, scale: i64) -> String {
    let zeros = usize::try_from(decimal.exponent.saturating_add(scale)).unwrap_or(0);
    let sign = decimal.is_negative.then_some('-');
    let digits = decimal.digits.iter().map(|digit| char::from(b'0' + digit));
    sign.into_iter().chain(digits).chain(repeat_n('0', zeros)).collect()
}
