//! Whether a converted value is still the value that it was.
//!
//! Conversions follow Dgraph's, which cut: 2.75 as an int is 2. This compares a value with what
//! came of it, so that a load refuses such a value, and a mutation reports it. Numbers are compared
//! by what they are read back as: the decimal 0.1 and the float nearest to it are the same number
//! here, while no float reads back as 9007199254740993.

use super::bigfloat::BigFloat;
use crate::types::{DateTime, ValueRef, ValueType, shown};
use std::fmt;

/// The significant decimal digits that any bigfloat holds: 200 bits of them.
const BIG_FLOAT_DIGITS: usize = 60;

/// The digits of a fraction of a second that a time holds.
const NANO_DIGITS: usize = 9;

/// Integers with fewer digits are floats exactly.
const INEXACT_LEN_MIN: usize = 16;

/// A value that its new type does not hold in full. Shows itself as a message without a remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// The value, as messages show it.
    pub value: String,
    /// The type that it had.
    pub from: ValueType,
    /// The value that came of it, as messages show it.
    pub stored: String,
    /// The type of that.
    pub to: ValueType,
    /// Whether a fraction was cut off, and nothing else.
    is_fraction: bool,
}

impl Loss {
    /// Compares a value with `stored`, which was converted from it; `None` where nothing is lost.
    /// Costs a comparison of types for values of one type.
    #[inline]
    pub fn of(value: ValueRef<'_>, stored: ValueRef<'_>) -> Option<Loss> {
        let is_lost = match value {
            ValueRef::Default(text) | ValueRef::String(text) => is_cut_text(text, stored),
            _ => is_cut(value, stored),
        };
        is_lost.then(|| Loss::new(value, stored))
    }

    /// The message with another name for the value.
    pub fn about(&self, value: impl fmt::Display) -> String {
        match self.is_fraction {
            true => format!("{value} has a fraction, which an int cannot hold"),
            false => {
                format!("{value} becomes {} as a value of type {}", self.stored, self.to.name())
            }
        }
    }

    /// The type that a predicate would need for the value.
    pub fn needed(&self) -> ValueType {
        match self.from {
            ValueType::Default | ValueType::Binary => ValueType::String,
            other => other,
        }
    }

    #[cold]
    fn new(value: ValueRef<'_>, stored: ValueRef<'_>) -> Loss {
        let text = |value: ValueRef<'_>| match value {
            ValueRef::Default(text) | ValueRef::String(text) => shown(text),
            other => {
                let text = other.to_text();
                shown(&text).trim_matches('`').to_owned()
            }
        };
        let is_fraction = match (value, stored) {
            (ValueRef::Float(_) | ValueRef::DateTime(_), ValueRef::Int(_)) => true,
            (ValueRef::BigFloat(text), ValueRef::Int(int)) => {
                (BigFloat::from_canonical(text).to_f64() - int as f64).abs() < 1.0
            }
            _ => false,
        };
        Loss {
            value: text(value),
            from: value.value_type(),
            stored: text(stored),
            to: stored.value_type(),
            is_fraction,
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.about(&self.value))
    }
}

fn is_cut(value: ValueRef<'_>, stored: ValueRef<'_>) -> bool {
    use ValueRef as V;
    match (value, stored) {
        (V::Float(number), V::Int(_)) => number.fract() != 0.0,
        (V::Float(number), V::Bool(_)) => number != 0.0 && number != 1.0,
        (V::Int(number), V::Bool(_)) => !matches!(number, 0 | 1),
        (V::Int(number), V::Float(float)) => {
            i128::from(number) != float as i128 && !reads_as(float, &number.to_string())
        }
        (V::DateTime(time), V::Int(_)) => time.nanos != 0,
        (V::DateTime(time), V::Float(seconds)) => is_cut_time(time, seconds),
        (V::DateTime(time), V::BigFloat(_)) => is_cut_time(time, time.unix_float()),
        (V::BigFloat(text), V::Int(int)) => {
            BigFloat::from_canonical(text).as_str() != BigFloat::from_i64(int).as_str()
        }
        (V::BigFloat(text), V::Bool(truth)) => {
            BigFloat::from_canonical(text).as_str() != BigFloat::from_i64(truth.into()).as_str()
        }
        (V::BigFloat(text), V::Float(float)) => is_cut_big_float(text, float),
        // Goes by a float.
        (V::BigFloat(text), V::DateTime(_)) => {
            is_cut_big_float(text, BigFloat::from_canonical(text).to_f64())
        }
        (V::Binary(bytes), V::Int(_) | V::Float(_)) => bytes.len() != 8,
        (V::Binary(bytes), V::Bool(_)) => bytes.len() > 1,
        (V::Binary(bytes), V::Default(_) | V::String(_) | V::BigFloat(_) | V::Password(_)) => {
            std::str::from_utf8(bytes).is_err()
        }
        _ => false,
    }
}

