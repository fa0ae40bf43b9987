//! The accumulator of one group: values are added, accumulators of partitions are merged, and the
//! result is read.

use super::moments::Moments;
use super::percentiles::{continuous, discrete, float};
use super::sums::Sum;
use crate::context::Context;
use crate::error::{Fault, Result, ScalarError};
use crate::values::{Value, shortened};
use rustc_hash::FxHashSet;

/// An aggregate: a row of the table.
#[derive(Debug)]
pub struct Aggregate {
    /// The name as it is written in Cypher; calls may have it in any case.
    pub name: &'static str,
    /// How many arguments it has.
    pub arguments: usize,
    /// What it does, in a line.
    pub doc: &'static str,
    pub(super) start: fn() -> State,
}

impl Aggregate {
    /// Creates the accumulator of a group; with `DISTINCT` equivalent values count once.
    pub fn start(&'static self, distinct: bool) -> Accumulator {
        let distinct = distinct.then(Distinct::default);
        Accumulator { aggregate: self, state: (self.start)(), distinct, part: None }
    }
}

/// The accumulator of one group.
#[derive(Debug)]
pub struct Accumulator {
    aggregate: &'static Aggregate,
    state: State,
    distinct: Option<Distinct>,
    /// The percentile, from 0 to 1: the second argument of `percentileCont` and `percentileDisc`.
    part: Option<f64>,
}

/// What is accumulated.
#[derive(Debug)]
pub(super) enum State {
    Count(i64),
    Sum(Sum),
    Mean(Sum),
    Min(Option<Value>),
    Max(Option<Value>),
    Collect(Vec<Value>),
    Sample(Moments),
    Population(Moments),
    /// An integer has the order and the result of its float.
    Continuous(Vec<f64>),
    Discrete(Vec<Value>),
}

/// The values that were added, each once, in the order in which they came.
#[derive(Debug, Default)]
struct Distinct {
    seen: FxHashSet<Value>,
    order: Vec<Value>,
}

