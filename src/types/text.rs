//! Quoting the user's text inside messages.

use std::fmt::Write;

/// The text in double quotes with what can't be printed escaped, as Go's `strconv.Quote` does.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\u{1f}' | '\u{7f}' => {
                push_formatted(&mut out, format_args!("\\x{:02x}", letter as u32))
            }
            _ if letter.is_control() => {
                push_formatted(&mut out, format_args!("\\u{:04x}", letter as u32))
            }
            _ => out.push(letter),
        }
    }
    out.push('"');
    out
}

/// The text in double quotes with everything but printable ASCII as `\xHH`, as Go's package `time`
/// does in its errors.
pub(super) fn quote_ascii(text: &str) -> String {
    quote_ascii_bytes(text.as_bytes())
}

/// As [`quote_ascii`], for a piece of text that may begin or end within a letter.
pub(super) fn quote_ascii_bytes(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    out.push('"');
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => out.extend(['\\', byte as char]),
            b' '..=b'~' => out.push(byte as char),
            _ => push_formatted(&mut out, format_args!("\\x{byte:02x}")),
        }
    }
    out.push('"');
    out
}

fn push_formatted(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    out.write_fmt(arguments).expect("writing into a String never fails");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes() {
        assert_eq!(quote("a\"b\\c\n\u{1}é\u{7f}"), "\"a\\\"b\\\\c\\n\\x01é\\x7f\"");
        assert_eq!(quote_ascii("é\""), "\"\\xc3\\xa9\\\"\"");
    }
}
