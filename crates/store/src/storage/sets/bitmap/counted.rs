//! The row of a node in one step, for frequent lookups.
//!
//! The payload has the members before each 512th bit, so that a row is the sum of up to eight
//! counts. A container with frequent lookups is copied once as bits with the number of members
//! before each word, 10 KiB for 65,536 ids. A row is then one addition for any kind of container.
//! The first caller that needs a copy makes it, and it lives as long as the set.

use crate::storage::sets::bitmap::container::{BIT_WORDS, Container, Kind};
use crate::storage::sets::bitmap::row_runs::Words;
use crate::storage::sets::bitmap::{DirectoryEntry, FrozenBitmap, NO_ROW};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A container with fewer members is not copied: their rows are a short search, and the copy would
/// need more than two bytes for each.
const MEMBERS_MIN: usize = 4096;

/// A container with fewer runs is not copied: its lookups are as fast.
const RUNS_MIN: u16 = 8;

/// A container is copied at a lookup of the rows of so many nodes, which pays for it.
const REQUESTED_MIN: usize = 64;

/// The members of a container as bits, and how many there are before each word.
pub(super) struct CountedBits {
    words: [u64; BIT_WORDS],
    before: [u16; BIT_WORDS],
}

impl CountedBits {
    /// O(words).
    fn of(container: &Container<'_>) -> Box<CountedBits> {
        let mut bits = Box::new(CountedBits { words: [0; BIT_WORDS], before: [0; BIT_WORDS] });
        let (mut members, mut rank) = (Words::of(container), 0_u16);
        let CountedBits { words, before } = &mut *bits;
        for (position, (word, before)) in words.iter_mut().zip(before).enumerate() {
            *word = members.at(position);
            *before = rank;
            // The count after the last word may not fit, and is not needed.
            rank = rank.wrapping_add(word.count_ones() as u16);
        }
        bits
    }

    /// The number of members that are smaller than `low`; `None` when `low` is no member. O(1).
    #[inline]
    pub(super) fn row_of(&self, low: u16) -> Option<usize> {
        let (position, bit) = (usize::from(low / 64), 1_u64 << (low % 64));
        let word = self.words[position];
        let row = usize::from(self.before[position]) + (word & (bit - 1)).count_ones() as usize;
        (word & bit != 0).then_some(row)
    }

    /// The rows of nodes, whose lower halves are looked at alone; `before` members are in other
    /// containers. Neither row waits for another, and there is nothing to foresee.
    pub(super) fn rows_of(&self, nodes: &[u32], before: u32, rows: &mut [u32]) {
        for (result, &node) in rows.iter_mut().zip(nodes) {
            let row = self.row_of(node as u16);
            *result = row.map_or(NO_ROW, |row| before + row as u32);
        }
    }
}

/// The existing copies of a set's containers; empty if no container is worth one. Clones share
/// them.
#[derive(Clone, Default)]
pub(super) struct Counted(Option<Arc<[OnceLock<Box<CountedBits>>]>>);

impl Counted {
    /// No copies yet. O(containers).
    pub(super) fn of(directory: &[DirectoryEntry]) -> Counted {
        let is_any = directory.iter().any(is_worth_a_copy);
        Counted(is_any.then(|| directory.iter().map(|_| OnceLock::new()).collect()))
    }

    /// The copy of a container, if it was made.
    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<&CountedBits> {
        self.0.as_ref()?.get(index)?.get().map(|bits| &**bits)
    }
}

impl fmt::Debug for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let copies = self.0.iter().flat_map(|all| all.iter());
        write!(f, "{} copies", copies.filter(|copy| copy.get().is_some()).count())
    }
}

fn is_worth_a_copy(entry: &DirectoryEntry) -> bool {
    let is_quick = match Kind::of(entry.kind) {
        Some(Kind::Bits) => false,
        Some(Kind::Runs) => entry.runs < RUNS_MIN,
        Some(Kind::Sorted | Kind::Range) | None => true,
    };
    !is_quick && MEMBERS_MIN < entry.cardinality()
}

impl FrozenBitmap {
    /// The copy of the container at `index`, where one was made or the rows of so many nodes pay
    /// for it.
    #[inline]
    pub(super) fn counted_for(&self, index: usize, requested: usize) -> Option<&CountedBits> {
        let copy = self.counted.0.as_ref()?.get(index)?;
        match copy.get() {
            Some(bits) => Some(bits),
            None if requested < REQUESTED_MIN => None,
            None if !is_worth_a_copy(&self.directory.get(index)) => None,
            None => Some(copy.get_or_init(|| CountedBits::of(&self.container(index)))),
        }
    }
}
