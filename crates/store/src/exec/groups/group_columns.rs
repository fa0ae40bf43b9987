//! The groups of a block as columns: a list of values for each key and for each field of the body, and no object for a group.
//!
//! A hundred thousand groups as objects are three hundred thousand allocations, which are made one by one, sorted, read in the order of
//! the answer, wherever they lie, and freed again. As columns they are a few lists. The keys are read in the order of the groups'
//! first members, which is that of the column they lie in; then the places of the groups are sorted, and the lists are put in that order.

use crate::exec::control::context::Context;
use crate::exec::control::group_cells::{GroupColumns, KeyCells, ResultCells};
use crate::exec::select::rank::rank_of;
use crate::exec::select::read::typed_or_none;
use crate::graph::Predicate;
use hexgraph_base::types::{Result, ValueRef};
use std::cmp::Ordering;
use std::ops::Range;

/// The nanoseconds that it takes to read a cell of a group, and to compare two groups, about.
const CELL_NANOS: usize = 40;
const COMPARE_NANOS: usize = 5;

/// A number that compares as a key does. Truths have no order.
fn rank_of_key(key: ValueRef<'_>) -> u64 {
    match key {
        ValueRef::Bool(_) => 0,
        key => rank_of(key).unwrap_or(0),
    }
}

fn compare_keys(keys: &[KeyCells], one: usize, other: usize) -> Ordering {
    let compare =
        |cells: &KeyCells| cells.get(one).compare(cells.get(other)).unwrap_or(Ordering::Equal);
    keys.iter().map(compare).fold(Ordering::Equal, Ordering::then)
}

/// Groups, each with its place, in the order of their numbers of members, and of their places where these are equal. O(groups) where none has
/// more members than there are groups, or else O(groups · log groups).
fn by_count(counts: &[u32], ranked: &[(u64, u32)]) -> Vec<(u64, u32)> {
    let most = counts.iter().max().map_or(0, |most| *most as usize);
    if counts.len() < most {
        let mut sorted = ranked.to_vec();
        sorted.sort_by_key(|(_, place)| counts[*place as usize]);
        return sorted;
    }
    let mut ends = vec![0; most + 2];
    counts.iter().for_each(|count| ends[*count as usize + 1] += 1);
    for place in 1..ends.len() {
        ends[place] += ends[place - 1];
    }
    let mut sorted = vec![(0, 0); ranked.len()];
    for &(rank, place) in ranked {
        let slot = &mut ends[counts[place as usize] as usize];
        sorted[*slot] = (rank, place);
        *slot += 1;
    }
    sorted
}

impl Context<'_> {
    /// The groups of a grouping in the order of the answer: small ones first, those with fewer results first among these, then by their
    /// keys, and at last as they appear. `counts` are their numbers of members.
    ///
    /// # Errors
    ///
    /// Those of [`Context::check`], and a limit on memory.
    pub(super) fn sorted_columns(
        &self,
        counts: &[u32],
        keys: Vec<KeyCells>,
        results: Vec<ResultCells>,
    ) -> Result<GroupColumns> {
        let len = counts.len();
        let _while_sorting = self.control.charge_while(2 * size_of::<(u64, u32)>() * len)?;
        let are_alike = results.iter().all(ResultCells::are_all);
        // Where not all have the same number of results, that stands before the keys.
        let rank = |place: usize| match (are_alike, keys.first()) {
            (true, Some(cells)) => rank_of_key(cells.get(place)),
            (true, None) => 0,
            (false, _) => results.iter().filter(|cells| cells.has(place)).count() as u64,
        };
        let ranked = |range: Range<usize>| {
            Ok(range.map(|place| (rank(place), place as u32)).collect::<Vec<_>>())
        };
        let ranked = by_count(counts, &self.lists(len, CELL_NANOS, ranked)?);
        let ranked = self.sorted_runs(ranked, counts)?;
        let mut order: Vec<u32> = ranked.iter().map(|(_, place)| *place).collect();
        let mut start = 0;
        let is_tie = |one: &(u64, u32), other: &(u64, u32)| {
            one.0 == other.0 && counts[one.1 as usize] == counts[other.1 as usize]
        };
        for run in ranked.chunk_by(is_tie) {
            let places = &mut order[start..start + run.len()];
            start += run.len();
            if 1 < places.len() {
                places.sort_by(|one, other| compare_keys(&keys, *one as usize, *other as usize));
            }
        }
        self.check()?;
        let mut in_order = Vec::with_capacity(keys.len());
        for cells in &keys {
            let parts = self.morsels(len, CELL_NANOS, |range| Ok(cells.in_order(&order[range])))?;
            in_order.extend(parts.into_iter().reduce(|mut all, part| {
                all.append(part);
                all
            }));
        }
        let results = results.iter().map(|cells| cells.in_order(&order)).collect();
        Ok(GroupColumns::new(len, in_order, results))
    }

    /// Sorts the groups of each number of members, which lie behind one another, by their ranks and places. Other threads help.
    fn sorted_runs(&self, ranked: Vec<(u64, u32)>, counts: &[u32]) -> Result<Vec<(u64, u32)>> {
        let count = |(_, place): &(u64, u32)| counts[*place as usize];
        let runs: Vec<&[(u64, u32)]> =
            ranked.chunk_by(|one, other| count(one) == count(other)).collect();
        let longest = runs.iter().map(|run| run.len()).max().unwrap_or(0);
        if ranked.len() < 2 * longest {
            // Nearly all have as many members.
            let whole = |it: &(u64, u32)| {
                u128::from(count(it)) << 96 | u128::from(it.0) << 32 | u128::from(it.1)
            };
            return self
                .sorted_by(ranked, COMPARE_NANOS, |one, other| whole(one).cmp(&whole(other)));
        }
        let each = ranked.len() / runs.len().max(1);
        let nanos = each * COMPARE_NANOS * (each.max(1).ilog2() as usize + 1);
        self.lists(runs.len(), nanos, |range| {
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

    /// A key of some groups, read from the first member of each; `None` where one has no value, which no member of a group lacks.
    pub(super) fn key_cells(
        &self,
        firsts: &[u32],
        predicate: &Predicate,
    ) -> Result<Option<KeyCells>> {
        let parts = self.morsels(firsts.len(), CELL_NANOS, |range| {
            self.check()?;
            let mut cells: Option<KeyCells> = None;
            for &member in &firsts[range] {
                // The value of the first member stands for all ways of writing a time or a zero.
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
