//! Which text is read as a bool, an int, a float or a vector.
//!
//! The rules are those of Go's `strconv`; `compat/go_floats.rs` has the notation of floats.

use crate::compat::go_floats::{FloatText, plain};
use crate::types::quoted_text::shown;

/// Why a text is no bool, int, float or vector. `text` is the text as messages show it: between
/// backquotes, on one line, cut to 60 characters.
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
    /// The text is `NaN`, which has no position in the order of values.
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
