//! Loads that are small in proportion to the graph become changes, as mutations do, and not
//! columns.
//!
//! Columns cost O(predicate), and in a directory a load of columns writes a snapshot of everything.
//! As changes the load costs O(statements · log), and one log record.

use super::{Built, Pending};
use crate::graph::build::parts::{EdgePart, FacetPart, ValuePart};
use crate::graph::build::replaced_rows::{Superseded, SupersededCounter};
use crate::graph::build::stored_form::{count_edges, count_values};
use crate::graph::change::changes::{Changes, Part, SetEdge, SetValue};
use crate::graph::change::keys::ConflictKey;
use crate::graph::load::batch::EXTERNAL;
use crate::graph::load::typed_endpoints::{EdgeEndpoints, NewEndpoints, TypedEndpoints};
use crate::graph::version::delta::FacetList;
use crate::graph::version::graph_version::Version;
use crate::graph::version::node_ids::NodeIds;
use crate::graph::version::weight::ENTRY;
use hexgraph_base::types::{Result, Uid};
use roaring::RoaringBitmap;
use std::sync::Arc;

/// A load as a commit.
#[derive(Debug, Clone)]
pub struct SmallLoad {
    /// The changes, for the log.
    pub changes: Changes,
    /// The conflict keys of what is written.
    pub keys: Vec<ConflictKey>,
}

/// True if the gathered load is small in proportion to the graph, and the schema has all its
/// predicates.
pub(super) fn is_small(predicates: &[Pending], version: &Version) -> bool {
    let statements = predicates.iter().map(Pending::statement_count).sum();
    let are_existing = !predicates.iter().any(Pending::is_new);
    are_existing && version.thresholds.is_small(statements, version.stored_rows())
}

/// The edges of a predicate, and how many their nodes had before.
struct Counted {
    name: String,
    subjects: RoaringBitmap,
    came: u64,
    before: u64,
}

/// The version with the statements, all of predicates that the schema has. The nodes from
/// [`EXTERNAL`] on have these numbers. `new` are those of new nodes, if types get the edges of
/// their nodes.
///
/// # Errors
///
/// [`hexgraph_base::types::Error::Query`] for a duplicate of a unique value.
pub(super) fn build_small(
    predicates: Vec<Pending>,
    next: Version,
    numbers: &[u32],
    new: Option<&NewEndpoints>,
) -> Result<Built> {
    let mut small = Small::new(&next.nodes);
    let (mut nodes, mut counted, mut endpoints) = (RoaringBitmap::new(), Vec::new(), Vec::new());
    let mut superseded = Vec::new();
    for mut pending in predicates {
        pending.renumber(|node| numbers[(node - EXTERNAL) as usize]);
        let [sources, targets] = pending.endpoints();
        nodes |= &sources;
        nodes |= &targets;
        if !pending.edges.is_empty() {
            let predicate = pending.def.name.clone();
            endpoints.push(EdgeEndpoints { predicate, sources, targets });
        }
        counted.extend(Counted::of(&pending, &next));
        superseded.push((pending.def.name.clone(), superseded_by(&pending, &next)));
        small.add(pending);
    }
    let (mut changes, mut built) = small.apply(&next)?;
    if let Some(new) = new.filter(|_| !endpoints.is_empty()) {
        let typed = TypedEndpoints::of(&built.version, &endpoints, new);
        if let Some((def, part)) = typed.part(&built.version) {
            let mut types = Pending::of(def, false);
            types.langs.insert(Box::default(), vec![part]);
            changes.add(types);
            (changes, built) = changes.apply(&next)?;
        }
        built.note(typed);
    }
    drop(changes);
    for edges in counted {
        let now = edge_count(&built.version, &edges.name, &edges.subjects);
        built.repeated += edges.came + edges.before - now;
    }
    superseded.iter().for_each(|(name, counts)| built.supersede(name, *counts));
    built.nodes = nodes.len();
    Ok(built)
}

impl Counted {
    /// Nothing where a node has one edge at most: the last one stays.
    fn of(pending: &Pending, version: &Version) -> Option<Counted> {
        let came = pending.edge_count();
        if came == 0 {
            return None;
        }
        let subjects = pending.edges.iter().flat_map(|part| part.nodes.iter().copied()).collect();
        let name = pending.def.name.clone();
        let before = edge_count(version, &name, &subjects);
        Some(Counted { name, subjects, came, before })
    }
}

/// The number of edges that some nodes have.
fn edge_count(version: &Version, name: &str, subjects: &RoaringBitmap) -> u64 {
    let edges = version.predicates.get(name).and_then(|predicate| predicate.direction(false));
    edges.map_or(0, |edges| subjects.iter().map(|node| edges.count(node) as u64).sum())
}

