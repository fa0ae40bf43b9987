//! A set of nodes or edges as a bit for each: of a million nodes it lies in the second cache.

use std::ops::Range;

/// A set of numbers below a bound.
pub(super) struct Bits {
    words: Vec<u64>,
}

impl Bits {
    /// The empty set of numbers below `bound`.
    pub(super) fn new(bound: usize) -> Bits {
        Bits { words: vec![0; bound.div_ceil(64)] }
    }

    #[inline]
    pub(super) fn has(&self, number: usize) -> bool {
        self.words[number / 64] >> (number % 64) & 1 != 0
    }

    #[inline]
    pub(super) fn set(&mut self, number: usize) {
        self.words[number / 64] |= 1 << (number % 64);
    }

    #[inline]
    pub(super) fn unset(&mut self, number: usize) {
        self.words[number / 64] &= !(1 << (number % 64));
    }

    /// Takes all members out, ascending.
    pub(super) fn drain(&mut self, mut visit: impl FnMut(usize)) {
        for (place, word) in self.words.iter_mut().enumerate() {
            let mut bits = std::mem::take(word);
            while bits != 0 {
                visit(64 * place + bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
        }
    }

    /// Takes the members of a range out, ascending.
    #[inline]
    pub(super) fn take(&mut self, range: Range<usize>, mut visit: impl FnMut(usize)) {
        let mut start = range.start;
        while start < range.end {
            let word = &mut self.words[start / 64];
            let end = range.end.min((start / 64 + 1) * 64);
            let wanted = (u64::MAX >> (64 - (end - start))) << (start % 64);
            let mut bits = *word & wanted;
            *word &= !wanted;
            while bits != 0 {
                visit(start / 64 * 64 + bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
            start = end;
        }
    }

    pub(super) fn clear(&mut self) {
        self.words.fill(0);
    }
}
