//! The groups of a block as columns: a list of values for each key and for each field of the body,
//! and no object for a group.
//!
//! A hundred thousand groups as objects are three hundred thousand allocations, which are made one
//! by one, sorted, read in the order of the answer, wherever they lie, and freed again. As columns
//! they are a few lists. The keys are read in the order of the groups' first members, which is that
//! of the column they lie in; then the positions of the groups are sorted, and the lists are put in
//! that order.
//!
//! If groups have key values in common, each value is read once, and only the values are compared:
//! a group is sorted by one number, which is made of its number of members and of the ranks of its
//! values.

use crate::exec::columns::rank::rank_of;
use crate::exec::columns::read::typed_or_none;
use crate::exec::control::context::Context;
use crate::exec::control::group_cells::{GroupColumns, KeyCells, ResultCells};
use crate::exec::cost;
use crate::graph::Predicate;
use hexgraph_base::types::{Result, ValueRef};
use std::cmp::Ordering;
use std::mem;
use std::ops::Range;

/// A number that compares as a key does. Truths have no order.
fn rank_of_key(key: ValueRef<'_>) -> u64 {
    match key {
        ValueRef::Bool(_) => 0,
        key => rank_of(key).unwrap_or(0),
    }
}

/// The bits of a number that groups are partitioned by at a time: counters for as many digits fit
/// into the nearest cache.
const DIGIT_BITS: u32 = (cost::CACHE_BYTES / 4 / size_of::<u32>()).ilog2();

/// Fewer numbers are sorted by comparing them.
const DIGITS_MIN: usize = cost::SETUP.per(cost::ROW);

/// The values of a key of groups.
pub(super) struct GroupKey {
    cells: KeyCells,
    /// If groups have values in common: for each group the position of its value among the cells.
    /// Else each group has a cell.
    positions: Option<Vec<u32>>,
    /// Whether the groups are in the order of their values.
    ascends: bool,
}

impl GroupKey {
    /// A value for each group, which `ascends` or not.
    pub(super) fn of_each(cells: KeyCells, ascends: bool) -> GroupKey {
        GroupKey { cells, positions: None, ascends }
    }

    /// Values that are there once each, and the position of its value for each group.
    pub(super) fn shared(cells: KeyCells, positions: Vec<u32>) -> GroupKey {
        GroupKey { cells, positions: Some(positions), ascends: false }
    }

    fn get(&self, group: usize) -> ValueRef<'_> {
        self.cells.get(self.positions.as_ref().map_or(group, |positions| positions[group] as usize))
    }

    /// The cells of some groups.
    fn in_order(&self, order: &[u32]) -> KeyCells {
        match &self.positions {
            Some(positions) => {
                let cells: Vec<u32> =
                    order.iter().map(|group| positions[*group as usize]).collect();
                self.cells.in_order(&cells)
            }
            None => self.cells.in_order(order),
        }
    }

    /// The bytes that the values of all groups take, each group's by itself.
    fn byte_len(&self) -> usize {
        let Some(positions) = &self.positions else { return self.cells.heap_size() };
        let counts = positions.iter().fold(vec![0; self.cells.len()], |mut counts, position| {
            counts[*position as usize] += 1;
            counts
        });
        counts
            .iter()
            .enumerate()
            .map(|(position, count)| count * self.cells.cell_len(position))
            .sum()
    }

    /// For each cell the number of cells that come before it, without those that are equal.
    fn ranks(&self) -> Vec<u32> {
        let compare = |one: &u32, other: &u32| {
            let (one, other) = (self.cells.get(*one as usize), self.cells.get(*other as usize));
            one.compare(other).unwrap_or(Ordering::Equal)
        };
        let mut order: Vec<u32> = (0..self.cells.len() as u32).collect();
        order.sort_by(compare);
        let mut ranks = vec![0; order.len()];
        for (rank, run) in order.chunk_by(|one, other| compare(one, other).is_eq()).enumerate() {
            run.iter().for_each(|cell| ranks[*cell as usize] = rank as u32);
        }
        ranks
    }
}

fn compare_keys(keys: &[GroupKey], one: usize, other: usize) -> Ordering {
    let compare = |key: &GroupKey| key.get(one).compare(key.get(other)).unwrap_or(Ordering::Equal);
    keys.iter().map(compare).fold(Ordering::Equal, Ordering::then)
}

