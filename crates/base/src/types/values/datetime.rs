//! Points in time, as DQL reads and writes them.

use std::fmt;
use std::ops::Range;

use crate::compat::go_layouts::CalendarParts;
use crate::compat::go_numbers;

const SECONDS_A_DAY: i64 = 86_400;
const NANOS_A_SECOND: i64 = 1_000_000_000;
/// The seconds from 0001-01-01T00:00:00Z to 1970-01-01T00:00:00Z.
const SECONDS_TO_1970: i64 = 62_135_596_800;

/// The seconds of the years 0 to 9999.
const WRITABLE: Range<i64> = -62_167_219_200..253_402_300_800;

/// An instant to the nanosecond, with the zone offset that the user wrote.
///
/// Comparisons of values use the instant alone; the offset is retained for output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DateTime {
    /// Seconds since 1970-01-01T00:00:00Z; negative before.
    pub seconds: i64,
    /// Nanoseconds within the second, below 1,000,000,000.
    pub nanos: u32,
    /// Minutes east of Greenwich; 0 is written `Z`.
    pub offset_minutes: i16,
}

/// Why a text or bytes are no time. Texts are in messages between backquotes, on one line, cut to
/// 60 characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TimeError {
    /// The text is of no form that [`DateTime::parse`] reads.
    #[error("{text} is no datetime, which looks like `2006-01-02T15:04:05Z`{}", expected(text))]
    Form {
        /// The text.
        text: String,
    },
    /// The text has a month, an hour or another part that no calendar or clock has.
    #[error("{text} is no datetime: its {part} is out of range")]
    Range {
        /// The text.
        text: String,
        /// The name of the part.
        part: &'static str,
    },
    /// The text goes on after the time.
    #[error("{text} is no datetime: {rest} is left over")]
    LeftOver {
        /// The text.
        text: String,
        /// What follows the time.
        rest: String,
    },
    /// There are no bytes.
    #[error("Time.UnmarshalBinary: no data")]
    NoData,
    /// The bytes are of another version of the binary form.
    #[error("Time.UnmarshalBinary: unsupported version")]
    BinaryVersion,
    /// The binary form has another number of bytes.
    #[error("its binary form has another length than that of a time")]
    BinaryLength,
    /// The year has no four digits, so the time can't be written.
    #[error("its year is not from 0 to 9999, so it can't be written as a time")]
    Year,
}

/// What is said of a text that has digits, so it was meant as a time: the forms that are read.
fn expected(text: &str) -> &'static str {
    match text.bytes().any(|byte| byte.is_ascii_digit()) {
        true => {
            "; also read are `2006`, `2006-01`, `2006-01-02`, `2006-01-02T15:04:05`, offsets such as `+01:00` in place of `Z`, and `2006-01-02 15:04:05 +0100 CET`; no other order"
        }
        false => "",
    }
}

impl DateTime {
    /// The instant `seconds` and `nanos` after 1970 in UTC; `nanos` may be negative or large.
    pub fn from_unix(seconds: i64, nanos: i64) -> DateTime {
        let carried = seconds.saturating_add(nanos.div_euclid(NANOS_A_SECOND));
        let nanos = nanos.rem_euclid(NANOS_A_SECOND) as u32;
        DateTime { seconds: carried, nanos, offset_minutes: 0 }
    }

    /// The instant that many seconds after 1970 in UTC; what is less than a nanosecond is cut off.
    /// Numbers beyond 64 bits give the first or last instant that there is.
    pub fn from_unix_float(seconds: f64) -> DateTime {
        // A cast saturates, and makes 0 of NaN.
        let full = seconds as i64;
        let fraction = seconds - full as f64;
        DateTime::from_unix(full, (fraction * NANOS_A_SECOND as f64) as i64)
    }

    /// The instant of a UTC calendar date; days beyond the month count on into the next.
    pub(super) fn from_parts(parts: CalendarParts) -> DateTime {
        let days = days_from_calendar(parts.year, parts.month, parts.day);
        let clock =
            i64::from(parts.hour) * 3600 + i64::from(parts.minute) * 60 + i64::from(parts.second);
        DateTime { seconds: days * SECONDS_A_DAY + clock, nanos: 0, offset_minutes: 0 }
    }

    /// What comparisons compare: seconds since 1970, and nanoseconds within the second.
    pub fn instant(self) -> (i64, u32) {
        (self.seconds, self.nanos)
    }

    /// The nanoseconds since 1970; `None` for an instant that does not fit into 64 bits of them:
    /// the range is September 1677 to April 2262.
    pub fn unix_nanos(self) -> Option<i64> {
        // The first second of the range begins before it.
        let nanos = i128::from(self.seconds) * i128::from(NANOS_A_SECOND) + i128::from(self.nanos);
        i64::try_from(nanos).ok()
    }

