//! The duration between two temporal values. A value without a day has that of the other, one
//! without a time of day is midnight, and one without a zone is in that of the other.

use super::construct::Parts;
use super::shift::shifted_date;
use super::zones::zoned;
use crate::error::{Result, ScalarError};
use crate::values::{Duration, SECONDS_PER_DAY, Value};
use jiff::Zoned;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;

/// The units that a duration is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Between {
    /// Months, days and seconds.
    All,
    Months,
    Days,
    Seconds,
}

/// Returns the duration from one temporal value to another.
pub(crate) fn between(units: Between, from: &Value, to: &Value) -> Result<Value> {
    let parts = |value: &Value| {
        Parts::of(value).ok_or_else(|| {
            ScalarError::kind(
                format!("there is no duration to or from {}", value.kind().described()),
                "pass two temporal values",
            )
        })
    };
    let (from, to) = (parts(from)?, parts(to)?);
    let has_days = from.date.is_some() && to.date.is_some();
    let from_date = from.date.or(to.date).unwrap_or(Date::constant(1970, 1, 1));
    let to_date = to.date.unwrap_or(from_date);
    // A zone counts only where both have one, or one has a day for the other.
    let either = || from.zone.clone().or(to.zone.clone()).unwrap_or(TimeZone::UTC);
    let moment = |parts: &Parts, date: Date| {
        let zone = parts.zone.clone().unwrap_or_else(either);
        zoned(date.to_datetime(parts.time.unwrap_or_else(Time::midnight)), zone)
    };
    let (from, to) = (moment(&from, from_date)?, moment(&to, to_date)?);
    let to = to.with_time_zone(from.time_zone().clone());
    let months = match units {
        Between::All | Between::Months if has_days => months_between(&from, &to)?,
        _ => 0,
    };
    let days = match units {
        Between::All | Between::Days if has_days => days_between(&from, months, &to)?,
        _ => 0,
    };
    let nanos = match units {
        Between::All | Between::Seconds => {
            let start = moved(&from, months, days)?;
            to.timestamp().as_nanosecond() - start.timestamp().as_nanosecond()
        }
        _ => 0,
    };
    Duration::of_nanos(months, days, nanos).map(Value::from)
}

/// The moment some months and days later, at the same time of day.
fn moved(from: &Zoned, months: i128, days: i128) -> Result<Zoned> {
    if (months, days) == (0, 0) {
        return Ok(from.clone());
    }
    let date = shifted_date(from.date(), months, days)?;
    zoned(date.to_datetime(from.time()), from.time_zone().clone())
}

/// How many months lie entirely between two moments; below 0 where `to` is before `from`.
fn months_between(from: &Zoned, to: &Zoned) -> Result<i128> {
    let months = |date: Date| i128::from(date.year()) * 12 + i128::from(date.month());
    largest(from, to, months(to.date()) - months(from.date()), |months| moved(from, months, 0))
}

fn days_between(from: &Zoned, months: i128, to: &Zoned) -> Result<i128> {
    let start = shifted_date(from.date(), months, 0)?;
    let seconds = i128::from(to.date().duration_since(start).as_secs());
    largest(from, to, seconds / SECONDS_PER_DAY, |days| moved(from, months, days))
}

/// `count`, or one closer to 0 where the moment after that many units is beyond `to`.
fn largest(
    from: &Zoned,
    to: &Zoned,
    count: i128,
    moment: impl Fn(i128) -> Result<Zoned>,
) -> Result<i128> {
    let is_forward = from <= to;
    // Local times may run against the moments where a clock is set back.
    let count = if is_forward { count.max(0) } else { count.min(0) };
    if count == 0 {
        return Ok(0);
    }
    let end = moment(count)?;
    let is_beyond = if is_forward { *to < end } else { end < *to };
    Ok(if is_beyond { count - count.signum() } else { count })
}
