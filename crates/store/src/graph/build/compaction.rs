//! Rebuilds a predicate concurrently with writers: compacts its changes into a new base, or gives
//! it another definition.
//!
//! This costs O(predicate), so no writer waits for it. It starts from a published version, `seen`,
//! while commits go on. What they change until `now` is then applied to the new base:
//!
//! ```text
//!            seen = base + changes                compacted = new base
//!   commits: seen ---------------------> now      compacted + (now - seen) = rebased
//! ```
//!
//! The difference of two versions is computed from the parts of their persistent maps that they do
//! not share: O(changes between them · log), not O(changes). If more happened between the two (an
//! `alter`, a drop, a load, another compaction), the base of `now` is not that of `seen`, and the
//! compaction is discarded.
//!
//! Under another definition changed rows get its tokens, and a geo index refuses values that it
//! cannot index. If the definition adds reverse edges, they follow the differences of the forward
//! ones.

use super::compact::settle_due;
use super::stored_form::build_values;
use crate::graph::thresholds::Thresholds;
use crate::graph::version::delta::{EdgeRow, FacetList, Row};
use crate::graph::version::edges::{Direction, EdgeStore};
use crate::graph::version::predicate::{Predicate, PredicateData};
use crate::graph::version::values::LangValues;
use crate::index::{IndexKind, check_geometry, index_kinds};
use hexgraph_base::schema::PredicateDef;
use hexgraph_base::types::{Error, Result};
use imbl::OrdMap;
use imbl::ordmap::DiffItem;
use std::sync::Arc;

/// A rebuilt predicate that catches up with the commits to the old one.
pub(in crate::graph) struct Compaction {
    /// The predicate that is compacted.
    origin: Arc<Predicate>,
    /// The one that `compacted` has caught up with.
    seen: Arc<Predicate>,
    compacted: Arc<Predicate>,
}

impl Compaction {
    /// Compacts those parts of a predicate whose changes are due. O(predicate).
    pub(in crate::graph) fn of(
        seen: &Arc<Predicate>,
        thresholds: &Thresholds,
        is_due: impl Fn(usize, usize) -> bool + Sync,
    ) -> Compaction {
        let compacted = Arc::new(settle_due(seen, thresholds, is_due));
        Compaction { origin: Arc::clone(seen), seen: Arc::clone(seen), compacted }
    }

    /// Catches up with the commits to `seen` in a predicate that was built from it under another
    /// definition.
    pub(in crate::graph) fn redefined(seen: &Arc<Predicate>, built: Arc<Predicate>) -> Compaction {
        Compaction { origin: Arc::clone(seen), seen: Arc::clone(seen), compacted: built }
    }

    /// Applies what changed until `now`. Returns the number of rows, or `None` if the compaction is
    /// useless because `now` differs from the original predicate by more than changes.
    ///
    /// # Errors
    ///
    /// [`Error::Schema`] for a value that an index of the new definition cannot index.
    pub(in crate::graph) fn catch_up(
        &mut self,
        now: &Arc<Predicate>,
        thresholds: &Thresholds,
    ) -> Result<Option<usize>> {
        if Arc::ptr_eq(&self.seen, now) {
            return Ok(Some(0));
        }
        // By address: commits share the definition, and an `alter` makes a new one.
        if !Arc::ptr_eq(&self.seen.def, &now.def) {
            return Ok(None);
        }
        let mut count = 0;
        let data = match &now.data {
            PredicateData::Values(langs) => {
                self.rebased_langs(langs, thresholds, &mut count)?.map(PredicateData::Values)
            }
            PredicateData::Edges(edges) => {
                self.rebased_store(edges, &mut count).map(PredicateData::Edges)
            }
        };
        let Some(data) = data else { return Ok(None) };
        let def = Arc::clone(&self.compacted.def);
        self.seen = Arc::clone(now);
        self.compacted = Arc::new(Predicate { def, data });
        Ok(Some(count))
    }

    fn rebased_langs(
        &self,
        now: &[LangValues],
        thresholds: &Thresholds,
        count: &mut usize,
    ) -> Result<Option<Vec<LangValues>>> {
        let (old, new) = (&self.seen.def, &self.compacted.def);
        if self.compacted.is_edges() {
            return Ok(None);
        }
        let mut rebased = Vec::with_capacity(now.len());
        for now in now {
            let (seen, compacted) = (self.seen.values(&now.lang), self.compacted.values(&now.lang));
            if seen.is_some_and(|seen| !Arc::ptr_eq(&seen.base, &now.base)) {
                return Ok(None);
            }
            let unchanged = seen.is_some_and(|seen| seen.delta.rows.ptr_eq(&now.delta.rows));
            match (seen, compacted) {
                // A part that was not built anew has the same base as before.
                (Some(seen), Some(compacted)) if Arc::ptr_eq(&seen.base, &compacted.base) => {
                    rebased.push(now.clone());
                }
                (Some(seen), Some(compacted)) => {
                    let mut rebased_lang = compacted.clone();
                    let rows = changed_rows(&seen.delta.rows, &now.delta.rows);
                    *count += set_rows(&mut rebased_lang, rows, (old, new))?;
                    rebased.push(rebased_lang);
                }
                // Nothing was left of the language, and so it stays unless there are values again.
                (Some(_), None) if unchanged => {}
                // Nobody had values in this language when it was last looked at.
                _ if Arc::ptr_eq(old, new) => rebased.push(now.clone()),
                _ if seen.is_some() || now.base.column.subjects.is_empty() => {
                    let mut fresh = build_values(new, &now.lang, Vec::new(), None, thresholds);
                    let rows = now.delta.rows.iter().filter(|(_, row)| row.is_some());
                    *count +=
                        set_rows(&mut fresh, rows.map(|(node, row)| (*node, row)), (old, new))?;
                    rebased.push(fresh);
                }
                // So many at once that they became a base of their own.
                _ => return Ok(None),
            }
        }
        Ok(Some(rebased))
    }

