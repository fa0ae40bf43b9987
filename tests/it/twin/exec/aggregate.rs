//! `min max sum avg`.

use super::level::number;
use hexgraph::plan::Aggregate;
use hexgraph::types::Value;

/// One aggregate over some values; `None` when there are none.
pub fn aggregate(op: Aggregate, values: &[Value]) -> Option<Value> {
    let first = values.first()?;
    Some(match op {
        Aggregate::Min => pick(values, std::cmp::Ordering::Less),
        Aggregate::Max => pick(values, std::cmp::Ordering::Greater),
        Aggregate::Sum => match number(first) {
            Some(_) => finite(sum(values)),
            None => first.clone(),
        },
        Aggregate::Avg => match number(first) {
            Some(_) => finite(Value::Float(number(&sum(values))? / values.len() as f64)),
            None => Value::Float(0.0),
        },
    })
}

/// What overflows becomes the greatest float.
fn finite(value: Value) -> Value {
    match value {
        Value::Float(number) => Value::Float(number.clamp(f64::MIN, f64::MAX)),
        value => value,
    }
}

fn pick(values: &[Value], side: std::cmp::Ordering) -> Value {
    let mut best = &values[0];
    for value in values {
        if value.as_ref().compare(best.as_ref()) == Some(side) {
            best = value;
        }
    }
    best.clone()
}

/// The sum of numbers: an int when all are.
pub fn sum(values: &[Value]) -> Value {
    let ints: Option<Vec<i64>> = values
        .iter()
        .map(|value| if let Value::Int(number) = value { Some(*number) } else { None })
        .collect();
    match ints {
        Some(ints) => Value::Int(ints.into_iter().fold(0, i64::wrapping_add)),
        None => Value::Float(values.iter().filter_map(number).sum()),
    }
}
