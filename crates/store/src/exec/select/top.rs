//! The first few of many nodes in the order of one number: one pass over the column, without a copy of it.
//!
//! The pass keeps at most twice as many candidates as are wanted, and a bound: the rank of the last of those that were the
//! first ones when the candidates were last sorted out. Of ints the foremost one of a few dozen is compared with the bound, which the
//! compiler makes vector instructions of, and each one only where that is a candidate; floats are compared one by one. Sorting out
//! happens O(log nodes) times when the values are in no order.

use crate::exec::control::tree::{Column, ValueMap};
use crate::exec::select::batches::{Members, NumberSlice};
use crate::exec::select::column_var::ColumnVar;
use crate::exec::select::numbers::rows_of;
use crate::exec::select::rank::{is_far, rank_of, rank_of_int};
use crate::graph::{LangValues, Stretch};
use crate::storage::{NodeSet, Values};
use hexgraph_base::types::{Result, ValueRef, ValueType, ordered_bits};

/// The least number of candidates that are kept.
const ROOM_MIN: usize = 256;

/// The number of values of which the foremost one is compared with the bound.
const GLANCE: usize = 128;

/// Values that are stored, and whose ranks ascend as they do.
trait Ranked: Copy {
    /// The least of some values, or the greatest one; `None` where that takes no less time than to look at each.
    fn foremost(values: &[Self], greatest: bool) -> Option<Self>;
}

macro_rules! ranked_ints {
    ($($int:ty),+) => {
        $(
        impl Ranked for $int {
            #[inline]
            fn foremost(values: &[$int], greatest: bool) -> Option<$int> {
                let values = values.iter().copied();
                Some(match greatest {
                    true => values.fold(<$int>::MIN, <$int>::max),
                    false => values.fold(<$int>::MAX, <$int>::min),
                })
            }
        }
        )+
    };
}

ranked_ints!(i16, i32, i64);

impl Ranked for f64 {
    fn foremost(_: &[f64], _: bool) -> Option<f64> {
        None
    }
}

/// The candidates for the first nodes by rank, or by rank backwards; those with equal ranks by node. Nodes have to come
/// ascending.
struct Top {
    wanted: usize,
    /// All bits where the greatest rank comes first: it turns the order of ranks around.
    turn: u64,
    /// Turned ranks with their nodes.
    candidates: Vec<(u64, u32)>,
    room: usize,
    /// The greatest turned rank of the first nodes as last sorted out. A later node with this rank comes behind them all.
    bound: u64,
    has_bound: bool,
}

impl Top {
    fn new(wanted: usize, descending: bool) -> Top {
        let room = (2 * wanted).max(ROOM_MIN);
        let turn = if descending { u64::MAX } else { 0 };
        let candidates = Vec::with_capacity(room);
        Top { wanted, turn, candidates, room, bound: 0, has_bound: false }
    }

    /// Keeps a node if its rank makes it a candidate, and then if `is_asked` says so.
    #[inline]
    fn offer_if(&mut self, node: u32, rank: u64, is_asked: impl Fn(u32) -> bool) {
        let rank = rank ^ self.turn;
        if (rank < self.bound || !self.has_bound) && is_asked(node) {
            self.keep(node, rank);
        }
    }