/// Compares a text with what it was parsed as.
#[inline]
fn is_cut_text(text: &str, stored: ValueRef<'_>) -> bool {
    match stored {
        ValueRef::Float(number) if INEXACT_LEN_MIN <= text.len() => {
            let digits = text.trim_start_matches(['+', '-']);
            digits.bytes().all(|byte| byte.is_ascii_digit())
                && text.parse() != Ok(number as i128)
                && !reads_as(number, text)
        }
        ValueRef::DateTime(_) if NANO_DIGITS < text.len() => {
            let fraction = text.split_once(['.', ',']).map_or("", |(_, fraction)| fraction);
            let is_zone = |letter: char| !letter.is_ascii_digit();
            let digits = fraction.split(is_zone).next().unwrap_or_default();
            digits.bytes().skip(NANO_DIGITS).any(|digit| digit != b'0')
        }
        ValueRef::BigFloat(_) if BIG_FLOAT_DIGITS < text.len() => {
            let mantissa = text.split(['e', 'E', 'p', 'P']).next().unwrap_or_default();
            let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
            BIG_FLOAT_DIGITS < digits.trim_matches('0').len()
        }
        _ => false,
    }
}

/// Whether the text of an integer is the one that a float is written as, which has zeros after its
/// significant digits.
fn reads_as(number: f64, text: &str) -> bool {
    number.to_string() == text.trim_start_matches('+')
}

/// A float of seconds holds a time if it reads back as the time in its own unit: milliseconds,
/// microseconds or nanoseconds.
fn is_cut_time(time: DateTime, seconds: f64) -> bool {
    let units = [1_000_000, 1_000, 1];
    let unit = units.into_iter().find(|unit| time.nanos.is_multiple_of(*unit)).unwrap_or(1);
    let nanos = (seconds - time.seconds as f64) * 1e9;
    let read_back = (nanos / f64::from(unit)).round() * f64::from(unit);
    read_back != f64::from(time.nanos)
}

