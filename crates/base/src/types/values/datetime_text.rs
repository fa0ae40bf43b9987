//! Reading the formats of a datetime.
//!
//! A layout is a list of items that are read one after the other. What is accepted and what is
//! refused is Go's `time.Parse` for those layouts, for that is what users of DQL know: an hour may
//! have one digit, a fraction may follow any second after a dot or comma.

use super::datetime::{CalendarParts, DateTime, TimeError, days_in_month};
use crate::types::shown;

impl DateTime {
    /// Reads `2006`, `2006-01`, `2006-01-02`, `2006-01-02T15:04:05` with or without a fraction and
    /// `Z` or an offset, or `2006-01-02 15:04:05 -0700 MST`. Without an offset it is UTC.
    ///
    /// # Errors
    ///
    /// [`TimeError::Form`], [`TimeError::Range`] or [`TimeError::LeftOver`].
    pub fn parse(text: &str) -> Result<DateTime, TimeError> {
        // The length picks the layout: four bytes that are no year are refused, not tried as something else.
        let layout = match text.len() {
            4 => YEAR,
            7 => MONTH,
            10 => DAY,
            length if length > LOCAL_LENGTH && looks_like_rfc3339(text.as_bytes()) => RFC3339,
            _ => {
                // What fits neither of the two is refused for what does not fit the plain one.
                if let Ok(time) = read(ZONED, text) {
                    return Ok(time);
                }
                LOCAL
            }
        };
        read(layout, text).map_err(|fault| fault.in_text(text))
    }
}

