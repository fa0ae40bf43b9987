//! Durations from numbers of units, and their multiples. A fraction of a month becomes days and
//! seconds of a mean month, one of a day becomes seconds.

use super::shift::Sign;
use crate::error::{Fault, Result, ScalarError};
use crate::values::{
    Duration, Map, NANOS_PER_SECOND, SECONDS_PER_DAY, SECONDS_PER_MONTH, Value, shortened,
};

/// A unit of durations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Years,
    Quarters,
    Months,
    Weeks,
    Days,
    Hours,
    Minutes,
    Seconds,
    Milliseconds,
    Microseconds,
    Nanoseconds,
}

const UNITS: [(&str, Unit); 11] = [
    ("years", Unit::Years),
    ("quarters", Unit::Quarters),
    ("months", Unit::Months),
    ("weeks", Unit::Weeks),
    ("days", Unit::Days),
    ("hours", Unit::Hours),
    ("minutes", Unit::Minutes),
    ("seconds", Unit::Seconds),
    ("milliseconds", Unit::Milliseconds),
    ("microseconds", Unit::Microseconds),
    ("nanoseconds", Unit::Nanoseconds),
];

/// What a unit is counted in.
enum Scale {
    Months(i128),
    Days(i128),
    Nanos(i128),
}

impl Unit {
    fn scale(self) -> Scale {
        match self {
            Unit::Years => Scale::Months(12),
            Unit::Quarters => Scale::Months(3),
            Unit::Months => Scale::Months(1),
            Unit::Weeks => Scale::Days(7),
            Unit::Days => Scale::Days(1),
            Unit::Hours => Scale::Nanos(3600 * NANOS_PER_SECOND),
            Unit::Minutes => Scale::Nanos(60 * NANOS_PER_SECOND),
            Unit::Seconds => Scale::Nanos(NANOS_PER_SECOND),
            Unit::Milliseconds => Scale::Nanos(1_000_000),
            Unit::Microseconds => Scale::Nanos(1000),
            Unit::Nanoseconds => Scale::Nanos(1),
        }
    }
}

/// A sum of numbers of units. Integers are added exactly.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DurationSum {
    months: i128,
    days: i128,
    nanos: i128,
}

impl DurationSum {
    /// Adds an integer of 64 bits and a fraction between -1 and 1.
    pub(super) fn add(&mut self, unit: Unit, number: i128, fraction: f64) {
        match unit.scale() {
            Scale::Months(months) => {
                self.months += number * months;
                self.add_months(fraction * months as f64);
            }
            Scale::Days(days) => {
                self.days += number * days;
                self.add_days(fraction * days as f64);
            }
            Scale::Nanos(nanos) => {
                self.nanos += number * nanos;
                self.add_nanos(fraction * nanos as f64);
            }
        }
    }

    /// Adds any float; a cast bounds it.
    fn add_months(&mut self, months: f64) {
        self.months += i128::from(months.trunc() as i64);
        let seconds = months.fract() * SECONDS_PER_MONTH as f64;
        let seconds_per_day = SECONDS_PER_DAY as f64;
        self.days += (seconds / seconds_per_day).trunc() as i128;
        self.add_nanos(seconds % seconds_per_day * NANOS_PER_SECOND as f64);
    }

    fn add_days(&mut self, days: f64) {
        self.days += i128::from(days.trunc() as i64);
        self.add_nanos(days.fract() * (SECONDS_PER_DAY * NANOS_PER_SECOND) as f64);
    }

    fn add_nanos(&mut self, nanos: f64) {
        // Far more than fits, and far less than what would overflow a sum.
        self.nanos += nanos.round_ties_even().clamp(-1e30, 1e30) as i128;
    }

    pub(super) fn finish(self) -> Result<Duration> {
        Duration::of_nanos(self.months, self.days, self.nanos)
    }
}

/// Creates a duration from a map such as `{days: 1, hours: 12}`.
pub(crate) fn duration_of_map(map: &Map) -> Result<Duration> {
    let mut sum = DurationSum::default();
    for (key, value) in map.entries() {
        let Some((_, unit)) = UNITS.iter().find(|(name, _)| *name == &**key) else {
            return Err(ScalarError::argument(
                format!("`{key}` is no unit of a DURATION"),
                format!("write one of {}", UNITS.map(|(name, _)| name).join(", ")),
            ));
        };
        match value {
            Value::Null => {}
            Value::Int(number) => sum.add(*unit, (*number).into(), 0.0),
            Value::Float(number) if number.abs() < 9e18 => {
                sum.add(*unit, number.trunc() as i128, number.fract());
            }
            other => {
                return Err(ScalarError::argument(
                    format!("`{key}` of a DURATION is {}", shortened(other)),
                    "write an INTEGER or a FLOAT of at most 64 bits",
                ));
            }
        }
    }
    sum.finish()
}

/// Evaluates `one + other` and `one - other`.
pub(crate) fn add_durations(one: &Duration, other: &Duration, sign: Sign) -> Result<Value> {
    let sign = sign.factor();
    let months = i128::from(one.months()) + sign * i128::from(other.months());
    let days = i128::from(one.days()) + sign * i128::from(other.days());
    let nanos = one.total_nanos() + sign * other.total_nanos();
    Duration::of_nanos(months, days, nanos).map(Value::from)
}

/// Evaluates `duration * number`.
pub(crate) fn multiply(duration: &Duration, number: &Value) -> Result<Value> {
    match number {
        Value::Int(factor) => {
            let factor = i128::from(*factor);
            let nanos = duration.total_nanos().checked_mul(factor);
            let nanos = nanos.ok_or_else(|| ScalarError::overflow("a duration is too long"))?;
            let (months, days) = (i128::from(duration.months()), i128::from(duration.days()));
            Duration::of_nanos(months * factor, days * factor, nanos).map(Value::from)
        }
        Value::Float(factor) => scaled(duration, |number| number * factor),
        other => Err(no_factor(other)),
    }
}

/// Evaluates `duration / number`.
pub(crate) fn divide(duration: &Duration, number: &Value) -> Result<Value> {
    match number {
        Value::Int(0) => Err(ScalarError::new(
            Fault::DivisionByZero,
            "a duration is divided by zero",
            "test the divisor with CASE",
        )),
        Value::Int(divisor) => scaled(duration, |number| number / *divisor as f64),
        Value::Float(divisor) => scaled(duration, |number| number / divisor),
        other => Err(no_factor(other)),
    }
}

fn no_factor(value: &Value) -> Box<ScalarError> {
    ScalarError::kind(
        format!("a DURATION is not multiplied by {}", value.kind().described()),
        "multiply by an INTEGER or a FLOAT",
    )
}

fn scaled(duration: &Duration, scale: impl Fn(f64) -> f64) -> Result<Value> {
    let (months, days) = (scale(duration.months() as f64), scale(duration.days() as f64));
    let seconds = scale(duration.seconds() as f64);
    // What a cast would bound without a word.
    if !(months.abs() < 9e18 && days.abs() < 9e18 && seconds.abs() < 9e18) {
        return Err(ScalarError::overflow("a multiple of a duration is beyond 64 bits"));
    }
    let mut sum = DurationSum::default();
    sum.add_months(months);
    sum.add_days(days);
    sum.nanos += seconds.trunc() as i128 * NANOS_PER_SECOND;
    let nanos = seconds.fract() * NANOS_PER_SECOND as f64 + scale(f64::from(duration.nanos()));
    sum.add_nanos(nanos);
    sum.finish().map(Value::from)
}
