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
        let data = match (&self.seen.data, &self.folded.data, &now.data) {
            (
                PredicateData::Values(seen),
                PredicateData::Values(folded),
                PredicateData::Values(now),
            ) => {
                let value_type = self.seen.def.value_type;
                PredicateData::Values(rebased_langs(seen, folded, now, value_type, &mut count)?)
            }
            (
                PredicateData::Edges(seen),
                PredicateData::Edges(folded),
                PredicateData::Edges(now),
            ) => {
                let PredicateData::Edges(origin) = &self.origin.data else { return None };
                let mut rebased = |reverse| {
                    let origin = origin.direction(reverse)?;
                    let (seen, folded) = (seen.direction(reverse)?, folded.direction(reverse)?);
                    rebased_edges(origin, seen, folded, now.direction(reverse)?, &mut count)
                };
                let forward = rebased(false)?;
                let reverse = match now.reverse {
                    Some(_) => Some(rebased(true)?),
                    None => None,
                };
                PredicateData::Edges(EdgeStore { forward, reverse })
            }
            _ => return None,
        };
        let def = Arc::clone(&now.def);
        self.seen = Arc::clone(now);
        self.folded = Arc::new(Predicate { def, data });
        Some(count)
    }

    /// The predicate that was caught up with last, folded.
    pub(in crate::graph) fn into_folded(self) -> Arc<Predicate> {
        self.folded
    }
}

fn rebased_langs(
    seen: &[LangValues],
    folded: &[LangValues],
    now: &[LangValues],
    value_type: ValueType,
    count: &mut usize,
) -> Option<Vec<LangValues>> {
    let of_lang = |langs: &'_ [LangValues], lang: &str| {
        langs.binary_search_by(|other| (*other.lang).cmp(lang)).ok()
    };
    let mut rebased = Vec::with_capacity(now.len());
    for now in now {
        let Some(seen) = of_lang(seen, &now.lang).map(|place| &seen[place]) else {
            // Nobody had values in this language when the fold began.
            rebased.push(now.clone());
            continue;
        };
        if !Arc::ptr_eq(&seen.base, &now.base) {
            return None;
        }
        match of_lang(folded, &now.lang).map(|place| &folded[place]) {
            Some(folded) => rebased.push(rebased_values(seen, folded, now, value_type, count)),
            // The fold left nothing of the language, and so it stays unless there are values again.
            None if seen.delta.rows.ptr_eq(&now.delta.rows) => {}
            None => rebased.push(now.clone()),
        }
    }
    Some(rebased)
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
    for item in seen.delta.rows.diff(&now.delta.rows) {
        let (node, row) = match item {
            DiffItem::Add(node, row) | DiffItem::Update { new: (node, row), .. } => (node, row),
            DiffItem::Remove(..) => {
                unreachable!("a row that changed stays until its base is replaced")
            }
        };
        *count += 1;
        rebased.set_row(*node, row.as_deref().cloned(), value_type);
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
    for item in seen.delta.rows.diff(&now.delta.rows) {
        let (node, row) = match item {
            DiffItem::Add(node, row) | DiffItem::Update { new: (node, row), .. } => (node, row),
            DiffItem::Remove(..) => {
                unreachable!("a row that changed stays until its base is replaced")
            }
        };
        *count += 1;
        // The new base has what had changed when the fold began, so only the rest is a change of it.
        let row = match origin.delta.rows.get(node) {
            Some(folded) => row.since(folded),
            None => Arc::clone(row),
        };
        rebased.put_row(*node, row);
    }
    rebased.delta.has_facets |= now.delta.has_facets;
    Some(rebased)
}
