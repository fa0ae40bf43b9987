//! The components of temporal values and durations: `date.year`, `duration.minutesOfHour`.

use crate::error::{Result, ScalarError};
use crate::values::{Duration, NANOS_PER_SECOND, Value, write_offset};
use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::{Offset, TimeZone};

const DATE: &str = "year, quarter, month, week, weekYear, day, ordinalDay, dayOfWeek, dayOfQuarter";
const TIME: &str = "hour, minute, second, millisecond, microsecond, nanosecond";
const OFFSET: &str = "timezone, offset, offsetMinutes, offsetSeconds";
const EPOCH: &str = "epochSeconds, epochMillis";
const DURATION: &str = "years, quarters, months, weeks, days, hours, minutes, seconds, milliseconds, \
    microseconds, nanoseconds, quartersOfYear, monthsOfYear, monthsOfQuarter, daysOfWeek, minutesOfHour, \
    secondsOfMinute, millisecondsOfSecond, microsecondsOfSecond, nanosecondsOfSecond";

/// Returns a component of a temporal value or a duration.
pub(crate) fn component(value: &Value, name: &str) -> Result<Value> {
    let result = match value {
        Value::Date(date) => of_date(*date, name),
        Value::LocalTime(time) => of_time(*time, name),
        Value::Time(time) => {
            of_time(time.time, name).or_else(|| of_offset(time.offset, None, name))
        }
        Value::LocalDateTime(local) => {
            of_date(local.date(), name).or_else(|| of_time(local.time(), name))
        }
        Value::DateTime(moment) => of_date(moment.date(), name)
            .or_else(|| of_time(moment.time(), name))
            .or_else(|| {
                let zone = moment.time_zone().iana_name();
                of_offset(moment.offset(), zone, name)
            })
            .or_else(|| match name {
                "epochSeconds" => Some(Value::Int(moment.timestamp().as_second())),
                "epochMillis" => Some(Value::Int(moment.timestamp().as_millisecond())),
                _ => None,
            }),
        Value::Duration(duration) => of_duration(duration, name)?,
        _ => None,
    };
    result.ok_or_else(|| no_component(value, name))
}

/// Returns a component of an instant with an offset from UTC in seconds; `None` for a name that is
/// none, and beyond the years -9999 to 9999.
///
/// ```
/// use hexgraph_scalar::instant_component;
///
/// assert_eq!(instant_component((1_700_000_000, 0, 3_600), "hour"), Some(23));
/// assert_eq!(instant_component((1_700_000_000, 0, 3_600), "ears"), None);
/// ```
pub fn instant_component((seconds, nanos, offset): (i64, u32, i32), name: &str) -> Option<i64> {
    let instant = Timestamp::new(seconds, nanos.cast_signed()).ok()?;
    let local = Offset::from_seconds(offset).ok()?.to_datetime(instant);
    let value = of_date(local.date(), name).or_else(|| of_time(local.time(), name));
    match value {
        Some(Value::Int(number)) => Some(number),
        _ => match name {
            "epochSeconds" => Some(instant.as_second()),
            "epochMillis" => Some(instant.as_millisecond()),
            _ => None,
        },
    }
}

/// Returns an instant with an offset from UTC in seconds as a value; `None` beyond the years -9999
/// to 9999.
///
/// ```
/// use hexgraph_scalar::instant_value;
///
/// let value = instant_value((1_700_000_000, 0, 3_600)).unwrap();
/// assert_eq!(value.to_string(), "2023-11-14T23:13:20+01:00");
/// ```
pub fn instant_value((seconds, nanos, offset): (i64, u32, i32)) -> Option<Value> {
    let instant = Timestamp::new(seconds, nanos.cast_signed()).ok()?;
    let offset = Offset::from_seconds(offset).ok()?;
    Some(Value::from(instant.to_zoned(TimeZone::fixed(offset))))
}

