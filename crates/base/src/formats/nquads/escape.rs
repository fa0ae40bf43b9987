//! Escapes in the literals of N-Quads: which are allowed, and which characters they stand for.

/// Returns the end of the escape whose backslash is at `at`, or `None` when it is not allowed in a
/// literal.
///
/// The scanner requests each backslash of a literal, and for `\u` and `\U` in an IRI, where escapes
/// are checked and retained. Some escapes are allowed by the grammar and still have no meaning,
/// such as `\'`; [`unescape`] refuses those.
pub(super) fn escape_end(bytes: &[u8], at: usize) -> Option<usize> {
    let digits = match bytes.get(at + 1)? {
        b'v' | b't' | b'b' | b'n' | b'r' | b'f' | b'"' | b'\'' | b'\\' => 0,
        b'x' => 2,
        b'u' => 4,
        b'U' => 8,
        _ => return None,
    };
    let end = at + 2 + digits;
    let hex = bytes.get(at + 2..end)?;
    hex.iter().all(u8::is_ascii_hexdigit).then_some(end)
}

/// Replaces all escapes by the characters that they represent. `text` is between the quotes of a
/// literal. The scanner calls this only after a backslash, and borrows other literals. O(length).
///
/// # Errors
///
/// The offset, in bytes of `text`, of an escape that has no meaning, and the reason. The offset is
/// 0 when bytes that `\x` has written are not UTF-8: which of them are wrong is not looked for.
pub(super) fn unescape(text: &str) -> Result<String, (usize, &'static str)> {
    let bytes = text.as_bytes();
    let mut plain: Vec<u8> = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(length) = bytes[at..].iter().position(|&byte| byte == b'\\') {
        let escape = at + length;
        plain.extend_from_slice(&bytes[at..escape]);
        let end = escape_end(bytes, escape).ok_or((escape, "it is unknown"))?;
        write_meaning(&bytes[escape + 1..end], &mut plain).ok_or((escape, "it means nothing"))?;
        at = end;
    }
    plain.extend_from_slice(&bytes[at..]);
    // `\x` writes bytes, which need not make characters.
    String::from_utf8(plain).map_err(|_| (0, "the bytes of \\x are not UTF-8"))
}

/// Appends the bytes that an escape represents; `escape` is the escape without its backslash.
/// `None` when it represents none.
fn write_meaning(escape: &[u8], plain: &mut Vec<u8>) -> Option<()> {
    let (&kind, digits) = escape.split_first()?;
    let byte = match kind {
        b'v' => 0x0b,
        b't' => b'\t',
        b'b' => 0x08,
        b'n' => b'\n',
        b'r' => b'\r',
        b'f' => 0x0c,
        b'"' | b'\\' => kind,
        b'x' => u8::try_from(hex_number(digits)?).ok()?,
        b'u' | b'U' => {
            let character = char::from_u32(hex_number(digits)?)?;
            plain.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            return Some(());
        }
        _ => return None,
    };
    plain.push(byte);
    Some(())
}

fn hex_number(digits: &[u8]) -> Option<u32> {
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meanings() {
        let cases = [
            (r#"a\v\t\b\n\r\f\"\\z"#, "a\u{b}\t\u{8}\n\r\u{c}\"\\z"),
            (r"\u0045\U0001F600\xc3\xa9", "E😀é"),
            ("é", "é"),
        ];
        for (text, want) in cases {
            assert_eq!(unescape(text).as_deref(), Ok(want));
        }
    }

    #[test]
    fn what_means_nothing() {
        for (text, at) in [
            (r"a\'", 1),        // may stand there, but is no escape of a double-quoted text
            (r"\ud800", 0),     // half a character
            (r"\U00110000", 0), // beyond the last character
            (r"ab\xff", 0),     // no UTF-8
            (r"\u004", 0),
            (r"x\a", 1),
            ("x\\", 1),
        ] {
            assert_eq!(unescape(text).unwrap_err().0, at, "{text}");
        }
    }
}
