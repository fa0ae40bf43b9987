//! Sums of numbers or of durations. Integers are added exactly, whatever their order; floats with a
//! compensation of what is rounded off.

use crate::error::{Fault, Result, ScalarError};
use crate::temporal::{Sign, add_durations, divide, multiply};
use crate::values::{Duration, Value};

/// A sum, and of how many values.
#[derive(Debug, Clone, Default)]
pub(super) struct Sum {
    count: i64,
    ints: i128,
    /// The sum of the floats, if there are some, and what was rounded off.
    floats: Option<(f64, f64)>,
    duration: Option<Duration>,
}

impl Sum {
    /// Adds a value so many times.
    pub(super) fn add_times(&mut self, value: &Value, times: u64, name: &str) -> Result<()> {
        match value {
            // Beyond 128 bits it is beyond 64 bits, too.
            Value::Int(number) => {
                let product = i128::from(*number).saturating_mul(i128::from(times));
                self.ints = self.ints.saturating_add(product);
            }
            Value::Float(number) if times == 1 => self.add_float(*number),
            Value::Float(number) => self.add_float(number * times as f64),
            Value::Duration(duration) if times == 1 => self.add_duration(duration)?,
            Value::Duration(duration) => {
                let times = Value::Int(i64::try_from(times).unwrap_or(i64::MAX));
                let Value::Duration(product) = multiply(duration, &times)? else {
                    unreachable!("a duration has a duration as its multiple");
                };
                self.add_duration(&product)?;
            }
            other => {
                return Err(ScalarError::kind(
                    format!("`{name}` is not possible for {}", other.kind().described()),
                    "pass numbers or durations",
                ));
            }
        }
        self.count = self.count.saturating_add_unsigned(times);
        if self.duration.is_some() && (self.ints != 0 || self.floats.is_some()) {
            return Err(ScalarError::kind(
                format!("`{name}` is not possible for numbers and durations in one group"),
                "filter the values by their kind",
            ));
        }
        Ok(())
    }

    /// Whether no duration was added.
    #[inline]
    pub(super) fn is_of_numbers(&self) -> bool {
        self.duration.is_none()
    }

    /// Adds an integer to a sum of numbers.
    #[inline]
    pub(super) fn add_int(&mut self, number: i64) {
        self.ints = self.ints.saturating_add(number.into());
        self.count = self.count.saturating_add(1);
    }

    /// Adds a float to a sum of numbers.
    #[inline]
    pub(super) fn add_one_float(&mut self, number: f64) {
        self.add_float(number);
        self.count = self.count.saturating_add(1);
    }

    /// Neumaier's sum.
    fn add_float(&mut self, number: f64) {
        let (sum, rest) = self.floats.unwrap_or_default();
        let total = sum + number;
        let lost =
            if number.abs() <= sum.abs() { (sum - total) + number } else { (number - total) + sum };
        // An infinite sum has no rest.
        let rest = if lost.is_finite() { rest + lost } else { rest };
        self.floats = Some((total, rest));
    }

    fn add_duration(&mut self, duration: &Duration) -> Result<()> {
        let sum = self.duration.unwrap_or_default();
        let Value::Duration(sum) = add_durations(&sum, duration, Sign::Plus)? else {
            unreachable!("two durations have a duration as their sum");
        };
        self.duration = Some(*sum);
        Ok(())
    }

    pub(super) fn merge(&mut self, other: &Sum, name: &str) -> Result<()> {
        let count = self.count + other.count;
        self.ints += other.ints;
        if let Some((sum, rest)) = other.floats {
            self.add_float(sum);
            self.add_float(rest);
        }
        if let Some(duration) = &other.duration {
            self.add_times(&Value::from(*duration), 1, name)?;
        }
        self.count = count;
        Ok(())
    }

    fn float(&self) -> f64 {
        let (sum, rest) = self.floats.unwrap_or_default();
        sum + rest + self.ints as f64
    }

    /// An integer of integers, 0 of nothing.
    pub(super) fn total(&self) -> Result<Value> {
        if let Some(duration) = self.duration {
            return Ok(Value::from(duration));
        }
        if self.floats.is_some() {
            return Ok(Value::Float(self.float()));
        }
        i64::try_from(self.ints).map(Value::Int).map_err(|_| {
            ScalarError::new(
                Fault::Overflow,
                format!("the sum of {} integers is beyond 64 bits", self.count),
                "convert them by toFloat()",
            )
        })
    }

    /// A float, or a duration; null of nothing.
    pub(super) fn mean(&self) -> Result<Value> {
        match &self.duration {
            _ if self.count == 0 => Ok(Value::Null),
            Some(duration) => divide(duration, &Value::Int(self.count)),
            None => Ok(Value::Float(self.float() / self.count as f64)),
        }
    }
}
