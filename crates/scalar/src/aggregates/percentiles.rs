//! Percentiles of sorted numbers.

use crate::values::Value;

/// The smallest number that at least this part of the numbers does not exceed; null of none.
pub(super) fn discrete(mut numbers: Vec<Value>, part: f64) -> Value {
    let Some(last) = numbers.len().checked_sub(1) else { return Value::Null };
    let rank = (part * numbers.len() as f64).ceil() as usize;
    let index = rank.saturating_sub(1).min(last);
    numbers.select_nth_unstable(index).1.clone()
}

/// The number at this part of the distance from the smallest to the largest, between two of them
/// where it falls there; null of none.
pub(super) fn continuous(mut numbers: Vec<Value>, part: f64) -> Value {
    let Some(last) = numbers.len().checked_sub(1) else { return Value::Null };
    numbers.sort_unstable();
    let position = part * last as f64;
    let number = |index: f64| float(&numbers[(index as usize).min(last)]);
    let (low, high) = (number(position.floor()), number(position.ceil()));
    let weight = position - position.floor();
    // Where both are one, so is the result, also for infinite ones.
    Value::Float(if weight == 0.0 { low } else { low * (1.0 - weight) + high * weight })
}

pub(super) fn float(value: &Value) -> f64 {
    match value {
        Value::Int(number) => *number as f64,
        Value::Float(number) => *number,
        _ => f64::NAN,
    }
}