/// The positions of groups in the order of the answer, where all keys have shared values and a
/// number of 64 bits has all that groups are ordered by; or where there is one key whose order they
/// have already.
fn order_by_ranks(counts: &[u32], keys: &[GroupKey], results: &[ResultCells]) -> Option<Vec<u32>> {
    let width = |most: usize| usize::BITS - most.leading_zeros();
    // Groups with equal numbers stay in their order.
    let positions: Vec<&Vec<u32>> = match keys {
        [key] if key.ascends => Vec::new(),
        [] => return None,
        keys => keys.iter().map(|key| key.positions.as_ref()).collect::<Option<_>>()?,
    };
    let mut bits = width(counts.iter().max().map_or(0, |most| *most as usize));
    let mut numbers: Vec<u64> = counts.iter().map(|count| u64::from(*count)).collect();
    if !results.iter().all(ResultCells::are_all) {
        let more = width(results.len());
        bits += more;
        for (position, number) in numbers.iter_mut().enumerate() {
            let has = results.iter().filter(|cells| cells.has(position)).count();
            *number = *number << more | has as u64;
        }
    }
    for (key, positions) in keys.iter().zip(positions) {
        let ranks = key.ranks();
        let more = width(ranks.len());
        bits += more;
        if u64::BITS < bits {
            return None;
        }
        for (number, position) in numbers.iter_mut().zip(positions) {
            *number = *number << more | u64::from(ranks[*position as usize]);
        }
    }
    Some(order_of(&numbers, bits))
}

/// The positions of numbers of so many bits in their order; those of equal numbers ascend.
/// O(numbers · bits).
fn order_of(numbers: &[u64], bits: u32) -> Vec<u32> {
    let mut order: Vec<u32> = (0..numbers.len() as u32).collect();
    if numbers.len() < DIGITS_MIN {
        order.sort_by_key(|position| numbers[*position as usize]);
        return order;
    }
    let mut partitioned = vec![0; order.len()];
    for shift in (0..bits).step_by(DIGIT_BITS as usize) {
        let digit =
            |position: u32| (numbers[position as usize] >> shift) as usize % (1 << DIGIT_BITS);
        let mut slots = [0_u32; 1 << DIGIT_BITS];
        order.iter().for_each(|position| slots[digit(*position)] += 1);
        let mut next = 0;
        for slot in &mut slots {
            next += mem::replace(slot, next);
        }
        for &position in &order {
            let slot = &mut slots[digit(position)];
            partitioned[*slot as usize] = position;
            *slot += 1;
        }
        mem::swap(&mut order, &mut partitioned);
    }
    order
}

/// Groups, each with its position, in the order of their numbers of members, and of their positions
/// where these are equal. O(groups) where none has more members than there are groups, or else
/// O(groups · log groups).
fn by_count(counts: &[u32], ranked: &[(u64, u32)]) -> Vec<(u64, u32)> {
    let most = counts.iter().max().map_or(0, |most| *most as usize);
    if counts.len() < most {
        let mut sorted = ranked.to_vec();
        sorted.sort_by_key(|(_, position)| counts[*position as usize]);
        return sorted;
    }
    let mut ends = vec![0; most + 2];
    counts.iter().for_each(|count| ends[*count as usize + 1] += 1);
    for position in 1..ends.len() {
        ends[position] += ends[position - 1];
    }
    let mut sorted = vec![(0, 0); ranked.len()];
    for &(rank, position) in ranked {
        let slot = &mut ends[counts[position as usize] as usize];
        sorted[*slot] = (rank, position);
        *slot += 1;
    }
    sorted
}

