//! What text is taken for a bool, an int, a float or a vector.
//!
//! The rules are those of Go's `strconv`.

use crate::types::text::shown;

/// Why a text is no bool, int, float or vector. `text` is the text as messages show it: between backquotes, on one
/// line, cut to 60 letters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The text is none of those that [`parse_bool`] takes.
    #[error("{text} is neither true nor false")]
    NoBool {
        /// The text.
        text: String,
    },
    /// The text is no decimal integer.
    #[error("{text} is no int")]
    NoInt {
        /// The text.
        text: String,
    },
    /// The integer has more than 64 bits.
    #[error("{text} is too large for an int")]
    IntTooLarge {
        /// The text.
        text: String,
    },
    /// The text is no number.
    #[error("{text} is no float")]
    NoFloat {
        /// The text.
        text: String,
    },
    /// The number is finite in the text, but not as a float of 64 bits.
    #[error("{text} is too large for a float")]
    FloatTooLarge {
        /// The text.
        text: String,
    },
    /// The text is `NaN`, which has no place in the order of values.
    #[error("NaN is no value of a float")]
    NotANumber,
    /// The text is no list of finite numbers in brackets.
    #[error("{text} is no vector, which looks like `[0.1, 0.2]`")]
    NoVector {
        /// The text.
        text: String,
    },
}

/// Reads `1 t T true True TRUE` and their opposites.
pub fn parse_bool(text: &str) -> Result<bool, ParseError> {
    match text {
        "1" | "t" | "T" | "true" | "True" | "TRUE" => Ok(true),
        "0" | "f" | "F" | "false" | "False" | "FALSE" => Ok(false),
        _ => Err(ParseError::NoBool { text: shown(text) }),
    }
}

/// Reads a decimal integer of 64 bits, with or without a sign.
pub(crate) fn parse_int(text: &str) -> Result<i64, ParseError> {
    use std::num::IntErrorKind::{NegOverflow, PosOverflow};
    text.parse().map_err(|error: std::num::ParseIntError| match error.kind() {
        PosOverflow | NegOverflow => ParseError::IntTooLarge { text: shown(text) },
        _ => ParseError::NoInt { text: shown(text) },
    })
}

/// Reads a float of 64 bits: decimal or hexadecimal, `_` between digits, `Inf` in any case.
/// Refuses NaN and what is too large.
pub fn parse_float(text: &str) -> Result<f64, ParseError> {
    let number = match FloatText::scan(text) {
        Some(FloatText::Decimal) => plain(text).parse().ok(),
        Some(FloatText::Hex(hex)) => Some(hex.round(53, -1074)),
        Some(FloatText::Infinity) => {
            return Ok(if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY });
        }
        Some(FloatText::NotANumber) => return Err(ParseError::NotANumber),
        None => None,
    };
    match number {
        Some(number) if number.is_finite() => Ok(number),
        Some(_) => Err(ParseError::FloatTooLarge { text: shown(text) }),
        None => Err(ParseError::NoFloat { text: shown(text) }),
    }
}

/// Reads `[1, 2]` or `[1 2]`; empty text is the empty vector. Every element must be finite.
pub fn parse_vector(text: &str) -> Result<Vec<f32>, ParseError> {
    let spaced = text.replace(['\n', '\t'], " ");
    let trimmed = spaced.trim();
    let refuse = || ParseError::NoVector { text: shown(trimmed) };
    if trimmed.is_empty() {
        return Ok(Vec::new());
    }
    let opened = trimmed.strip_prefix('[').ok_or_else(refuse)?;
    let inner = opened.trim_end_matches(']');
    if inner.len() == opened.len() {
        return Err(refuse());
    }
    let numbers: Option<Vec<f32>> = if inner.is_empty() {
        Some(Vec::new())
    } else if inner.contains(',') {
        inner.split(',').map(|element| parse_float32(element.trim())).collect()
    } else {
        inner.split(' ').filter(|element| !element.is_empty()).map(parse_float32).collect()
    };
    numbers.ok_or_else(refuse)
}

fn parse_float32(text: &str) -> Option<f32> {
    let number = match FloatText::scan(text)? {
        FloatText::Decimal => plain(text).parse().ok()?,
        FloatText::Hex(hex) => hex.round(24, -149) as f32,
        FloatText::Infinity | FloatText::NotANumber => return None,
    };
    number.is_finite().then_some(number)
}

fn plain(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains('_') { text.replace('_', "").into() } else { text.into() }
}

enum FloatText {
    Decimal,
    Hex(HexFloat),
    Infinity,
    NotANumber,
}

/// A hexadecimal float: `mantissa` times two to the `exponent`, and a little more if `sticky`.
struct HexFloat {
    negative: bool,
    mantissa: u64,
    exponent: i64,
    sticky: bool,
}

