//! Numbers, strings and names in backticks.

use super::fragment::Fragment;
use super::letters::{after_word, is_word};
use crate::error::{Code, Fault};
use crate::span::Span;

/// Reads a number without a sign: decimal, `0x`, `0o`, or a float.
pub(super) fn number(text: &str, at: usize) -> Result<(Fragment, usize), Fault> {
    let rest = &text[at..];
    for (prefix, radix) in [("0x", 16), ("0X", 16), ("0o", 8), ("0O", 8)] {
        if let Some(digits) = rest.strip_prefix(prefix) {
            let end = after_word(text, at);
            let digits = &digits[..end - at - prefix.len()];
            let is_valid = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
            let value = u64::from_str_radix(digits, radix).unwrap_or(u64::MAX);
            return match is_valid {
                true => Ok((Fragment::Integer(value), end)),
                false => Err(invalid(text, at, end)),
            };
        }
    }
    let after_digits = |at: usize| {
        text[at..].find(|c: char| !c.is_ascii_digit()).map_or(text.len(), |length| at + length)
    };
    let mut end = after_digits(at);
    let mut is_float = false;
    let bytes = text.as_bytes();
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
    if byte(end) == b'.' && byte(end + 1).is_ascii_digit() {
        is_float = true;
        end = after_digits(end + 1);
    }
    if byte(end) | 0x20 == b'e' {
        let digits = end + 1 + usize::from(matches!(byte(end + 1), b'+' | b'-'));
        if byte(digits).is_ascii_digit() {
            is_float = true;
            end = after_digits(digits);
        }
    }
    if text[end..].starts_with(is_word) {
        return Err(invalid(text, at, after_word(text, end)));
    }
    let digits = &text[at..end];
    if !is_float {
        return match digits.len() > 1 && digits.starts_with('0') && digits != "00" {
            true => Err(invalid(text, at, end)),
            false => Ok((Fragment::Integer(digits.parse().unwrap_or(u64::MAX)), end)),
        };
    }
    let value: f64 = digits.parse().expect("digits, a dot and an exponent are a float");
    match value.is_finite() {
        true => Ok((Fragment::Float(value), end)),
        false => {
            let message = format!("`{digits}` is larger than the largest float");
            let fault = Fault::new(Code::FloatingPointOverflow, Span::new(at, end), message);
            Err(fault.with_hint("the largest float is 1.7976931348623157e308"))
        }
    }
}

fn invalid(text: &str, at: usize, end: usize) -> Fault {
    let written = &text[at..end];
    let span = Span::new(at, end);
    // A key of a map.
    if text[end..].trim_start().starts_with(':') && !written.starts_with(".") {
        let message = format!("`{written}` is no name, since it begins with a digit");
        let fault = Fault::new(Code::UnexpectedSyntax, span, message);
        return fault.with_hint(format!("write it in backticks: `` `{written}` ``"));
    }
    let shown: String = written.chars().take(40).collect();
    let fault = Fault::new(Code::InvalidNumberLiteral, span, format!("`{shown}` is no number"));
    fault.with_hint(match written.as_bytes() {
        [b'0', b'x' | b'X', ..] => "hexadecimal digits follow `0x`: `0x1F`",
        [b'0', b'o' | b'O', ..] => "octal digits follow `0o`: `0o17`",
        [b'0', b'0'..=b'9', ..] => "an octal number begins with `0o`, a decimal one with no `0`",
        _ => "a number is `12`, `1.5`, `1e3`, `0x1F` or `0o17`; a name begins with a letter",
    })
}

/// Reads a string in either kind of quotes.
pub(super) fn string(text: &str, at: usize) -> Result<(Fragment, usize), Fault> {
    let quote = text.as_bytes()[at];
    let mut value = String::new();
    let mut from = at + 1;
    loop {
        let stop = |byte: &u8| *byte == quote || *byte == b'\\';
        let Some(length) = text.as_bytes()[from..].iter().position(stop) else {
            let message = "the string is never closed";
            let fault = Fault::new(Code::UnexpectedSyntax, Span::new(at, at + 1), message);
            let quote = quote as char;
            return Err(fault.with_hint(format!(
                "a string is closed by the quote that opens it, {quote}; inside of it write `\\{quote}`"
            )));
        };
        value.push_str(&text[from..from + length]);
        from += length;
        if text.as_bytes()[from] == quote {
            return Ok((Fragment::String(value.into()), from + 1));
        }
        let (letter, end) = escape(text, from)?;
        value.push(letter);
        from = end;
    }
}

/// Reads the escape at the backslash at `at`.
fn escape(text: &str, at: usize) -> Result<(char, usize), Fault> {
    let letter = text[at + 1..].chars().next();
    let simple = match letter {
        Some(it @ ('\\' | '\'' | '"' | '`' | '/')) => it,
        Some('b') => '\u{8}',
        Some('f') => '\u{C}',
        Some('n') => '\n',
        Some('r') => '\r',
        Some('t') => '\t',
        Some('u') => return unicode(text, at, 4),
        Some('U') => return unicode(text, at, 8),
        _ => {
            let end = at + 1 + letter.map_or(0, char::len_utf8);
            let message = format!("`{}` is no escape", &text[at..end]);
            let fault = Fault::new(Code::UnexpectedSyntax, Span::new(at, end), message);
            return Err(fault.with_hint("a backslash in a string is `\\\\`: `'\\\\d+'`"));
        }
    };
    Ok((simple, at + 2))
}

/// Reads `\uXXXX`, a pair of such for a character beyond U+FFFF, or `\UXXXXXXXX`.
fn unicode(text: &str, at: usize, digits: usize) -> Result<(char, usize), Fault> {
    let number = |at: usize| {
        let hex = text.get(at..at + digits)?;
        let is_hex = hex.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex.then(|| u32::from_str_radix(hex, 16).expect("eight hexadecimal digits at most"))
    };
    let end = at + 2 + digits;
    let first = number(at + 2);
    if let Some(letter) = first.and_then(char::from_u32) {
        return Ok((letter, end));
    }
    let second = text.get(end..).filter(|rest| rest.starts_with("\\u")).and(number(end + 2));
    if let (4, Some(high @ 0xD800..=0xDBFF), Some(low @ 0xDC00..=0xDFFF)) = (digits, first, second)
    {
        let letter = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
        return Ok((char::from_u32(letter).expect("a pair of surrogates"), end + 6));
    }
    let mut shown_end = end.min(text.len());
    while !text.is_char_boundary(shown_end) {
        shown_end -= 1;
    }
    let message = format!("`{}` is no character", &text[at..shown_end]);
    let fault = Fault::new(Code::InvalidUnicodeLiteral, Span::new(at, shown_end), message);
    Err(fault.with_hint("write four hexadecimal digits after `\\u`, or eight after `\\U`"))
}

/// Reads a name in backticks, in which two backticks are one.
pub(super) fn quoted_name(text: &str, at: usize) -> Result<(Box<str>, usize), Fault> {
    let mut name = String::new();
    let mut from = at + 1;
    while let Some(length) = text[from..].find('`') {
        name.push_str(&text[from..from + length]);
        from += length + 1;
        if !text[from..].starts_with('`') {
            if name.is_empty() {
                let message = "the name is empty";
                return Err(Fault::new(Code::UnexpectedSyntax, Span::new(at, from), message));
            }
            return Ok((name.into(), from));
        }
        name.push('`');
        from += 1;
    }
    let message = "the name in backticks is never closed";
    Err(Fault::new(Code::UnexpectedSyntax, Span::new(at, at + 1), message)
        .with_hint("a name is closed by a backtick; inside of it write two"))
}
