//! Types of the endpoints of the edges of a load: which types get the predicate as a field, and
//! which type a new node gets.
//!
//! Types are compared as sets: the nodes of a type with the endpoints. So the cost depends on the
//! number of types and the size of these sets, and not on the number of edges.

use crate::graph::build::parts::ValuePart;
use crate::graph::version::graph_version::Version;
use crate::index::IndexKind;
use crate::storage::{NodeSet, Values};
use hexgraph_base::schema::{Origin, PredicateDef, is_reserved};
use hexgraph_base::types::ValueRef;
use roaring::RoaringBitmap;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The predicate of the types of nodes.
pub(super) const TYPE_PREDICATE: &str = "dgraph.type";

/// So many common nodes of two sets are looked for one by one.
const STEPS: usize = 64;

/// A sentence names at most so many types.
const TYPES_NAMED: usize = 5;

/// The new nodes of a load, and what it says of their types.
pub(super) struct NewEndpoints {
    /// The nodes.
    pub nodes: RoaringBitmap,
    /// The types of those to which edges of a predicate lead.
    pub target_types: Vec<(String, String)>,
    /// Whether the nodes at which edges start are as the load says.
    pub only_targets: bool,
}

/// The endpoints of the edges of one predicate in a load.
pub(super) struct EdgeEndpoints {
    /// The predicate.
    pub predicate: String,
    /// Where edges start.
    pub sources: RoaringBitmap,
    /// Where they end.
    pub targets: RoaringBitmap,
}

/// A predicate that types got as a field, since edges of it start at their nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedEdges {
    /// The predicate.
    pub predicate: String,
    /// The types that got it.
    pub from: Vec<String>,
    /// The types of the nodes to which its edges of the load lead.
    pub to: Vec<String>,
}

impl OwnedEdges {
    /// What was done, as a sentence.
    pub(super) fn note(&self) -> String {
        let types = |names: &[String]| {
            let more = if TYPES_NAMED < names.len() { " and others" } else { "" };
            format!("{}{more}", names[..names.len().min(TYPES_NAMED)].join(", "))
        };
        let OwnedEdges { predicate, from, to } = self;
        let leads = match to.is_empty() {
            true => "nodes without a type".to_owned(),
            false => types(to),
        };
        format!("`{predicate}` is a field of {} now and leads to {leads}", types(from))
    }
}

/// The changes that follow from the types of endpoints.
pub(super) struct TypedEndpoints {
    /// The new nodes that get a type.
    given: Vec<(String, RoaringBitmap)>,
    /// The predicates that types of nodes lack.
    pub owned: Vec<OwnedEdges>,
    /// The number of new nodes without a type.
    pub untyped: u64,
}

impl TypedEndpoints {
    /// Reads the types of the endpoints of edges in a version with these edges. `new` are the new
    /// nodes of the load.
    pub(super) fn of(
        version: &Version,
        edges: &[EdgeEndpoints],
        new: &NewEndpoints,
    ) -> TypedEndpoints {
        let types = stored_types(version);
        let NewEndpoints { nodes: new, target_types, only_targets } = new;
        let mut open = new.clone();
        let subjects = version.predicate(TYPE_PREDICATE).map(|types| types.subjects());
        if let Some(typed) = subjects.filter(|typed| !new.is_empty() && !typed.is_empty()) {
            open -= typed.to_bitmap();
        }
        if *only_targets {
            let targets = edges.iter().fold(RoaringBitmap::new(), |all, it| all | &it.targets);
            open &= targets;
        }
        let mut given = stated_types(edges, target_types, &mut open);
        for (name, nodes) in given_types(&types, edges, &mut open) {
            add_type(&mut given, &name, &nodes);
        }
        let mut owned = Vec::new();
        for EdgeEndpoints { predicate, sources, targets } in edges {
            let lacks = |name: &str| {
                let def = version.schema.types.get(name);
                def.is_some_and(|def| !is_reserved(name) && !def.fields.contains(predicate))
            };
            let of = |side: &RoaringBitmap, counts: &dyn Fn(&str) -> bool| -> Vec<String> {
                let is_given = |name: &str| {
                    given.iter().any(|(of, nodes)| of == name && !nodes.is_disjoint(side))
                };
                let own = types.iter().filter(|(name, _)| counts(name));
                let own = own.filter(|(name, nodes)| is_given(name) || meet(nodes, side));
                own.map(|(name, _)| name.clone()).collect()
            };
            let from = of(sources, &lacks);
            if !from.is_empty() && !is_reserved(predicate) {
                let to = of(targets, &|name| !is_reserved(name));
                owned.push(OwnedEdges { predicate: predicate.clone(), from, to });
            }
        }
        TypedEndpoints { given, owned, untyped: open.len() }
    }

    /// The number of types that new nodes get.
    pub(super) fn typed(&self) -> u64 {
        self.given.iter().map(|(_, nodes)| nodes.len()).sum()
    }

