//! Lower-casing and compatibility normalization of one word.

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// Appends `word` to `out` in lower case and NFKC.
pub(in crate::text) fn compact_into(word: &str, out: &mut String) {
    let from = out.len();
    out.push_str(word);
    if word.is_ascii() {
        out[from..].make_ascii_lowercase();
        return;
    }
    let lower = lower(word);
    out.truncate(from);
    if is_nfkc_quick(lower.chars()) == IsNormalized::Yes {
        out.push_str(&lower);
    } else {
        out.extend(lower.nfkc());
    }
}

/// The lower case of one character, by itself: always one character.
fn lower_char(character: char) -> char {
    let mut mapped = character.to_lowercase();
    // Only İ maps to two characters; the first is the simple mapping.
    mapped.next().unwrap_or(character)
}

/// Lower-cases as Dgraph's analysis does, slips included, so that the tokens agree: it rewrites
/// in place, moves no character that is lower case already, and so leaves stale bytes behind
/// once a letter's lower case is shorter than the letter (as of İ and ẞ).
fn lower(word: &str) -> String {
    let mut bytes = word.as_bytes().to_vec();
    let mut to = 0;
    for (from, character) in word.char_indices() {
        let width = character.len_utf8();
        let mut lower = lower_char(character);
        if lower == character {
            to += width;
            continue;
        }
        if lower == 'σ' && from + width == word.len() {
            lower = 'ς';
        }
        if width < lower.len_utf8() {
            bytes.truncate(to);
            let rest: String = word[from..].chars().map(lower_char).collect();
            bytes.extend_from_slice(rest.as_bytes());
            return into_text(bytes);
        }
        let mut encoded = [0; 4];
        let encoded = lower.encode_utf8(&mut encoded).as_bytes();
        bytes[to..to + encoded.len()].copy_from_slice(encoded);
        to += encoded.len();
    }
    bytes.truncate(to);
    into_text(bytes)
}

/// The bytes as text, with U+FFFD for each stale one.
fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        let mut text = String::with_capacity(error.as_bytes().len());
        for chunk in error.as_bytes().utf8_chunks() {
            text.push_str(chunk.valid());
            text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalize(word: &str) -> String {
        let mut out = String::new();
        compact_into(word, &mut out);
        out
    }

    #[test]
    fn normalizes_case_and_compatibility() {
        assert_eq!(normalize("HeLLo"), "hello");
        assert_eq!(normalize("ÅNGSTRÖM"), "ångström");
        assert_eq!(normalize("ﬁne"), "fine");
        assert_eq!(normalize("Ⅷ"), "viii");
        assert_eq!(normalize("ΣΊΣΥΦΟΣ"), "σίσυφος");
    }

    #[test]
    fn a_shorter_lower_case_leaves_stale_bytes() {
        assert_eq!(normalize("İstanbul"), "i\u{fffd}stanbu");
        assert_eq!(normalize("XİABCd"), "xiabcC");
        assert_eq!(normalize("İİİabc"), "iii\u{fffd}İ");
        assert_eq!(normalize("AẞBcΣ"), "aßbBς");
        assert_eq!(normalize("ȺİXa"), "ⱥixa");
    }
}