#[derive(Clone, Copy)]
enum Item {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    /// `Z` or `+05:30`.
    Offset,
    /// `+0530`.
    OffsetDigits,
    /// `IST`.
    ZoneName,
    /// Exactly this byte; a blank stands for any number of blanks.
    Literal(&'static str),
}

use Item::{Day, Hour, Literal, Minute, Month, Offset, OffsetDigits, Second, Year, ZoneName};

/// The pieces of a text in their order.
type Layout = [Item];

/// The length of a text with all pieces of [`LOCAL`].
const LOCAL_LENGTH: usize = "2006-01-02T15:04:05".len();

static YEAR: &Layout = &[Year];
static MONTH: &Layout = &[Year, Literal("-"), Month];
static DAY: &Layout = &[Year, Literal("-"), Month, Literal("-"), Day];
static LOCAL: &Layout = &[
    Year,
    Literal("-"),
    Month,
    Literal("-"),
    Day,
    Literal("T"),
    Hour,
    Literal(":"),
    Minute,
    Literal(":"),
    Second,
];
static RFC3339: &Layout = &[
    Year,
    Literal("-"),
    Month,
    Literal("-"),
    Day,
    Literal("T"),
    Hour,
    Literal(":"),
    Minute,
    Literal(":"),
    Second,
    Offset,
];
static ZONED: &Layout = &[
    Year,
    Literal("-"),
    Month,
    Literal("-"),
    Day,
    Literal(" "),
    Hour,
    Literal(":"),
    Minute,
    Literal(":"),
    Second,
    Literal(" "),
    OffsetDigits,
    Literal(" "),
    ZoneName,
];

/// What did not fit a layout. It holds no text, since several layouts may be tried before one fits.
enum Fault {
    /// The text is of another form.
    Mismatch,
    /// The named part is beyond what a calendar or clock has.
    Range(&'static str),
    /// Text is left over from the offset on.
    Extra(usize),
}

impl Fault {
    fn in_text(self, whole: &str) -> TimeError {
        let text = shown(whole);
        match self {
            Fault::Mismatch => TimeError::Form { text },
            Fault::Range(part) => TimeError::Range { text, part },
            Fault::Extra(at) => {
                let rest = String::from_utf8_lossy(&whole.as_bytes()[at.min(whole.len())..]);
                TimeError::LeftOver { text, rest: shown(&rest) }
            }
        }
    }
}

fn looks_like_rfc3339(text: &[u8]) -> bool {
    // The caller has seen that there are more than 19 bytes.
    text[10] == b'T' && (text[text.len() - 1] == b'Z' || text[text.len() - 3] == b':')
}

fn read(layout: &Layout, text: &str) -> Result<DateTime, Fault> {
    let mut reader = Reader { text: text.as_bytes(), at: 0, is_utc: false, offset: 0, nanos: 0 };
    let mut parts = CalendarParts { year: 0, month: 1, day: 1, hour: 0, minute: 0, second: 0 };
    for item in layout {
        reader.item(*item, &mut parts)?;
    }
    if reader.at < text.len() {
        return Err(Fault::Extra(reader.at));
    }
    // Only now are year and month known, which say how many days there are.
    if parts.day < 1 || parts.day > days_in_month(parts.year, parts.month) {
        return Err(Fault::Range("day"));
    }
    let offset = if reader.is_utc { 0 } else { reader.offset };
    let local = DateTime::from_parts(parts);
    Ok(DateTime {
        seconds: local.seconds - i64::from(offset) * 60,
        nanos: reader.nanos,
        offset_minutes: offset,
    })
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    is_utc: bool,
    offset: i16,
    nanos: u32,
}

impl Reader<'_> {
    fn item(&mut self, item: Item, parts: &mut CalendarParts) -> Result<(), Fault> {
        match item {
            Year => parts.year = self.year().ok_or(Fault::Mismatch)?,
            Month => {
                parts.month = self.two_digits().ok_or(Fault::Mismatch)?;
                in_range(parts.month, 1, 12, "month")?;
            }
            Day => parts.day = self.two_digits().ok_or(Fault::Mismatch)?,
            Hour => {
                parts.hour = self.hour().ok_or(Fault::Mismatch)?;
                in_range(parts.hour, 0, 23, "hour")?;
            }
            Minute => {
                parts.minute = self.two_digits().ok_or(Fault::Mismatch)?;
                in_range(parts.minute, 0, 59, "minute")?;
            }
            Second => {
                parts.second = self.two_digits().ok_or(Fault::Mismatch)?;
                in_range(parts.second, 0, 59, "second")?;
                self.fraction();
            }
            Offset => self.offset(b":")?,
            OffsetDigits => self.offset(b"")?,
            ZoneName => self.zone_name().ok_or(Fault::Mismatch)?,
            Literal(mark) => self.literal(mark)?,
        }
        Ok(())
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    fn digit(&self, ahead: usize) -> Option<u8> {
        self.peek(ahead).filter(u8::is_ascii_digit).map(|byte| byte - b'0')
    }

    fn two_digits(&mut self) -> Option<u8> {
        let number = self.digit(0)? * 10 + self.digit(1)?;
        self.at += 2;
        Some(number)
    }

    fn hour(&mut self) -> Option<u8> {
        if self.digit(1).is_some() {
            return self.two_digits();
        }
        let number = self.digit(0)?;
        self.at += 1;
        Some(number)
    }

    fn year(&mut self) -> Option<i64> {
        self.digit(3)?;
        Some(i64::from(self.two_digits()?) * 100 + i64::from(self.two_digits()?))
    }

    /// A fraction may follow the second though no layout shows it; digits beyond nine are dropped.
    fn fraction(&mut self) {
        if !matches!(self.peek(0), Some(b'.' | b',')) || self.digit(1).is_none() {
            return;
        }
        self.at += 1;
        let mut unit = 100_000_000;
        while let Some(digit) = self.digit(0) {
            self.nanos += u32::from(digit) * unit;
            // After nine digits the unit is 0, and further ones count for nothing.
            unit /= 10;
            self.at += 1;
        }
    }

    fn literal(&mut self, mark: &'static str) -> Result<(), Fault> {
        if mark == " " {
            if self.peek(0).is_some_and(|byte| byte != b' ') {
                return Err(Fault::Mismatch);
            }
            while self.peek(0) == Some(b' ') {
                self.at += 1;
            }
            return Ok(());
        }
        if self.peek(0) != mark.bytes().next() {
            return Err(Fault::Mismatch);
        }
        self.at += 1;
        Ok(())
    }

    /// `+hh` and `mm` with `between` between them; `Z` too where there is something between.
    fn offset(&mut self, between: &[u8]) -> Result<(), Fault> {
        if !between.is_empty() && self.peek(0) == Some(b'Z') {
            self.at += 1;
            self.is_utc = true;
            return Ok(());
        }
        let (hours, minutes, sign) = self.signed_offset(between).ok_or(Fault::Mismatch)?;
        // The bounds are those of Go, which lets 24 hours and 60 minutes pass.
        if hours > 24 {
            return Err(Fault::Range("offset"));
        }
        if minutes > 60 {
            return Err(Fault::Range("offset"));
        }
        self.offset = (i16::from(hours) * 60 + i16::from(minutes)) * sign;
        Ok(())
    }

    fn signed_offset(&mut self, between: &[u8]) -> Option<(u8, u8, i16)> {
        let sign = match self.peek(0)? {
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        self.at += 1;
        let hours = self.two_digits()?;
        if !self.text[self.at..].starts_with(between) {
            return None;
        }
        self.at += between.len();
        Some((hours, self.two_digits()?, sign))
    }

    /// The name of a zone says nothing beside the offset, but for `UTC`, which overrules it.
    fn zone_name(&mut self) -> Option<()> {
        let rest = &self.text[self.at..];
        if rest.starts_with(b"UTC") {
            self.is_utc = true;
            self.at += 3;
            return Some(());
        }
        self.at += zone_name_len(rest)?;
        Some(())
    }
}

fn in_range(number: u8, least: u8, most: u8, part: &'static str) -> Result<(), Fault> {
    if (least..=most).contains(&number) { Ok(()) } else { Err(Fault::Range(part)) }
}

/// The length of the abbreviation of a zone: three capitals, or four or five ending in T, or one of
/// the few that are otherwise.
fn zone_name_len(text: &[u8]) -> Option<usize> {
    if text.len() < 3 {
        return None;
    }
    if text.starts_with(b"ChST") || text.starts_with(b"MeST") {
        return Some(4);
    }
    if text.starts_with(b"GMT") {
        return Some(3 + hour_offset_len(&text[3..]));
    }
    if matches!(text[0], b'+' | b'-') {
        return Some(hour_offset_len(text)).filter(|&length| length > 0);
    }
    let capitals = text.iter().take(6).take_while(|byte| byte.is_ascii_uppercase()).count();
    match capitals {
        3 => Some(3),
        4 if text[3] == b'T' || text.starts_with(b"WITA") => Some(4),
        5 if text[4] == b'T' => Some(5),
        _ => None,
    }
}

/// The length of `+3` or `-11` at the front; 0 when there is none or it is more than 23 hours.
fn hour_offset_len(text: &[u8]) -> usize {
    if !matches!(text.first(), Some(b'+' | b'-')) {
        return 0;
    }
    let digits = text[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let hours = text[1..1 + digits].iter().fold(0u32, |hours, digit| {
        hours.saturating_mul(10).saturating_add(u32::from(digit - b'0'))
    });
    if digits == 0 || hours > 23 { 0 } else { 1 + digits }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> String {
        DateTime::parse(text).map(|time| time.to_string()).unwrap_or_else(|error| error.to_string())
    }

    #[test]
    fn reads_every_format() {
        for (text, expected) in [
            ("2006", "2006-01-01T00:00:00Z"),
            ("2006-02", "2006-02-01T00:00:00Z"),
            ("2006-01-02", "2006-01-02T00:00:00Z"),
            ("2006-01-02T15:04:05", "2006-01-02T15:04:05Z"),
            ("2006-01-02T5:04:05", "2006-01-02T05:04:05Z"),
            ("2006-01-02T15:04:05,5", "2006-01-02T15:04:05.5Z"),
            ("2006-01-02T15:04:05.1234567899", "2006-01-02T15:04:05.123456789Z"),
            ("2006-01-02T15:04:05.25Z", "2006-01-02T15:04:05.25Z"),
            ("2006-01-02T15:04:05+05:30", "2006-01-02T15:04:05+05:30"),
            ("2006-01-02T15:04:05-00:00", "2006-01-02T15:04:05Z"),
            ("2006-01-02 15:04:05 +0530 IST", "2006-01-02T15:04:05+05:30"),
            ("2006-01-02 15:04:05.5 -0700 MST", "2006-01-02T15:04:05.5-07:00"),
            ("2006-01-02 15:04:05 +0530 UTC", "2006-01-02T15:04:05Z"),
            ("2006-01-02   15:04:05 +0300 +03", "2006-01-02T15:04:05+03:00"),
            ("2024-02-29", "2024-02-29T00:00:00Z"),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn refuses_what_the_layouts_do_not_cover() {
        for text in [
            "",
            "2006-1",
            "2006-01-02T15:04",
            "2006-01-02 15:04:05",
            "2006-01-02T15:04:05+0530",
            "2006-01-02T15:04:05z",
            "2006-13",
            "2006-02-30",
            "2006-01-00",
            "2006-01-02T24:00:00",
            "2006-01-02T15:04:60",
            "12006-01-02",
            "+2006",
            "2006-01-02 15:04:05 +0530 ist",
            "2006-01-02T15:04:05.Z",
            "2006-01-02T15:04:05ZZ",
        ] {
            let error = DateTime::parse(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{text}` is no datetime")), "{error}");
        }
    }

    #[test]
    fn says_what_does_not_fit() {
        assert_eq!(read("abcd"), "`abcd` is no datetime, which looks like `2006-01-02T15:04:05Z`");
        assert_eq!(
            read("2018-05-28T14:41:57+25:00"),
            "`2018-05-28T14:41:57+25:00` is no datetime: its offset is out of range"
        );
        assert_eq!(
            read("2018-05-28T14:41:57 x"),
            "`2018-05-28T14:41:57 x` is no datetime: ` x` is left over"
        );
        assert_eq!(read("2018-02-30"), "`2018-02-30` is no datetime: its day is out of range");
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "\\PC*") {
            let _ = DateTime::parse(&text);
        }

        #[test]
        fn anything_like_a_time_is_survived(text in "[0-9TZ:. +a-zé-]{0,32}") {
            let _ = DateTime::parse(&text);
        }
    }
}
