//! A bounded cache with text keys, in two generations of persistent maps behind one pointer.
//!
//! New entries go to the young generation. When that has half of the capacity it becomes the old
//! one, and what was the old one is forgotten, but for the entries that were requested meanwhile: a
//! look-up that finds an entry in the old generation puts it into the young one. So an entry is
//! forgotten only when it was not requested while half of the capacity filled up, and a look-up
//! that finds a young entry takes no lock and writes nothing.

use arc_swap::ArcSwap;
use std::fmt;
use std::sync::Arc;

use crate::types::stack;

/// A bounded cache of values by text. Clones of a value should be cheap, such as those of an `Arc`.
pub struct GenerationCache<V> {
    generations: ArcSwap<Generations<V>>,
    entries_max: usize,
    bytes_max: u64,
}

type Entries<V> = imbl::HashMap<Arc<str>, (V, u64)>;

/// The entries, each with its size in bytes.
#[derive(Clone)]
struct Generations<V> {
    young: Entries<V>,
    /// The bytes of the young generation.
    young_bytes: u64,
    old: Entries<V>,
}

impl<V: Clone> GenerationCache<V> {
    /// Creates an empty cache for at most `entries_max` entries of together `bytes_max` bytes.
    pub fn new(entries_max: usize, bytes_max: u64) -> GenerationCache<V> {
        let (young, old) = (Entries::new(), Entries::new());
        let generations = ArcSwap::from_pointee(Generations { young, young_bytes: 0, old });
        GenerationCache { generations, entries_max, bytes_max }
    }

    /// Returns the value of a text. O(length of the text).
    pub fn get(&self, text: &str) -> Option<V> {
        let generations = self.generations.load();
        if let Some((value, _)) = generations.young.get(text) {
            return Some(value.clone());
        }
        let (text, (value, bytes)) = generations.old.get_key_value(text)?;
        self.insert(Arc::clone(text), value, *bytes);
        Some(value.clone())
    }

    /// Caches a value of `bytes` bytes, unless a thread with a small stack gets no other one.
    /// O(log entries).
    pub fn insert(&self, text: Arc<str>, value: &V, bytes: u64) {
        // What is forgotten is dropped here, and may nest deeper than this thread could. Of two
        // threads that insert at once, one repeats this on the map that the other has stored.
        let _ = stack::try_with_space(|| {
            self.generations.rcu(|generations| {
                let mut next = Generations::clone(generations);
                // An entry with more than half of the bytes is retained all the same, alone in its
                // generation.
                let is_full = self.bytes_max / 2 < next.young_bytes.saturating_add(bytes)
                    || self.entries_max / 2 <= next.young.len();
                if is_full {
                    next.old = std::mem::take(&mut next.young);
                    next.young_bytes = 0;
                }
                if next.young.insert(Arc::clone(&text), (value.clone(), bytes)).is_none() {
                    next.young_bytes += bytes;
                }
                next
            })
        });
    }

    /// Counts the entries of both generations. An entry that is in both counts twice. O(1).
    pub fn entry_count(&self) -> usize {
        let generations = self.generations.load();
        generations.young.len() + generations.old.len()
    }
}

impl<V: Clone> fmt::Debug for GenerationCache<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GenerationCache").field("entries", &self.entry_count()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_bounded_and_used_ones_stay() {
        let cache = GenerationCache::new(10, u64::MAX);
        cache.insert(Arc::from("used"), &0, 1);
        for number in 1..100 {
            assert_eq!(cache.get("used"), Some(0), "{number}");
            cache.insert(Arc::from(number.to_string()), &number, 1);
            assert!(cache.entry_count() <= 10);
        }
        assert_eq!(cache.get("99"), Some(99));
        assert_eq!(cache.get("1"), None);
    }

    #[test]
    fn bytes_are_bounded() {
        let cache = GenerationCache::new(1_000, 10);
        for number in 0..9 {
            cache.insert(Arc::from(number.to_string()), &number, 3);
        }
        // Two generations of one entry each.
        assert_eq!(cache.entry_count(), 2);
        assert_eq!(cache.get("8"), Some(8));
    }
}
