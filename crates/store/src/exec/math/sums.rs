//! Sums of values. Ints are summed in 128 bits, which no number of 64-bit ints overflows; floats as
//! [`FloatSum`] says. Ints before the first float are one value of a sum of floats.

use super::float_sums::FloatSum;
use hexgraph_base::types::{BigFloat, Error, Result, Value, ValueRef};

/// The sum of some values, one at least, and how many they are.
#[derive(Debug, Clone)]
pub struct Sum {
    total: Total,
    count: usize,
}

/// The state of a sum.
#[derive(Debug, Clone)]
enum Total {
    /// The sum of ints.
    Int(i128),
    /// The sum of floats, or of ints and floats.
    Float(FloatSum),
    /// The sum of vectors or of big floats; of values that have no sum, the first one.
    Other(Value),
}

impl Sum {
    /// The sum of one value.
    pub fn of(value: ValueRef<'_>) -> Sum {
        let total = match value {
            ValueRef::Int(number) => Total::Int(number.into()),
            ValueRef::Float(number) => Total::Float(FloatSum::of(number)),
            other => Total::Other(other.to_value()),
        };
        Sum { total, count: 1 }
    }

    /// The sum of some values; `None` when there are none.
    pub fn over<'v>(mut values: impl Iterator<Item = ValueRef<'v>>) -> Option<Sum> {
        let mut sum = Sum::of(values.next()?);
        values.for_each(|value| sum.add(value));
        Some(sum)
    }

    /// The sum of some ints; `None` when there are none.
    pub fn of_ints(numbers: &[i64]) -> Option<Sum> {
        let total = Total::Int(numbers.iter().map(|number| i128::from(*number)).sum());
        (!numbers.is_empty()).then_some(Sum { total, count: numbers.len() })
    }

    /// The sum of `count` ints, one at least, that add up to `total`.
    pub fn of_int_total(total: i128, count: usize) -> Sum {
        Sum { total: Total::Int(total), count }
    }

    /// The sum of `count` floats, one at least, that add up to `total`.
    pub fn of_float_total(total: f64, count: usize) -> Sum {
        Sum { total: Total::Float(FloatSum::of(total)), count }
    }

    /// Adds a value.
    pub fn add(&mut self, value: ValueRef<'_>) {
        self.count += 1;
        match (&mut self.total, value) {
            (Total::Int(sum), ValueRef::Int(more)) => *sum += i128::from(more),
            (Total::Int(sum), ValueRef::Float(more)) => {
                self.total = Total::Float(behind_ints(*sum, more));
            }
            (Total::Float(sum), ValueRef::Float(more)) => sum.add(more),
            (Total::Float(sum), ValueRef::Int(more)) => sum.add(more as f64),
            (Total::Other(sum), more) => {
                if let Some(added) = added(sum, more) {
                    *sum = added;
                }
            }
            (Total::Int(_) | Total::Float(_), _) => {}
        }
    }

    /// Adds another sum of numbers, as one value.
    pub fn add_sum(&mut self, other: &Sum) {
        let count = self.count + other.count;
        match (&mut self.total, &other.total) {
            (Total::Int(sum), Total::Int(more)) => *sum += more,
            (Total::Int(sum), Total::Float(more)) => {
                self.total = Total::Float(behind_ints(*sum, more.total()));
            }
            (Total::Float(sum), Total::Int(more)) => sum.add(*more as f64),
            (Total::Float(sum), Total::Float(more)) => sum.add(more.total()),
            (_, Total::Other(more)) => self.add(more.as_ref()),
            (Total::Other(_), _) => {}
        }
        self.count = count;
    }

    /// The sum as a value.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] for a sum of ints that is no 64-bit int.
    pub fn value(self) -> Result<Value> {
        Ok(match self.total {
            Total::Int(sum) => Value::Int(i64::try_from(sum).map_err(|_| too_large(sum))?),
            Total::Float(sum) => Value::Float(clamp(sum.total())),
            Total::Other(sum) => sum,
        })
    }

    /// The mean of the values: a float, a vector for vectors, and 0 for what has no sums.
    pub fn mean(self) -> Option<Value> {
        let count = self.count as f64;
        match self.total {
            Total::Int(sum) => Some(Value::Float(mean_of_ints(sum, self.count))),
            Total::Float(sum) => Some(Value::Float(clamp(sum.total() / count))),
            Total::Other(Value::Vector(sum)) => {
                let mean = sum.iter().map(|number| (f64::from(*number) / count) as f32);
                Some(Value::Vector(mean.collect()))
            }
            Total::Other(Value::BigFloat(sum)) => {
                Some(Value::BigFloat(sum.div(&BigFloat::from_f64(count)?)?))
            }
            Total::Other(_) => Some(Value::Float(0.0)),
        }
    }
}

