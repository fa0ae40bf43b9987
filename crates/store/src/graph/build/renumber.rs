//! Makes space for new uids of 2^31 and more, whose node ids are ranks in a sorted table.

use super::compact::{settle_all, space_to_settle};
use crate::graph::version::edges::{Direction, EdgeStore};
use crate::graph::version::graph_version::Version;
use crate::graph::version::node_ids::NodeIds;
use crate::graph::version::predicate::{Predicate, PredicateData};
use crate::graph::version::values::{LangValues, ValueBase};
use crate::index::TokenIndex;
use crate::storage::{Array, Edges, FrozenBitmap};
use hexgraph_base::types::{Result, Uid};
use rayon::prelude::*;
use std::sync::Arc;

/// The version with `uids`, in any order and with repeats, in its table. Costs a pass over all data
/// if a new one is below an existing one.
///
/// # Errors
///
/// [`hexgraph_base::types::Error::Limit`] when the table is full.
pub(in crate::graph) fn with_high_uids(version: &Version, mut uids: Vec<u64>) -> Result<Version> {
    uids.sort_unstable();
    uids.dedup();
    uids.retain(|&uid| version.nodes.node(Uid(uid)).is_none());
    let (Some(&least), old) = (uids.first(), version.nodes.high()) else {
        return Ok(version.clone());
    };
    let mut table = Vec::with_capacity(old.len() + uids.len());
    table.extend_from_slice(old.as_slice());
    let appended = table.last().is_none_or(|&last| last < least);
    table.extend(uids);
    table.sort_unstable();
    let nodes = NodeIds::new(Array::from_vec(table))?;
    // Above all existing ones: no node id changes.
    if appended {
        return Ok(Version { nodes, ..version.clone() });
    }
    let _capacity = space_to_settle(version)?;
    let mut next = settle_all(version);
    let renumber = |node: u32| {
        let existing = nodes.node(version.nodes.uid(node));
        existing.expect("the new table has all uids of the old one")
    };
    let predicates: Vec<_> = next.predicates.iter().collect();
    let done: Vec<_> = predicates
        .par_iter()
        .map(|(name, it)| (Arc::clone(name), Arc::new(renumbered(it, &renumber))))
        .collect();
    next.replace(done);
    next.nodes = nodes;
    Ok(next)
}

/// A clean predicate with its nodes renumbered in the same order.
fn renumbered(predicate: &Predicate, renumber: &(impl Fn(u32) -> u32 + Sync)) -> Predicate {
    let data = match &predicate.data {
        PredicateData::Values(langs) => {
            let each = |values: &LangValues| {
                LangValues::new(Arc::clone(&values.lang), renumbered_base(&values.base, renumber))
            };
            PredicateData::Values(langs.iter().map(each).collect())
        }
        PredicateData::Edges(edges) => {
            let each =
                |direction: &Direction| Direction::new(renumbered_edges(&direction.base, renumber));
            PredicateData::Edges(EdgeStore {
                forward: each(&edges.forward),
                reverse: edges.reverse.as_ref().map(each),
            })
        }
    };
    Predicate { def: Arc::clone(&predicate.def), data }
}

fn renumbered_base(base: &ValueBase, renumber: impl Fn(u32) -> u32) -> ValueBase {
    let subjects = renumbered_set(&base.column.subjects, &renumber);
    let index = |index: &TokenIndex| {
        let postings = renumbered_array(&index.postings, &renumber);
        TokenIndex::new(index.keys.clone(), index.offsets.clone(), postings)
    };
    ValueBase {
        column: base.column.of_subjects(subjects),
        indexes: base.indexes.iter().map(|(kind, old)| (*kind, index(old))).collect(),
        // It knows positions only, and these stay.
        vectors: base.vectors.clone(),
    }
}

fn renumbered_edges(edges: &Edges, renumber: impl Fn(u32) -> u32) -> Edges {
    Edges {
        subjects: renumbered_set(&edges.subjects, &renumber),
        targets: renumbered_array(&edges.targets, &renumber),
        ..edges.clone()
    }
}

fn renumbered_set(nodes: &FrozenBitmap, renumber: impl Fn(u32) -> u32) -> FrozenBitmap {
    FrozenBitmap::from_sorted_iter(nodes.iter().map(renumber))
}

fn renumbered_array(nodes: &Array<u32>, renumber: impl Fn(u32) -> u32) -> Array<u32> {
    Array::from_vec(nodes.as_slice().iter().map(|&node| renumber(node)).collect())
}
