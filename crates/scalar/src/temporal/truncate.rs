//! `date.truncate(unit, value, fields)`: the first moment of the unit that a value is in, with
//! fields set after it.

use super::construct::{Parts, Target, check_keys, given_zone, not_made_of};
use super::fields::Fields;
use super::ranges;
use crate::context::Context;
use crate::error::{Result, ScalarError};
use crate::values::{Map, Value};
use jiff::civil::{Date, Time};

/// The units, largest first.
const UNITS: [&str; 13] = [
    "millennium",
    "century",
    "decade",
    "year",
    "weekYear",
    "quarter",
    "month",
    "week",
    "day",
    "hour",
    "minute",
    "second",
    "millisecond",
];
const SMALLEST_UNIT: &str = "microsecond";
/// The smallest unit of a day is the last of these.
const DAY_INDEX: usize = 8;

/// Truncates a temporal value.
pub(crate) fn truncate(
    target: Target,
    unit: &str,
    value: &Value,
    map: Option<&Map>,
    context: &Context,
) -> Result<Value> {
    let all = UNITS.iter().chain([&SMALLEST_UNIT]);
    let index = all.clone().position(|name| name.eq_ignore_ascii_case(unit)).ok_or_else(|| {
        let shown: String = unit.chars().take(60).collect();
        let names: Vec<&str> = all.copied().collect();
        ScalarError::argument(
            format!("`{shown}` is no unit"),
            format!("write one of {}", names.join(", ")),
        )
    })?;
    let parts = Parts::of(value).ok_or_else(|| not_made_of(target, value))?;
    check(target, unit, index, &parts)?;
    let date = parts.date.map(|date| truncated_date(date, index)).transpose()?;
    let time = parts.time.unwrap_or_else(Time::midnight);
    let time = truncated_time(time, index);
    let Some(map) = map else {
        return Parts { date, time: Some(time), zone: parts.zone }.build(target, context);
    };
    let fields = Fields(map);
    if fields.has_null() {
        return Ok(Value::Null);
    }
    check_keys(target, fields)?;
    let date = match target.has_date() {
        true => Some(fields.date(date)?),
        false => date,
    };
    let time = match target.has_time() {
        true => fields.time(Some(time), true)?,
        false => time,
    };
    let zone = given_zone(fields)?.or(parts.zone);
    Parts { date, time: Some(time), zone }.build(target, context)
}

/// The unit is one of the target, and the value has what is needed.
fn check(target: Target, unit: &str, index: usize, parts: &Parts) -> Result<()> {
    let is_of_date = index <= DAY_INDEX;
    if !target.has_time() && !is_of_date || !target.has_date() && index < DAY_INDEX {
        return Err(ScalarError::argument(
            format!("a {} is not truncated to a `{unit}`", target.name()),
            "choose a unit that it has",
        ));
    }
    let has_parts = match target.has_date() {
        true => parts.date.is_some() && (is_of_date || parts.time.is_some()),
        false => parts.time.is_some(),
    };
    if has_parts {
        return Ok(());
    }
    Err(ScalarError::argument(
        format!("the value has no `{unit}`"),
        format!("pass a value from which a {} can be made", target.name()),
    ))
}

fn truncated_date(date: Date, index: usize) -> Result<Date> {
    let year = i64::from(date.year());
    let first_of = |years: i64| ranges::date(year.div_euclid(years) * years, 1, 1);
    match UNITS.get(index).copied() {
        Some("millennium") => first_of(1000),
        Some("century") => first_of(100),
        Some("decade") => first_of(10),
        Some("year") => first_of(1),
        Some("weekYear") => ranges::date_of_week(date.iso_week_date().year().into(), 1, 1),
        Some("quarter") => {
            let month = (i64::from(date.month()) - 1) / 3 * 3 + 1;
            ranges::date(year, month, 1)
        }
        Some("month") => Ok(date.first_of_month()),
        Some("week") => {
            let week = date.iso_week_date();
            ranges::date_of_week(week.year().into(), week.week().into(), 1)
        }
        _ => Ok(date),
    }
}

fn truncated_time(time: Time, index: usize) -> Time {
    let (hour, minute, second) = (time.hour(), time.minute(), time.second());
    let nanos = time.subsec_nanosecond();
    let (hour, minute, second, nanos) = match UNITS.get(index).copied() {
        Some("hour") => (hour, 0, 0, 0),
        Some("minute") => (hour, minute, 0, 0),
        Some("second") => (hour, minute, second, 0),
        Some("millisecond") => (hour, minute, second, nanos / 1_000_000 * 1_000_000),
        None => (hour, minute, second, nanos / 1000 * 1000),
        _ => (0, 0, 0, 0),
    };
    Time::new(hour, minute, second, nanos).expect("parts of a time")
}
