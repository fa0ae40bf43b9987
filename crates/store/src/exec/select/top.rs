//! The first few of many nodes in the order of one number: one pass over the column, without a copy of it.
//!
//! The pass keeps at most twice as many candidates as are wanted, and a bound: the rank of the last of those that were the
//! first ones when the candidates were last sorted out. A node is compared with the bound alone, so a node that is no candidate
//! costs about a nanosecond, and sorting out happens O(log nodes) times when the values are in no order.

use crate::exec::control::tree::{Column, ValueMap};
use crate::exec::select::numbers::rows_of;
use crate::exec::select::rank::{is_far, rank_of};
use crate::graph::LangValues;
use crate::storage::{NodeSet, Values};
use hexgraph_base::types::{Result, ValueRef, ValueType, ordered_bits};

/// The number of nodes that are read at a time.
const CHUNK: usize = 4096;

/// The least number of candidates that are kept.
const ROOM_MIN: usize = 256;

/// From one in this many nodes on, sorting all of them is as good.
const SHARE_MIN: usize = 16;

/// The candidates for the first nodes by rank; those with equal ranks by node. Nodes have to come ascending.
struct Top {
    wanted: usize,
    candidates: Vec<(u64, u32)>,
    room: usize,
    /// The greatest rank of the first nodes as last sorted out. A later node with this rank comes behind them all.
    bound: u64,
    has_bound: bool,
}

impl Top {
    fn new(wanted: usize) -> Top {
        let room = (2 * wanted).max(ROOM_MIN);
        Top { wanted, candidates: Vec::with_capacity(room), room, bound: 0, has_bound: false }
    }

    #[inline]
    fn offer(&mut self, node: u32, rank: u64) {
        if rank < self.bound || !self.has_bound {
            self.keep(node, rank);
        }
    }

    fn keep(&mut self, node: u32, rank: u64) {
        self.candidates.push((rank, node));
        if self.candidates.len() == self.room {
            self.candidates.select_nth_unstable(self.wanted - 1);
            self.candidates.truncate(self.wanted);
            self.bound = self.candidates[self.wanted - 1].0;
            self.has_bound = true;
        }
    }

    /// The first nodes in their order; `None` when there are fewer than wanted.
    fn finish(mut self) -> Option<Vec<u32>> {
        if self.candidates.len() < self.wanted {
            return None;
        }
        self.candidates.sort_unstable();
        Some(self.candidates.iter().take(self.wanted).map(|(_, node)| *node).collect())
    }
}

/// Whether so few of the nodes are wanted that one pass is better than sorting them.
fn is_few(wanted: usize, nodes: usize) -> bool {
    0 < wanted && wanted < nodes / SHARE_MIN
}

/// Returns the first `wanted` of some nodes in the order of their numbers or instants, equal ones by node. `None` where
/// this is not the way: many are wanted, fewer have a value, or the values have no order as 64-bit numbers. O(nodes).
///
/// # Errors
///
/// Those of `check`, which is called every few thousand nodes.
pub(super) fn by_column(
    part: &LangValues,
    value_type: ValueType,
    nodes: &NodeSet,
    descending: bool,
    wanted: usize,
    check: impl Fn() -> Result<()>,
) -> Result<Option<Vec<u32>>> {
    let column = &part.base.column;
    if column.rows.is_some() || !is_few(wanted, nodes.len()) {
        return Ok(None);
    }
    let mut scan = Scan { part, value_type, descending, top: Top::new(wanted) };
    let is_done = match (&column.values, value_type) {
        (Values::SmallInt(ints), ValueType::Int) => {
            scan.run(nodes, ints.as_slice(), |int| rank_of_int(i64::from(int)), check)?
        }
        (Values::Int(ints), ValueType::Int) => {
            scan.run(nodes, ints.as_slice(), rank_of_int, check)?
        }
        (Values::Float(floats), ValueType::Float) => {
            scan.run(nodes, floats.as_slice(), ordered_bits, check)?
        }
        (Values::Days(days), ValueType::DateTime) => {
            scan.run(nodes, days.as_slice(), |day| rank_of_seconds(i64::from(day) * 86_400), check)?
        }
        (Values::SmallTime(seconds), ValueType::DateTime) => {
            scan.run(nodes, seconds.as_slice(), |second| rank_of_seconds(i64::from(second)), check)?
        }
        _ => false,
    };
    Ok(if is_done { scan.top.finish() } else { None })
}