impl Accumulator {
    /// Returns the row of the table.
    pub fn aggregate(&self) -> &'static Aggregate {
        self.aggregate
    }

    /// Whether equivalent values count once.
    pub fn is_distinct(&self) -> bool {
        self.distinct.is_some()
    }

    /// Adds the arguments of one row; null is ignored. `count(*)` has none.
    ///
    /// # Errors
    ///
    /// [`Fault::Type`] for values that the aggregate is not for, [`Fault::Argument`]
    /// for a percentile outside of 0 to 1, [`Fault::Limit`] where the values are too many.
    pub fn update(&mut self, arguments: &[Value], context: &Context) -> Result<()> {
        self.update_times(arguments, 1, context)
    }

    /// Adds the arguments of `times` rows that are the same. O(1), or O(times) where the values are
    /// retained.
    ///
    /// # Errors
    ///
    /// As [`update`](Accumulator::update).
    pub fn update_times(
        &mut self,
        arguments: &[Value],
        times: u64,
        context: &Context,
    ) -> Result<()> {
        if let Some(part) = arguments.get(1) {
            self.set_part(part)?;
        }
        match arguments.first() {
            Some(Value::Null) => Ok(()),
            Some(value) => self.add(value, times, context),
            None => self.add(&Value::Bool(true), times, context),
        }
    }

    /// As [`update`](Accumulator::update), with one integer.
    ///
    /// # Errors
    ///
    /// As [`update`](Accumulator::update).
    #[inline]
    pub fn update_int(&mut self, number: i64, context: &Context) -> Result<()> {
        match &mut self.state {
            _ if self.distinct.is_some() => {}
            State::Sum(sum) | State::Mean(sum) if sum.is_of_numbers() => {
                sum.add_int(number);
                return Ok(());
            }
            State::Min(Some(Value::Int(least))) if *least <= number => return Ok(()),
            State::Max(Some(Value::Int(greatest))) if number <= *greatest => return Ok(()),
            _ => {}
        }
        self.add(&Value::Int(number), 1, context)
    }

    /// As [`update`](Accumulator::update), with one float.
    ///
    /// # Errors
    ///
    /// As [`update`](Accumulator::update).
    #[inline]
    pub fn update_float(&mut self, number: f64, context: &Context) -> Result<()> {
        match &mut self.state {
            _ if self.distinct.is_some() => {}
            State::Sum(sum) | State::Mean(sum) if sum.is_of_numbers() => {
                sum.add_one_float(number);
                return Ok(());
            }
            State::Min(Some(Value::Float(least))) if *least <= number => return Ok(()),
            State::Max(Some(Value::Float(greatest))) if number <= *greatest => return Ok(()),
            State::Sample(moments) | State::Population(moments) => {
                moments.add_times(number, 1.0);
                return Ok(());
            }
            _ => {}
        }
        self.add(&Value::Float(number), 1, context)
    }

    /// Merges another accumulator of the same aggregate; its values count as later ones.
    ///
    /// # Errors
    ///
    /// As [`update`](Accumulator::update).
    pub fn merge(&mut self, other: Accumulator, context: &Context) -> Result<()> {
        self.part = self.part.or(other.part);
        if let Some(distinct) = other.distinct {
            return distinct.order.iter().try_for_each(|value| self.add(value, 1, context));
        }
        let name = self.aggregate.name;
        match (&mut self.state, other.state) {
            (State::Count(count), State::Count(other)) => *count += other,
            (State::Sum(sum) | State::Mean(sum), State::Sum(other) | State::Mean(other)) => {
                sum.merge(&other, name)?;
            }
            (
                State::Sample(moments) | State::Population(moments),
                State::Sample(other) | State::Population(other),
            ) => moments.merge(&other),
            (
                State::Collect(values) | State::Discrete(values),
                State::Collect(other) | State::Discrete(other),
            ) => extend(values, other, context, name)?,
            (State::Continuous(numbers), State::Continuous(other)) => {
                extend(numbers, other, context, name)?;
            }
            (_, State::Min(other) | State::Max(other)) => {
                other.iter().try_for_each(|value| self.add(value, 1, context))?;
            }
            (_, _) => unreachable!("accumulators of one aggregate are merged"),
        }
        Ok(())
    }

    /// Returns the result of the group.
    ///
    /// # Errors
    ///
    /// [`Fault::Overflow`] for a sum of integers beyond 64 bits.
    pub fn finish(self) -> Result<Value> {
        // Without a row there is no second argument, and no value either.
        let part = self.part.unwrap_or_default();
        match self.state {
            State::Count(count) => Ok(Value::Int(count)),
            State::Sum(sum) => sum.total(),
            State::Mean(sum) => sum.mean(),
            State::Min(value) | State::Max(value) => Ok(value.unwrap_or(Value::Null)),
            State::Collect(values) => Value::list(values),
            State::Sample(moments) => Ok(Value::Float(moments.deviation(1.0))),
            State::Population(moments) => Ok(Value::Float(moments.deviation(0.0))),
            State::Continuous(numbers) => Ok(continuous(numbers, part)),
            State::Discrete(values) => Ok(discrete(values, part)),
        }
    }

    fn add(&mut self, value: &Value, mut times: u64, context: &Context) -> Result<()> {
        let name = self.aggregate.name;
        if let Some(distinct) = &mut self.distinct {
            if distinct.seen.contains(value) {
                return Ok(());
            }
            // A value is in the set and in the list.
            admit_growth::<[Value; 2]>(distinct.order.len(), context, name)?;
            distinct.seen.insert(value.clone());
            distinct.order.push(value.clone());
            times = 1;
        }
        match &mut self.state {
            State::Count(count) => {
                let sum = i64::try_from(times).ok().and_then(|it| count.checked_add(it));
                *count = sum.ok_or_else(|| {
                    ScalarError::new(
                        Fault::Overflow,
                        format!("`{name}` is beyond 64 bits"),
                        "count fewer rows at once",
                    )
                })?;
            }
            State::Sum(sum) | State::Mean(sum) => sum.add_times(value, times, name)?,
            State::Min(least) => {
                if least.as_ref().is_none_or(|least| value < least) {
                    *least = Some(value.clone());
                }
            }
            State::Max(greatest) => {
                if greatest.as_ref().is_none_or(|greatest| greatest < value) {
                    *greatest = Some(value.clone());
                }
            }
            State::Collect(values) => {
                append(values, value, times, context, name)?;
            }
            State::Sample(moments) | State::Population(moments) => {
                moments.add_times(float(check_number(value, name)?), times as f64);
            }
            State::Continuous(numbers) => {
                append(numbers, &float(check_number(value, name)?), times, context, name)?;
            }
            State::Discrete(values) => {
                append(values, check_number(value, name)?, times, context, name)?;
            }
        }
        Ok(())
    }

    fn set_part(&mut self, value: &Value) -> Result<()> {
        let part = match value {
            Value::Int(number) => *number as f64,
            Value::Float(number) => *number,
            _ => f64::NAN,
        };
        if !(0.0..=1.0).contains(&part) {
            return Err(ScalarError::argument(
                format!("the part of `{}` is {}", self.aggregate.name, shortened(value)),
                "write a number from 0.0 to 1.0",
            ));
        }
        // The first row of the group decides.
        self.part.get_or_insert(part);
        Ok(())
    }
}

fn check_number<'a>(value: &'a Value, name: &str) -> Result<&'a Value> {
    if matches!(value, Value::Int(_) | Value::Float(_)) {
        return Ok(value);
    }
    Err(ScalarError::kind(
        format!("`{name}` is not possible for {}", value.kind().described()),
        "pass numbers",
    ))
}

/// Appends a value so many times.
fn append<T: Clone>(
    values: &mut Vec<T>,
    value: &T,
    times: u64,
    context: &Context,
    name: &str,
) -> Result<()> {
    if times == 1 {
        admit_growth::<T>(values.len(), context, name)?;
        values.push(value.clone());
        return Ok(());
    }
    context.admit(u128::from(times) * size_of::<T>() as u128, name)?;
    values.extend((0..times).map(|_| value.clone()));
    Ok(())
}

/// Appends the values of another list.
fn extend<T>(values: &mut Vec<T>, other: Vec<T>, context: &Context, name: &str) -> Result<()> {
    let count = values.len() as u128 + other.len() as u128;
    context.admit(count * size_of::<T>() as u128, name)?;
    values.extend(other);
    Ok(())
}

/// Reserves the memory of a list each time that it doubles.
fn admit_growth<T>(length: usize, context: &Context, name: &str) -> Result<()> {
    if !length.is_power_of_two() {
        return Ok(());
    }
    context.admit(2 * length as u128 * size_of::<T>() as u128, name)
}
