//! The table of aggregates.

use super::accumulator::{Aggregate, State};
use super::moments::Moments;
use super::sums::Sum;

/// Finds an aggregate by its name, in any case.
///
/// ```
/// use hexgraph_scalar::{Context, Value, aggregate};
/// # let context = Context::new(jiff::Timestamp::UNIX_EPOCH.to_zoned(jiff::tz::TimeZone::UTC), 0);
///
/// let mut sum = aggregate("SUM").unwrap().start(true);
/// for value in [Value::Int(2), Value::Null, Value::Float(2.0), Value::Int(3)] {
///     sum.update(&[value], &context)?;
/// }
/// assert_eq!(sum.finish()?, Value::Int(5));
/// # Ok::<(), Box<hexgraph_scalar::ScalarError>>(())
/// ```
pub fn aggregate(name: &str) -> Option<&'static Aggregate> {
    AGGREGATES.iter().find(|aggregate| aggregate.name.eq_ignore_ascii_case(name))
}

const fn row(
    name: &'static str,
    arguments: usize,
    start: fn() -> State,
    doc: &'static str,
) -> Aggregate {
    Aggregate { name, arguments, doc, start }
}

/// All aggregates.
#[rustfmt::skip]
pub static AGGREGATES: &[Aggregate] = &[
    row("count", 1, || State::Count(0), "count(value): how many values are not null; count(*): how many rows there are"),
    row("sum", 1, || State::Sum(Sum::default()), "sum(value): the sum of numbers or durations, 0 of none"),
    row("avg", 1, || State::Mean(Sum::default()), "avg(value): the mean of numbers or durations, null of none"),
    row("min", 1, || State::Min(None), "min(value): the first value in the order of ORDER BY"),
    row("max", 1, || State::Max(None), "max(value): the last value in the order of ORDER BY"),
    row("collect", 1, || State::Collect(Vec::new()), "collect(value): a list of the values that are not null"),
    row("stDev", 1, || State::Sample(Moments::default()), "stDev(value): the standard deviation of a sample of numbers"),
    row("stDevP", 1, || State::Population(Moments::default()), "stDevP(value): the standard deviation of all numbers"),
    row("percentileCont", 2, || State::Continuous(Vec::new()), "percentileCont(value, part): the number at a part from 0 to 1, interpolated"),
    row("percentileDisc", 2, || State::Discrete(Vec::new()), "percentileDisc(value, part): the number at a part from 0 to 1, one of the values"),
];
