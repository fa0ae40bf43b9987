//! Offsets from UTC, and zones by their names.

use super::ranges::beyond;
use crate::error::{Result, ScalarError};
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, Zoned};

/// The largest offset, in seconds.
const OFFSET_MAX: i32 = 18 * 3600;

/// Reads `Z`, `+01`, `+0100`, `+01:00` or `+01:00:30`.
pub(super) fn parse_offset(text: &str) -> Option<Offset> {
    if text == "Z" || text == "z" {
        return Some(Offset::UTC);
    }
    let (sign, digits) = match text.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let parts: Vec<&str> = if digits.contains(':') {
        digits.split(':').collect()
    } else {
        let starts = (0..digits.len().div_ceil(2)).map(|part| 2 * part);
        starts.map(|start| digits.get(start..start + 2)).collect::<Option<_>>()?
    };
    if parts.is_empty() || 3 < parts.len() {
        return None;
    }
    let mut seconds = 0;
    for (part, unit) in parts.iter().zip([3600, 60, 1]) {
        let is_number = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
        let number: i32 = is_number.then(|| part.parse().ok()).flatten()?;
        if unit != 3600 && 59 < number {
            return None;
        }
        seconds += number * unit;
    }
    if OFFSET_MAX < seconds {
        return None;
    }
    Offset::from_seconds(sign * seconds).ok()
}

/// Reads an offset, or the name of a zone.
pub(super) fn parse_zone(text: &str) -> Result<TimeZone> {
    if let Some(offset) = parse_offset(text) {
        return Ok(TimeZone::fixed(offset));
    }
    TimeZone::get(text).map_err(|_| {
        let shown: String = text.chars().take(60).collect();
        ScalarError::argument(
            format!("there is no time zone `{shown}`"),
            "write a name such as 'Europe/Stockholm', or an offset such as '+01:00'",
        )
    })
}

/// The moment of a day and time in a zone. In a gap the time is moved forward, of two that are
/// possible the first is meant.
pub(super) fn zoned(local: DateTime, zone: TimeZone) -> Result<Zoned> {
    zone.into_ambiguous_zoned(local).compatible().map_err(beyond)
}

/// The moment of a day and time with an offset, in a zone that has that offset then.
pub(super) fn zoned_with_offset(local: DateTime, offset: Offset, zone: TimeZone) -> Result<Zoned> {
    let moment: Timestamp = offset.to_timestamp(local).map_err(beyond)?;
    let result = moment.to_zoned(zone);
    if result.offset() == offset {
        return Ok(result);
    }
    Err(ScalarError::argument(
        format!(
            "the offset {offset} is not that of the zone at {local}, which is {}",
            result.offset()
        ),
        "leave out the offset or the zone",
    ))
}
