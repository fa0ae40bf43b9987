//! The number of a node that users see. Inside the store nodes have dense numbers of 32 bits, in
//! the same order.

use crate::compat::go_integers::split_base;
use std::fmt;

/// A node as users see it: any number but 0, written `0x1f`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uid(pub u64);

/// A uid as it is written, such as `0x1f`.
#[derive(Debug, Clone, Copy)]
pub struct UidText {
    /// The text, and as many digits 0 as there is space for.
    bytes: [u8; 18],
    len: usize,
}

impl UidText {
    /// The text.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        str::from_utf8(self.as_bytes()).expect("the digits are ASCII")
    }

    /// Writes the text after others.
    #[inline]
    pub fn append_to(&self, out: &mut Vec<u8>) {
        let end = out.len() + self.len;
        // To copy all of the bytes is quicker than to copy as many as there are.
        out.extend_from_slice(&self.bytes);
        out.truncate(end);
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl Uid {
    /// Returns the uid as [`Display`](fmt::Display) writes it. All digits are made at once.
    #[inline]
    pub fn text(self) -> UidText {
        // The digit that is not 0, or the only one, goes to the front.
        let count = (16 - self.0.leading_zeros() / 4).max(1);
        let digits = self.0 << (4 * (16 - count));
        let mut bytes = [0; 18];
        bytes[..2].copy_from_slice(b"0x");
        bytes[2..10].copy_from_slice(&hex_digits((digits >> 32) as u32));
        bytes[10..].copy_from_slice(&hex_digits(digits as u32));
        UidText { bytes, len: 2 + count as usize }
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

/// The eight hexadecimal digits of a number, the greatest first.
#[inline]
fn hex_digits(number: u32) -> [u8; 8] {
    const EACH: u64 = 0x0101_0101_0101_0101;
    // A byte for each four bits, in the same order.
    let spread = u64::from(number);
    let spread = (spread << 16 | spread) & 0x0000_ffff_0000_ffff;
    let spread = (spread << 8 | spread) & 0x00ff_00ff_00ff_00ff;
    let spread = (spread << 4 | spread) & 0x0f0f_0f0f_0f0f_0f0f;
    // Those of 10 and more become at least 16 with 6 added: they become letters.
    let letters = ((spread + 6 * EACH) >> 4) & EACH;
    let to_letters = u64::from(b'a' - b'0' - 10);
    (spread + u64::from(b'0') * EACH + to_letters * letters).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_what_is_displayed() {
        for number in
            [0, 1, 9, 10, 15, 16, 0x1f, 1 << 31, 0xdead_beef, 0x1234_5678_9abc_def0, u64::MAX]
        {
            let mut out = b"-".to_vec();
            Uid(number).text().append_to(&mut out);
            assert_eq!(out, format!("-{}", Uid(number)).into_bytes());
            assert_eq!(Uid(number).text().as_str(), Uid(number).to_string());
        }
    }
}
