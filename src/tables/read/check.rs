//! What fuzz targets call.

use super::csv::slow::check_text_table as check;

/// Reads a text as a delimited table, and compares the records with those of a slow reader.
///
/// # Panics
///
/// Panics where they differ.
#[doc(hidden)]
pub fn check_text_table(bytes: &[u8]) {
    let Some((first, text)) = bytes.split_first() else { return };
    let usual = [b',', b'\t', b'|'][usize::from(*first) % 3];
    check(&String::from_utf8_lossy(text), usual, *first & 0x80 != 0);
}
