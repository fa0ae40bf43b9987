//! Detects texts that come for the first time, so that a cache does not store what comes once.
//!
//! A text with the values of one request written into it never comes again, and caching its result
//! costs more than computing it. The technique is called a doorkeeper: Einziger, Friedman and
//! Manes, "TinyLFU: A Highly Efficient Cache Admission Policy", 2017.

use rustc_hash::FxHasher;
use std::hash::Hasher;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of texts that are remembered: the last one at each position.
const POSITIONS: usize = 4096;

/// Remembers the hashes of the texts that came lately, in 32 kB.
pub struct Arrivals {
    positions: Box<[AtomicU64]>,
}

impl Arrivals {
    /// Returns true if this text came before, as far as it is remembered: texts with the same slot
    /// evict each other. Now it has come. O(length of the text), without a lock.
    pub fn came_before(&self, text: &str) -> bool {
        let mut hasher = FxHasher::default();
        hasher.write(text.as_bytes());
        // Zero represents no text.
        let hash = hasher.finish() | 1;
        let position = &self.positions[position_of(hash, POSITIONS)];
        if position.load(Ordering::Relaxed) == hash {
            return true;
        }
        position.store(hash, Ordering::Relaxed);
        false
    }
}

/// The slot of a hash in a table of `positions`, at most 4,096, where each hash has one. The low
/// bits of a hash may be poor: all of them count.
pub fn position_of(hash: u64, positions: usize) -> usize {
    // The upper bits of a product depend on all bits of the hash (Knuth, The Art of Computer
    // Programming 3, section 6.4).
    (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize % positions
}

impl Default for Arrivals {
    fn default() -> Arrivals {
        Arrivals { positions: (0..POSITIONS).map(|_| AtomicU64::new(0)).collect() }
    }
}

impl std::fmt::Debug for Arrivals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Arrivals").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_time_is_recognised() {
        let arrivals = Arrivals::default();
        assert!(!arrivals.came_before("{ q }"));
        assert!(arrivals.came_before("{ q }"));
        assert!(!arrivals.came_before(""));
        assert!(arrivals.came_before(""));
    }

    #[test]
    fn few_are_pushed_out_by_as_many_others() {
        let arrivals = Arrivals::default();
        let text = |number: usize| format!("{{ q(func: eq(seq, {number})) {{ uid }} }}");
        for number in 0..POSITIONS / 4 {
            arrivals.came_before(&text(number));
        }
        let existing =
            (0..POSITIONS / 4).filter(|number| arrivals.came_before(&text(*number))).count();
        assert!(POSITIONS / 6 < existing, "{existing} of {}", POSITIONS / 4);
    }
}
