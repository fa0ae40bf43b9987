//! The facets at the end of a statement: `(since=2006-01-02, weight=0.5)`.

use crate::compat::go_integers::split_base;
use crate::formats::nquads::scanner::{Scanned, Scanner};
use crate::types::{Value, ValueType};

/// Reads facets from the opening bracket to the closing one, and returns them sorted by key. A
/// repeated key is a fault.
pub(super) fn parse_facets<'a>(scanner: &mut Scanner<'a>) -> Scanned<Vec<(&'a str, Value)>> {
    let open = scanner.offset();
    let mut facets: Vec<(&'a str, Value)> = Vec::new();
    loop {
        scanner.step();
        let key = facet_key(scanner)?;
        facets.push((key, facet_value(scanner)?));
        scanner.skip_blanks();
        match scanner.peek() {
            Some(b',') => {}
            Some(b')') => break,
            _ => {
                let message =
                    format!("found {} after a facet, expected `,` or `)`", scanner.result());
                return Err(scanner.fault(message));
            }
        }
    }
    scanner.step();
    facets.sort_by_key(|(key, _)| *key);
    match facets.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => {
            let message = format!("facet `{}` is given twice", pair[0].0);
            Err(scanner.fault_at(open, message))
        }
        None => Ok(facets),
    }
}

fn facet_key<'a>(scanner: &mut Scanner<'a>) -> Scanned<&'a str> {
    scanner.skip_blanks();
    let start = scanner.offset();
    scanner.skip_while(|byte| !matches!(byte, b'=' | b' ' | b'\t' | b')' | b',' | b'"'));
    let key = scanner.since(start);
    if key.is_empty() {
        let message = format!("found {}, expected the name of a facet", scanner.result());
        return Err(scanner.fault(message));
    }
    if let Some(wrong) = key.chars().find(|&character| matches!(character, '~' | '@')) {
        return Err(
            scanner.fault_at(start, format!("`{key}` is no name of a facet: `{wrong}` is in it"))
        );
    }
    scanner.skip_blanks();
    if scanner.peek() != Some(b'=') {
        let message = format!("found {} after the name of a facet, expected `=`", scanner.result());
        return Err(scanner.fault(message));
    }
    scanner.step();
    Ok(key)
}

fn facet_value(scanner: &mut Scanner<'_>) -> Scanned<Value> {
    scanner.skip_blanks();
    if scanner.peek() == Some(b'"') {
        return scanner.quoted().map(|text| Value::String(text.into_owned()));
    }
    let start = scanner.offset();
    scanner.skip_while(|byte| !matches!(byte, b'=' | b' ' | b'\t' | b')' | b','));
    let text = scanner.since(start);
    bare_value(text).map_err(|fault| scanner.fault_at(start, fault.to_string()))
}

/// Why a text without quotes is no value of a facet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum BareFault<'a> {
    /// It is an integer of more than 64 bits, which a float would round.
    #[error("`{0}` is too large for an int")]
    IntTooLarge(&'a str),
    /// It is nothing that may stand without quotes.
    #[error("`{0}` is not a value of a facet (quote a text)")]
    NoValue(&'a str),
}

/// Reads a text without quotes: as an integer, else as a float, else as a truth value, else as a
/// time. An empty text is an empty string.
fn bare_value(text: &str) -> Result<Value, BareFault<'_>> {
    if text.is_empty() {
        return Ok(Value::String(String::new()));
    }
    if let Some(number) = parse_int(text) {
        return Ok(Value::Int(number));
    }
    if text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0') {
        return Err(BareFault::IntTooLarge(text));
    }
    if let Ok(number) = Value::parse(text, ValueType::Float) {
        return Ok(number);
    }
    match text {
        "true" => Ok(Value::Bool(true)),
        "false" => Ok(Value::Bool(false)),
        _ => Value::parse(text, ValueType::DateTime).map_err(|_| BareFault::NoValue(text)),
    }
}

/// Reads an integer by the rules of Go's `strconv.ParseInt` with base 0: a prefix `0x`, `0o`, `0`
/// or `0b` selects the base, and a `_` is allowed between two digits and after the prefix.
fn parse_int(text: &str) -> Option<i64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (digits, radix) = split_base(unsigned);
    // Only after a prefix may a `_` come first. A second sign has to be refused here:
    // `from_str_radix` takes one.
    let after_prefix =
        if radix == 10 { digits } else { digits.strip_prefix('_').unwrap_or(digits) };
    if after_prefix.split('_').any(str::is_empty) || after_prefix.starts_with(['+', '-']) {
        return None;
    }
    let number = if after_prefix.contains('_') {
        u64::from_str_radix(&after_prefix.replace('_', ""), radix).ok()?
    } else {
        u64::from_str_radix(after_prefix, radix).ok()?
    };
    if text.starts_with('-') {
        0i64.checked_sub_unsigned(number)
    } else {
        i64::try_from(number).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers() {
        #[rustfmt::skip]
        let cases = [
            ("0", Some(0)), ("13", Some(13)), ("+1", Some(1)), ("-7", Some(-7)), ("0x1F", Some(31)),
            ("010", Some(8)), ("0o17", Some(15)), ("0b101", Some(5)), ("-0x10", Some(-16)),
            ("1_000", Some(1000)), ("0x_1", Some(1)), ("0_7", Some(7)),
            ("9223372036854775807", Some(i64::MAX)), ("-9223372036854775808", Some(i64::MIN)),
            ("9223372036854775808", None), ("1__0", None), ("_1", None), ("1_", None), ("08", None),
            ("--1", None), ("+-1", None), ("0x+1", None), ("0x", None), ("", None), ("1.0", None),
            ("é", None), ("-", None),
        ];
        for (text, want) in cases {
            assert_eq!(parse_int(text), want, "{text}");
        }
    }

    #[test]
    fn bare_values() {
        assert_eq!(bare_value(""), Ok(Value::String(String::new())));
        assert_eq!(bare_value("08"), Ok(Value::Float(8.0)));
        assert_eq!(bare_value("2006"), Ok(Value::Int(2006)));
        assert_eq!(bare_value("1e3"), Ok(Value::Float(1000.0)));
        assert_eq!(bare_value("true"), Ok(Value::Bool(true)));
        assert!(matches!(bare_value("2006-01-02"), Ok(Value::DateTime(_))));
        for text in ["True", "abc", "NaN", "0x1787586C4FA8A0284FF8"] {
            let why = format!("`{text}` is not a value of a facet (quote a text)");
            assert_eq!(bare_value(text).unwrap_err().to_string(), why);
        }
        let wrong = bare_value("18446744073709551616").unwrap_err();
        assert_eq!(wrong.to_string(), "`18446744073709551616` is too large for an int");
    }
}