fn no_component(value: &Value, name: &str) -> Box<ScalarError> {
    let names = match value {
        Value::Date(_) => DATE.to_owned(),
        Value::LocalTime(_) => TIME.to_owned(),
        Value::Time(_) => format!("{TIME}, {OFFSET}"),
        Value::LocalDateTime(_) => format!("{DATE}, {TIME}"),
        Value::DateTime(_) => format!("{DATE}, {TIME}, {OFFSET}, {EPOCH}"),
        Value::Duration(_) => DURATION.to_owned(),
        _ => String::new(),
    };
    let hint = if names.is_empty() {
        "maps, temporal values, durations and points have properties".to_owned()
    } else {
        format!("it has {names}")
    };
    ScalarError::kind(format!("{} has no `{name}`", value.kind().described()), hint)
}

fn of_date(date: Date, name: &str) -> Option<Value> {
    let quarter = (i64::from(date.month()) + 2) / 3;
    let first_month = (quarter * 3 - 2) as i8;
    Some(Value::Int(match name {
        "year" => date.year().into(),
        "quarter" => quarter,
        "month" => date.month().into(),
        "week" => date.iso_week_date().week().into(),
        "weekYear" => date.iso_week_date().year().into(),
        "day" => date.day().into(),
        "ordinalDay" => date.day_of_year().into(),
        "dayOfWeek" | "weekDay" => date.weekday().to_monday_one_offset().into(),
        "dayOfQuarter" => {
            let first = Date::new(date.year(), first_month, 1).expect("the year has all months");
            i64::from(date.day_of_year() - first.day_of_year()) + 1
        }
        _ => return None,
    }))
}

fn of_time(time: Time, name: &str) -> Option<Value> {
    let nanos = i64::from(time.subsec_nanosecond());
    Some(Value::Int(match name {
        "hour" => time.hour().into(),
        "minute" => time.minute().into(),
        "second" => time.second().into(),
        "millisecond" => nanos / 1_000_000,
        "microsecond" => nanos / 1000,
        "nanosecond" => nanos,
        _ => return None,
    }))
}

fn of_offset(offset: Offset, zone: Option<&str>, name: &str) -> Option<Value> {
    let text = || {
        let mut text = String::new();
        write_offset(&mut text, offset).expect("a string grows");
        Value::from(text)
    };
    Some(match name {
        "timezone" => zone.filter(|zone| *zone != "UTC").map_or_else(text, Value::from),
        "offset" => text(),
        "offsetMinutes" => Value::Int((offset.seconds() / 60).into()),
        "offsetSeconds" => Value::Int(offset.seconds().into()),
        _ => return None,
    })
}

fn of_duration(duration: &Duration, name: &str) -> Result<Option<Value>> {
    let (months, days, seconds) = (duration.months(), duration.days(), duration.seconds());
    let nanos = i64::from(duration.nanos());
    let total = |unit: i128| {
        let number = duration.total_nanos().div_euclid(unit);
        i64::try_from(number).map_err(|_| {
            ScalarError::overflow(format!("the {name} of the duration are beyond 64 bits"))
        })
    };
    Ok(Some(Value::Int(match name {
        "years" => months / 12,
        "quarters" => months / 3,
        "months" => months,
        "weeks" => days / 7,
        "days" => days,
        "hours" => seconds / 3600,
        "minutes" => seconds / 60,
        "seconds" => seconds,
        "milliseconds" => total(NANOS_PER_SECOND / 1000)?,
        "microseconds" => total(1000)?,
        "nanoseconds" => total(1)?,
        "quartersOfYear" => months / 3 % 4,
        "monthsOfYear" => months % 12,
        "monthsOfQuarter" => months % 3,
        "daysOfWeek" => days % 7,
        "minutesOfHour" => seconds / 60 % 60,
        "secondsOfMinute" => seconds % 60,
        "millisecondsOfSecond" => nanos / 1_000_000,
        "microsecondsOfSecond" => nanos / 1000,
        "nanosecondsOfSecond" => nanos,
        _ => return Ok(None),
    })))
}
