//! Folds the changes of a predicate into a new base beside the writers.
//!
//! A fold takes as long as its predicate is large, so no writer waits for it. It is made of a version that was published, `seen`,
//! while commits go on. What they have changed until `now` is then put on top of the new base:
//!
//! ```text
//!            seen = base + changes                folded = new base
//!   commits: seen ---------------------> now      folded + (now - seen) = rebased
//! ```
//!
//! The difference of two versions is found by the parts of their persistent maps that they do not share, so that costs
//! O(changes between them · log), not O(changes). Where more than changes happened between the two (the schema was altered,
//! data were dropped or loaded, another fold came first) the base of `now` is not that of `seen`, and the fold is thrown away.

use super::compact::settle_due;
use crate::graph::thresholds::Thresholds;
use crate::graph::version::edges::{Direction, EdgeStore};
use crate::graph::version::predicate::{Predicate, PredicateData};
use crate::graph::version::values::LangValues;
use hexgraph_base::types::ValueType;
use imbl::OrdMap;
use imbl::ordmap::DiffItem;
use std::sync::Arc;

/// A fold of a predicate that keeps up with its commits.
pub(in crate::graph) struct Fold {
    /// The predicate that was folded.
    origin: Arc<Predicate>,
    /// The one that `folded` has caught up with.
    seen: Arc<Predicate>,
    folded: Arc<Predicate>,
}

impl Fold {
    /// Folds those parts of a predicate whose changes are due. Takes O(predicate).
    pub(in crate::graph) fn of(
        seen: &Arc<Predicate>,
        thresholds: &Thresholds,
        is_due: impl Fn(usize, usize) -> bool + Sync,
    ) -> Fold {
        let folded = Arc::new(settle_due(seen, thresholds, is_due));
        Fold { origin: Arc::clone(seen), seen: Arc::clone(seen), folded }
    }

    /// Takes over what changed until `now`. Returns how many rows that were, or `None` when the fold has become useless because
    /// `now` is not made of the predicate that was folded by changes alone.
    pub(in crate::graph) fn catch_up(&mut self, now: &Arc<Predicate>) -> Option<usize> {
        if Arc::ptr_eq(&self.seen, now) {
            return Some(0);
        }
        if !Arc::ptr_eq(&self.seen.def, &now.def) {
            return None;
        }
        let mut count = 0;
        let data = match &now.data {
            PredicateData::Values(langs) => {
                PredicateData::Values(self.rebased_langs(langs, &mut count)?)
            }
            PredicateData::Edges(edges) => {
                let mut rebased = |reverse| {
                    let (origin, seen) =
                        (self.origin.direction(reverse)?, self.seen.direction(reverse)?);
                    let (folded, now) =
                        (self.folded.direction(reverse)?, edges.direction(reverse)?);
                    rebased_edges(origin, seen, folded, now, &mut count)
                };
                let forward = rebased(false)?;
                let reverse = match edges.reverse {
                    Some(_) => Some(rebased(true)?),
                    None => None,
                };
                PredicateData::Edges(EdgeStore { forward, reverse })
            }
        };
        let def = Arc::clone(&now.def);
        self.seen = Arc::clone(now);
        self.folded = Arc::new(Predicate { def, data });
        Some(count)
    }

    fn rebased_langs(&self, now: &[LangValues], count: &mut usize) -> Option<Vec<LangValues>> {
        let value_type = self.seen.def.value_type;
        let mut rebased = Vec::with_capacity(now.len());
        for now in now {
            let Some(seen) = self.seen.values(&now.lang) else {
                // Nobody had values in this language when it was last looked at.
                rebased.push(now.clone());
                continue;
            };
            if !Arc::ptr_eq(&seen.base, &now.base) {
                return None;
            }
            match self.folded.values(&now.lang) {
                Some(folded) => rebased.push(rebased_values(seen, folded, now, value_type, count)),
                // The fold left nothing of the language, and so it stays unless there are values again.
                None if seen.delta.rows.ptr_eq(&now.delta.rows) => {}
                None => rebased.push(now.clone()),
            }
        }
        Some(rebased)
    }

    /// The predicate that was caught up with last, folded.
    pub(in crate::graph) fn into_folded(self) -> Arc<Predicate> {
        self.folded
    }
}

fn rebased_values(
    seen: &LangValues,
    folded: &LangValues,
    now: &LangValues,
    value_type: ValueType,
    count: &mut usize,
) -> LangValues {
    // A part that was not due has the same base as before.
    if Arc::ptr_eq(&seen.base, &folded.base) {
        return now.clone();
    }
    let mut rebased = folded.clone();
    for (node, row) in changed_rows(&seen.delta.rows, &now.delta.rows) {
        *count += 1;
        rebased.set_row(node, row.clone(), value_type);
    }
    rebased
}

fn rebased_edges(
    origin: &Direction,
    seen: &Direction,
    folded: &Direction,
    now: &Direction,
    count: &mut usize,
) -> Option<Direction> {
    if !Arc::ptr_eq(&seen.base, &now.base) {
        return None;
    }
    if Arc::ptr_eq(&seen.base, &folded.base) {
        return Some(now.clone());
    }
    let mut rebased = folded.clone();
    for (node, row) in changed_rows(&seen.delta.rows, &now.delta.rows) {
        *count += 1;
        // The new base has what had changed when the fold began, so only the rest is a change of it.
        let row = match origin.delta.rows.get(&node) {
            Some(folded) => row.since(folded),
            None => Arc::clone(row),
        };
        rebased.put_row(node, row);
    }
    rebased.delta.has_facets |= now.delta.has_facets;
    rebased.delta.has_negative |= now.delta.has_negative;
    Some(rebased)
}

/// The rows that are new or others than before, ascending. O(those rows · log), by the parts that two versions do not share.
fn changed_rows<'a, R: PartialEq>(
    before: &'a OrdMap<u32, R>,
    now: &'a OrdMap<u32, R>,
) -> impl Iterator<Item = (u32, &'a R)> {
    before.diff(now).map(|item| match item {
        DiffItem::Add(node, row) | DiffItem::Update { new: (node, row), .. } => (*node, row),
        DiffItem::Remove(..) => unreachable!("a row that changed stays until its base is replaced"),
    })
}
