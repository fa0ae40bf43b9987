//! Percentiles of numbers.

use crate::compare::order_floats;
use crate::values::Value;

/// The smallest number that at least this part of the numbers does not exceed; null of none.
pub(super) fn discrete(mut numbers: Vec<Value>, part: f64) -> Value {
    let Some(last) = numbers.len().checked_sub(1) else { return Value::Null };
    let rank = (part * numbers.len() as f64).ceil() as usize;
    let index = rank.saturating_sub(1).min(last);
    numbers.select_nth_unstable(index).1.clone()
}

/// The number at this part of the distance from the smallest to the largest, between two of them
/// where it falls there; null of none. O(numbers).
pub(super) fn continuous(mut numbers: Vec<f64>, part: f64) -> Value {
    let Some(last) = numbers.len().checked_sub(1) else { return Value::Null };
    let position = part * last as f64;
    let index = (position as usize).min(last);
    let order = |one: &f64, other: &f64| order_floats(*one, *other);
    let (_, low, above) = numbers.select_nth_unstable_by(index, order);
    let weight = position - position.floor();
    // Where both are one, so is the result, also for infinite ones.
    if weight == 0.0 {
        return Value::Float(*low);
    }
    let high = above.iter().copied().min_by(order).unwrap_or(*low);
    Value::Float(*low * (1.0 - weight) + high * weight)
}

pub(super) fn float(value: &Value) -> f64 {
    match value {
        Value::Int(number) => *number as f64,
        Value::Float(number) => *number,
        _ => f64::NAN,
    }
}