impl Context<'_> {
    /// The groups of a grouping in the order of the answer: small ones first, those with fewer
    /// results first among these, then by their keys, and at last as they appear. `counts` are
    /// their numbers of members.
    ///
    /// # Errors
    ///
    /// Those of [`Context::check`], and a limit on memory.
    pub(super) fn sorted_columns(
        &self,
        counts: &[u32],
        keys: Vec<GroupKey>,
        results: Vec<ResultCells>,
    ) -> Result<GroupColumns> {
        let len = counts.len();
        let _while_sorting = self.control.charge_while(2 * size_of::<(u64, u32)>() * len)?;
        let order = match order_by_ranks(counts, &keys, &results) {
            Some(order) => order,
            None => self.order_by_keys(counts, &keys, &results)?,
        };
        self.check()?;
        let mut in_order = Vec::with_capacity(keys.len());
        for key in &keys {
            self.control.charge(key.byte_len())?;
            let each = if key.cells.are_texts() { cost::CELL } else { cost::GATHER };
            let parts = self.morsels(len, each, |range| Ok(key.in_order(&order[range])))?;
            in_order.extend(parts.into_iter().reduce(|mut all, part| {
                all.append(part);
                all
            }));
        }
        let results = results.iter().map(|cells| cells.in_order(&order)).collect();
        Ok(GroupColumns::new(len, in_order, results))
    }

    /// The positions of groups in the order of the answer, by comparing keys.
    fn order_by_keys(
        &self,
        counts: &[u32],
        keys: &[GroupKey],
        results: &[ResultCells],
    ) -> Result<Vec<u32>> {
        let len = counts.len();
        let are_alike = results.iter().all(ResultCells::are_all);
        // Where not all have the same number of results, that stands before the keys.
        let rank = |position: usize| match (are_alike, keys.first()) {
            (true, Some(key)) => rank_of_key(key.get(position)),
            (true, None) => 0,
            (false, _) => results.iter().filter(|cells| cells.has(position)).count() as u64,
        };
        let ranked = |range: Range<usize>| {
            Ok(range.map(|position| (rank(position), position as u32)).collect::<Vec<_>>())
        };
        let ranked = by_count(counts, &self.lists(len, cost::CELL, ranked)?);
        let ranked = self.sorted_runs(ranked, counts)?;
        let mut order: Vec<u32> = ranked.iter().map(|(_, position)| *position).collect();
        let mut start = 0;
        let is_tie = |one: &(u64, u32), other: &(u64, u32)| {
            one.0 == other.0 && counts[one.1 as usize] == counts[other.1 as usize]
        };
        for run in ranked.chunk_by(is_tie) {
            let positions = &mut order[start..start + run.len()];
            start += run.len();
            if 1 < positions.len() {
                positions.sort_by(|one, other| compare_keys(keys, *one as usize, *other as usize));
            }
        }
        Ok(order)
    }

    /// Sorts the groups of each number of members, which lie contiguously, by their ranks and
    /// positions. Other threads help.
    fn sorted_runs(&self, ranked: Vec<(u64, u32)>, counts: &[u32]) -> Result<Vec<(u64, u32)>> {
        let count = |(_, position): &(u64, u32)| counts[*position as usize];
        let runs: Vec<&[(u64, u32)]> =
            ranked.chunk_by(|one, other| count(one) == count(other)).collect();
        let longest = runs.iter().map(|run| run.len()).max().unwrap_or(0);
        if ranked.len() < 2 * longest {
            // Nearly all have as many members.
            let full = |it: &(u64, u32)| {
                u128::from(count(it)) << 96 | u128::from(it.0) << 32 | u128::from(it.1)
            };
            return self.sorted_by(ranked, cost::ENTRY, |one, other| full(one).cmp(&full(other)));
        }
        let each = ranked.len() / runs.len().max(1);
        let each = cost::ENTRY.times(each * (each.max(1).ilog2() as usize + 1));
        self.lists(runs.len(), each, |range| {
            let mut sorted =
                Vec::with_capacity(runs[range.clone()].iter().map(|run| run.len()).sum());
            for run in &runs[range] {
                let start = sorted.len();
                sorted.extend_from_slice(run);
                sorted[start..].sort_unstable();
            }
            Ok(sorted)
        })
    }

    /// A key of some groups, read from the first member of each; `None` where one has no value,
    /// which no member of a group lacks.
    pub(super) fn key_cells(
        &self,
        firsts: &[u32],
        predicate: &Predicate,
    ) -> Result<Option<KeyCells>> {
        let parts = self.morsels(firsts.len(), cost::CELL, |range| {
            self.check()?;
            let mut cells: Option<KeyCells> = None;
            for &member in &firsts[range] {
                // The value of the first member represents all spellings of a time or a zero.
                let value = predicate.first_in(&[], member);
                let value = value.and_then(|value| typed_or_none(value, predicate.def.value_type));
                if let Some(value) = value {
                    let value = value.as_ref();
                    cells.get_or_insert_with(|| KeyCells::new(value)).push(value);
                }
            }
            if let Some(cells) = &cells {
                self.control.charge(cells.heap_size())?;
            }
            Ok(cells)
        })?;
        let mut parts = parts.into_iter().flatten();
        let Some(mut all) = parts.next() else { return Ok(None) };
        parts.for_each(|part| all.append(part));
        Ok((all.len() == firsts.len()).then_some(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    /// Numbers that are partitioned digit by digit come in the order in which a sort puts them,
    /// equal ones by position.
    #[test]
    fn digits_are_the_order() {
        let mut rng = Rng::with_seed(3);
        for count in [0, 1, DIGITS_MIN - 1, DIGITS_MIN, 5000] {
            for bits in [1, 10, 11, 12, 40, 64] {
                let numbers: Vec<u64> = (0..count).map(|_| rng.u64(..) >> (64 - bits)).collect();
                let mut expected: Vec<u32> = (0..count as u32).collect();
                expected.sort_by_key(|position| numbers[*position as usize]);
                assert_eq!(order_of(&numbers, bits), expected, "{count} numbers of {bits} bits");
            }
        }
    }
}