/// As [`by_column`], by the values of a variable, of those of its nodes that are in the set.
pub(super) fn by_variable(
    map: &ValueMap,
    nodes: &NodeSet,
    descending: bool,
    wanted: usize,
) -> Option<Vec<u32>> {
    if !is_few(wanted, map.nodes.len().min(nodes.len())) {
        return None;
    }
    let mut top = Top::new(wanted);
    let turn = if descending { u64::MAX } else { 0 };
    let is_all = nodes.is_exactly(&map.nodes);
    // The set is asked only about those that would be candidates.
    let mut offer = |node: u32, rank: u64| {
        if (rank < top.bound || !top.has_bound) && (is_all || nodes.contains(node)) {
            top.keep(node, rank);
        }
    };
    match &map.values {
        Column::Int(ints) => {
            let ranks = ints.iter().map(|int| rank_of_int(*int) ^ turn);
            map.nodes.iter().zip(ranks).for_each(|(node, rank)| offer(*node, rank));
        }
        Column::Float(floats) => {
            let ranks = floats.iter().map(|float| ordered_bits(*float) ^ turn);
            map.nodes.iter().zip(ranks).for_each(|(node, rank)| offer(*node, rank));
        }
        Column::Any(_) => return None,
    }
    top.finish()
}

fn rank_of_int(int: i64) -> u64 {
    // The sign bit turned round puts negative numbers first.
    int as u64 ^ 1 << 63
}

/// The rank of an instant that a column of small instants has.
fn rank_of_seconds(seconds: i64) -> u64 {
    // Such an instant lies between 1879 and 2060, so its nanoseconds fit.
    rank_of_int(seconds * 1_000_000_000)
}

/// One pass over a column.
struct Scan<'a> {
    part: &'a LangValues,
    value_type: ValueType,
    descending: bool,
    top: Top,
}

impl Scan<'_> {
    /// Offers all of the nodes. `false` when a changed value has no rank of its own.
    fn run<S: Copy>(
        &mut self,
        nodes: &NodeSet,
        stored: &[S],
        rank: impl Fn(S) -> u64,
        check: impl Fn() -> Result<()>,
    ) -> Result<bool> {
        // A walk over a set has no early end: after a fault nothing more is read.
        let mut going_on = Ok(true);
        nodes.for_each_chunk(CHUNK, |chunk| {
            if matches!(going_on, Ok(true)) {
                going_on = check().map(|()| self.offer_chunk(chunk, stored, &rank));
            }
        });
        going_on
    }

    /// Offers ascending nodes, from change to change.
    fn offer_chunk<S: Copy>(
        &mut self,
        nodes: &[u32],
        stored: &[S],
        rank: &impl Fn(S) -> u64,
    ) -> bool {
        let (Some(&first), Some(&last)) = (nodes.first(), nodes.last()) else { return true };
        let part = self.part;
        let mut rest = nodes;
        for (node, row) in part.changed_between(first, last) {
            let (before, behind) = rest.split_at(rest.partition_point(|&other| other < node));
            self.offer_stored(before, stored, rank);
            let is_asked = behind.first() == Some(&node);
            rest = &behind[usize::from(is_asked)..];
            let value = row.and_then(|row| row.values.first());
            if let Some((value, _)) = value.filter(|_| is_asked) {
                let Some(rank) = self.rank_of_changed(value.as_ref()) else { return false };
                self.top.offer(node, rank);
            }
        }
        self.offer_stored(rest, stored, rank);
        true
    }

    fn offer_stored<S: Copy>(&mut self, nodes: &[u32], stored: &[S], rank: &impl Fn(S) -> u64) {
        let subjects = &self.part.base.column.subjects;
        let turn = if self.descending { u64::MAX } else { 0 };
        let top = &mut self.top;
        match subjects.rows_of_run(nodes) {
            Some(rows) => {
                for (&node, &value) in nodes.iter().zip(&stored[rows]) {
                    top.offer(node, rank(value) ^ turn);
                }
            }
            None => rows_of(subjects, nodes, |place, row| {
                top.offer(nodes[place], rank(stored[row]) ^ turn);
            }),
        }
    }

    /// The rank of a value that changed since the column was built; `None` for one that is not of the predicate's type, or
    /// is not told apart from all others by its rank.
    fn rank_of_changed(&self, value: ValueRef<'_>) -> Option<u64> {
        let is_plain = match (value, self.value_type) {
            (ValueRef::Int(_), ValueType::Int) | (ValueRef::Float(_), ValueType::Float) => true,
            (ValueRef::DateTime(time), ValueType::DateTime) => !is_far(time),
            _ => false,
        };
        let turn = if self.descending { u64::MAX } else { 0 };
        rank_of(value).filter(|_| is_plain).map(|rank| rank ^ turn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_of_many(ranks in prop::collection::vec(0u64..60, 1..2000), wanted in 1usize..20) {
            let mut top = Top::new(wanted);
            top.room = 2 * wanted;
            let mut all: Vec<(u64, u32)> = Vec::new();
            for (node, &rank) in ranks.iter().enumerate() {
                top.offer(node as u32, rank);
                all.push((rank, node as u32));
            }
            all.sort_unstable();
            let first: Vec<u32> = all.iter().take(wanted).map(|(_, node)| *node).collect();
            prop_assert_eq!(top.finish(), (wanted <= ranks.len()).then_some(first));
        }
    }
}