impl FloatText {
    fn scan(text: &str) -> Option<FloatText> {
        let bytes = text.as_bytes();
        let unsigned = bytes.strip_prefix(b"+").or(bytes.strip_prefix(b"-")).unwrap_or(bytes);
        if [&b"inf"[..], b"infinity"].iter().any(|name| unsigned.eq_ignore_ascii_case(name)) {
            return Some(FloatText::Infinity);
        }
        if bytes.eq_ignore_ascii_case(b"nan") {
            return Some(FloatText::NotANumber);
        }
        if !underscores_are_well_placed(unsigned) {
            return None;
        }
        if let [b'0', b'x' | b'X', digits @ ..] = unsigned {
            return HexFloat::scan(digits, bytes[0] == b'-').map(FloatText::Hex);
        }
        is_decimal(unsigned).then_some(FloatText::Decimal)
    }
}

fn is_decimal(text: &[u8]) -> bool {
    let is_mark = |byte: &u8| matches!(byte, b'e' | b'E');
    let (mantissa, exponent) = match text.iter().position(is_mark) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let points = mantissa.iter().filter(|&&byte| byte == b'.').count();
    let digits = mantissa.iter().filter(|byte| byte.is_ascii_digit()).count();
    let others = mantissa.iter().any(|&byte| !matches!(byte, b'0'..=b'9' | b'.' | b'_'));
    points <= 1 && digits > 0 && !others && exponent.is_none_or(|text| exponent_of(text).is_some())
}

/// Reads the integer after `e` or `p`; `None` when there is none. What is beyond a million is returned as a million, which
/// is infinite or zero in any float.
fn exponent_of(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'+', digits @ ..] => (false, digits),
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    digits.first().filter(|byte| byte.is_ascii_digit())?;
    let mut exponent = 0i64;
    for &byte in digits.iter().filter(|&&byte| byte != b'_') {
        if !byte.is_ascii_digit() {
            return None;
        }
        exponent = (exponent * 10 + i64::from(byte - b'0')).min(1_000_000);
    }
    Some(if negative { -exponent } else { exponent })
}

