//! Parameters as the clients of Dgraph write them: the notation of Go, and its error messages.

use std::time::Duration;

/// Why the text of a parameter is no value of its type. The messages are those of Go's `strconv`
/// and `time`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GoValueError {
    /// The text is no truth value.
    #[error("strconv.ParseBool: parsing {text:?}: invalid syntax")]
    Bool {
        /// The text.
        text: String,
    },
    /// The text is no number.
    #[error("strconv.ParseUint: parsing {text:?}: invalid syntax")]
    Number {
        /// The text.
        text: String,
    },
    /// The number has more than 64 bits.
    #[error("strconv.ParseUint: parsing {text:?}: value out of range")]
    NumberRange {
        /// The text.
        text: String,
    },
    /// The text is no duration.
    #[error("time: invalid duration {text:?}")]
    Duration {
        /// The text.
        text: String,
    },
    /// A number of the duration has no unit.
    #[error("time: missing unit in duration {text:?}")]
    MissingUnit {
        /// The text.
        text: String,
    },
    /// A number of the duration has a unit that Go does not know.
    #[error("time: unknown unit {unit:?} in duration {text:?}")]
    UnknownUnit {
        /// The unit.
        unit: String,
        /// The text.
        text: String,
    },
}

/// Reads `1`, `t`, `TRUE` and their like.
pub(in crate::http) fn parse_bool(text: &str) -> Result<bool, GoValueError> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(false),
        _ => Err(GoValueError::Bool { text: text.to_owned() }),
    }
}

/// Reads a number in decimal, or with a prefix `0x`, `0o`, `0b` or `0`.
pub(in crate::http) fn parse_u64(text: &str) -> Result<u64, GoValueError> {
    let lower = text.to_ascii_lowercase();
    let (digits, radix) = match lower.as_bytes() {
        [b'0', b'x', ..] => (&lower[2..], 16),
        [b'0', b'o', ..] => (&lower[2..], 8),
        [b'0', b'b', ..] => (&lower[2..], 2),
        [b'0', _, ..] => (&lower[1..], 8),
        _ => (&lower[..], 10),
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return Err(GoValueError::Number { text: text.to_owned() });
    }
    u64::from_str_radix(digits, radix)
        .map_err(|_| GoValueError::NumberRange { text: text.to_owned() })
}

/// Reads a number with the digits 0 to 9 and a to z; `None` for what is none.
pub(in crate::http) fn parse_base36(text: &str) -> Option<u64> {
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_digits { u64::from_str_radix(text, 36).ok() } else { None }
}

/// Writes a number with the digits 0 to 9 and a to z.
pub(in crate::http) fn to_base36(mut number: u64) -> String {
    let mut digits = Vec::new();
    loop {
        let digit = char::from_digit((number % 36) as u32, 36).expect("it is below 36");
        digits.push(digit);
        number /= 36;
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}

/// Reads `300ms`, `1.5h`, `2h45m`. A duration below zero has passed already: it is zero here.
pub(in crate::http) fn parse_duration(text: &str) -> Result<Duration, GoValueError> {
    let invalid = || GoValueError::Duration { text: text.to_owned() };
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned == "0" {
        return Ok(Duration::ZERO);
    }
    let mut rest = unsigned;
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let number_len = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, behind) = rest.split_at(number_len);
        let unit_len = behind.find(|c: char| c.is_ascii_digit() || c == '.');
        let (unit, behind) = behind.split_at(unit_len.unwrap_or(behind.len()));
        let number: f64 = number.parse().map_err(|_| invalid())?;
        seconds += number * unit_seconds(unit, text)?;
        rest = behind;
    }
    if unsigned.is_empty() {
        return Err(invalid());
    }
    if text.starts_with('-') {
        return Ok(Duration::ZERO);
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| invalid())
}

fn unit_seconds(unit: &str, text: &str) -> Result<f64, GoValueError> {
    let text = || text.to_owned();
    Ok(match unit {
        "ns" => 1e-9,
        "us" | "µs" | "μs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "" => return Err(GoValueError::MissingUnit { text: text() }),
        _ => return Err(GoValueError::UnknownUnit { unit: unit.to_owned(), text: text() }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(parse_u64("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(parse_u64("0X1f"), Ok(31));
        assert_eq!(parse_u64("010"), Ok(8));
        for text in ["-1", "+1", "x", "0x", "1_0"] {
            let why = format!("strconv.ParseUint: parsing {text:?}: invalid syntax");
            assert_eq!(parse_u64(text).unwrap_err().to_string(), why);
        }
        let wide = parse_u64("18446744073709551616").unwrap_err().to_string();
        assert!(wide.ends_with("value out of range"), "{wide}");
    }

    #[test]
    fn base_36() {
        for number in [0, 35, 36, 12_345_678_901, u64::MAX] {
            assert_eq!(parse_base36(&to_base36(number)), Some(number));
        }
        assert_eq!(to_base36(46655), "zzz");
        assert!(["", "+1", "-", "a b"].iter().all(|text| parse_base36(text).is_none()));
    }

    #[test]
    fn durations() {
        let cases = [("2s", 2_000), ("1m0.5s", 60_500), ("0", 0), ("-1s", 0), ("+250ms", 250)];
        for (text, want_ms) in cases {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(want_ms)), "{text}");
        }
        let reported = |text| parse_duration(text).unwrap_err().to_string();
        assert_eq!(reported("abc"), "time: invalid duration \"abc\"");
        assert_eq!(reported("5"), "time: missing unit in duration \"5\"");
        assert_eq!(reported("5y"), "time: unknown unit \"y\" in duration \"5y\"");
        for text in ["", "s", ".s", "1..2s", "99999999999999999999999h"] {
            assert_eq!(reported(text), format!("time: invalid duration {text:?}"));
        }
        assert!(reported("1e400s").contains("unknown unit \"e\""));
    }
}
