//! The layouts of times that Go's `time.Parse` reads.
//!
//! A layout is a list of items that are read one after the other. What is accepted and what is
//! refused is what Go accepts and refuses for these layouts, for that is what users of DQL know: an
//! hour may have one digit, and a fraction may follow any second after a dot or comma.

/// One item of a layout.
#[derive(Clone, Copy)]
pub(crate) enum Item {
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
    /// Exactly this byte; a blank represents any number of blanks.
    Literal(&'static str),
}

use Item::{Day, Hour, Literal, Minute, Month, Offset, OffsetDigits, Second, Year, ZoneName};

/// The chunks of a text in their order.
pub(crate) type Layout = [Item];

/// The length of a text with all chunks of [`LOCAL`].
pub(crate) const LOCAL_LENGTH: usize = "2006-01-02T15:04:05".len();

/// `2006-01-02T15:04:05Z07:00`; shorter layouts are prefixes of it.
pub(crate) const RFC3339: &Layout = &[
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
/// `2006`
pub(crate) const YEAR: &Layout = RFC3339.split_at(1).0;
/// `2006-01`
pub(crate) const MONTH: &Layout = RFC3339.split_at(3).0;
/// `2006-01-02`
pub(crate) const DAY: &Layout = RFC3339.split_at(5).0;
/// `2006-01-02T15:04:05`
pub(crate) const LOCAL: &Layout = RFC3339.split_at(11).0;
/// `2006-01-02 15:04:05 -0700 MST`
pub(crate) const ZONED: &Layout = &[
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
pub(crate) enum Fault {
    /// The text is of another form.
    Mismatch,
    /// The named part is beyond what a calendar or clock has.
    Range(&'static str),
    /// Text is left over from the offset on.
    Extra(usize),
}

/// A date on the calendar and a time on the clock, to the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CalendarParts {
    /// The year; 0 is the one before year 1. A layout reads four digits.
    pub year: i64,
    /// The month, from 1 to 12.
    pub month: u8,
    /// The day of the month, from 1. Read from a text it may be one that the month does not have.
    pub day: u8,
    /// The hour, below 24.
    pub hour: u8,
    /// The minute, below 60.
    pub minute: u8,
    /// The second, below 60.
    pub second: u8,
}

/// What a text says of a time. The parts that its layout lacks are those of the first moment of the
/// year.
pub(crate) struct Written {
    /// The date and the time where the text was written.
    pub local: CalendarParts,
    /// The nanoseconds of the fraction.
    pub nanos: u32,
    /// Minutes east of Greenwich.
    pub offset_minutes: i16,
}

/// Reads a text by a layout, to its end.
pub(crate) fn read(layout: &Layout, text: &str) -> Result<Written, Fault> {
    let local = CalendarParts { year: 0, month: 1, day: 1, hour: 0, minute: 0, second: 0 };
    let written = Written { local, nanos: 0, offset_minutes: 0 };
    let mut reader = Reader { text: text.as_bytes(), at: 0, is_utc: false, written };
    for item in layout {
        reader.item(*item)?;
    }
    if reader.at < text.len() {
        return Err(Fault::Extra(reader.at));
    }
    if reader.is_utc {
        reader.written.offset_minutes = 0;
    }
    Ok(reader.written)
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    is_utc: bool,
    written: Written,
}

impl Reader<'_> {
    fn item(&mut self, item: Item) -> Result<(), Fault> {
        match item {
            Year => self.written.local.year = self.year().ok_or(Fault::Mismatch)?,
            Month => {
                self.written.local.month = self.two_digits().ok_or(Fault::Mismatch)?;
                in_range(self.written.local.month, 1, 12, "month")?;
            }
            Day => self.written.local.day = self.two_digits().ok_or(Fault::Mismatch)?,
            Hour => {
                self.written.local.hour = self.hour().ok_or(Fault::Mismatch)?;
                in_range(self.written.local.hour, 0, 23, "hour")?;
            }
            Minute => {
                self.written.local.minute = self.two_digits().ok_or(Fault::Mismatch)?;
                in_range(self.written.local.minute, 0, 59, "minute")?;
            }
            Second => {
                self.written.local.second = self.two_digits().ok_or(Fault::Mismatch)?;
                in_range(self.written.local.second, 0, 59, "second")?;
                self.fraction();
            }
            Offset => self.offset(b":")?,
            OffsetDigits => self.offset(b"")?,
            ZoneName => self.zone_name().ok_or(Fault::Mismatch)?,
            Literal(mark) => self.literal(mark)?,
        }
        Ok(())
    }

    fn peek(&self, offset: usize) -> Option<u8> {
        self.text.get(self.at + offset).copied()
    }

    fn digit(&self, offset: usize) -> Option<u8> {
        self.peek(offset).filter(u8::is_ascii_digit).map(|byte| byte - b'0')
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
            self.written.nanos += u32::from(digit) * unit;
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
        self.written.offset_minutes = (i16::from(hours) * 60 + i16::from(minutes)) * sign;
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

    /// The name of a zone adds nothing to the offset, but for `UTC`, which overrules it.
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
