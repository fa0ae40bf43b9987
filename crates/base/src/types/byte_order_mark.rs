//! The byte order mark, which some editors put at the start of a text, where nobody sees it.

/// U+FEFF in UTF-8.
pub const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The text after a byte order mark, which is a part of no language here. Positions count from its
/// end.
pub fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}
