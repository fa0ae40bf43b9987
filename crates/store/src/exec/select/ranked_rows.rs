//! Rows of numbers that compare as nodes do in an order by at most two keys: the first of them, and sorted parts that are merged.

use crate::exec::control::context::Context;
use hexgraph_base::types::Result;

/// The nanoseconds that it takes to merge a row into another list, about.
const MERGE_NANOS: usize = 6;

/// A node with the numbers of at most two keys; rows compare as their nodes do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RankedRow {
    pub(super) lacks_first: bool,
    /// The number of the first key, turned round where it descends.
    pub(super) first: u64,
    pub(super) lacks_second: bool,
    /// The same of the second key.
    pub(super) second: u64,
    /// The node, turned round where nodes are in the order that descends.
    pub(super) node: u32,
}

impl RankedRow {
    /// Whether the order of the uids of nodes without a value is turned around.
    pub(super) fn is_turned(&self, keys: [bool; 2]) -> bool {
        keys[0] && self.lacks_first || keys[1] && self.lacks_second
    }
}

/// Which of several keys descend; a single one does not turn the order of uids.
pub(super) fn turning(descending: impl ExactSizeIterator<Item = bool>) -> [bool; 2] {
    let mut turns = [false; 2];
    if 1 < descending.len() {
        turns.iter_mut().zip(descending).for_each(|(turn, it)| *turn = it);
    }
    turns
}

/// The first of some rows, in their order.
pub(super) fn first_rows(mut rows: Vec<RankedRow>, wanted: Option<usize>) -> Vec<RankedRow> {
    if let Some(wanted) = wanted.filter(|wanted| *wanted < rows.len()) {
        if let Some(last) = wanted.checked_sub(1) {
            // Who belongs to the page is found in expected O(rows); only the page is sorted.
            rows.select_nth_unstable(last);
        }
        rows.truncate(wanted);
    }
    rows.sort_unstable();
    rows
}

/// How many of the first `count` rows of two sorted lists, put into one order, are of the first list. No two rows are equal.
fn taken_of(one: &[RankedRow], other: &[RankedRow], count: usize) -> usize {
    let (mut least, mut most) = (count.saturating_sub(other.len()), count.min(one.len()));
    while least < most {
        let taken = least.midpoint(most);
        // The last one of the others comes behind the next one of these: more of these are taken.
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
        wanted: Option<usize>,
        node_of: impl Fn(&RankedRow) -> u32 + Sync,
    ) -> Result<Vec<u32>> {
        while 2 < parts.len() {
            let last = parts.split_off(parts.len() - 2);
            self.check()?;
            // Finds the two as runs that ascend, and merges them.
            let mut rows = last.concat();
            rows.sort();
            rows.truncate(wanted.unwrap_or(usize::MAX));
            parts.insert(0, rows);
        }
        let part = |at: usize| parts.get(at).map_or(&[][..], Vec::as_slice);
        let (one, other) = (part(0), part(1));
        let len = (one.len() + other.len()).min(wanted.unwrap_or(usize::MAX));
        self.lists(len, MERGE_NANOS, |range| {
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
    use crate::exec::control::stop::Control;
    use crate::graph::Version;
    use fastrand::Rng;
    use hexgraph_base::plan::Query;

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
                first_rows(rows.into_iter().map(|node| row(node, &mut rng)).collect(), None)
            };
            let parts: Vec<Vec<RankedRow>> = (0..parts).map(|_| part()).collect();
            let mut all = parts.concat();
            all.sort();
            let all: Vec<u32> = all.iter().map(|row| row.node).collect();
            for wanted in [None, Some(0), Some(7), Some(all.len())] {
                let first = &all[..wanted.unwrap_or(usize::MAX).min(all.len())];
                for control in [Control::new(), sharing(2, 1), sharing(3, 40)] {
                    let vars = Vec::new();
                    let context =
                        Context { version: &version, query: &query, control: &control, vars };
                    let merged = context.merged(parts.clone(), wanted, |row| row.node).unwrap();
                    assert_eq!(merged, first, "{wanted:?} of {} rows", all.len());
                }
            }
        }
    }
}
