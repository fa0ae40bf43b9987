//! Conversions of one value, of one value or null, and of the elements of a list.

use super::call::Call;
use crate::error::Result;
use crate::values::Value;

/// A conversion of one value; `None` where the kind cannot be converted, null where the value
/// cannot.
type Conversion = fn(&Value) -> Option<Value>;

pub(super) fn to_string(call: &Call<'_>) -> Result<Value> {
    one(call, text, "a value that has a text")
}

pub(super) fn to_integer(call: &Call<'_>) -> Result<Value> {
    one(call, integer, "a number, BOOLEAN or STRING")
}

pub(super) fn to_float(call: &Call<'_>) -> Result<Value> {
    one(call, float, "a number or STRING")
}

pub(super) fn to_boolean(call: &Call<'_>) -> Result<Value> {
    one(call, boolean, "a BOOLEAN, STRING or INTEGER")
}

pub(super) fn to_string_or_null(call: &Call<'_>) -> Result<Value> {
    or_null(call, text)
}

pub(super) fn to_integer_or_null(call: &Call<'_>) -> Result<Value> {
    or_null(call, integer)
}

pub(super) fn to_float_or_null(call: &Call<'_>) -> Result<Value> {
    or_null(call, float)
}

pub(super) fn to_boolean_or_null(call: &Call<'_>) -> Result<Value> {
    or_null(call, boolean)
}

pub(super) fn to_string_list(call: &Call<'_>) -> Result<Value> {
    list(call, text)
}

pub(super) fn to_integer_list(call: &Call<'_>) -> Result<Value> {
    list(call, integer)
}

pub(super) fn to_float_list(call: &Call<'_>) -> Result<Value> {
    list(call, float)
}

pub(super) fn to_boolean_list(call: &Call<'_>) -> Result<Value> {
    list(call, boolean)
}

fn one(call: &Call<'_>, convert: Conversion, expected: &str) -> Result<Value> {
    convert(call.get(0)).ok_or_else(|| call.wrong_kind(0, expected))
}

fn or_null(call: &Call<'_>, convert: Conversion) -> Result<Value> {
    Ok(convert(call.get(0)).unwrap_or(Value::Null))
}

fn list(call: &Call<'_>, convert: Conversion) -> Result<Value> {
    let items = call.list(0)?;
    let values = items.iter().map(|item| convert(item).unwrap_or(Value::Null));
    call.list_of(items.len() as u128, values)
}

fn text(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) => Some(Value::String(text.clone())),
        Value::Null => Some(Value::Null),
        Value::List(_)
        | Value::Map(_)
        | Value::Node(_)
        | Value::Relationship(_)
        | Value::Path(_) => None,
        scalar => Some(Value::from(scalar.to_string())),
    }
}

fn integer(value: &Value) -> Option<Value> {
    Some(match value {
        Value::Int(number) => Value::Int(*number),
        Value::Float(number) => truncated(*number),
        Value::Bool(value) => Value::Int(i64::from(*value)),
        Value::String(text) => {
            let text = text.trim();
            text.parse()
                .map(Value::Int)
                .unwrap_or_else(|_| parsed(text).map_or(Value::Null, truncated))
        }
        Value::Null => Value::Null,
        _ => return None,
    })
}

/// The integer part; null where it is beyond 64 bits, or NaN.
fn truncated(number: f64) -> Value {
    let is_small = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&number);
    if is_small { Value::Int(number as i64) } else { Value::Null }
}

/// A float of a text with digits, or one of the names that a float has as a text.
fn parsed(text: &str) -> Option<f64> {
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    let is_name = ["NaN", "Infinity", "-Infinity"].contains(&text);
    if has_digit || is_name { text.parse().ok() } else { None }
}

fn float(value: &Value) -> Option<Value> {
    Some(match value {
        Value::Float(number) => Value::Float(*number),
        Value::Int(number) => Value::Float(*number as f64),
        Value::String(text) => parsed(text.trim()).map_or(Value::Null, Value::Float),
        Value::Null => Value::Null,
        _ => return None,
    })
}

fn boolean(value: &Value) -> Option<Value> {
    Some(match value {
        Value::Bool(value) => Value::Bool(*value),
        Value::Int(number) => Value::Bool(*number != 0),
        Value::String(text) => match text.trim() {
            text if text.eq_ignore_ascii_case("true") => Value::Bool(true),
            text if text.eq_ignore_ascii_case("false") => Value::Bool(false),
            _ => Value::Null,
        },
        Value::Null => Value::Null,
        _ => return None,
    })
}

pub(super) fn value_type(call: &Call<'_>) -> Result<Value> {
    Ok(Value::from(call.get(0).kind().name()))
}
