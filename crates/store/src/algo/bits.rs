//! A set of nodes or edges as a bit for each: of a million nodes it lies in the second cache.

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

    pub(super) fn clear(&mut self) {
        self.words.fill(0);
    }
}
