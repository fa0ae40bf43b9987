//! Days and moments that the calendar does not have are errors that name what it has.

use crate::error::{Result, ScalarError};
use jiff::civil::{Date, ISOWeekDate, Time, Weekday};

/// Creates a day.
pub(super) fn date(year: i64, month: i64, day: i64) -> Result<Date> {
    let year = to_year(year)?;
    let month = within(month, 1..=12, "month")?;
    let days = i64::from(first_of(year, month)?.days_in_month());
    let day = within(day, 1..=days, "day of the month")?;
    Date::new(year, month, day).map_err(beyond)
}

/// Creates a day, the last of its month where the month is shorter.
pub(super) fn date_clamped(year: i64, month: i64, day: i64) -> Result<Date> {
    let (year, month) = (to_year(year)?, within(month, 1..=12, "month")?);
    let days = i64::from(first_of(year, month)?.days_in_month());
    date(year.into(), month.into(), day.min(days))
}

/// Creates a day from its week, which belongs to the year that has its Thursday.
pub(super) fn date_of_week(week_year: i64, week: i64, day: i64) -> Result<Date> {
    let year = to_year(week_year)?;
    let first = ISOWeekDate::new(year, 1, Weekday::Monday).map_err(beyond)?;
    let week = within(week, 1..=i64::from(first.weeks_in_year()), "week")?;
    let weekday = Weekday::from_monday_one_offset(within(day, 1..=7, "day of the week")?)
        .expect("from 1 to 7");
    ISOWeekDate::new(year, week, weekday).map(ISOWeekDate::date).map_err(beyond)
}

/// Creates a day from its number in the year.
pub(super) fn date_of_ordinal(year: i64, ordinal: i64) -> Result<Date> {
    let first = first_of(to_year(year)?, 1)?;
    let days = i64::from(first.days_in_year());
    let ordinal: i16 = within(ordinal, 1..=days, "day of the year")?;
    first.with().day_of_year(ordinal).build().map_err(beyond)
}

/// Creates a day from its number in a quarter.
pub(super) fn date_of_quarter(year: i64, quarter: i64, day: i64) -> Result<Date> {
    let quarter: i8 = within(quarter, 1..=4, "quarter")?;
    let first = first_of(to_year(year)?, quarter * 3 - 2)?;
    let last = first_of(first.year(), quarter * 3)?.last_of_month();
    let before = first.day_of_year() - 1;
    let day: i16 = within(day, 1..=i64::from(last.day_of_year() - before), "day of the quarter")?;
    first.with().day_of_year(before + day).build().map_err(beyond)
}

/// Creates a time of day.
pub(super) fn time(hour: i64, minute: i64, second: i64, nanosecond: i64) -> Result<Time> {
    let hour = within(hour, 0..=23, "hour")?;
    let minute = within(minute, 0..=59, "minute")?;
    let second = within(second, 0..=59, "second")?;
    let nanosecond = within(nanosecond, 0..=999_999_999, "nanosecond")?;
    Time::new(hour, minute, second, nanosecond).map_err(beyond)
}

/// The time of day at a number of nanoseconds since midnight, days aside.
pub(super) fn time_of_nanos(nanos: i128) -> Time {
    let nanos = nanos.rem_euclid(super::ranges::NANOS_PER_DAY) as i64;
    let (seconds, nanos) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    time(seconds / 3600, seconds / 60 % 60, seconds % 60, nanos).expect("less than a day")
}

pub(super) const NANOS_PER_DAY: i128 = 86_400 * 1_000_000_000;

fn to_year(year: i64) -> Result<i16> {
    within(year, -9999..=9999, "year")
}

fn first_of(year: i16, month: i8) -> Result<Date> {
    Date::new(year, month, 1).map_err(beyond)
}

/// A number of a range, as the type that the calendar has for it.
pub(super) fn within<T: TryFrom<i64>>(
    number: i64,
    range: std::ops::RangeInclusive<i64>,
    what: &str,
) -> Result<T> {
    let (first, last) = (range.start(), range.end());
    let small = range.contains(&number).then(|| T::try_from(number).ok()).flatten();
    small.ok_or_else(|| {
        ScalarError::argument(
            format!("{number} is no {what}"),
            format!("write a number from {first} to {last}"),
        )
    })
}

/// A day or moment outside of the calendar.
pub(super) fn beyond(error: jiff::Error) -> Box<ScalarError> {
    ScalarError::new(
        crate::error::Fault::Overflow,
        format!("the result is outside of the calendar: {error}"),
        "years are from -9999 to 9999",
    )
}
