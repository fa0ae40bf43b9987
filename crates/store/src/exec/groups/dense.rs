//! Groups of few cells: each cell has its counters from the beginning, so that no table leads from
//! cells to groups.
//!
//! A member costs a step for its number among the cells, one for the count, and one for each
//! accumulator. Where ints of 32 bits are added up, the count and the sum of a cell lie in one word
//! for some ten thousand members, and a member costs one step for both:
//!
//! ```text
//!   bits 48 .. 63: the count | bits 0 .. 47: the sum of (int + 2^31)
//! ```
//!
//! Cells in which somebody lacks a key are filled like the others and left out at the end, and so
//! are those that nobody was in.

use super::key_codes::{MISSING, RANGE_MIN};
use crate::exec::cost;
use crate::storage::NO_ROW;

/// Cells have dense counters if there are this many members for each of them at least, or few
/// cells.
const MEMBERS_RATIO: u64 = cost::CELL.per(cost::ENTRY) as u64;
pub(super) const CELLS_MIN: u64 = RANGE_MIN as u64;

/// The most cells that have a word for their counts and sums.
pub(super) const PACKED_MAX: usize = 8192;

/// The members whose counts and sums fit into a word.
pub(super) const PACKED_MEMBERS: usize = 1 << 15;

/// The bytes that are charged for the aggregates of a cell.
const ACCUMULATED_BYTES: usize = 24;

/// One member in a word, and what is added to an int so that it is positive.
const ONE: u64 = 1 << 48;
const BIAS: i64 = 1 << 31;

/// Up to this many cells have copies of their words, so that additions to one cell run in parallel.
const REPLICATED_MAX: usize = 256;
const COPIES: usize = 4;

/// The values of a key that several groups have: the code of each, a member that has it, and for
/// each group the position of its value among them.
pub(super) struct Distinct {
    pub(super) codes: Vec<u32>,
    pub(super) members: Vec<u32>,
    pub(super) positions: Vec<u32>,
}

/// The counters of all cells.
pub(super) struct Dense {
    /// The first member of each cell; [`NO_ROW`] where nobody was in it, or no first member is
    /// needed.
    pub(super) firsts: Vec<u32>,
    pub(super) counts: Vec<u32>,
    /// The number of cells that nobody was in.
    unseen: usize,
    /// Counts and sums that are not counted yet.
    words: Vec<u64>,
    /// The number of members in the words.
    pub(super) waiting: usize,
}

impl Dense {
    /// Whether so many cells have counters from the beginning.
    pub(super) fn suits(cells: u64, members: usize) -> bool {
        cells <= (members as u64 / MEMBERS_RATIO).max(CELLS_MIN)
    }

    /// Counters of the cells of keys with so many codes each, of no members. A key may have a code
    /// that no member of a sound file has. First members are recorded only if they are needed.
    pub(super) fn new(limits: &[u32], have_invalid: &[bool], needs_firsts: bool) -> Dense {
        let complete = complete_cells(limits);
        // Waiting for somebody with an invalid code, each member would be looked at.
        let codes = limits.iter().zip(have_invalid).map(|(limit, has_invalid)| {
            (*limit as usize).saturating_sub(1 + usize::from(*has_invalid))
        });
        let unseen = if needs_firsts { codes.product() } else { 0 };
        // Nobody waits for the first member of a cell in which a key is lacking.
        let first = |is_complete: bool| if is_complete { NO_ROW } else { 0 };
        let counts = vec![0; complete.len()];
        let firsts = complete.into_iter().map(first).collect();
        Dense { firsts, counts, unseen, words: Vec::new(), waiting: 0 }
    }

    /// The same counters for another part of the members. These have counted none.
    pub(super) fn fork(&self) -> Dense {
        debug_assert!(self.counts.iter().all(|count| *count == 0), "somebody was counted");
        let (firsts, unseen) = (self.firsts.clone(), self.unseen);
        Dense { firsts, counts: vec![0; self.len()], unseen, words: Vec::new(), waiting: 0 }
    }

    /// The bytes that these and the accumulators of so many columns take.
    pub(super) fn byte_len(&self, columns: usize) -> usize {
        (2 * size_of::<u32>() + ACCUMULATED_BYTES * columns) * self.len()
    }

    /// The number of cells.
    pub(super) fn len(&self) -> usize {
        self.firsts.len()
    }

    /// Records the first members of cells that were empty before this batch. `cell` returns the
    /// cell of a member's key.
    pub(super) fn note_firsts<K: Copy>(
        &mut self,
        nodes: &[u32],
        keys: &[K],
        cell: impl Fn(K) -> u32,
    ) {
        if self.unseen == 0 {
            return;
        }
        for (&node, &key) in nodes.iter().zip(keys) {
            let first = &mut self.firsts[cell(key) as usize];
            if *first == NO_ROW {
                *first = node;
                // An invalid code may be one too many; then the groups are refused when their keys
                // are read.
                self.unseen = self.unseen.saturating_sub(1);
            }
        }
    }

    /// Counts the members of a batch by their keys.
    pub(super) fn count<K: Copy>(&mut self, keys: &[K], cell: impl Fn(K) -> u32) {
        let counts = &mut self.counts[..];
        keys.iter().for_each(|key| counts[cell(*key) as usize] += 1);
    }

