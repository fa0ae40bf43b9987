//! Parameters as the clients of Dgraph write them: the notation of Go, and its error messages.

use std::time::Duration;

/// Reads `1`, `t`, `TRUE` and their like.
pub(in crate::http) fn parse_bool(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(false),
        _ => Err(format!("strconv.ParseBool: parsing {text:?}: invalid syntax")),
    }
}

/// Reads a number in decimal, or with a prefix `0x`, `0o`, `0b` or `0`.
pub(super) fn parse_u64(text: &str) -> Result<u64, String> {
    let lower = text.to_ascii_lowercase();
    let (digits, radix) = match lower.as_bytes() {
        [b'0', b'x', ..] => (&lower[2..], 16),
        [b'0', b'o', ..] => (&lower[2..], 8),
        [b'0', b'b', ..] => (&lower[2..], 2),
        [b'0', _, ..] => (&lower[1..], 8),
        _ => (&lower[..], 10),
    };
    let fault = |what| format!("strconv.ParseUint: parsing {text:?}: {what}");
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return Err(fault("invalid syntax"));
    }
    u64::from_str_radix(digits, radix).map_err(|_| fault("value out of range"))
}

/// Reads a number with the digits 0 to 9 and a to z; `None` for what is none.
pub(in crate::http) fn parse_base36(text: &str) -> Option<u64> {
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_digits { u64::from_str_radix(text, 36).ok() } else { None }
}

/// Writes a number with the digits 0 to 9 and a to z.
pub(super) fn to_base36(mut number: u64) -> String {
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
pub(super) fn parse_duration(text: &str) -> Result<Duration, String> {
    let invalid = || format!("time: invalid duration {text:?}");
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

fn unit_seconds(unit: &str, text: &str) -> Result<f64, String> {
    Ok(match unit {
        "ns" => 1e-9,
        "us" | "µs" | "μs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "" => return Err(format!("time: missing unit in duration {text:?}")),
        _ => return Err(format!("time: unknown unit {unit:?} in duration {text:?}")),
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
            assert!(parse_u64(text).unwrap_err().contains("invalid syntax"), "{text}");
        }
        assert!(parse_u64("18446744073709551616").unwrap_err().contains("out of range"));
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
        assert_eq!(parse_duration("abc"), Err("time: invalid duration \"abc\"".to_owned()));
        assert!(parse_duration("5").unwrap_err().contains("missing unit"));
        assert!(parse_duration("5y").unwrap_err().contains("unknown unit"));
        for text in ["", "s", ".s", "1..2s", "99999999999999999999999h"] {
            assert_eq!(parse_duration(text), Err(format!("time: invalid duration {text:?}")));
        }
        assert!(parse_duration("1e400s").unwrap_err().contains("unknown unit \"e\""));
    }
}