/// True when every `_` stands between two digits, or between a prefix such as `0x` and a digit.
fn underscores_are_well_placed(unsigned: &[u8]) -> bool {
    if !unsigned.contains(&b'_') {
        return true;
    }
    let (is_hex, digits) = match unsigned {
        [b'0', b'x' | b'X', digits @ ..] => (true, digits),
        [b'0', b'b' | b'B' | b'o' | b'O', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let is_digit = |byte: u8| byte.is_ascii_digit() || (is_hex && byte.is_ascii_hexdigit());
    let has_prefix = digits.len() < unsigned.len();
    digits.iter().enumerate().filter(|(_, byte)| **byte == b'_').all(|(at, _)| {
        let before = if at == 0 { has_prefix } else { is_digit(digits[at - 1]) };
        before && digits.get(at + 1).is_some_and(|&byte| is_digit(byte))
    })
}

impl HexFloat {
    /// Reads what follows `0x`: digits with at most one point, then `p` and an exponent.
    fn scan(text: &[u8], negative: bool) -> Option<HexFloat> {
        let mark = text.iter().position(|byte| matches!(byte, b'p' | b'P'))?;
        let mut hex = HexFloat { negative, mantissa: 0, exponent: 0, sticky: false };
        let (mut has_point, mut has_digits) = (false, false);
        for &byte in text[..mark].iter().filter(|&&byte| byte != b'_') {
            if byte == b'.' && !has_point {
                has_point = true;
                continue;
            }
            hex.push((byte as char).to_digit(16)?, has_point);
            has_digits = true;
        }
        hex.exponent += exponent_of(&text[mark + 1..])?;
        has_digits.then_some(hex)
    }

    fn push(&mut self, digit: u32, is_fraction: bool) {
        if self.mantissa >> 60 == 0 {
            self.mantissa = self.mantissa << 4 | u64::from(digit);
            self.exponent -= if is_fraction { 4 } else { 0 };
        } else {
            self.sticky |= digit != 0;
            self.exponent += if is_fraction { 0 } else { 4 };
        }
    }

    /// The nearest float with `bits` of mantissa and no bit below two to the `least`; ties to even.
    fn round(&self, bits: i64, least: i64) -> f64 {
        let sign = if self.negative { -1.0 } else { 1.0 };
        if self.mantissa == 0 {
            return 0.0 * sign;
        }
        let length = 64 - i64::from(self.mantissa.leading_zeros());
        let dropped = (length - bits).max(least - self.exponent).max(0);
        if dropped > 64 {
            return 0.0 * sign;
        }
        // Both are doubled: `rest` is twice what is cut off, `half` twice half a unit of the last bit that is kept. So
        // what `sticky` stands for counts as more than nothing and less than a bit.
        let wide = u128::from(self.mantissa);
        let kept = wide >> dropped;
        let rest = (wide - (kept << dropped)) * 2 + u128::from(self.sticky);
        let half = 1u128 << dropped;
        let up = dropped > 0 && (rest > half || (rest == half && kept % 2 == 1));
        let exponent = self.exponent + dropped;
        // Beyond this the result is infinite or was shifted out above; within it the two steps are
        // exact, as `kept` has no more bits than fit.
        let exponent = exponent.clamp(-1100, 1100) as i32;
        let number = (kept + u128::from(up)) as f64;
        let number = number * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2);
        let is_too_large = bits == 24 && number > f64::from(f32::MAX);
        if is_too_large { f64::INFINITY * sign } else { number * sign }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn floats() {
        for (text, expected) in [
            ("1", 1.0),
            ("-0.0", 0.0),
            ("+1.5", 1.5),
            (".5", 0.5),
            ("5.", 5.0),
            ("1e10", 1e10),
            ("1E-2", 0.01),
            ("1_000.5", 1000.5),
            ("0x1p-2", 0.25),
            ("0X1.8P1", 3.0),
            ("0x_1p0", 1.0),
            ("0x1.fffffffffffff8p0", 2.0),
            ("0x1p-1074", 5e-324),
            ("0x1p-1075", 0.0),
            ("0x1.8p-1075", 5e-324),
            ("0x1.fffffffffffffp1023", f64::MAX),
            ("Inf", f64::INFINITY),
            ("-infinity", f64::NEG_INFINITY),
            ("1e-400", 0.0),
        ] {
            assert_eq!(parse_float(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_float() {
        for text in [
            "", "+", "-", ".", "e5", "1e", "1e+", "0x1", "0xp1", "0x1.8", "1__0", "_1", "1_",
            "1_.5", "1e_5", "+nan", "infin", "1 ", " 1", "1f", "0b1", "0o7", "1.2.3", "--1", "٣",
        ] {
            let expected = format!("`{text}` is no float");
            assert_eq!(parse_float(text).unwrap_err().to_string(), expected);
        }
        assert_eq!(parse_float("NaN"), Err(ParseError::NotANumber));
        for text in ["1e400", "-1e400", "0x1p1024", "0x1.fffffffffffff8p1023", "1e99999999999"] {
            let expected = format!("`{text}` is too large for a float");
            assert_eq!(parse_float(text).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn ints_and_bools() {
        assert_eq!(parse_int("+1"), Ok(1));
        assert_eq!(parse_int("-9223372036854775808"), Ok(i64::MIN));
        for text in ["", "0x10", "1e3", "1.0", "1_0", "+", "abc"] {
            assert_eq!(parse_int(text).unwrap_err().to_string(), format!("`{text}` is no int"));
        }
        assert_eq!(
            parse_int("9223372036854775808").unwrap_err().to_string(),
            "`9223372036854775808` is too large for an int"
        );
        assert_eq!(parse_bool("TRUE"), Ok(true));
        let wrong = parse_bool("tRUE").unwrap_err();
        assert_eq!(wrong.to_string(), "`tRUE` is neither true nor false");
    }

    #[test]
    fn vectors() {
        for (text, expected) in [
            ("[1,2]", &[1.0, 2.0][..]),
            ("[1 2]", &[1.0, 2.0]),
            (" [ 1 , 2 ] ", &[1.0, 2.0]),
            ("[1,2]]", &[1.0, 2.0]),
            ("[1\t2\n3]", &[1.0, 2.0, 3.0]),
            ("", &[]),
            ("  ", &[]),
            ("[]", &[]),
            ("[0x1p1]", &[2.0]),
        ] {
            assert_eq!(parse_vector(text).as_deref(), Ok(expected), "{text}");
        }
        for text in
            ["[1,,2]", "1,2]", "[1;2]", "[1e39]", "[1,2", "[a]", "[NaN]", "[0x1p128]", "[1,]"]
        {
            let wrong = parse_vector(text).unwrap_err().to_string();
            assert!(wrong.starts_with(&format!("`{text}` is no vector")), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "\\PC*") {
            let _ = (parse_float(&text), parse_int(&text), parse_vector(&text), parse_bool(&text));
        }

        #[test]
        fn anything_like_a_number_is_survived(text in "[-+0-9a-fA-FxXpP_.,\\[\\] ]{0,40}") {
            let _ = (parse_float(&text), parse_int(&text), parse_vector(&text));
        }

        #[test]
        fn hexadecimal_agrees_with_the_bits(bits in any::<u64>()) {
            let number = f64::from_bits(bits).abs();
            prop_assume!(number.is_normal());
            let exponent = (number.to_bits() >> 52) as i64 - 1023;
            let fraction = number.to_bits() & ((1 << 52) - 1);
            prop_assert_eq!(parse_float(&format!("0x1.{fraction:013x}p{exponent}")), Ok(number));
        }
    }
}