    /// Offers the nodes of a batch that have a number, where `is_asked` says so.
    fn offer_batch<S: Ranked>(
        &mut self,
        nodes: &[u32],
        numbers: &[S],
        has: &[bool],
        rank: impl Fn(S) -> u64,
        is_asked: impl Fn(u32) -> bool,
    ) {
        for start in (0..nodes.len()).step_by(GLANCE) {
            let end = nodes.len().min(start + GLANCE);
            // What stands for a number that is missing may be looked at for nothing, and hides none.
            if self.passes_by(&numbers[start..end], &rank) {
                continue;
            }
            for place in start..end {
                self.offer_if(nodes[place], rank(numbers[place]), |node| {
                    has.get(place) != Some(&false) && is_asked(node)
                });
            }
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

    /// The turned rank of the last of the first nodes; `None` when there are fewer than wanted.
    fn last_rank(&mut self) -> Option<u64> {
        if self.candidates.len() < self.wanted {
            return None;
        }
        Some(self.candidates.select_nth_unstable(self.wanted - 1).1.0)
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

/// Returns the first `wanted` of some nodes in the order of their numbers or instants, equal ones by node. `None` where
/// this is not the way: none is wanted, fewer have a value, or the values have no order as 64-bit numbers. O(nodes), when few of
/// them are wanted.
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
    if wanted == 0 {
        return Ok(None);
    }
    let mut top = Top::new(wanted, descending);
    let is_done = scan(part, value_type, nodes, &mut top, check)?;
    Ok(if is_done { top.finish() } else { None })
}

/// Returns the first `wanted` of some nodes in the order of their numbers or instants, together with all whose number equals that of the
/// last of them, ascending by node: with several sort keys, of which this is the first, no other node can be on the page. `None` as
/// [`by_column`]. Two passes over the column.
///
/// # Errors
///
/// Those of `check`, which is called every few thousand nodes.
pub(super) fn leading_by_column(
    part: &LangValues,
    value_type: ValueType,
    nodes: &NodeSet,
    descending: bool,
    wanted: usize,
    check: impl Fn() -> Result<()>,
) -> Result<Option<Vec<u32>>> {
    if wanted == 0 {
        return Ok(None);
    }
    let mut top = Top::new(wanted, descending);
    if !scan(part, value_type, nodes, &mut top, &check)? {
        return Ok(None);
    }
    let Some(bound) = top.last_rank() else { return Ok(None) };
    let mut within = Within { bound, turn: top.turn, nodes: Vec::new() };
    let is_done = scan(part, value_type, nodes, &mut within, check)?;
    Ok(is_done.then_some(within.nodes))
}

/// Offers the numbers or instants of some nodes. `false` where they have no order as 64-bit numbers.
fn scan<T: Taker>(
    part: &LangValues,
    value_type: ValueType,
    nodes: &NodeSet,
    taker: &mut T,
    check: impl Fn() -> Result<()>,
) -> Result<bool> {
    let column = &part.base.column;
    if column.rows.is_some() {
        return Ok(false);
    }
    let mut scan = Scan { part, value_type, taker };
    match (&column.values, value_type) {
        (Values::SmallInt(ints), ValueType::Int) => {
            scan.run(nodes, ints.as_slice(), |int| rank_of_int(i64::from(int)), check)
        }
        (Values::Int(ints), ValueType::Int) => scan.run(nodes, ints.as_slice(), rank_of_int, check),
        (Values::Float(floats), ValueType::Float) => {
            scan.run(nodes, floats.as_slice(), ordered_bits, check)
        }
        (Values::Days(days), ValueType::DateTime) => {
            scan.run(nodes, days.as_slice(), |day| rank_of_seconds(i64::from(day) * 86_400), check)
        }
        (Values::SmallTime(seconds), ValueType::DateTime) => {
            scan.run(nodes, seconds.as_slice(), |second| rank_of_seconds(i64::from(second)), check)
        }
        _ => Ok(false),
    }
}

/// As [`by_column`], by the values of a variable, of those of its nodes that are in the set.
pub(super) fn by_variable(
    map: &ValueMap,
    nodes: &NodeSet,
    descending: bool,
    wanted: usize,
) -> Option<Vec<u32>> {
    if wanted == 0 {
        return None;
    }
    let mut top = Top::new(wanted, descending);
    let is_all = nodes.is_exactly(&map.nodes);
    let is_asked = |node| is_all || nodes.contains(node);
    match &map.values {
        Column::Int(ints) => top.offer_batch(&map.nodes, ints, &[], rank_of_int, is_asked),
        Column::Float(floats) => top.offer_batch(&map.nodes, floats, &[], ordered_bits, is_asked),
        Column::Any(_) => return None,
    }
    top.finish()
}

/// As [`by_variable`], of a variable that nobody has read: one pass over where its numbers come from.
///
/// # Errors
///
/// Those of `check`, which is called every few thousand nodes.
pub(super) fn by_column_var(
    column: &ColumnVar,
    nodes: &NodeSet,
    descending: bool,
    wanted: usize,
    check: impl Fn() -> Result<()>,
) -> Result<Option<Vec<u32>>> {
    if wanted == 0 {
        return Ok(None);
    }
    let mut top = Top::new(wanted, descending);
    let is_all = nodes.is_known_to_equal(&column.subjects());
    let is_asked = |node| is_all || nodes.contains(node);
    column.for_each_batch(check, |nodes, numbers, has| match numbers {
        NumberSlice::Narrow(ints) => {
            top.offer_batch(nodes, ints, has, |int| rank_of_int(int.into()), is_asked);
        }
        NumberSlice::Ints(ints) => top.offer_batch(nodes, ints, has, rank_of_int, is_asked),
        NumberSlice::Floats(floats) => top.offer_batch(nodes, floats, has, ordered_bits, is_asked),
    })?;
    Ok(top.finish())
}

/// The rank of an instant that a column of small instants has.
fn rank_of_seconds(seconds: i64) -> u64 {
    // Such an instant lies between 1879 and 2060, so its nanoseconds fit.
    rank_of_int(seconds * 1_000_000_000)
}

/// What nodes are offered to, with their ranks.
trait Taker {
    fn offer(&mut self, node: u32, rank: u64);

    /// Whether greater ranks come first.
    fn is_turned(&self) -> bool;

    /// Whether a node of this rank would be taken.
    fn takes(&self, rank: u64) -> bool;

    /// Whether none of some values is taken, as far as that is seen at a glance.
    #[inline]
    fn passes_by<S: Ranked>(&self, values: &[S], rank: impl Fn(S) -> u64) -> bool {
        let foremost = S::foremost(values, self.is_turned());
        foremost.is_some_and(|value| !self.takes(rank(value)))
    }
}

impl Taker for Top {
    #[inline]
    fn offer(&mut self, node: u32, rank: u64) {
        self.offer_if(node, rank, |_| true);
    }

    fn is_turned(&self) -> bool {
        self.turn != 0
    }

    fn takes(&self, rank: u64) -> bool {
        rank ^ self.turn < self.bound || !self.has_bound
    }
}

/// The nodes whose turned rank is not greater than a bound.
struct Within {
    bound: u64,
    turn: u64,
    nodes: Vec<u32>,
}

impl Taker for Within {
    #[inline]
    fn offer(&mut self, node: u32, rank: u64) {
        if self.takes(rank) {
            self.nodes.push(node);
        }
    }

    fn is_turned(&self) -> bool {
        self.turn != 0
    }

    #[inline]
    fn takes(&self, rank: u64) -> bool {
        rank ^ self.turn <= self.bound
    }
}

/// One pass over a column.
struct Scan<'a, 't, T> {
    part: &'a LangValues,
    value_type: ValueType,
    taker: &'t mut T,
}

impl<T: Taker> Scan<'_, '_, T> {
    /// Offers all of the nodes. `false` when a changed value has no rank of its own.
    fn run<S: Ranked>(
        &mut self,
        nodes: &NodeSet,
        stored: &[S],
        rank: impl Fn(S) -> u64,
        check: impl Fn() -> Result<()>,
    ) -> Result<bool> {
        let mut is_ranked = true;
        Members::Set(nodes).for_each_batch(|nodes| {
            check()?;
            is_ranked = is_ranked && self.offer_chunk(nodes, stored, &rank);
            Ok(())
        })?;
        Ok(is_ranked)
    }

    /// Offers ascending nodes, from change to change.
    fn offer_chunk<S: Ranked>(
        &mut self,
        nodes: &[u32],
        stored: &[S],
        rank: &impl Fn(S) -> u64,
    ) -> bool {
        let mut is_ranked = true;
        self.part.by_changes(nodes, |stretch| match stretch {
            Stretch::Stored(nodes) => self.offer_stored(nodes, stored, rank),
            Stretch::Changed(node, row) => {
                let Some(row) = row else { return };
                match self.rank_of_changed(row.first()) {
                    Some(rank) => self.taker.offer(node, rank),
                    None => is_ranked = false,
                }
            }
        });
        is_ranked
    }

    fn offer_stored<S: Ranked>(&mut self, nodes: &[u32], stored: &[S], rank: &impl Fn(S) -> u64) {
        let subjects = &self.part.base.column.subjects;
        let taker = &mut *self.taker;
        match subjects.rows_of_run(nodes) {
            Some(rows) => {
                for (nodes, values) in nodes.chunks(GLANCE).zip(stored[rows].chunks(GLANCE)) {
                    if taker.passes_by(values, rank) {
                        continue;
                    }
                    for (&node, &value) in nodes.iter().zip(values) {
                        taker.offer(node, rank(value));
                    }
                }
            }
            None => rows_of(subjects, nodes, |place, row| {
                taker.offer(nodes[place], rank(stored[row]));
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
        rank_of(value).filter(|_| is_plain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_of_many(ranks in prop::collection::vec(0u64..60, 1..2000), wanted in 1usize..20) {
            let mut top = Top::new(wanted, false);
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

        /// Values that are passed by at a glance would not have been taken, whatever their type and the direction.
        #[test]
        fn nothing_is_missed_at_a_glance(
            ints in prop::collection::vec(
                prop_oneof![-40i16..40, Just(i16::MIN), Just(i16::MAX), any::<i16>()], 1..3000
            ),
            wanted in 1usize..20,
            descending in any::<bool>(),
        ) {
            let nodes: Vec<u32> = (0..ints.len() as u32).collect();
            let mut all: Vec<(i32, u32)> = ints
                .iter()
                .zip(&nodes)
                .map(|(int, node)| (if descending { -i32::from(*int) } else { (*int).into() }, *node))
                .collect();
            all.sort_unstable();
            let first: Vec<u32> = all.iter().take(wanted).map(|(_, node)| *node).collect();
            let first = (wanted <= ints.len()).then_some(first);
            let top = || Top { room: 2 * wanted, ..Top::new(wanted, descending) };
            let mut found = Vec::new();
            let mut one = top();
            one.offer_batch(&nodes, &ints, &[], |int| rank_of_int(int.into()), |_| true);
            found.push(one.finish());
            let narrow: Vec<i32> = ints.iter().map(|int| (*int).into()).collect();
            let mut one = top();
            one.offer_batch(&nodes, &narrow, &[], |int| rank_of_int(int.into()), |_| true);
            found.push(one.finish());
            let floats: Vec<f64> = ints.iter().map(|int| (*int).into()).collect();
            let mut one = top();
            one.offer_batch(&nodes, &floats, &[], ordered_bits, |_| true);
            found.push(one.finish());
            prop_assert_eq!(found, vec![first; 3]);
        }
    }
}
