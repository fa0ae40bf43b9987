//! The bases of integers, by the rules of Go's `strconv.ParseInt` with base 0: the prefix of a text
//! selects its base.

/// Returns the digits of an integer without sign, and their base: 16 after `0x`, 8 after `0o` or
/// `0`, 2 after `0b`, else 10. Whether they are digits of that base is not checked. A `0` alone is
/// a digit of base 10.
#[inline]
pub fn split_base(unsigned: &str) -> (&str, u32) {
    match unsigned.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&unsigned[2..], 16),
        [b'0', b'o' | b'O', ..] => (&unsigned[2..], 8),
        [b'0', b'b' | b'B', ..] => (&unsigned[2..], 2),
        [b'0', _, ..] => (&unsigned[1..], 8),
        _ => (unsigned, 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_select_the_base() {
        for (text, expected) in [
            ("0x1F", ("1F", 16)),
            ("0O7", ("7", 8)),
            ("0b1", ("1", 2)),
            ("017", ("17", 8)),
            ("0", ("0", 10)),
            ("12", ("12", 10)),
            ("0é", ("é", 8)),
            ("", ("", 10)),
        ] {
            assert_eq!(split_base(text), expected, "{text}");
        }
    }
}
