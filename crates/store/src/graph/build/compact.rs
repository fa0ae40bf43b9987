//! Compacts the changes of a predicate into a new base.

use super::parts::{EdgePart, ValuePart};
use super::stored_form::{build_edges, build_values};
use crate::graph::thresholds::Thresholds;
use crate::graph::version::edges::{Direction, EdgeStore};
use crate::graph::version::graph_version::Version;
use crate::graph::version::predicate::{Predicate, PredicateData};
use crate::graph::version::values::LangValues;
use crate::graph::version::weight::of_compaction;
use hexgraph_base::budget::Reservation;
use hexgraph_base::schema::PredicateDef;
pub use hexgraph_base::types::Check;
use hexgraph_base::types::{Result, parallel};
use std::sync::Arc;

/// The predicate with all changes compacted into its bases. Parts without changes are shared.
pub(in crate::graph) fn settle(predicate: &Predicate, thresholds: &Thresholds) -> Predicate {
    settle_due(predicate, thresholds, |changes, _| 0 < changes)
}

/// True if some part of the predicate is due for compaction. Calls `is_due` for each part with the
/// number of its changed rows and of the rows of its base. O(parts).
pub(in crate::graph) fn is_due(
    predicate: &Predicate,
    is_due: impl Fn(usize, usize) -> bool,
) -> bool {
    sizes(predicate).any(|(changes, rows)| is_due(changes, rows))
}

/// The urgency of the most overdue part of the predicate among those that `is_due` selects; `None`
/// if none is due. O(parts).
pub(in crate::graph) fn urgency(
    predicate: &Predicate,
    thresholds: &Thresholds,
    is_due: impl Fn(usize, usize) -> bool,
) -> Option<f64> {
    let due = sizes(predicate).filter(|(changes, rows)| is_due(*changes, *rows));
    due.map(|(changes, rows)| thresholds.urgency(changes, rows)).max_by(f64::total_cmp)
}

/// How many rows of each part of the predicate have changed, and how many are stored.
fn sizes(predicate: &Predicate) -> impl Iterator<Item = (usize, usize)> {
    let (langs, edges) = match &predicate.data {
        PredicateData::Values(langs) => (&langs[..], None),
        PredicateData::Edges(edges) => (&[][..], Some(edges)),
    };
    let directions = edges.into_iter().flat_map(|all| [Some(&all.forward), all.reverse.as_ref()]);
    let directions = directions.flatten().map(Direction::merge_sizes);
    langs.iter().map(LangValues::merge_sizes).chain(directions)
}

/// True if some part of the predicate is due for compaction, or will be once commits pause.
/// O(parts).
pub(in crate::graph) fn is_compaction_due(predicate: &Predicate, thresholds: &Thresholds) -> bool {
    is_due(predicate, |changes, rows| thresholds.is_due_at_rest(changes, rows))
}

/// The memory that [`settle_all`] needs in addition to the version, reserved until dropped.
///
/// # Errors
///
/// [`hexgraph_base::types::Error::Limit`] if that much is not free.
pub fn space_to_settle(version: &Version) -> Result<Reservation> {
    let reservation = version.budget.reservation();
    let bytes = version.predicates.values().map(|it| of_compaction(it, |changes, _| 0 < changes));
    reservation.reserve(bytes.sum::<usize>() as u64)?;
    Ok(reservation)
}

/// The version with all changes of all predicates compacted.
pub fn settle_all(version: &Version) -> Version {
    settle_all_while(version, &|| Ok(())).expect("it is never cancelled")
}

/// As [`settle_all`]. Calls `check` before each predicate to see whether to go on.
///
/// # Errors
///
/// Those of `check`.
pub fn settle_all_while(version: &Version, check: Check<'_>) -> Result<Version> {
    let mut clean = version.clone();
    let unsettled: Vec<_> = version.predicates.iter().filter(|(_, it)| !is_clean(it)).collect();
    let done = parallel::map(&unsettled, |(name, it)| {
        check()?;
        Ok((Arc::clone(name), Arc::new(settle(it, &version.thresholds))))
    });
    clean.replace(done.into_iter().collect::<Result<Vec<_>>>()?);
    Ok(clean)
}

/// True when no part of the predicate has changes.
pub(in crate::graph) fn is_clean(predicate: &Predicate) -> bool {
    match &predicate.data {
        PredicateData::Values(langs) => langs.iter().all(LangValues::is_clean),
        PredicateData::Edges(edges) => {
            edges.forward.is_clean() && edges.reverse.as_ref().is_none_or(Direction::is_clean)
        }
    }
}

/// The predicate with those parts compacted that are due by [`is_due`].
pub(in crate::graph) fn settle_due(
    predicate: &Predicate,
    thresholds: &Thresholds,
    is_due: impl Fn(usize, usize) -> bool + Sync,
) -> Predicate {
    let def = &predicate.def;
    let data = match &predicate.data {
        PredicateData::Values(langs) => {
            let settle = |values: &LangValues| settle_lang(values, def, thresholds, &is_due);
            PredicateData::Values(parallel::map(langs, settle).into_iter().flatten().collect())
        }
        PredicateData::Edges(edges) => PredicateData::Edges(EdgeStore {
            forward: settle_direction(&edges.forward, &is_due),
            reverse: edges.reverse.as_ref().map(|reverse| settle_direction(reverse, &is_due)),
        }),
    };
    Predicate { def: Arc::clone(def), data }
}

/// `None` when no value is left in a language.
fn settle_lang(
    values: &LangValues,
    def: &PredicateDef,
    thresholds: &Thresholds,
    is_due: impl Fn(usize, usize) -> bool,
) -> Option<LangValues> {
    let (changes, rows) = values.merge_sizes();
    if !is_due(changes, rows) {
        return Some(values.clone());
    }
    let part = ValuePart::of(values);
    // The untagged part stays where it is empty, too: each predicate of values has one.
    let retain = !part.nodes.is_empty() || values.lang.is_empty();
    retain.then(|| build_values(def, &values.lang, vec![part], Some(&values.base), thresholds))
}

fn settle_direction(edges: &Direction, is_due: impl Fn(usize, usize) -> bool) -> Direction {
    let (changes, rows) = edges.merge_sizes();
    if !is_due(changes, rows) {
        return edges.clone();
    }
    Direction::new(build_edges(vec![EdgePart::of(edges)], true))
}
