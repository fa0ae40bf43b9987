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
        let _while_sorting = self.control.charge_while(size_of::<u128>() * len)?;
        let are_alike = results.iter().all(ResultCells::are_all);
        // Where not all have the same number of results, that stands before the keys.
        let rank = |place: usize| match (are_alike, keys.first()) {
            (true, Some(cells)) => rank_of_key(cells.get(place)),
            (true, None) => 0,
            (false, _) => results.iter().filter(|cells| cells.has(place)).count() as u64,
        };
        let packed = |place: usize| {
            u128::from(counts[place]) << 96 | u128::from(rank(place)) << 32 | place as u128
        };
        let packed = self.lists(len, CELL_NANOS, |range| Ok(range.map(packed).collect()))?;
        let packed = self.sorted_by(packed, COMPARE_NANOS, u128::cmp)?;
        let mut order: Vec<u32> = packed.iter().map(|packed| *packed as u32).collect();
        let mut start = 0;
        for run in packed.chunk_by(|one, other| one >> 32 == other >> 32) {
            let places = &mut order[start..start + run.len()];
            start += run.len();
            if 1 < places.len() {
                places.sort_by(|one, other| compare_keys(&keys, *one as usize, *other as usize));
            }
        }
        self.check()?;
        let keys = keys.iter().map(|cells| cells.in_order(&order)).collect();
        let results = results.iter().map(|cells| cells.in_order(&order)).collect();
        Ok(GroupColumns::new(len, keys, results))
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
