//! Deletes nodes with everything: their values and edges, whatever their types, and the edges to
//! them.
//!
//! Edges to the nodes come from the reverse edges if the schema has them, else from one scan of the
//! targets of the predicate, however many nodes are deleted. The result is a list of deletes, which
//! [`Changes::apply`] executes by columns.

use super::bounds::Charge;
use super::change_weight;
use super::changes::{Changes, Delete, Deleted, Part};
use super::check::check_name;
use crate::graph::build::parts::EdgePart;
use crate::graph::version::edges::EdgeStore;
use crate::graph::version::graph_version::Version;
use crate::graph::version::predicate::{Predicate, PredicateData};
use hexgraph_base::schema::Actor;
use hexgraph_base::types::{Check, Error, Result, Uid};
use roaring::RoaringBitmap;
use std::sync::Arc;

/// The changes that delete nodes, and how many of them have data or an incoming edge. Calls
/// `charge` before memory is allocated, `check` before each predicate. O(nodes · predicates), and
/// O(edges) of each predicate without reverse edges.
///
/// # Errors
///
/// [`Error::Schema`] if one of the nodes has data that no client may change; those of `charge` and
/// `check`.
pub fn detach(
    version: &Version,
    uids: &[Uid],
    charge: Charge<'_>,
    check: Check<'_>,
) -> Result<(Changes, u64)> {
    let nodes: RoaringBitmap = uids.iter().filter_map(|uid| version.nodes.node(*uid)).collect();
    let mut existing = RoaringBitmap::new();
    let mut changes = Changes { langs: vec![Box::default()], ..Changes::default() };
    let mut part = Part::default();
    let mut names: Vec<_> = version.predicates.iter().collect();
    names.sort_unstable_by(|one, other| one.0.cmp(other.0));
    for (name, predicate) in names {
        check()?;
        let index = changes.predicates.len() as u32;
        let before = part.deletes.len();
        let mut push = |node, what| {
            charge(change_weight::of_delete())?;
            let node = version.nodes.uid(node);
            part.deletes.push(Delete { predicate: index, node, what });
            Ok::<_, Error>(())
        };
        for node in nodes.iter().filter(|node| predicate.has(*node)) {
            existing.insert(node);
            push(node, Deleted::All)?;
        }
        for (source, node) in edges_to(predicate, &nodes, charge)? {
            existing.insert(node);
            // The edges of the nodes themselves go with all that they have.
            if !nodes.contains(source) {
                push(source, Deleted::Edge(version.nodes.uid(node)))?;
            }
        }
        if before < part.deletes.len() {
            check_name(name, &version.schema, Actor::Client).map_err(Error::schema)?;
            changes.predicates.push(Arc::clone(&predicate.def));
        }
    }
    changes.weight = part.deletes.len() * change_weight::of_delete();
    changes.parts.push(part);
    Ok((changes, existing.len()))
}

/// The edges to some nodes: the source of each, and the node.
fn edges_to(
    predicate: &Predicate,
    nodes: &RoaringBitmap,
    charge: Charge<'_>,
) -> Result<Vec<(u32, u32)>> {
    let PredicateData::Edges(EdgeStore { forward, reverse }) = &predicate.data else {
        return Ok(Vec::new());
    };
    if let Some(reverse) = reverse {
        let sources = |node| {
            let sources = reverse.targets(node).into_owned();
            sources.into_iter().map(move |source| (source, node))
        };
        charge(nodes.iter().map(|node| 16 * reverse.count(node)).sum())?;
        return Ok(nodes.iter().flat_map(sources).collect());
    }
    // The copy of the edges, and the matches among them.
    charge(16 * forward.total() as usize)?;
    let EdgePart { nodes: sources, targets, .. } = EdgePart::of(forward);
    let edges = sources.into_iter().zip(targets);
    Ok(edges.filter(|(_, target)| nodes.contains(*target)).collect())
}
