//! Functions of lists and maps, and those that choose among values.

use super::call::Call;
use crate::error::Result;
use crate::values::Value;

pub(super) fn range(call: &Call<'_>) -> Result<Value> {
    let (start, end) = (call.int(0)?, call.int(1)?);
    let step = if call.has(2) { call.int(2)? } else { 1 };
    if step == 0 {
        return Err(call.wrong_value(2, "a step other than 0"));
    }
    let (first, last, wide) = (i128::from(start), i128::from(end), i128::from(step));
    let count = ((last - first) / wide + 1).max(0);
    let is_empty = if 0 < step { end < start } else { start < end };
    let count = if is_empty { 0 } else { count as u128 };
    // All values lie between the bounds, so they have 64 bits.
    let values = (0..count as i128).map(|index| Value::Int((first + index * wide) as i64));
    call.list_of(count, values)
}

pub(super) fn head(call: &Call<'_>) -> Result<Value> {
    Ok(call.list(0)?.first().cloned().unwrap_or(Value::Null))
}

pub(super) fn last(call: &Call<'_>) -> Result<Value> {
    Ok(call.list(0)?.last().cloned().unwrap_or(Value::Null))
}

pub(super) fn tail(call: &Call<'_>) -> Result<Value> {
    let items = call.list(0)?.get(1..).unwrap_or_default();
    call.list_of(items.len() as u128, items.iter().cloned())
}

pub(super) fn size(call: &Call<'_>) -> Result<Value> {
    match call.get(0) {
        Value::List(items) => Ok(Value::Int(items.len() as i64)),
        Value::String(text) => Ok(Value::Int(text.chars().count() as i64)),
        Value::Map(map) => Ok(Value::Int(map.entries().len() as i64)),
        _ => Err(call.wrong_kind(0, "a LIST, STRING or MAP")),
    }
}

pub(super) fn reverse(call: &Call<'_>) -> Result<Value> {
    match call.get(0) {
        Value::List(items) => call.list_of(items.len() as u128, items.iter().rev().cloned()),
        Value::String(text) => Ok(Value::from(text.chars().rev().collect::<String>())),
        _ => Err(call.wrong_kind(0, "a LIST or STRING")),
    }
}

pub(super) fn is_empty(call: &Call<'_>) -> Result<Value> {
    match call.get(0) {
        Value::List(items) => Ok(Value::Bool(items.is_empty())),
        Value::String(text) => Ok(Value::Bool(text.is_empty())),
        Value::Map(map) => Ok(Value::Bool(map.entries().is_empty())),
        _ => Err(call.wrong_kind(0, "a LIST, STRING or MAP")),
    }
}

pub(super) fn keys(call: &Call<'_>) -> Result<Value> {
    let entries = call.map(0)?.entries();
    call.list_of(entries.len() as u128, entries.iter().map(|(key, _)| Value::String(key.clone())))
}

pub(super) fn properties(call: &Call<'_>) -> Result<Value> {
    call.map(0)?;
    Ok(call.get(0).clone())
}

pub(super) fn coalesce(call: &Call<'_>) -> Result<Value> {
    let first = call.arguments.iter().find(|value| !value.is_null());
    Ok(first.cloned().unwrap_or(Value::Null))
}

pub(super) fn null_if(call: &Call<'_>) -> Result<Value> {
    let is_equal = crate::compare::equals(call.get(0), call.get(1)) == Some(true);
    Ok(if is_equal { Value::Null } else { call.get(0).clone() })
}
