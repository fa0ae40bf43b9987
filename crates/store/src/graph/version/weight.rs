//! About the bytes of a predicate in memory when it is replaced, compacted or rebuilt. Estimates
//! from the layouts, rounded up.

use super::edges::Direction;
use super::predicate::{Predicate, PredicateData};
use super::values::LangValues;
use hexgraph_base::schema::{PredicateDef, Tokenizer};
use std::sync::Arc;

/// An entry of a persistent map, with its part of the path that is copied.
pub(in crate::graph) const ENTRY: usize = 250;

/// The memory of a predicate that its replacement does not share: entire bases, and their changes.
/// Mapped files do not count.
pub(in crate::graph) fn of_replaced(old: &Predicate, new: Option<&Predicate>) -> usize {
    match (&old.data, new.map(|new| &new.data)) {
        (PredicateData::Values(old), Some(PredicateData::Values(new))) => {
            let retained = |values: &LangValues| {
                new.iter().any(|other| Arc::ptr_eq(&other.base, &values.base))
            };
            old.iter().filter(|values| !retained(values)).map(of_values).sum()
        }
        (PredicateData::Values(old), _) => old.iter().map(of_values).sum(),
        (PredicateData::Edges(old), new) => {
            let new = match new {
                Some(PredicateData::Edges(new)) => Some(new),
                _ => None,
            };
            let is_retained = |edges: &Direction, other: Option<&Direction>| {
                other.is_some_and(|other| Arc::ptr_eq(&other.base, &edges.base))
            };
            let forward = match is_retained(&old.forward, new.map(|new| &new.forward)) {
                true => 0,
                false => of_direction(&old.forward),
            };
            let reverse = old
                .reverse
                .as_ref()
                .filter(|reverse| !is_retained(reverse, new.and_then(|new| new.reverse.as_ref())));
            forward + reverse.map_or(0, of_direction)
        }
    }
}

/// The bytes needed to compact those parts of a predicate for which `is_due` is true, by the
/// numbers of their changed and stored rows: the new parts, and their inputs.
pub(in crate::graph) fn of_compaction(
    predicate: &Predicate,
    is_due: impl Fn(usize, usize) -> bool,
) -> usize {
    /// What a changed row takes in a column and its indexes.
    const COMPACTED_ROW: usize = 32;
    let part = |built: usize, changes: usize| 2 * (built + COMPACTED_ROW * changes);
    let lang = |values: &LangValues| {
        let (changes, rows) = values.merge_sizes();
        let len = values.delta.rows.len();
        if is_due(changes, rows) { part(built_values(values), len) } else { 0 }
    };
    let direction = |edges: &Direction| {
        let (changes, rows) = edges.merge_sizes();
        if is_due(changes, rows) { part(edges.base.byte_len(), changes) } else { 0 }
    };
    match &predicate.data {
        PredicateData::Values(langs) => langs.iter().map(lang).sum(),
        PredicateData::Edges(all) => {
            direction(&all.forward) + all.reverse.as_ref().map_or(0, direction)
        }
    }
}

/// The bytes needed to rebuild a predicate under another definition: for each new index at most as
/// much as for the values.
pub(in crate::graph) fn of_rebuild(stored: &Predicate, new: &PredicateDef) -> usize {
    let is_new = |index: &&Tokenizer| !stored.def.indexes.contains(*index);
    let built = new.indexes.iter().filter(is_new).count();
    let built = built + usize::from(new.reverse && !stored.def.reverse);
    let changes = stored.def.value_type != new.value_type || stored.def.list != new.list;
    (built + usize::from(changes)) * 2 * of_all(stored)
}

/// The bytes of a predicate, wherever it lies.
fn of_all(predicate: &Predicate) -> usize {
    let values = |values: &LangValues| built_values(values) + ENTRY * values.delta.rows.len();
    let edges = |edges: &Direction| edges.base.byte_len() + ENTRY * edges.delta.rows.len();
    match &predicate.data {
        PredicateData::Values(langs) => langs.iter().map(values).sum(),
        PredicateData::Edges(all) => edges(&all.forward) + all.reverse.as_ref().map_or(0, edges),
    }
}

fn built_values(values: &LangValues) -> usize {
    let base = &values.base;
    let indexes: usize = base.indexes.iter().map(|(_, index)| index.byte_len()).sum();
    let vectors = base.vectors.as_ref().map_or(0, |vectors| vectors.byte_len());
    base.column.byte_len() + indexes + vectors
}

fn of_values(values: &LangValues) -> usize {
    let LangValues { base, delta, .. } = values;
    let built = if base.column.subjects.is_mapped() { 0 } else { built_values(values) };
    built + ENTRY * delta.rows.len()
}

fn of_direction(edges: &Direction) -> usize {
    let built = if edges.base.subjects.is_mapped() { 0 } else { edges.base.byte_len() };
    built + ENTRY * edges.delta.rows.len()
}
