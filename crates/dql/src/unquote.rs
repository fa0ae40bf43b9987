//! Decodes strings in double quotes. Their escapes are a subset of those of Go.

/// Replaces the escapes in the text between two quotes.
///
/// # Errors
/// A message about the first wrong escape.
pub(crate) fn unquote(raw: &str) -> Result<String, String> {
    let mut decoded = String::with_capacity(raw.len());
    let mut rest = raw.chars();
    while let Some(letter) = rest.next() {
        match letter {
            '\n' => return Err("a line break inside a string; write `\\n`".to_owned()),
            '\\' => decoded.push(escape(&mut rest)?),
            _ => decoded.push(letter),
        }
    }
    Ok(decoded)
}

fn escape(rest: &mut std::str::Chars) -> Result<char, String> {
    let letter = rest.next().ok_or("a string that ends in `\\`")?;
    Ok(match letter {
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        '\\' | '"' => letter,
        'u' => hex_escape(rest)?,
        _ => return Err(format!("`\\{letter}` is not an escape; a backslash is written `\\\\`")),
    })
}

fn hex_escape(rest: &mut std::str::Chars) -> Result<char, String> {
    let digits = rest.as_str().get(..4).filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit()));
    let digits = digits.ok_or("`\\u` without four hexadecimal digits")?;
    let code = u32::from_str_radix(digits, 16).expect("four hexadecimal digits");
    rest.nth(3);
    char::from_u32(code).ok_or_else(|| format!("`\\u{digits}` is half of a character"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_and_refuses() {
        assert_eq!(unquote(r#"a\"b\\c\nd\u00e9"#).unwrap(), "a\"b\\c\ndé");
        assert_eq!(unquote(r"\t\v\b\r\f").unwrap(), "\t\u{b}\u{8}\r\u{c}");
        for (wrong, why) in [
            (r"\'", r"`\'` is not an escape"),
            (r"\q", r"`\q` is not an escape"),
            (r"\u12", r"`\u` without four hexadecimal digits"),
            (r"\ud800", r"`\ud800` is half of a character"),
            ("a\nb", "a line break inside a string"),
            ("\\", r"a string that ends in `\`"),
        ] {
            let error = unquote(wrong).unwrap_err();
            assert!(error.starts_with(why), "{wrong}: {error}");
        }
    }
}