    fn rebased_store(&self, now: &EdgeStore, count: &mut usize) -> Option<EdgeStore> {
        let mut rebased = |reverse| {
            let (origin, seen) = (self.origin.direction(reverse)?, self.seen.direction(reverse)?);
            let (compacted, now) = (self.compacted.direction(reverse)?, now.direction(reverse)?);
            rebased_edges(origin, seen, compacted, now, count)
        };
        let forward = rebased(false)?;
        let reverse = match (self.compacted.direction(true), &now.reverse) {
            (None, _) => None,
            (Some(_), Some(_)) => Some(rebased(true)?),
            (Some(compacted), None) => {
                let seen = self.seen.direction(false)?;
                Some(reversed(compacted, seen, &now.forward))
            }
        };
        Some(EdgeStore { forward, reverse })
    }

    /// The compacted form of the predicate that was caught up with last.
    pub(in crate::graph) fn compacted(&self) -> Arc<Predicate> {
        Arc::clone(&self.compacted)
    }
}

/// Sets rows that changed under the old definition. Returns how many those are.
fn set_rows<'a>(
    values: &mut LangValues,
    rows: impl Iterator<Item = (u32, &'a Option<Row>)>,
    (old, new): (&PredicateDef, &PredicateDef),
) -> Result<usize> {
    let has_geo = |def: &PredicateDef| index_kinds(def).contains(&IndexKind::Geo);
    let is_new_geo = has_geo(new) && !has_geo(old);
    let mut count = 0;
    for (node, row) in rows {
        if is_new_geo {
            let mut refused =
                row.iter().flat_map(Row::iter).map(|value| check_geometry(value, new));
            refused.try_for_each(|checked| checked).map_err(Error::schema)?;
        }
        values.set_row(node, row.clone(), new.value_type);
        count += 1;
    }
    Ok(count)
}

/// New reverse edges, with the differences between two versions of the forward ones. O(edges that
/// differ), and for a node that lost all, O(edges that it had).
fn reversed(compacted: &Direction, seen: &Direction, now: &Direction) -> Direction {
    let mut reverse = compacted.clone();
    let untouched = EdgeRow::default();
    for (node, row) in changed_rows(&seen.delta.rows, &now.delta.rows) {
        let before = seen.delta.rows.get(&node).map_or(&untouched, |row| row);
        if row.cleared && !before.cleared {
            let targets = now.target_set(node);
            for target in seen.target_set(node).iter().filter(|target| !targets.contains(*target)) {
                reverse.remove(target, node);
            }
            for target in targets.iter().filter(|target| !seen.contains(node, *target)) {
                reverse.add(target, node, FacetList::new());
            }
            continue;
        }
        let difference = row.since(before);
        difference.lost.iter().for_each(|target| reverse.remove(target, node));
        for target in difference.gained.iter() {
            reverse.add(target, node, FacetList::new());
        }
    }
    reverse
}

fn rebased_edges(
    origin: &Direction,
    seen: &Direction,
    compacted: &Direction,
    now: &Direction,
    count: &mut usize,
) -> Option<Direction> {
    if !Arc::ptr_eq(&seen.base, &now.base) {
        return None;
    }
    if Arc::ptr_eq(&seen.base, &compacted.base) {
        return Some(now.clone());
    }
    let mut rebased = compacted.clone();
    for (node, row) in changed_rows(&seen.delta.rows, &now.delta.rows) {
        *count += 1;
        // The new base has the changes from before the compaction, so only the rest is a change of
        // it.
        let row = match origin.delta.rows.get(&node) {
            Some(compacted) => row.since(compacted),
            None => Arc::clone(row),
        };
        rebased.put_row(node, row);
    }
    // Perhaps too much, as for an edge that is gone again: both only say that there may be some.
    rebased.delta.has_facets |= now.delta.has_facets;
    rebased.delta.has_negative |= now.delta.has_negative;
    Some(rebased)
}

/// The rows that are new or different, ascending. O(those rows · log), by the parts that two
/// versions do not share.
fn changed_rows<'a, R: PartialEq>(
    before: &'a OrdMap<u32, R>,
    now: &'a OrdMap<u32, R>,
) -> impl Iterator<Item = (u32, &'a R)> {
    before.diff(now).map(|item| match item {
        DiffItem::Add(node, row) | DiffItem::Update { new: (node, row), .. } => (*node, row),
        DiffItem::Remove(..) => unreachable!("a row that changed stays until its base is replaced"),
    })
}