/// The sum of two vectors of one length, or of two great floats.
fn added(sum: &Value, more: ValueRef<'_>) -> Option<Value> {
    match (sum, more) {
        (Value::Vector(sum), ValueRef::Vector(more)) if sum.len() == more.len() => {
            Some(Value::Vector(sum.iter().zip(more).map(|(one, other)| one + other).collect()))
        }
        (Value::BigFloat(sum), more) => sum.add(&more.to_big_float()?).map(Value::BigFloat),
        _ => None,
    }
}

/// The sum of ints and of a float after them.
fn behind_ints(ints: i128, more: f64) -> FloatSum {
    let mut sum = FloatSum::of(ints as f64);
    sum.add(more);
    sum
}

/// Limits a float to the range that can be printed.
pub(in crate::exec) fn clamp(number: f64) -> f64 {
    if number.is_nan() { 0.0 } else { number.clamp(f64::MIN, f64::MAX) }
}

/// A sum divided by a count. What has more than 53 bits is divided as an int first, so that only
/// the quotient is rounded.
fn mean_of_ints(sum: i128, count: usize) -> f64 {
    const EXACT: u128 = 1 << 53;
    if sum.unsigned_abs() <= EXACT {
        return sum as f64 / count as f64;
    }
    let count = count as i128;
    let (full, rest) = (sum / count, sum % count);
    full as f64 + rest as f64 / count as f64
}

fn too_large(sum: i128) -> Error {
    let message = format!(
        "the sum {sum} does not fit into an int, which goes from {} to {}",
        i64::MIN,
        i64::MAX
    );
    Error::query(message)
        .with_hint("sum floats, as of a variable `x as math(i * 1.0)`, or ask for `avg`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(numbers: &[i64]) -> Sum {
        Sum::of_ints(numbers).expect("there are numbers")
    }

    #[test]
    fn sums_of_ints_are_right_or_an_error() {
        let sum = ints(&[i64::MAX, i64::MAX, i64::MIN, -5]).value();
        assert_eq!(sum.map_err(|error| error.to_string()), Ok(Value::Int(i64::MAX - 6)));
        let error = ints(&[i64::MAX, i64::MAX]).value().unwrap_err();
        assert!(matches!(&error, Error::Query { .. }), "{error:?}");
        let message = error.to_string();
        assert!(message.contains("the sum 18446744073709551614 does not fit"), "{message}");
    }

    #[test]
    fn means_do_not_wrap() {
        assert_eq!(ints(&[i64::MAX, i64::MAX]).mean(), Some(Value::Float(i64::MAX as f64)));
        assert_eq!(ints(&[i64::MIN; 3]).mean(), Some(Value::Float(i64::MIN as f64)));
        assert_eq!(ints(&[1, 2]).mean(), Some(Value::Float(1.5)));
        assert_eq!(ints(&[i64::MAX, i64::MIN]).mean(), Some(Value::Float(-0.5)));
    }

    #[test]
    fn ints_among_floats_are_floats() {
        let values = [ValueRef::Int(i64::MAX), ValueRef::Int(i64::MAX), ValueRef::Float(0.5)];
        let sum = Sum::over(values.into_iter()).and_then(|sum| sum.value().ok());
        assert_eq!(sum, Some(Value::Float(18_446_744_073_709_551_614.5)));
    }
}