    /// Counts the members of a batch by their keys, and adds their ints.
    pub(super) fn pack<K: Copy>(&mut self, keys: &[K], cell: impl Fn(K) -> u32, ints: &[i32]) {
        let word = |int: i32| ONE + (i64::from(int) + BIAS) as u64;
        let few = self.firsts.len() <= REPLICATED_MAX;
        self.words.resize(if few { COPIES * REPLICATED_MAX } else { self.firsts.len() }, 0);
        if few && let Some(words) = self.words.first_chunk_mut::<{ COPIES * REPLICATED_MAX }>() {
            // The position is below the length by what the compiler sees, too.
            let mut add = |key: K, lane: usize, int: i32| {
                words[(cell(key) as usize % REPLICATED_MAX) * COPIES + lane] += word(int);
            };
            let (quads, rest) = keys.as_chunks::<COPIES>();
            let (ints, more) = ints.as_chunks::<COPIES>();
            for (keys, ints) in quads.iter().zip(ints) {
                for lane in 0..COPIES {
                    add(keys[lane], lane, ints[lane]);
                }
            }
            rest.iter().zip(more).for_each(|(key, int)| add(*key, 0, *int));
        } else {
            let words = &mut self.words[..];
            let pairs = keys.iter().zip(ints);
            pairs.for_each(|(key, int)| words[cell(*key) as usize] += word(*int));
        }
        self.waiting += keys.len();
    }

    /// Counts what waits in the words, and adds it to the sums.
    pub(super) fn unpack(&mut self, sums: &mut [i128]) {
        self.waiting = 0;
        let copies = if self.firsts.len() <= REPLICATED_MAX { COPIES } else { 1 };
        let words = self.words.chunks_exact_mut(copies);
        for ((words, count), sum) in words.zip(&mut self.counts).zip(sums) {
            for word in words {
                let members = *word >> 48;
                *count += members as u32;
                *sum += i128::from((*word & (ONE - 1)) as i64 - members as i64 * BIAS);
                *word = 0;
            }
        }
    }

    /// Adds the counters of the next part of the members.
    pub(super) fn absorb(&mut self, part: &Dense) {
        for (first, more) in self.firsts.iter_mut().zip(&part.firsts) {
            // The members of a part come after those before, and the first one is requested.
            *first = (*first).min(*more);
        }
        self.counts.iter_mut().zip(&part.counts).for_each(|(count, more)| *count += more);
    }
}

/// The values of a key in some cells: its code is the digit that stands before `below` cells, and
/// there are `limit` codes.
pub(super) fn distinct_of(cells: &[u32], below: u32, limit: u32, firsts: &[u32]) -> Distinct {
    let (mut codes, mut members) = (Vec::new(), Vec::new());
    let mut existing = vec![NO_ROW; limit as usize];
    let position = |cell: &u32| {
        let code = cell / below % limit;
        let existing = &mut existing[code as usize];
        if *existing == NO_ROW {
            *existing = members.len() as u32;
            codes.push(code);
            members.push(firsts[*cell as usize]);
        }
        *existing
    };
    let positions = cells.iter().map(position).collect();
    Distinct { codes, members, positions }
}

/// For each cell of keys with so many codes each whether no key is lacking in it: no digit of its
/// number is [`MISSING`].
pub(super) fn complete_cells(limits: &[u32]) -> Vec<bool> {
    const { assert!(MISSING == 0, "the cells that lack a key are the first ones of a stretch") };
    let cells = limits.iter().map(|limit| *limit as usize).product();
    let (mut complete, mut below): (_, usize) = (vec![true; cells], cells);
    for limit in limits {
        let run = below;
        below /= *limit as usize;
        complete.chunks_mut(run).for_each(|cells| cells[..below].fill(false));
    }
    complete
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::columns::batches::BATCH;
    use fastrand::Rng;

    /// The digits of a number are equal, too.
    #[test]
    fn complete_cells_lack_no_key() {
        for limits in [&[5][..], &[2, 3], &[3, 2, 4], &[1, 4]] {
            let is_complete = |cell: u32| {
                let mut rest = cell;
                limits.iter().rev().fold(true, |all, limit| {
                    let code = rest % limit;
                    rest /= limit;
                    all & (code != MISSING)
                })
            };
            let expected: Vec<bool> = (0..limits.iter().product()).map(is_complete).collect();
            assert_eq!(complete_cells(limits), expected, "{limits:?}");
        }
    }

    /// Words give back what was put into them, however great the ints are and however many members
    /// have the same cell.
    #[test]
    fn words_hold_counts_and_sums() {
        let mut rng = Rng::with_seed(5);
        for cells in [2, REPLICATED_MAX, REPLICATED_MAX + 1, 3000] {
            let (mut dense, mut sums) =
                (Dense::new(&[cells as u32], &[false], true), vec![0; cells]);
            let (mut counts, mut expected) = (vec![0; cells], vec![0; cells]);
            for round in 0..3 {
                while dense.waiting + BATCH <= PACKED_MEMBERS {
                    let len = rng.usize(BATCH - 3..=BATCH);
                    let cell = |rng: &mut Rng| if round == 0 { 1 } else { rng.u32(..cells as u32) };
                    let members: Vec<u32> = (0..len).map(|_| cell(&mut rng)).collect();
                    let int = |rng: &mut Rng| match round {
                        0 => i32::MAX,
                        1 => i32::MIN,
                        _ => rng.i32(..),
                    };
                    let ints: Vec<i32> = (0..len).map(|_| int(&mut rng)).collect();
                    dense.pack(&members, |cell| cell, &ints);
                    for (cell, int) in members.iter().zip(&ints) {
                        counts[*cell as usize] += 1;
                        expected[*cell as usize] += i128::from(*int);
                    }
                }
                dense.unpack(&mut sums);
            }
            assert_eq!((&dense.counts, &sums), (&counts, &expected), "{cells} cells");
        }
    }
}
