//! Rows of numbers that compare as nodes do in an order by at most two keys: the first of them, and
//! sorted parts that are merged.

use crate::exec::control::context::Context;
use crate::exec::cost;
use hexgraph_base::types::Result;

/// Fewer rows are sorted as they are, and so are fewer than one in so many.
const CODED_MIN: usize = cost::SETUP.per(cost::LOOKUP);
const CODED_PART: usize = 8;

/// A node with the numbers of at most two keys; rows compare as their nodes do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RankedRow {
    pub(super) lacks_first: bool,
    /// The number of the first key, negated if it descends.
    pub(super) first: u64,
    pub(super) lacks_second: bool,
    /// The same of the second key.
    pub(super) second: u64,
    /// The node, negated if nodes are in descending order.
    pub(super) node: u32,
}

impl RankedRow {
    /// Whether the order of the uids of nodes without a value is reversed.
    pub(super) fn is_negated(&self, keys: [bool; 2]) -> bool {
        keys[0] && self.lacks_first || keys[1] && self.lacks_second
    }
}

/// Which of several keys descend; a single one does not reverse the order of uids.
pub(super) fn turning(descending: impl ExactSizeIterator<Item = bool>) -> [bool; 2] {
    let mut turns = [false; 2];
    if 1 < descending.len() {
        turns.iter_mut().zip(descending).for_each(|(turn, it)| *turn = it);
    }
    turns
}

/// The first of some rows in their order. The nodes ascend, but for rows that `turns` says are
/// [negated](RankedRow::is_negated).
pub(super) fn first_rows(
    rows: Vec<RankedRow>,
    expected: Option<usize>,
    turns: [bool; 2],
) -> Vec<RankedRow> {
    // If there are few, the others are only compared, which is cheaper than numbering them.
    let are_many = expected.is_none_or(|expected| rows.len() / CODED_PART <= expected);
    match are_many.then(|| Codes::of(&rows, turns)).flatten() {
        Some(Codes { codes, position_bits }) => {
            let row = |code| rows[(code & !(u64::MAX << position_bits)) as usize];
            first_of(codes, expected).into_iter().map(row).collect()
        }
        None => first_of(rows, expected),
    }
}

/// The first of some items in their order. They are selected in expected O(items); only these are
/// sorted.
pub(super) fn first_of<T: Ord>(mut items: Vec<T>, expected: Option<usize>) -> Vec<T> {
    if let Some(expected) = expected.filter(|expected| *expected < items.len()) {
        if let Some(last) = expected.checked_sub(1) {
            items.select_nth_unstable(last);
        }
        items.truncate(expected);
    }
    items.sort_unstable();
    items
}

/// Rows as single numbers that compare as they do, and are sorted in a third of the time: the
/// distance of each key from its least number, and the position of the row in the lowest bits.
struct Codes {
    codes: Vec<u64>,
    position_bits: u32,
}

impl Codes {
    /// `None` where 64 bits are too few, the rows so few that it does not pay, or equal ones not in
    /// the order of their positions.
    fn of(rows: &[RankedRow], turns: [bool; 2]) -> Option<Codes> {
        if rows.len() < CODED_MIN || rows.iter().any(|row| row.is_negated(turns)) {
            return None;
        }
        let first = KeySpan::of(rows.iter().map(|row| (row.lacks_first, row.first)));
        let second = KeySpan::of(rows.iter().map(|row| (row.lacks_second, row.second)));
        let position_bits = usize::BITS - (rows.len() - 1).leading_zeros();
        if u64::BITS < first.bits + second.bits + position_bits {
            return None;
        }
        let code = |(position, row): (usize, &RankedRow)| {
            let first = first.code(row.lacks_first, row.first);
            let keys = first << second.bits | second.code(row.lacks_second, row.second);
            keys << position_bits | position as u64
        };
        Some(Codes { codes: rows.iter().enumerate().map(code).collect(), position_bits })
    }
}

/// The numbers of a key that some rows have.
struct KeySpan {
    least: u64,
    /// What represents a missing number, after all that are there.
    none: u64,
    /// The bits of the distances from the least number.
    bits: u32,
}

impl KeySpan {
    fn of(keys: impl Iterator<Item = (bool, u64)> + Clone) -> KeySpan {
        let is_lacked = keys.clone().any(|(lacks, _)| lacks);
        let there = keys.filter(|(lacks, _)| !lacks).map(|(_, number)| number);
        let least = there.clone().min().unwrap_or(0);
        let span = there.max().map_or(0, |greatest| greatest - least);
        // All 64 bits are too many, whatever is lacked.
        let none = span.saturating_add(1);
        let most = if is_lacked { none } else { span };
        KeySpan { least, none, bits: u64::BITS - most.leading_zeros() }
    }

    fn code(&self, lacks: bool, number: u64) -> u64 {
        if lacks { self.none } else { number - self.least }
    }
}

