//! The values of aggregates.

use crate::execute::plan::AggregateFunction;
use hexgraph_scalar::{Arithmetic, Context, Fault, Result, ScalarError, Value, arithmetic};
use std::mem;

/// What one aggregate of one group has accumulated.
pub(super) struct Accumulator {
    function: AggregateFunction,
    count: i64,
    /// A sum, a minimum or a maximum.
    value: Value,
    values: Vec<Value>,
    /// The argument of a percentile.
    fraction: Option<Value>,
}

impl Accumulator {
    pub(super) fn new(function: AggregateFunction) -> Accumulator {
        Accumulator { function, count: 0, value: Value::Null, values: Vec::new(), fraction: None }
    }

    /// Whether each value is retained.
    pub(super) fn retains(&self) -> bool {
        use AggregateFunction as A;
        !matches!(self.function, A::Count | A::Sum | A::Avg | A::Min | A::Max)
    }

    /// Adds a value that is not null.
    pub(super) fn add(
        &mut self,
        value: Value,
        fraction: Option<Value>,
        context: &Context,
    ) -> Result<()> {
        use AggregateFunction as A;
        self.count += 1;
        let is_first = self.value.is_null();
        match self.function {
            A::Count => {}
            A::Sum | A::Avg if is_first => self.value = value,
            A::Sum => {
                let sum = mem::replace(&mut self.value, Value::Null);
                self.value = arithmetic(sum, Arithmetic::Add, value, context)?;
            }
            A::Avg => {
                let sum = match mem::replace(&mut self.value, Value::Null) {
                    Value::Int(int) => Value::Float(int as f64),
                    other => other,
                };
                self.value = arithmetic(sum, Arithmetic::Add, value, context)?;
            }
            A::Min if is_first || value < self.value => self.value = value,
            A::Max if is_first || self.value < value => self.value = value,
            A::Min | A::Max => {}
            _ => {
                self.values.push(value);
                self.fraction = fraction;
            }
        }
        Ok(())
    }

    pub(super) fn finish(self, context: &Context) -> Result<Value> {
        use AggregateFunction as A;
        match self.function {
            A::Count => Ok(Value::Int(self.count)),
            A::Sum if self.value.is_null() => Ok(Value::Int(0)),
            A::Sum | A::Min | A::Max => Ok(self.value),
            A::Avg if self.count == 0 => Ok(Value::Null),
            A::Avg => {
                let count = Value::Float(self.count as f64);
                arithmetic(self.value, Arithmetic::Divide, count, context)
            }
            A::Collect => Value::list(self.values),
            A::StDev => self.deviation(1.0),
            A::StDevP => self.deviation(0.0),
            A::PercentileCont | A::PercentileDisc => self.percentile(),
        }
    }

    /// The standard deviation: of a sample, where the mean costs one of the numbers, or of all.
    fn deviation(&self, lost: f64) -> Result<Value> {
        let numbers = self.numbers()?;
        let count = numbers.len() as f64;
        if count <= lost {
            return Ok(Value::Float(0.0));
        }
        let mean = numbers.iter().sum::<f64>() / count;
        let squares: f64 = numbers.iter().map(|it| (it - mean) * (it - mean)).sum();
        Ok(Value::Float((squares / (count - lost)).sqrt()))
    }

    fn percentile(mut self) -> Result<Value> {
        let fraction = match self.fraction.take() {
            None => return Ok(Value::Null),
            Some(Value::Int(fraction)) => fraction as f64,
            Some(Value::Float(fraction)) => fraction,
            Some(_) => f64::NAN,
        };
        if !(0.0..=1.0).contains(&fraction) {
            let message = "a percentile is a number from 0.0 to 1.0".to_owned();
            let hint = "the median is 0.5".to_owned();
            return Err(Box::new(ScalarError { fault: Fault::Argument, message, hint }));
        }
        self.values.sort_unstable();
        let last = self.values.len() - 1;
        if self.function == AggregateFunction::PercentileDisc {
            let rank = (fraction * self.values.len() as f64).ceil() as usize;
            return Ok(self.values.swap_remove(rank.saturating_sub(1).min(last)));
        }
        let (numbers, position) = (self.numbers()?, fraction * last as f64);
        let below = numbers[position as usize];
        let above = numbers[(position as usize + 1).min(last)];
        Ok(Value::Float(below + (above - below) * position.fract()))
    }

    fn numbers(&self) -> Result<Vec<f64>> {
        let number = |value: &Value| match value {
            Value::Int(int) => Ok(*int as f64),
            Value::Float(float) => Ok(*float),
            other => {
                let message =
                    format!("a number is aggregated here, and this is a {}", other.kind().name());
                let hint = "convert it by toFloat()".to_owned();
                Err(Box::new(ScalarError { fault: Fault::Type, message, hint }))
            }
        };
        self.values.iter().map(number).collect()
    }
}
