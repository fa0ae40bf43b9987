//! Aggregates, from a list of the values.

use super::level::number;
use super::state::{Outcome, refuse};
use hexgraph::internals::plan::{Aggregate, Algebraic, Holistic};
use hexgraph::types::Value;

/// One aggregate over some values; `None` when there are none.
pub fn aggregate(op: Aggregate, values: &[Value]) -> Outcome<Option<Value>> {
    match op {
        Aggregate::Algebraic(op) => algebraic(op, values),
        Aggregate::Holistic(op) => holistic(op, values),
    }
}

fn holistic(op: Holistic, values: &[Value]) -> Outcome<Option<Value>> {
    if op == Holistic::CountDistinct {
        return Ok(Some(Value::Int(distinct(values) as i64)));
    }
    let Some(mut numbers) = values.iter().map(number).collect::<Option<Vec<f64>>>() else {
        return refuse("an aggregate of what is no number");
    };
    numbers.sort_by(f64::total_cmp);
    let result = match op {
        Holistic::Median => quantile(&numbers, 0.5),
        Holistic::Quantile(fraction) => quantile(&numbers, fraction.get()),
        Holistic::StdDev => {
            variance(&distances(values, numbers)).map(|(squares, scale)| squares.sqrt() * scale)
        }
        Holistic::Variance => {
            variance(&distances(values, numbers)).map(|(squares, scale)| squares * scale * scale)
        }
        Holistic::CountDistinct => unreachable!("it was counted above"),
    };
    Ok(result.map(|number| finite(Value::Float(number))))
}

/// Numbers with the same variance: of ints their distances from one of them, since large ints have
/// more digits than floats.
fn distances(values: &[Value], numbers: Vec<f64>) -> Vec<f64> {
    let int =
        |value: &Value| if let Value::Int(int) = value { Some(i128::from(*int)) } else { None };
    let ints: Option<Vec<i128>> = values.iter().map(int).collect();
    ints.map_or(numbers, |ints| ints.iter().map(|int| (int - ints[0]) as f64).collect())
}

/// The number of values that equal none before them.
pub fn distinct(values: &[Value]) -> usize {
    let is_first = |position: usize| {
        let is_same = |other: &Value| other.as_ref().equals(values[position].as_ref());
        !values[..position].iter().any(is_same)
    };
    (0..values.len()).filter(|position| is_first(*position)).count()
}

/// The number at a fraction of sorted ones: the weighted mean of its two neighbours.
fn quantile(numbers: &[f64], fraction: f64) -> Option<f64> {
    let position = fraction * numbers.len().checked_sub(1)? as f64;
    let weight = position - position.floor();
    let (below, above) = (numbers[position.floor() as usize], numbers[position.ceil() as usize]);
    Some(below * (1.0 - weight) + above * weight)
}

/// The mean square of the distances from the mean, of a sample, and the square root of what it has
/// to be multiplied by: numbers whose squares overflow are divided first, by a power of two.
fn variance(numbers: &[f64]) -> Option<(f64, f64)> {
    let is_large = numbers.iter().any(|number| 1e150 <= number.abs());
    let scale = if is_large { 2.0_f64.powi(600) } else { 1.0 };
    let numbers: Vec<f64> = numbers.iter().map(|number| number / scale).collect();
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    let squares = numbers.iter().map(|number| (number - mean) * (number - mean) / (count - 1.0));
    (1 < numbers.len()).then(|| (squares.sum(), scale))
}

fn algebraic(op: Algebraic, values: &[Value]) -> Outcome<Option<Value>> {
    let Some(first) = values.first() else { return Ok(None) };
    Ok(Some(match op {
        Algebraic::Min => pick(values, std::cmp::Ordering::Less),
        Algebraic::Max => pick(values, std::cmp::Ordering::Greater),
        Algebraic::Sum => match number(first) {
            Some(_) => finite(sum(values)?),
            None => first.clone(),
        },
        Algebraic::Avg => match number(first) {
            Some(_) => finite(Value::Float(mean(values))),
            None => Value::Float(0.0),
        },
    }))
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

/// The sum of numbers: an int when all are, which has to be one of 64 bits.
pub fn sum(values: &[Value]) -> Outcome<Value> {
    match ints(values) {
        None => Ok(Value::Float(sum_of_floats(values))),
        Some(ints) => match i64::try_from(ints.iter().sum::<i128>()) {
            Ok(sum) => Ok(Value::Int(sum)),
            Err(_) => refuse("a sum that is no int"),
        },
    }
}

/// The mean, from exact parts: each int's own quotient and remainder.
fn mean(values: &[Value]) -> f64 {
    let count = values.len() as i128;
    match ints(values) {
        Some(ints) => {
            let full: i128 = ints.iter().map(|number| number.div_euclid(count)).sum();
            let rest: i128 = ints.iter().map(|number| number.rem_euclid(count)).sum();
            full as f64 + rest as f64 / count as f64
        }
        None => sum_of_floats(values) / count as f64,
    }
}

/// The sum of floats: the sums of 1,024 at a time, added up.
fn sum_of_floats(values: &[Value]) -> f64 {
    let floats: Vec<f64> = values.iter().filter_map(number).collect();
    floats.chunks(1024).map(|floats| floats.iter().sum::<f64>()).sum()
}

/// The numbers, when all are ints.
fn ints(values: &[Value]) -> Option<Vec<i128>> {
    let int = |value: &Value| match value {
        Value::Int(number) => Some(i128::from(*number)),
        _ => None,
    };
    values.iter().map(int).collect()
}