/// What a predicate of a load supersedes of the stored one, and of itself. Reads only the nodes of
/// the load.
fn superseded_by(pending: &Pending, version: &Version) -> Superseded {
    let stored = version.predicates.get(pending.def.name.as_str());
    let (mut superseded, is_list) = (Superseded::default(), pending.def.list);
    for (lang, parts) in &pending.langs {
        let nodes = distinct(parts.iter().map(|part| &part.nodes));
        let old = stored.and_then(|old| old.values(lang));
        let old = old.map(|old| ValuePart::of_nodes(old, &nodes));
        let mut counter = SupersededCounter::new(old.as_ref().map_or(0, |old| old.nodes.len()));
        let parts = old.into_iter().chain(parts.iter().cloned()).collect();
        count_values(parts, (pending.def.value_type, is_list), &mut counter);
        superseded += counter.counts;
    }
    if !pending.edges.is_empty() {
        let nodes = distinct(pending.edges.iter().map(|part| &part.nodes));
        let old = stored.and_then(|old| old.direction(false));
        let old = old.map(|old| EdgePart::of_nodes(old, nodes.into_iter()));
        let mut counter = SupersededCounter::new(old.as_ref().map_or(0, |old| old.nodes.len()));
        let parts = old.into_iter().chain(pending.edges.iter().cloned()).collect();
        count_edges(parts, is_list, &mut counter);
        superseded += counter.counts;
    }
    superseded
}

/// The nodes of some parts, ascending and each once.
fn distinct<'p>(parts: impl Iterator<Item = &'p Vec<u32>>) -> Vec<u32> {
    let mut nodes: Vec<u32> = parts.flatten().copied().collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

/// The changes, growing.
struct Small<'a> {
    nodes: &'a NodeIds,
    changes: Changes,
    part: Part,
}

impl<'a> Small<'a> {
    fn new(nodes: &'a NodeIds) -> Small<'a> {
        Small { nodes, changes: Changes::default(), part: Part::default() }
    }

    /// The version with the changes, which are returned as well.
    fn apply(self, next: &Version) -> Result<(Small<'a>, Built)> {
        let mut changes = self.changes.clone();
        changes.parts = vec![self.part.clone()];
        changes.next_uid = next.uids.next();
        let mut keys = Vec::new();
        let (version, _) = changes.clone().apply_keyed(next, &mut keys, &|| Ok(()))?;
        let small = Some(SmallLoad { changes, keys });
        Ok((self, Built { small, ..Built::of(version) }))
    }

    /// The uid of a node. Uids of 2^31 and more are recorded, so that the changes apply to another
    /// version.
    fn uid(&mut self, node: u32) -> Uid {
        let uid = self.nodes.uid(node);
        if NodeIds::is_high(uid) {
            self.changes.high.push(uid.0);
        }
        uid
    }

    fn add(&mut self, pending: Pending) {
        let predicate = self.changes.predicates.len() as u32;
        self.changes.predicates.push(Arc::clone(&pending.def));
        let indexes = 1 + pending.def.indexes.len();
        self.changes.weight +=
            indexes * (4 * pending.byte_len() + ENTRY * pending.statement_count());
        for (lang, parts) in pending.langs {
            let position = self.changes.langs.len() as u32;
            self.changes.langs.push(lang);
            for part in parts {
                let facets = facet_lists(&part.facets, part.nodes.len());
                for (row, (&node, facets)) in part.nodes.iter().zip(facets).enumerate() {
                    let (node, value) = (self.uid(node), part.values.get(row).to_value());
                    self.part.values.push(SetValue {
                        predicate,
                        lang: position,
                        node,
                        value,
                        facets,
                    });
                }
            }
        }
        for part in pending.edges {
            let facets = facet_lists(&part.facets, part.nodes.len());
            let endpoints = part.nodes.iter().zip(&part.targets);
            for ((&node, &target), facets) in endpoints.zip(facets) {
                let (node, target) = (self.uid(node), self.uid(target));
                self.part.edges.push(SetEdge { predicate, node, target, facets });
            }
        }
    }
}

/// The facets of each row, by key.
fn facet_lists(parts: &[FacetPart], rows: usize) -> Vec<FacetList> {
    let mut lists = vec![FacetList::new(); rows];
    for facet in parts {
        let key: Arc<str> = Arc::from(facet.key.as_str());
        for (at, row) in facet.rows.iter().enumerate() {
            lists[row as usize].push((Arc::clone(&key), facet.values.get(at).to_value()));
        }
    }
    lists.iter_mut().for_each(|list| list.sort_by(|(one, _), (other, _)| one.cmp(other)));
    lists
}
