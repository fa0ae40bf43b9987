//! What words are made of.

pub(super) fn starts_word(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

pub(super) fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// The offset after the letters and digits at `at`.
pub(super) fn after_word(text: &str, at: usize) -> usize {
    text[at..].find(|c| !is_word(c)).map_or(text.len(), |length| at + length)
}
