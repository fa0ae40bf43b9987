//! Decodes strings in double quotes. Their escapes are a subset of those of Go.

/// Errors of a string in double quotes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EscapeError {
    /// A string must not span lines.
    #[error("a line break inside a string; write `\\n`")]
    LineBreak,
    /// The last character is a backslash.
    #[error("a string that ends in `\\`")]
    TrailingBackslash,
    /// The character after a backslash has no meaning there.
    #[error("`\\{letter}` is not an escape; a backslash is written `\\\\`")]
    Unknown {
        /// The character.
        letter: char,
    },
    /// Fewer than four hexadecimal digits follow `\u`.
    #[error("`\\u` without four hexadecimal digits")]
    ShortHex,
    /// The digits after `\u` are a surrogate: half of a character.
    #[error("`\\u{digits}` is half of a character")]
    HalfCharacter {
        /// The four digits.
        digits: String,
    },
}

/// Replaces the escapes in the text between two quotes.
///
/// # Errors
///
/// [`EscapeError`] for the first wrong escape.
pub(crate) fn unquote(raw: &str) -> Result<String, EscapeError> {
    let mut decoded = String::with_capacity(raw.len());
    let mut rest = raw.chars();
    while let Some(letter) = rest.next() {
        match letter {
            '\n' => return Err(EscapeError::LineBreak),
            '\\' => decoded.push(escape(&mut rest)?),
            _ => decoded.push(letter),
        }
    }
    Ok(decoded)
}

fn escape(rest: &mut std::str::Chars) -> Result<char, EscapeError> {
    let letter = rest.next().ok_or(EscapeError::TrailingBackslash)?;
    Ok(match letter {
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        '\\' | '"' => letter,
        'u' => hex_escape(rest)?,
        _ => return Err(EscapeError::Unknown { letter }),
    })
}

fn hex_escape(rest: &mut std::str::Chars) -> Result<char, EscapeError> {
    // `get` gives nothing where fewer than four bytes are left, and where the fourth is inside a
    // character.
    let digits = rest.as_str().get(..4).filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit()));
    let digits = digits.ok_or(EscapeError::ShortHex)?;
    let code = u32::from_str_radix(digits, 16).expect("four hexadecimal digits");
    // The digits are ASCII, so four bytes are four characters: this moves after the last.
    rest.nth(3);
    char::from_u32(code).ok_or_else(|| EscapeError::HalfCharacter { digits: digits.to_owned() })
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
            let error = unquote(wrong).unwrap_err().to_string();
            assert!(error.starts_with(why), "{wrong}: {error}");
        }
    }
}
