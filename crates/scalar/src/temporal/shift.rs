//! A temporal value plus or minus a duration: first the months, then the days, then the seconds.

use super::ranges::{NANOS_PER_DAY, beyond, time_of_nanos};
use super::zones::zoned;
use crate::error::{Result, ScalarError};
use crate::values::{Duration, NANOS_PER_SECOND, OffsetTime, SECONDS_PER_DAY, Value, nanos_of_day};
use jiff::civil::{Date, DateTime};
use jiff::{Span, Timestamp};

/// Whether a duration is added or subtracted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    Plus,
    Minus,
}

impl Sign {
    pub(super) fn factor(self) -> i128 {
        match self {
            Sign::Plus => 1,
            Sign::Minus => -1,
        }
    }
}

/// Adds a duration to a temporal value, or subtracts it. Of a day the seconds count as full days,
/// of a time of day only the seconds count.
pub(crate) fn shift(value: &Value, duration: &Duration, sign: Sign) -> Result<Value> {
    let sign = sign.factor();
    let months = sign * i128::from(duration.months());
    let days = sign * i128::from(duration.days());
    let nanos = sign * duration.total_nanos();
    match value {
        Value::Date(date) => {
            let full_days = nanos / (SECONDS_PER_DAY * NANOS_PER_SECOND);
            shifted_date(*date, months, days + full_days).map(Value::Date)
        }
        Value::LocalTime(time) => {
            Ok(Value::LocalTime(time_of_nanos(i128::from(nanos_of_day(*time)) + nanos)))
        }
        Value::Time(OffsetTime { time, offset }) => {
            let time = time_of_nanos(i128::from(nanos_of_day(*time)) + nanos);
            Ok(Value::Time(OffsetTime { time, offset: *offset }))
        }
        Value::LocalDateTime(local) => {
            let nanos = i128::from(nanos_of_day(local.time())) + nanos;
            let days = days + nanos.div_euclid(NANOS_PER_DAY);
            let date = shifted_date(local.date(), months, days)?;
            Ok(Value::LocalDateTime(DateTime::from_parts(date, time_of_nanos(nanos))))
        }
        Value::DateTime(moment) => {
            let date = shifted_date(moment.date(), months, days)?;
            // Where the day stays, so does the moment, even if its local time is there twice.
            let start = if date == moment.date() {
                (**moment).clone()
            } else {
                zoned(date.to_datetime(moment.time()), moment.time_zone().clone())?
            };
            let moment = Timestamp::from_nanosecond(start.timestamp().as_nanosecond() + nanos);
            Ok(Value::from(moment.map_err(beyond)?.to_zoned(start.time_zone().clone())))
        }
        other => Err(ScalarError::kind(
            format!("a duration is not added to {}", other.kind().described()),
            "add it to a temporal value",
        )),
    }
}

/// Adds months, after which the day is the last one of a month that is shorter, then days.
pub(super) fn shifted_date(date: Date, months: i128, days: i128) -> Result<Date> {
    let too_far = || ScalarError::overflow("the result is outside of the years from -9999 to 9999");
    let small = |number: i128| i32::try_from(number).map_err(|_| too_far());
    let span = Span::new();
    let span = span.try_months(small(months)?).map_err(|_| too_far())?;
    let date = date.checked_add(span).map_err(|_| too_far())?;
    let span = Span::new().try_days(small(days)?).map_err(|_| too_far())?;
    date.checked_add(span).map_err(|_| too_far())
}