    /// The seconds since 1970 with their fraction.
    ///
    /// Goes through a 64-bit count of nanoseconds, as Dgraph's does: right from 1677 to 2262,
    /// wrapped around outside.
    pub fn unix_float(self) -> f64 {
        let nanos = self.seconds.wrapping_mul(NANOS_A_SECOND).wrapping_add(i64::from(self.nanos));
        nanos as f64 / NANOS_A_SECOND as f64
    }

    /// True when the year, where the user is, has at most four digits: RFC 3339 has no others.
    pub fn is_writable(self) -> bool {
        WRITABLE.contains(&self.local_seconds())
    }

    /// True for 0001-01-01T00:00:00Z, which DQL takes for no time at all and prints as `""`.
    pub fn is_zero(self) -> bool {
        self.seconds == -SECONDS_TO_1970 && self.nanos == 0
    }

    /// Writes RFC 3339 text: nine digits of fraction at most, without trailing zeros.
    pub fn write(self, out: &mut Vec<u8>) {
        let parts = calendar(self.local_seconds());
        // Copied as one block: character by character the capacity would be checked nineteen times.
        let mut text = *b"0000-00-00T00:00:00";
        let mut put = |at: usize, number: u64| {
            text[at] = b'0' + (number / 10) as u8;
            text[at + 1] = b'0' + (number % 10) as u8;
        };
        put(5, parts.month.into());
        put(8, parts.day.into());
        put(11, parts.hour.into());
        put(14, parts.minute.into());
        put(17, parts.second.into());
        if (0..=9999).contains(&parts.year) {
            put(0, parts.year as u64 / 100);
            put(2, parts.year as u64 % 100);
            out.extend_from_slice(&text);
        } else {
            go_numbers::write_int(parts.year, out);
            out.extend_from_slice(&text[4..]);
        }
        self.write_fraction(out);
        self.write_offset(out);
    }

    /// The same instant and offset in Go's binary form, which Dgraph stores: 15 bytes.
    pub fn to_binary(self) -> Vec<u8> {
        let mut out = Vec::with_capacity(15);
        out.push(1);
        out.extend_from_slice(&self.seconds.saturating_add(SECONDS_TO_1970).to_be_bytes());
        out.extend_from_slice(&self.nanos.to_be_bytes());
        // Go writes -1 for UTC, and 0 for a zone that has no offset at the time.
        let offset = if self.offset_minutes == 0 { -1 } else { self.offset_minutes };
        out.extend_from_slice(&offset.to_be_bytes());
        out
    }

    /// Reads what [`DateTime::to_binary`] wrote. Nanoseconds of a second and more are read as the
    /// last one of a second.
    ///
    /// # Errors
    ///
    /// [`TimeError::NoData`], [`TimeError::BinaryVersion`] or [`TimeError::BinaryLength`].
    pub fn from_binary(bytes: &[u8]) -> Result<DateTime, TimeError> {
        let Some(&version) = bytes.first() else {
            return Err(TimeError::NoData);
        };
        if version != 1 {
            return Err(TimeError::BinaryVersion);
        }
        let fields: &[u8; 15] = bytes.try_into().map_err(|_| TimeError::BinaryLength)?;
        let [_, a, b, c, d, e, f, g, h, n0, n1, n2, n3, o0, o1] = *fields;
        let seconds = i64::from_be_bytes([a, b, c, d, e, f, g, h]);
        let offset = i16::from_be_bytes([o0, o1]);
        Ok(DateTime {
            seconds: seconds.saturating_sub(SECONDS_TO_1970),
            nanos: u32::from_be_bytes([n0, n1, n2, n3]).min(NANOS_A_SECOND as u32 - 1),
            offset_minutes: if offset == -1 { 0 } else { offset },
        })
    }

    fn local_seconds(self) -> i64 {
        self.seconds.saturating_add(i64::from(self.offset_minutes) * 60)
    }

    fn write_fraction(self, out: &mut Vec<u8>) {
        if self.nanos == 0 {
            return;
        }
        out.push(b'.');
        let mut left = self.nanos;
        let mut unit = 100_000_000;
        while left > 0 && unit > 0 {
            out.push(b'0' + (left / unit % 10) as u8);
            left %= unit;
            unit /= 10;
        }
    }

    fn write_offset(self, out: &mut Vec<u8>) {
        if self.offset_minutes == 0 {
            out.push(b'Z');
            return;
        }
        out.push(if self.offset_minutes < 0 { b'-' } else { b'+' });
        let minutes = u64::from(self.offset_minutes.unsigned_abs());
        write_two(minutes / 60 % 100, out);
        out.push(b':');
        write_two(minutes % 60, out);
    }
}

impl fmt::Display for DateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Vec::with_capacity(35);
        self.write(&mut out);
        f.write_str(&String::from_utf8_lossy(&out))
    }
}

/// How many days the month has; 0 for a month that there is not.
pub(super) fn days_in_month(year: i64, month: u8) -> u8 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    }
}

