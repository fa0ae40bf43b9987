//! The input of a test of a column's rows: all rows, listed nodes, or nodes as bits; loops that are
//! made for each form of a column, and become vector instructions where it has numbers.

use crate::exec::columns::batches::{RowFinder, Rows};
use crate::exec::cost;
use crate::storage::{FrozenBitmap, bits_where, vectorized};
use hexgraph_base::types::Result;

/// Work over the rows of a column and their test.
pub(super) trait RowLoop: Sized {
    /// What comes of it.
    type Output;

    /// Does it with rows of one size.
    fn run<T: Copy>(self, stored: &[T], holds: impl Fn(T) -> bool) -> Self::Output;

    /// Does it with so many texts, which are named by their rows.
    fn run_texts(self, rows: usize, holds: impl Fn(usize) -> bool) -> Self::Output;
}

/// Counts the rows that pass. `check` says now and then whether to go on.
pub(super) struct Count<C> {
    pub(super) check: C,
}

/// The number of rows that are counted between two questions whether to go on.
const COUNTED: usize = cost::CHECK.per(cost::GATHER);

impl<C: Fn() -> Result<()>> RowLoop for Count<C> {
    type Output = Result<usize>;

    fn run<T: Copy>(self, stored: &[T], holds: impl Fn(T) -> bool) -> Result<usize> {
        let mut count = 0;
        for chunk in stored.chunks(COUNTED) {
            (self.check)()?;
            // A chunk has no more rows than 32 bits count, and narrow counters make wide vectors.
            let passing = || chunk.iter().map(|&it| u32::from(holds(it))).sum::<u32>();
            count += vectorized(passing) as usize;
        }
        Ok(count)
    }

    fn run_texts(self, rows: usize, holds: impl Fn(usize) -> bool) -> Result<usize> {
        let mut count = 0;
        for start in (0..rows).step_by(COUNTED) {
            (self.check)()?;
            count += (start..rows.min(start + COUNTED)).filter(|row| holds(*row)).count();
        }
        Ok(count)
    }
}

/// Adds those of some ascending nodes to `retained` whose stored value, in their row among the
/// subjects, passes.
pub(super) struct RetainListed<'k> {
    pub(super) subjects: &'k FrozenBitmap,
    pub(super) finder: &'k mut RowFinder,
    pub(super) nodes: &'k [u32],
    pub(super) retained: &'k mut Vec<u32>,
}

impl RowLoop for RetainListed<'_> {
    type Output = ();

    fn run<T: Copy>(self, stored: &[T], holds: impl Fn(T) -> bool) {
        let RetainListed { subjects, finder, nodes, retained } = self;
        let mut rest = nodes;
        finder.for_each_chunk(subjects, nodes, |rows| {
            let (nodes, behind) = rest.split_at(rows.len());
            rest = behind;
            // Each node is written, and the next one over it where it does not pass: a loop without
            // branches.
            let mut end = retained.len();
            retained.resize(end + nodes.len(), 0);
            match rows {
                Rows::Run(rows) => {
                    for (&node, &it) in nodes.iter().zip(&stored[rows]) {
                        retained[end] = node;
                        end += usize::from(holds(it));
                    }
                }
                Rows::Missing(_) => {}
                Rows::Each(rows) => {
                    for (&node, &row) in nodes.iter().zip(rows) {
                        // The value for no row is after all rows.
                        let it = stored.get(row as usize);
                        retained[end] = node;
                        end += usize::from(it.is_some_and(|it| holds(*it)));
                    }
                }
            }
            retained.truncate(end);
        });
    }

    fn run_texts(self, _rows: usize, holds: impl Fn(usize) -> bool) {
        let RetainListed { subjects, finder, nodes, retained } = self;
        let mut nodes = nodes.iter();
        finder.for_each_chunk(subjects, nodes.as_slice(), |rows| {
            rows.for_each(|row| {
                let node = nodes.next();
                let passes = row.is_some_and(&holds);
                retained.extend(node.filter(|_| passes));
            });
        });
    }
}

