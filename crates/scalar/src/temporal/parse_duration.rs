//! Reads durations: `P1Y2M3DT4H5M6.7S`, with weeks, with a sign or a fraction at each number, and
//! `P2012-02-02T14:37:21.545`.

use super::durations::{DurationSum, Unit};
use crate::error::{Result, ScalarError};
use crate::values::Duration;

/// Reads a duration.
pub(crate) fn parse_duration(text: &str) -> Result<Duration> {
    let mut sum = DurationSum::default();
    if read(text, &mut sum).is_none() {
        let shown: String = text.chars().take(60).collect();
        return Err(ScalarError::argument(
            format!("'{shown}' is no DURATION"),
            "write it as in 'P1Y2M3DT4H5M6.7S'",
        ));
    }
    sum.finish()
}

fn read(text: &str, sum: &mut DurationSum) -> Option<()> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let text = text.strip_prefix(['P', 'p'])?;
    let (date, time) = match text.split_once(['T', 't']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    if date.len() == 10 && date.as_bytes()[4] == b'-' {
        return read_clock(sign, date, time, sum);
    }
    let days = [('Y', Unit::Years), ('M', Unit::Months), ('W', Unit::Weeks), ('D', Unit::Days)];
    let seconds = [('H', Unit::Hours), ('M', Unit::Minutes), ('S', Unit::Seconds)];
    let count = read_units(sign, date, &days, sum)?;
    let count_of_time = time.map_or(Some(0), |time| read_units(sign, time, &seconds, sum))?;
    // `P` and `PT` alone are no durations, nor is a `T` with nothing after it.
    let is_complete = 0 < count + count_of_time && (time.is_none() || 0 < count_of_time);
    is_complete.then_some(())
}

/// Numbers, each with the letter of its unit, in the order of the units. Returns how many.
fn read_units(
    sign: i128,
    mut text: &str,
    mut units: &[(char, Unit)],
    sum: &mut DurationSum,
) -> Option<usize> {
    let mut count = 0;
    while !text.is_empty() {
        let length = text.find(|c: char| c.is_ascii_alphabetic())?;
        let (number, rest) = text.split_at(length);
        let letter = rest.chars().next()?.to_ascii_uppercase();
        let index = units.iter().position(|(unit, _)| *unit == letter)?;
        let unit = units[index].1;
        add_decimal(sign, number, unit, sum)?;
        (text, units) = (&rest[1..], &units[index + 1..]);
        count += 1;
    }
    Some(count)
}

/// A number with a sign and a fraction.
fn add_decimal(sign: i128, number: &str, unit: Unit, sum: &mut DurationSum) -> Option<()> {
    let (sign, number) = match number.strip_prefix('-') {
        Some(rest) => (-sign, rest),
        None => (sign, number.strip_prefix('+').unwrap_or(number)),
    };
    let (digits, fraction) = number.split_once(['.', ',']).unwrap_or((number, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    if !is_number(digits) || !is_number(fraction) {
        return None;
    }
    let digits: u64 = digits.parse().ok()?;
    let fraction: f64 = format!("0.{fraction}").parse().ok()?;
    sum.add(unit, sign * i128::from(digits), sign as f64 * fraction);
    Some(())
}

/// `2012-02-02T14:37:21.545`.
fn read_clock(sign: i128, date: &str, time: Option<&str>, sum: &mut DurationSum) -> Option<()> {
    let dates = date.split('-').zip([Unit::Years, Unit::Months, Unit::Days]);
    let times = time.unwrap_or("0").split(':').zip([Unit::Hours, Unit::Minutes, Unit::Seconds]);
    if date.split('-').count() != 3 || 3 < time.unwrap_or("0").split(':').count() {
        return None;
    }
    for (number, unit) in dates.chain(times) {
        add_decimal(sign, number, unit, sum)?;
    }
    Some(())
}
