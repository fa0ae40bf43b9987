//! The number of a node that users see. Inside the store nodes have dense numbers of 32 bits, in the same order.

use crate::compat::go_integers::split_base;
use std::fmt;

/// A node as users see it: any number but 0, written `0x1f`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uid(pub u64);

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl Uid {
    /// Writes the uid as [`Display`](fmt::Display) does, at a fraction of what that takes, to the end of `digits`, and returns it.
    pub fn text(self, digits: &mut [u8; 18]) -> &str {
        str::from_utf8(self.digits(digits)).expect("the digits are ASCII")
    }

    /// As [`Uid::text`], as bytes.
    #[inline]
    pub fn digits(self, digits: &mut [u8; 18]) -> &[u8] {
        let (mut rest, mut start) = (self.0, digits.len());
        loop {
            start -= 1;
            digits[start] = b"0123456789abcdef"[(rest & 15) as usize];
            rest >>= 4;
            if rest == 0 {
                break;
            }
        }
        digits[start - 2..start].copy_from_slice(b"0x");
        // At most sixteen digits were written, so two of the eighteen places are left for the prefix.
        &digits[start - 2..]
    }

    /// Reads a uid as Dgraph does: decimal, or with a prefix `0x`, `0o` or `0b`, or a leading 0
    /// for octal; `_` may separate digits when there is a prefix. `None` when it is no such number
    /// or does not fit 64 bits.
    pub fn parse(text: &str) -> Option<Uid> {
        let (digits, radix) = split_base(text);
        if radix != 10 && digits.contains('_') {
            return u64::from_str_radix(&digits.replace('_', ""), radix).ok().map(Uid);
        }
        let plain = digits.bytes().next().is_some_and(|byte| byte != b'+');
        if plain { u64::from_str_radix(digits, radix).ok().map(Uid) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_what_is_displayed() {
        for number in [0, 1, 15, 16, 0x1f, 1 << 31, 0xdead_beef, u64::MAX] {
            assert_eq!(Uid(number).text(&mut [0; 18]), Uid(number).to_string());
        }
    }
}