/// Retains those of some nodes, given as words of bits from the id `first` on, whose stored value,
/// in their row among the subjects, passes.
pub(super) struct RetainBits<'k> {
    pub(super) subjects: &'k FrozenBitmap,
    pub(super) first: u32,
    pub(super) words: &'k mut [u64],
}

/// The least number of nodes of a word for which 64 rows are tested at once.
const AT_ONCE_MIN: u32 = cost::WORD.per(cost::GATHER) as u32;

/// The most ids of a word that have no row while others do for which 64 rows are tested at once:
/// each costs a step more.
const GAPS_MAX: u32 = AT_ONCE_MIN;

impl RowLoop for RetainBits<'_> {
    type Output = ();

    fn run<T: Copy>(self, stored: &[T], holds: impl Fn(T) -> bool) {
        let RetainBits { subjects, first, words } = self;
        subjects.for_each_word(first, words.len(), |position, members, row| {
            let (requested, row) = (words[position] & members, row as usize);
            let at_once =
                AT_ONCE_MIN <= requested.count_ones() && members.count_zeros() <= GAPS_MAX;
            let rows = stored.get(row..row + 64).filter(|_| at_once);
            words[position] = match rows.and_then(|rows| rows.try_into().ok()) {
                Some(rows) => requested & spread(vectorized(|| bits_where(rows, &holds)), members),
                None => one_by_one(requested, members, |position| holds(stored[row + position])),
            };
        });
    }

    fn run_texts(self, _rows: usize, holds: impl Fn(usize) -> bool) {
        let RetainBits { subjects, first, words } = self;
        subjects.for_each_word(first, words.len(), |position, members, row| {
            let requested = words[position] & members;
            words[position] =
                one_by_one(requested, members, |position| holds(row as usize + position));
        });
    }
}

/// Those of the requested members whose row passes; a row is given by its offset from that of the
/// first member.
#[inline]
fn one_by_one(requested: u64, members: u64, holds: impl Fn(usize) -> bool) -> u64 {
    let (mut left, mut passing) = (requested, 0);
    while left != 0 {
        let bit = left & left.wrapping_neg();
        let position = (members & (bit - 1)).count_ones() as usize;
        passing |= if holds(position) { bit } else { 0 };
        left ^= bit;
    }
    passing
}

/// The bits of rows, one after the other, at the positions of their members. A step for each id
/// below 64 that is none.
#[inline]
fn spread(rows: u64, members: u64) -> u64 {
    let (mut bits, mut gaps) = (rows, !members);
    while gaps != 0 {
        let below = (gaps & gaps.wrapping_neg()) - 1;
        bits = bits & below | (bits & !below) << 1;
        gaps &= gaps - 1;
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Rows are tested at once as one by one, whichever ids have a row.
        #[test]
        fn words_keep_what_passes(
            numbers in prop::collection::vec(0i32..10, 64),
            members in any::<u64>(),
            gaps in any::<u64>(),
            requested in any::<u64>(),
            bound in 0i32..11,
        ) {
            for members in [members, members | gaps, !(members & gaps & requested.rotate_left(7)), u64::MAX, 0] {
                let rows: &[i32; 64] = numbers.as_slice().try_into().unwrap();
                let requested = requested & members;
                let at_once = requested & spread(bits_where(rows, |number| number < bound), members);
                let alone = one_by_one(requested, members, |position| numbers[position] < bound);
                prop_assert_eq!(at_once, alone);
                let right = (0..64).filter(|bit| {
                    let position = (members & ((1_u64 << bit) - 1)).count_ones() as usize;
                    requested >> bit & 1 == 1 && numbers[position] < bound
                });
                prop_assert_eq!(alone, right.fold(0, |bits, bit| bits | 1 << bit));
            }
        }
    }
}