fn write_two(number: u64, out: &mut Vec<u8>) {
    out.push(b'0' + (number / 10) as u8);
    out.push(b'0' + (number % 10) as u8);
}

/// Days since 1970-01-01. Years begin in March here, so that a leap day is the last of its year.
fn days_from_calendar(year: i64, month: u8, day: u8) -> i64 {
    // Hinnant, "chrono-Compatible Low-Level Date Algorithms": 146,097 days are 400 years, 719,468
    // lie between 0000-03-01 and 1970-01-01, and (153 m + 2) / 5 days before the month m after
    // March.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = (i64::from(month) + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + i64::from(day) - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The calendar at that many seconds after 1970; the inverse of [`days_from_calendar`].
fn calendar(seconds: i64) -> CalendarParts {
    let days = seconds.div_euclid(SECONDS_A_DAY) + 719_468;
    let clock = seconds.rem_euclid(SECONDS_A_DAY);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        // Without the leap days before it, one in 1,460 days, less one in 36,524, and one in
        // 146,096, each year has 365 days.
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let month = (month_from_march + 2) % 12 + 1;
    CalendarParts {
        year: year_of_era + days.div_euclid(146_097) * 400 + i64::from(month <= 2),
        month: month as u8,
        day: (day_of_year - (153 * month_from_march + 2) / 5 + 1) as u8,
        hour: (clock / 3600) as u8,
        minute: (clock / 60 % 60) as u8,
        second: (clock % 60) as u8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(time: &str) -> String {
        DateTime::parse(time).map(|time| time.to_string()).unwrap_or_else(|error| error.to_string())
    }

    /// Both bounds of their range are within a second.
    #[test]
    fn nanoseconds_fit_64_bits() {
        for nanos in [i64::MIN, i64::MIN + 1, -1, 0, i64::MAX] {
            assert_eq!(DateTime::from_unix(0, nanos).unix_nanos(), Some(nanos));
        }
        let first = DateTime::from_unix(0, i64::MIN);
        assert_eq!(DateTime { nanos: first.nanos - 1, ..first }.unix_nanos(), None);
    }

    #[test]
    fn calendar_agrees_with_itself_day_by_day() {
        let mut date = (-1, 12, 31);
        for days in days_from_calendar(-1, 12, 31)..days_from_calendar(2500, 1, 1) {
            let parts = calendar(days * SECONDS_A_DAY);
            assert_eq!((parts.year, parts.month, parts.day), date);
            date = match date {
                (year, 12, 31) => (year + 1, 1, 1),
                (year, month, day) if day == days_in_month(year, month) => (year, month + 1, 1),
                (year, month, day) => (year, month, day + 1),
            };
        }
    }

    #[test]
    fn far_seconds_do_not_overflow() {
        for seconds in [i64::MIN, i64::MAX] {
            let time = DateTime { seconds, nanos: 0, offset_minutes: 600 };
            assert!(!time.is_writable());
            assert!(time.to_string().len() > 10);
        }
        assert!(!DateTime::from_unix_float(f64::INFINITY).is_writable());
    }

    #[test]
    fn years_of_four_digits_are_writable() {
        let first = days_from_calendar(0, 1, 1) * SECONDS_A_DAY;
        let behind = days_from_calendar(10_000, 1, 1) * SECONDS_A_DAY;
        assert_eq!(WRITABLE, first..behind);
    }

    #[test]
    fn writes_the_offset_and_short_fractions() {
        assert_eq!(text("2006-01-02T15:04:05.120+05:30"), "2006-01-02T15:04:05.12+05:30");
        assert_eq!(
            text("2006-01-02T15:04:05.000000001-00:30"),
            "2006-01-02T15:04:05.000000001-00:30"
        );
        assert_eq!(text("0000-03-01"), "0000-03-01T00:00:00Z");
        assert_eq!(DateTime::from_unix(-1, 0).to_string(), "1969-12-31T23:59:59Z");
    }

    #[test]
    fn takes_floats_apart() {
        let time = DateTime::from_unix_float(-4_409_999.999);
        assert_eq!(time.to_string(), "1969-11-10T23:00:00.001000001Z");
        assert_eq!(DateTime::from_unix(1_257_894_000, 1_000_000).unix_float(), 1_257_894_000.001);
    }

    proptest! {
        #[test]
        fn text_and_binary_round_trip(
            seconds in -62_167_132_800i64..253_402_214_400,
            nanos in 0u32..1_000_000_000,
            offset_minutes in -1439i16..1440,
        ) {
            let time = DateTime { seconds, nanos, offset_minutes };
            prop_assert_eq!(DateTime::parse(&time.to_string()), Ok(time));
            if offset_minutes != -1 {
                prop_assert_eq!(DateTime::from_binary(&time.to_binary()), Ok(time));
            }
        }

        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..18)) {
            let _ = DateTime::from_binary(&bytes);
        }
    }
}
