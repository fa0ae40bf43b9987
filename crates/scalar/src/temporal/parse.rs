//! Reads ISO 8601: `2015-07-21`, `20150721`, `2015-W30-2`, `2015-202`, `2015-Q2-45`,
//! `21:40:32.142`, `214032.142`, with an offset and the name of a zone after it.

use super::ranges;
use super::zones::{parse_offset, parse_zone, zoned, zoned_with_offset};
use crate::error::{Result, ScalarError};
use crate::values::OffsetTime;
use jiff::Zoned;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{Offset, TimeZone};

/// Reads a day.
pub(super) fn parse_date(text: &str) -> Result<Date> {
    date_of(text).unwrap_or_else(|| Err(unreadable(text, "DATE", "'2015-07-21'")))
}

/// Reads a time of day.
pub(super) fn parse_local_time(text: &str) -> Result<Time> {
    time_of(text).unwrap_or_else(|| Err(unreadable(text, "LOCAL TIME", "'21:40:32.142'")))
}

/// Reads a time of day with an offset, which is UTC where there is none.
pub(super) fn parse_time(text: &str) -> Result<OffsetTime> {
    let wrong = || unreadable(text, "ZONED TIME", "'21:40:32.142+01:00'");
    let (time, offset) = split_offset(text);
    let time = time_of(time).unwrap_or_else(|| Err(wrong()))?;
    let offset = match offset {
        "" => Offset::UTC,
        offset => parse_offset(offset).ok_or_else(wrong)?,
    };
    Ok(OffsetTime { time, offset })
}

/// Reads a day and a time of day.
pub(super) fn parse_local_date_time(text: &str) -> Result<DateTime> {
    let wrong = || unreadable(text, "LOCAL DATETIME", "'2015-07-21T21:40:32.142'");
    let (date, time) = split_time(text);
    let date = date_of(date).unwrap_or_else(|| Err(wrong()))?;
    let Some(time) = time else { return Ok(date.to_datetime(Time::midnight())) };
    Ok(date.to_datetime(time_of(time).unwrap_or_else(|| Err(wrong()))?))
}

/// Reads a moment; without offset and zone it is one of UTC.
pub(super) fn parse_date_time(text: &str) -> Result<Zoned> {
    let wrong =
        || unreadable(text, "ZONED DATETIME", "'2015-07-21T21:40:32.142+02:00[Europe/Stockholm]'");
    let (rest, zone) = match text.strip_suffix(']').and_then(|rest| rest.split_once('[')) {
        Some((rest, name)) => (rest, Some(parse_zone(name)?)),
        None => (text, None),
    };
    let (date, time) = split_time(rest);
    let date = date_of(date).unwrap_or_else(|| Err(wrong()))?;
    let (time, offset) = split_offset(time.unwrap_or("00:00"));
    let time = time_of(time).unwrap_or_else(|| Err(wrong()))?;
    let local = date.to_datetime(time);
    match (offset, zone) {
        ("", zone) => zoned(local, zone.unwrap_or(TimeZone::UTC)),
        (offset, zone) => {
            let offset = parse_offset(offset).ok_or_else(wrong)?;
            zoned_with_offset(local, offset, zone.unwrap_or(TimeZone::fixed(offset)))
        }
    }
}

fn unreadable(text: &str, kind: &str, example: &str) -> Box<ScalarError> {
    let shown: String = text.chars().take(60).collect();
    ScalarError::argument(format!("'{shown}' is no {kind}"), format!("write it as in {example}"))
}

fn split_time(text: &str) -> (&str, Option<&str>) {
    match text.split_once(['T', 't']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    }
}

/// Splits the offset from a time, which has none of its characters.
fn split_offset(text: &str) -> (&str, &str) {
    text.split_at(text.find(['Z', 'z', '+', '-']).unwrap_or(text.len()))
}

/// `None` where the text has none of the forms, an error where it has and there is no such day.
fn date_of(text: &str) -> Option<Result<Date>> {
    let (year, rest) = split_year(text)?;
    let is_extended = rest.starts_with('-');
    let rest = rest.strip_prefix('-').unwrap_or(rest);
    if rest.is_empty() {
        return (!is_extended).then(|| ranges::date(year, 1, 1));
    }
    if let Some(rest) = rest.strip_prefix('W') {
        let (week, day) = digits_and_rest(rest, 2)?;
        let day = if day.is_empty() { 1 } else { number(unhyphenated(day, is_extended)?, 1)? };
        return Some(ranges::date_of_week(year, week, day));
    }
    if let Some(rest) = rest.strip_prefix('Q') {
        let (quarter, day) = digits_and_rest(rest, 1)?;
        let day = if day.is_empty() { 1 } else { number(unhyphenated(day, is_extended)?, 2)? };
        return Some(ranges::date_of_quarter(year, quarter, day));
    }
    if let Some(ordinal) = number(rest, 3) {
        return Some(ranges::date_of_ordinal(year, ordinal));
    }
    let (month, day) = digits_and_rest(rest, 2)?;
    let day = if day.is_empty() { 1 } else { number(unhyphenated(day, is_extended)?, 2)? };
    Some(ranges::date(year, month, day))
}

/// What is after the hyphen of the long form, or all of it in the short form.
fn unhyphenated(text: &str, is_extended: bool) -> Option<&str> {
    if is_extended { text.strip_prefix('-') } else { Some(text) }
}

/// Four digits; more with a sign.
fn split_year(text: &str) -> Option<(i64, &str)> {
    let sign = match text.as_bytes().first()? {
        b'-' => -1,
        b'+' => 1,
        _ => return digits_and_rest(text, 4),
    };
    let digits = &text[1..];
    let length = digits.find('-').unwrap_or(digits.len());
    if !(4..=9).contains(&length) {
        return None;
    }
    let (year, rest) = digits_and_rest(digits, length)?;
    Some((sign * year, rest))
}

/// A number of exactly `length` digits in front, and what is after it.
fn digits_and_rest(text: &str, length: usize) -> Option<(i64, &str)> {
    let (digits, rest) = text.split_at_checked(length)?;
    Some((number(digits, length)?, rest))
}

/// A number of exactly `length` digits.
fn number(text: &str, length: usize) -> Option<i64> {
    let is_number = text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

fn time_of(text: &str) -> Option<Result<Time>> {
    let (clock, fraction) = match text.split_once(['.', ',']) {
        Some((clock, fraction)) => (clock, Some(fraction)),
        None => (text, None),
    };
    let (hour, mut rest) = digits_and_rest(clock, 2)?;
    let is_extended = rest.starts_with(':');
    let mut parts = [0; 2];
    let mut count = 0;
    while !rest.is_empty() {
        let digits = if is_extended { rest.strip_prefix(':')? } else { rest };
        (*parts.get_mut(count)?, rest) = digits_and_rest(digits, 2)?;
        count += 1;
    }
    let nanos = match fraction {
        None => 0,
        // A fraction is one of a second.
        Some(fraction) if count == 2 => nanos_of(fraction)?,
        Some(_) => return None,
    };
    Some(ranges::time(hour, parts[0], parts[1], nanos))
}

/// The nanoseconds of the digits after a point, at most nine.
fn nanos_of(fraction: &str) -> Option<i64> {
    if !(1..=9).contains(&fraction.len()) {
        return None;
    }
    number(&format!("{fraction:0<9}"), 9)
}