    /// The types of new nodes as values of their predicate. `None` where none gets one.
    pub(super) fn part(&self, version: &Version) -> Option<(PredicateDef, ValuePart)> {
        let def = version.schema.predicates.get(TYPE_PREDICATE)?;
        let mut pairs: Vec<(u32, &str)> = Vec::new();
        for (name, nodes) in &self.given {
            pairs.extend(nodes.iter().map(|node| (node, name.as_str())));
        }
        if pairs.is_empty() {
            return None;
        }
        pairs.sort_unstable();
        let lens = pairs.iter().map(|(_, name)| name.len());
        let text: String = pairs.iter().map(|(_, name)| *name).collect();
        let values = Values::of_texts(def.value_type, lens, text.into_bytes());
        let nodes = pairs.iter().map(|(node, _)| *node).collect();
        Some((def.clone(), ValuePart { nodes, values, facets: Vec::new() }))
    }

    /// Adds the predicates to the types that lack them.
    pub(super) fn alter(&self, version: &mut Version) {
        for OwnedEdges { predicate, from, .. } in &self.owned {
            let schema = Arc::make_mut(&mut version.schema);
            for name in from {
                let Some(existing) = schema.types.get(name) else { continue };
                let mut fields = existing.declared().by_alter.unwrap_or_default();
                fields.push(predicate.clone());
                let def = existing.declare(Origin::Alter, Some(fields));
                schema.types.insert(name.clone(), def);
            }
        }
    }
}

/// The types that nodes have, with these nodes.
fn stored_types(version: &Version) -> Vec<(String, NodeSet)> {
    let values = version.predicate(TYPE_PREDICATE).and_then(|types| types.values(""));
    let Some(index) = values.and_then(|values| values.index(IndexKind::Ordered)) else {
        return Vec::new();
    };
    let mut tokens = index.tokens(false);
    let mut types = Vec::new();
    while let Some(key) = tokens.next_key() {
        let Some(nodes) = tokens.next() else { break };
        if let ValueRef::String(name) = key
            && !nodes.is_empty()
        {
            types.push((name.to_owned(), nodes.to_set()));
        }
    }
    types
}

/// The types that the load itself states for new endpoints of edges.
fn stated_types(
    edges: &[EdgeEndpoints],
    target_types: &[(String, String)],
    open: &mut RoaringBitmap,
) -> Vec<(String, RoaringBitmap)> {
    let mut given = Vec::new();
    for (predicate, name) in target_types {
        for edges in edges.iter().filter(|it| it.predicate == *predicate) {
            let nodes = &edges.targets & &*open;
            add_type(&mut given, name, &nodes);
        }
    }
    given.iter().for_each(|(_, nodes)| *open -= nodes);
    given
}

fn add_type(given: &mut Vec<(String, RoaringBitmap)>, name: &str, nodes: &RoaringBitmap) {
    match given.iter_mut().find(|(existing, _)| existing == name) {
        Some((_, existing)) => *existing |= nodes,
        None if nodes.is_empty() => {}
        None => given.push((name.to_owned(), nodes.clone())),
    }
}

/// Gives new nodes the types that all other nodes on the same side of the edges have, as far as
/// these have any: sources of the same predicate, or targets of it. A node with conflicting sides
/// gets none. Typed nodes are removed from `open`.
fn given_types(
    types: &[(String, NodeSet)],
    edges: &[EdgeEndpoints],
    open: &mut RoaringBitmap,
) -> Vec<(String, RoaringBitmap)> {
    let mut sides: Vec<(BTreeSet<usize>, RoaringBitmap)> = Vec::new();
    if open.is_empty() || types.is_empty() {
        return Vec::new();
    }
    for side in edges.iter().flat_map(|it| [&it.sources, &it.targets]) {
        let new = side & &*open;
        if new.is_empty() {
            continue;
        }
        let others = side - &*open;
        let Some(common) = common_types(types, &others) else { continue };
        match sides.iter_mut().find(|(existing, _)| *existing == common) {
            Some((_, nodes)) => *nodes |= new,
            None => sides.push((common, new)),
        }
    }
    let mut given: Vec<(String, RoaringBitmap)> = Vec::new();
    for at in 0..sides.len() {
        let mut nodes = sides[at].1.clone();
        let others = sides.iter().enumerate().filter(|(other, _)| *other != at);
        others.for_each(|(_, (_, other))| nodes -= other);
        *open -= &nodes;
        for &position in &sides[at].0 {
            let name = &types[position].0;
            add_type(&mut given, name, &nodes);
        }
    }
    given
}

/// The types, by their positions, that all typed nodes of a set have. `None` if they differ or none
/// has one.
fn common_types(types: &[(String, NodeSet)], nodes: &RoaringBitmap) -> Option<BTreeSet<usize>> {
    let mut common = BTreeSet::new();
    let mut typed: Option<RoaringBitmap> = None;
    for (position, (_, of_type)) in types.iter().enumerate() {
        if !meet(of_type, nodes) {
            continue;
        }
        let own = of_type.to_bitmap() & nodes;
        if typed.as_ref().is_some_and(|typed| *typed != own) {
            return None;
        }
        typed = Some(own);
        common.insert(position);
    }
    (!common.is_empty()).then_some(common)
}

/// Whether two sets have a common node. In most graphs the nodes of a type are close together, so a
/// few steps suffice.
fn meet(nodes: &NodeSet, others: &RoaringBitmap) -> bool {
    let Some(mut least) = others.min() else { return false };
    for _ in 0..STEPS {
        let Some(node) = nodes.iter_from(least).next() else { return false };
        if others.contains(node) {
            return true;
        }
        match others.range(node..).next() {
            Some(next) => least = next,
            None => return false,
        }
    }
    !nodes.to_bitmap().is_disjoint(others)
}
