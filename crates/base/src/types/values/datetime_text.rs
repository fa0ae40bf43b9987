//! Reading the formats of a datetime. The length of a text picks its layout.

use super::datetime::{DateTime, TimeError, days_in_month};
use crate::compat::go_layouts::{
    self, DAY, Fault, LOCAL, LOCAL_LENGTH, Layout, MONTH, RFC3339, Written, YEAR, ZONED,
};
use crate::types::shown;

impl DateTime {
    /// Reads `2006`, `2006-01`, `2006-01-02`, `2006-01-02T15:04:05` with or without a fraction and
    /// `Z` or an offset, or `2006-01-02 15:04:05 -0700 MST`. Without an offset it is UTC.
    ///
    /// # Errors
    ///
    /// [`TimeError::Form`], [`TimeError::Range`] or [`TimeError::LeftOver`].
    pub fn parse(text: &str) -> Result<DateTime, TimeError> {
        // The length picks the layout: four bytes that are no year are refused, not tried as
        // something else.
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
        read(layout, text).map_err(|fault| error_of(&fault, text))
    }
}

/// Returns the error for a text that does not fit a layout.
fn error_of(fault: &Fault, full: &str) -> TimeError {
    let text = shown(full);
    match *fault {
        Fault::Mismatch => TimeError::Form { text },
        Fault::Range(part) => TimeError::Range { text, part },
        Fault::Extra(at) => {
            let rest = String::from_utf8_lossy(&full.as_bytes()[at.min(full.len())..]);
            TimeError::LeftOver { text, rest: shown(&rest) }
        }
    }
}

fn looks_like_rfc3339(text: &[u8]) -> bool {
    // The caller has seen that there are more than 19 bytes.
    text[10] == b'T' && (text[text.len() - 1] == b'Z' || text[text.len() - 3] == b':')
}

fn read(layout: &Layout, text: &str) -> Result<DateTime, Fault> {
    let Written { local, nanos, offset_minutes } = go_layouts::read(layout, text)?;
    // The number of days depends on year and month, which are parsed before.
    if local.day < 1 || local.day > days_in_month(local.year, local.month) {
        return Err(Fault::Range("day"));
    }
    let seconds = DateTime::from_parts(local).seconds - i64::from(offset_minutes) * 60;
    Ok(DateTime { seconds, nanos, offset_minutes })
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
        // What has digits was meant as a time.
        let error = read("01.08.1948");
        assert!(error.ends_with("`2006-01-02 15:04:05 +0100 CET`; no other order"), "{error}");
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