/// How many of the first `count` rows of two sorted lists, put into one order, are of the first
/// list. No two rows are equal.
fn taken_of(one: &[RankedRow], other: &[RankedRow], count: usize) -> usize {
    let (mut least, mut most) = (count.saturating_sub(other.len()), count.min(one.len()));
    while least < most {
        let taken = least.midpoint(most);
        // The last one of the others comes after the next one of these: more of these are taken.
        match one[taken] < other[count - taken - 1] {
            true => least = taken + 1,
            false => most = taken,
        }
    }
    least
}

impl Context<'_> {
    /// What `node_of` says of the rows of sorted parts in their order, or of the first of them.
    pub(super) fn merged(
        &self,
        mut parts: Vec<Vec<RankedRow>>,
        expected: Option<usize>,
        node_of: impl Fn(&RankedRow) -> u32 + Sync,
    ) -> Result<Vec<u32>> {
        while 2 < parts.len() {
            let last = parts.split_off(parts.len() - 2);
            self.check()?;
            // Splits the list into two ascending runs, and merges them.
            let mut rows = last.concat();
            rows.sort();
            rows.truncate(expected.unwrap_or(usize::MAX));
            parts.insert(0, rows);
        }
        let part = |at: usize| parts.get(at).map_or(&[][..], Vec::as_slice);
        let (one, other) = (part(0), part(1));
        let len = (one.len() + other.len()).min(expected.unwrap_or(usize::MAX));
        self.lists(len, cost::ENTRY, |range| {
            self.check()?;
            let taken = taken_of(one, other, range.start);
            let (mut one, mut other) = (&one[taken..], &other[range.start - taken..]);
            let mut next = || {
                let from = match (one.first(), other.first()) {
                    (Some(first), Some(second)) if second < first => &mut other,
                    (None, _) => &mut other,
                    _ => &mut one,
                };
                from.split_off_first()
            };
            Ok(range.filter_map(|_| next().map(&node_of)).collect())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::control::morsels::tests::sharing;
    use crate::exec::control::stop::RequestContext;
    use crate::graph::Version;
    use fastrand::Rng;
    use hexgraph_base::plan::Query;

    /// Rows are sorted by numbers as by themselves, also at the ends of what fits.
    #[test]
    fn codes_compare_as_rows() {
        let mut rng = Rng::with_seed(5);
        for round in 0..400 {
            let bits: [u32; 2] = std::array::from_fn(|_| rng.u32(0..59));
            let least: [u64; 2] = std::array::from_fn(|_| rng.u64(..) >> rng.u32(..64));
            let lacks: [bool; 2] = std::array::from_fn(|_| rng.bool());
            let turns = [false, round % 5 == 0];
            let rows: Vec<RankedRow> = (0..rng.u32(60..200))
                .map(|node| {
                    let number = |key: usize, rng: &mut Rng| {
                        least[key].saturating_add(rng.u64(..) & !(u64::MAX << bits[key]))
                    };
                    let [lacks_first, lacks_second] = lacks.map(|lacks| lacks && rng.bool());
                    let first = if lacks_first { 0 } else { number(0, &mut rng) };
                    let second = if lacks_second { 0 } else { number(1, &mut rng) };
                    let row = RankedRow { lacks_first, first, lacks_second, second, node };
                    RankedRow { node: if row.is_negated(turns) { !node } else { node }, ..row }
                })
                .collect();
            for expected in [None, Some(0), Some(1), Some(50), Some(1000)] {
                let mut sorted = rows.clone();
                sorted.sort();
                sorted.truncate(expected.unwrap_or(usize::MAX));
                assert!(
                    first_rows(rows.clone(), expected, turns) == sorted,
                    "{round}, {expected:?}"
                );
            }
        }
    }

    /// Parts that are merged, each by itself sorted, are the first of all rows.
    #[test]
    fn merged_parts_are_the_sorted_whole() {
        let (version, query, mut rng) = (Version::empty(), Query::default(), Rng::with_seed(2));
        for (parts, most) in [(0, 0), (1, 50), (2, 0), (2, 1), (2, 300), (3, 40), (5, 100)] {
            let row = |node: u32, rng: &mut Rng| RankedRow {
                lacks_first: rng.bool(),
                first: rng.u64(..4),
                lacks_second: false,
                second: 0,
                node,
            };
            let mut nodes = 0..;
            let mut part = || {
                let rows = nodes.by_ref().take(rng.usize(..=most));
                let rows: Vec<u32> = rows.collect();
                first_of(rows.into_iter().map(|node| row(node, &mut rng)).collect(), None)
            };
            let parts: Vec<Vec<RankedRow>> = (0..parts).map(|_| part()).collect();
            let mut all = parts.concat();
            all.sort();
            let all: Vec<u32> = all.iter().map(|row| row.node).collect();
            for expected in [None, Some(0), Some(7), Some(all.len())] {
                let first = &all[..expected.unwrap_or(usize::MAX).min(all.len())];
                for control in [RequestContext::new(), sharing(2, 1), sharing(3, 40)] {
                    let vars = Vec::new();
                    let context =
                        Context { version: &version, query: &query, control: &control, vars };
                    let merged = context.merged(parts.clone(), expected, |row| row.node).unwrap();
                    assert_eq!(merged, first, "{expected:?} of {} rows", all.len());
                }
            }
        }
    }
}
