//! A set of nodes or edges as a bit for each: of a million nodes it lies in the second cache.

use super::task::{EVEN_BLOCK, Task};
use hexgraph_base::types::Result;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// The words of a block that a thread fills.
const EVEN_WORDS: usize = EVEN_BLOCK / 64;

/// The words of a block where the work is not even.
const WORDS_PER_BLOCK: usize = 64;

/// A set of numbers below a bound.
pub(super) struct Bits {
    words: Vec<u64>,
}

impl Bits {
    /// The empty set of numbers below `bound`.
    pub(super) fn new(bound: usize) -> Bits {
        Bits { words: vec![0; bound.div_ceil(64)] }
    }

    /// The numbers below `bound` for which `is_in` is true, evaluated on all threads.
    ///
    /// # Errors
    ///
    /// As [`Task::blocks`].
    pub(super) fn of(
        bound: usize,
        task: &Task<'_>,
        is_in: impl Fn(usize) -> bool + Sync,
    ) -> Result<Bits> {
        let mut bits = Bits::new(bound);
        let blocks = bits.words.chunks(EVEN_WORDS).map(<[u64]>::len);
        let bounds: Vec<usize> = blocks
            .scan(0, |end, len| {
                *end += len;
                Some(*end)
            })
            .collect();
        task.fill(&mut bits.words, &bounds, |block, words| {
            for (position, word) in (block * EVEN_WORDS..).zip(words) {
                let numbers = 64 * position..bound.min(64 * (position + 1));
                let bit = |number: usize| u64::from(is_in(number)) << (number % 64);
                *word = numbers.map(bit).fold(0, |word, bit| word | bit);
            }
            Ok(())
        })?;
        Ok(bits)
    }

    /// Sets all words anew on all threads: `work` gets the index of a word and the items of its 64
    /// numbers in a list, and returns the word and a count. Returns how many numbers are in the
    /// set, and the sum of the counts.
    ///
    /// # Errors
    ///
    /// As [`Task::blocks`].
    pub(super) fn fill_with<T: Send>(
        &mut self,
        list: &mut [T],
        task: &Task<'_>,
        work: impl Fn(usize, &mut [T]) -> (u64, usize) + Sync,
    ) -> Result<(usize, usize)> {
        let words = self.words.chunks_mut(WORDS_PER_BLOCK);
        let parts = words.zip(list.chunks_mut(64 * WORDS_PER_BLOCK)).map(Mutex::new);
        let parts: Vec<_> = parts.collect();
        let sums = task.blocks(parts.len(), |block| {
            // No two threads lock the same part: the lock only hands it over.
            let mut part = parts[block].lock().unwrap_or_else(PoisonError::into_inner);
            let (words, list) = &mut *part;
            let (mut members, mut sum) = (0, 0);
            let pairs = words.iter_mut().zip(list.chunks_mut(64));
            for (number, (word, items)) in (block * WORDS_PER_BLOCK..).zip(pairs) {
                let (bits, count) = work(number, items);
                *word = bits;
                members += bits.count_ones() as usize;
                sum += count;
            }
            Ok((members, sum))
        })?;
        Ok(sums.into_iter().fold((0, 0), |all, it| (all.0 + it.0, all.1 + it.1)))
    }

    /// The numbers from 64 times `position` on, as bits.
    #[inline]
    pub(super) fn word(&self, position: usize) -> u64 {
        self.words[position]
    }

    /// Adds the members of a set with the same bound.
    pub(super) fn add_all(&mut self, other: &Bits) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, more)| *word |= more);
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
        for (position, word) in self.words.iter_mut().enumerate() {
            let mut bits = std::mem::take(word);
            while bits != 0 {
                visit(64 * position + bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
        }
    }

    /// Takes the members of a range out, ascending.
    #[inline]
    pub(super) fn drain_range(&mut self, range: Range<usize>, mut visit: impl FnMut(usize)) {
        let mut start = range.start;
        while start < range.end {
            let word = &mut self.words[start / 64];
            let end = range.end.min((start / 64 + 1) * 64);
            // From one to 64 bits of one word, so neither shift reaches 64.
            let expected = (u64::MAX >> (64 - (end - start))) << (start % 64);
            let mut bits = *word & expected;
            *word &= !expected;
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
