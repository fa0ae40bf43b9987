//! Parses numbers by the rules of Go with base 0: the prefix selects the base, so `0x1f`, `0o17`,
//! `0b1` and `017` are numbers.

use hexgraph_base::compat::go_integers::split_base;
use hexgraph_base::types::Uid;

/// Parses an integer; `None` when the text is none, or needs more than 64 bits.
pub(in crate::lower) fn int(text: &str) -> Option<i64> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    // In 128 bits the least integer, whose opposite needs more than 64, is no special case.
    let magnitude = i128::from(uint(digits)?);
    i64::try_from(sign * magnitude).ok()
}

/// Parses an integer without a sign.
pub(in crate::lower) fn uint(text: &str) -> Option<u64> {
    Uid::parse(text).map(|uid| uid.0)
}

/// Parses a truth value in one of the spellings of Go.
pub(in crate::lower) fn boolean(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Some(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Some(false),
        _ => None,
    }
}

/// Returns true for a text that is an integer of more than 64 bits.
pub(super) fn is_too_large(text: &str) -> bool {
    let (digits, radix) = split_base(text);
    !digits.is_empty()
        && digits.chars().all(|digit| digit.is_digit(radix))
        && u64::from_str_radix(digits, radix).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_base_0() {
        assert_eq!(int("-0x10"), Some(-16));
        assert_eq!(int("+1"), Some(1));
        assert_eq!(int("9223372036854775808"), None);
        assert_eq!(int("--1"), None);
        assert_eq!(uint("017"), Some(15));
        assert!(is_too_large("18446744073709551616"));
        assert!(!is_too_large("18446744073709551615"));
        assert!(!is_too_large("0xg"));
    }
}
