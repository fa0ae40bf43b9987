//! Texts in quotes, in the form of Go's `strconv.Quote`, which is in error messages that Dgraph's
//! clients know.

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

fn push_formatted(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    out.write_fmt(arguments).expect("writing into a String never fails");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes() {
        assert_eq!(quote("a\"b\\c\n\u{1}é\u{7f}"), "\"a\\\"b\\\\c\\n\\x01é\\x7f\"");
    }
}