fn is_cut_big_float(canonical: &str, float: f64) -> bool {
    BigFloat::from_f64_digits(float)
        .is_none_or(|back| back.as_str() != BigFloat::from_canonical(canonical).as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Value;
    use proptest::prelude::*;

    /// The message about what a value loses as one of a type.
    fn loss(value: &Value, to: ValueType) -> Option<String> {
        let stored = value.as_ref().convert(to).unwrap();
        Loss::of(value.as_ref(), stored.as_ref()).map(|loss| loss.to_string())
    }

    fn time(text: &str) -> Value {
        Value::parse(text, ValueType::DateTime).unwrap()
    }

    fn big(text: &str) -> Value {
        Value::parse(text, ValueType::BigFloat).unwrap()
    }

    fn text(text: &str) -> Value {
        Value::String(text.to_owned())
    }

    #[test]
    fn what_is_cut_is_a_loss() {
        use ValueType::{BigFloat, Bool, DateTime, Float, Int, String};
        let long = "9007199254740993";
        for (value, to, expected) in [
            (Value::Float(2.75), Int, "2.75 has a fraction, which an int cannot hold"),
            (Value::Float(0.5), Bool, "0.5 becomes true as a value of type bool"),
            (Value::Int(5), Bool, "5 becomes true as a value of type bool"),
            (
                Value::Int(9_007_199_254_740_993),
                Float,
                "9007199254740993 becomes 9007199254740992 as a value of type float",
            ),
            (
                Value::Int(i64::MAX),
                Float,
                "9223372036854775807 becomes 9223372036854776000 as a value of type float",
            ),
            (
                text(long),
                Float,
                "`9007199254740993` becomes 9007199254740992 as a value of type float",
            ),
            (
                time("2024-01-01T00:00:00.5Z"),
                Int,
                "2024-01-01T00:00:00.5Z has a fraction, which an int cannot hold",
            ),
            (
                time("2024-01-01T00:00:00.123456789Z"),
                Float,
                "2024-01-01T00:00:00.123456789Z becomes 1704067200.1234567 as a value of type float",
            ),
            (
                text("2024-01-01T00:00:00.1234567891Z"),
                DateTime,
                "`2024-01-01T00:00:00.1234567891Z` becomes 2024-01-01T00:00:00.123456789Z as a value of type datetime",
            ),
            (big("2.5"), Int, "2.5 has a fraction, which an int cannot hold"),
            (big("0.25"), Bool, "0.25 becomes true as a value of type bool"),
            (Value::Binary(vec![255]), String, ""),
            (text(&format!("0.{}", "123456789".repeat(8))), BigFloat, ""),
        ] {
            let message = loss(&value, to).unwrap_or_else(|| panic!("{value:?} as {to:?}"));
            assert!(expected.is_empty() || message == expected, "{message}");
        }
        // A time beyond the nanoseconds of 64 bits wraps around as a float.
        assert!(loss(&time("1500-01-01"), Float).is_some());
        assert!(loss(&big("1e30"), Int).unwrap().contains("becomes"));
    }

    #[test]
    fn what_reads_back_is_no_loss() {
        use ValueType::{BigFloat, Bool, DateTime, Float, Int, String};
        for (value, to) in [
            (Value::Float(2.0), Int),
            (Value::Float(1.0), Bool),
            (Value::Int(1), Bool),
            (Value::Int(1 << 60), Float),
            // As an export writes the float 2^62.
            (Value::Int(4_611_686_018_427_388_000), Float),
            (text("100000000000000000000000"), Float),
            (text("0.1234567890123456789"), Float),
            (time("2024-01-01T00:00:00+05:00"), Int),
            (time("2024-01-01T00:00:00.123456Z"), Float),
            (time("1969-12-31T23:59:59.999Z"), Float),
            (text("2024-01-01T00:00:00.1234567890000Z"), DateTime),
            (Value::Float(1.7), DateTime),
            (big("0.1"), Float),
            (big("2"), Int),
            (Value::Float(0.1), String),
            (
                text("0.000000000000000000000000000000000000000000000000000000000000000001"),
                BigFloat,
            ),
            (Value::Bool(true), Int),
        ] {
            assert_eq!(loss(&value, to), None, "{value:?} as {to:?}");
        }
    }

    proptest! {
        #[test]
        fn an_int_without_a_loss_comes_back(number in any::<i64>()) {
            let value = Value::Int(number);
            let float = value.as_ref().convert(ValueType::Float).unwrap();
            if Loss::of(value.as_ref(), float.as_ref()).is_none() {
                let Value::Float(float) = float else { unreachable!() };
                prop_assert!(float as i128 == i128::from(number) || float.to_string() == number.to_string());
            }
        }

        #[test]
        fn a_float_that_is_written_reads_back_without_a_loss(bits in any::<u64>()) {
            let number = f64::from_bits(bits);
            prop_assume!(number.is_finite());
            let written = Value::String(number.to_string());
            prop_assert_eq!(loss(&written, ValueType::Float), None);
        }

        #[test]
        fn a_time_without_a_loss_comes_back(seconds in -2_000_000_000i64..2_000_000_000, micros in 0i64..1_000_000) {
            let time = DateTime::from_unix(seconds, micros * 1000);
            prop_assert!(!is_cut_time(time, time.unix_float()));
        }
    }
}
