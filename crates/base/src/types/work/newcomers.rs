//! Tells texts that come for the first time from those that have come before, so that a cache need not keep what comes once.
//!
//! A text with the values of one request written into it never comes again, and keeping what was made of it costs more than making it. Known as a
//! doorkeeper: Einziger, Friedman and Manes, "TinyLFU: A Highly Efficient Cache Admission Policy", 2017.

use rustc_hash::FxHasher;
use std::hash::Hasher;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of texts that are remembered: the last one at each place.
const PLACES: usize = 4096;

/// Remembers the hashes of the texts that came lately, in 32 kB.
pub struct Newcomers {
    places: Box<[AtomicU64]>,
}

impl Newcomers {
    /// Returns true if this text came before, as far as it is remembered: texts that share a place push each other out. Now it has come. O(length of
    /// the text), without a lock.
    pub fn came_before(&self, text: &str) -> bool {
        let mut hasher = FxHasher::default();
        hasher.write(text.as_bytes());
        // Zero stands for no text.
        let hash = hasher.finish() | 1;
        let place = &self.places[place_of(hash, PLACES)];
        if place.load(Ordering::Relaxed) == hash {
            return true;
        }
        place.store(hash, Ordering::Relaxed);
        false
    }
}

/// The place of a hash in a table of `places`, at most 4,096, where each hash has one. The low bits of a hash may be poor: all of them count.
pub fn place_of(hash: u64, places: usize) -> usize {
    // The upper bits of a product depend on all bits of the hash (Knuth, The Art of Computer Programming 3, section 6.4).
    (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize % places
}

impl Default for Newcomers {
    fn default() -> Newcomers {
        Newcomers { places: (0..PLACES).map(|_| AtomicU64::new(0)).collect() }
    }
}

impl std::fmt::Debug for Newcomers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Newcomers").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_time_is_told_from_the_first() {
        let newcomers = Newcomers::default();
        assert!(!newcomers.came_before("{ q }"));
        assert!(newcomers.came_before("{ q }"));
        assert!(!newcomers.came_before(""));
        assert!(newcomers.came_before(""));
    }

    #[test]
    fn few_are_pushed_out_by_as_many_others() {
        let newcomers = Newcomers::default();
        let text = |number: usize| format!("{{ q(func: eq(seq, {number})) {{ uid }} }}");
        for number in 0..PLACES / 4 {
            newcomers.came_before(&text(number));
        }
        let known = (0..PLACES / 4).filter(|number| newcomers.came_before(&text(*number))).count();
        assert!(PLACES / 6 < known, "{known} of {}", PLACES / 4);
    }
}
