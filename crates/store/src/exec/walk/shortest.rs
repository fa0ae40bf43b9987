//! `shortest`: the paths of least weight between two nodes.
//!
//! One path is found breadth first where no edge has a weight, else by Dijkstra's algorithm over
//! edges that are read as they are reached; several are found by taking loop-free beginnings off
//! a heap in ascending weight.

use super::breadth::Way;
use super::traverse::Walk;
use crate::exec::choose::function::no_reverse;
use crate::exec::control::context::{Context, UidVar, Var};
use crate::exec::control::limits::past_limit;
use crate::exec::control::tree::Path;
use crate::exec::select::facets::EdgeFacets;
use crate::storage::NodeSet;
use hexgraph_base::plan::{Block, Endpoint, Field, FieldKind, ShortestPath};
use hexgraph_base::types::{Error, Result, Uid, ValueRef, stack};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// One step of a path: the node that it leads to, its weight, the field that it took.
#[derive(Clone, Copy)]
struct Hop {
    to: u32,
    weight: f64,
    field: usize,
}

/// A node reached with a total weight; the least comes off a heap first.
struct Reached {
    weight: f64,
    hops: usize,
    node: u32,
}

impl PartialEq for Reached {
    fn eq(&self, other: &Reached) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Reached {}

impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Reached) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Reached {
    fn cmp(&self, other: &Reached) -> Ordering {
        let by_weight = other.weight.total_cmp(&self.weight);
        // Turned round, since a heap gives its greatest first: the least weight, of equal ones
        // the most hops, then the least node.
        by_weight.then(self.hops.cmp(&other.hops)).then(other.node.cmp(&self.node))
    }
}

/// The beginning of a path, on the heap of [`Context::several_paths`].
struct Beginning {
    reached: Reached,
    nodes: Vec<u32>,
    fields: Vec<usize>,
}

impl Beginning {
    /// The bytes that are charged for the beginning of a path with `nodes` nodes, with its place on a heap that may have
    /// twice the room it needs.
    fn bytes(nodes: usize) -> usize {
        const ALLOCATION: usize = 16;
        let lists = (size_of::<u32>() + size_of::<usize>()) * nodes + 2 * ALLOCATION;
        lists + 3 * size_of::<Beginning>()
    }
}

impl PartialEq for Beginning {
    fn eq(&self, other: &Beginning) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Beginning {}

impl PartialOrd for Beginning {
    fn partial_cmp(&self, other: &Beginning) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Beginning {
    fn cmp(&self, other: &Beginning) -> Ordering {
        self.reached.cmp(&other.reached).then_with(|| other.nodes.cmp(&self.nodes))
    }
}

/// The bytes that are charged for knowing the edges of a node, beside the edges: an entry of a map, and the head of a
/// list.
const KNOWN_BYTES: usize = 64;

/// The bytes that are charged for each node that was reached: entries of two maps and of a heap.
const REACHED_BYTES: usize = 120;

/// The edges that a search has read.
///
/// With a depth, only nodes that are fewer hops than that from the start are left by their edges,
/// as in the reference; a path through them may have more hops.
struct Reach {
    known: FxHashMap<u32, Arc<Vec<Hop>>>,
    is_complete: bool,
}

impl Reach {
    fn new(context: &Context<'_>, block: &Block, from: u32, depth: Option<i64>) -> Result<Reach> {
        let mut reach = Reach { known: FxHashMap::default(), is_complete: false };
        let Some(depth) = depth else { return Ok(reach) };
        let mut layer = vec![from];
        for _ in 0..depth {
            let mut next = Vec::new();
            for node in layer {
                // Breadth first, so that a node is first met by its fewest hops, which the depth
                // is about.
                if !reach.known.contains_key(&node) {
                    next.extend(reach.hops(context, block, node)?.iter().map(|hop| hop.to));
                }
            }
            if next.is_empty() {
                break;
            }
            context.check()?;
            context.control.charge(size_of::<u32>() * next.len())?;
            layer = next;
        }
        reach.is_complete = true;
        Ok(reach)
    }

    fn hops(&mut self, context: &Context<'_>, block: &Block, node: u32) -> Result<Arc<Vec<Hop>>> {
        if let Some(hops) = self.known.get(&node) {
            return Ok(Arc::clone(hops));
        }
        let hops =
            Arc::new(if self.is_complete { Vec::new() } else { context.hops(block, node)? });
        context.control.charge(KNOWN_BYTES + size_of::<Hop>() * hops.len())?;
        self.known.insert(node, Arc::clone(&hops));
        Ok(hops)
    }
}

impl Context<'_> {
    /// Finds the paths of a `shortest` block and sets its variable to the first one's nodes.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] when an end is missing or is more than one node.
    pub(crate) fn shortest(&mut self, block: &Block, ends: &ShortestPath) -> Result<Vec<Path>> {
        let from = self.endpoint(ends.from, "from")?;
        let to = self.endpoint(ends.to, "to")?;
        let paths = match (from, to) {
            // Only of several paths the weight is bounded.
            (Some(from), Some(to)) if from == to => {
                let is_too_light =
                    1 < ends.paths && ends.weight_min.is_some_and(|least| 0.0 < least);
                let is_none = is_too_light || ends.depth == Some(0);
                let path = Path { nodes: vec![from], hops: Vec::new(), weight: 0.0 };
                if is_none { Vec::new() } else { vec![path] }
            }
            // Where no path leads, that is found out by looking at each edge once.
            (Some(from), Some(to)) if 1 < ends.paths => {
                match self.one_path(block, ends, from, to)? {
                    Some(_) => self.several_paths(block, ends, from, to)?,
                    None => Vec::new(),
                }
            }
            (Some(from), Some(to)) => self.one_path(block, ends, from, to)?.into_iter().collect(),
            _ => Vec::new(),
        };
        if let Some(var) = block.var {
            let path = paths.first().map(|path| path.nodes.clone()).unwrap_or_default();
            let mut nodes = path.clone();
            nodes.sort_unstable();
            let set = NodeSet::from(nodes);
            self.set_var(var, Var::Uids(UidVar { set, path: Some(Arc::new(path)) }));
        }
        Ok(paths)
    }

    fn endpoint(&self, end: Option<Endpoint>, name: &str) -> Result<Option<u32>> {
        match end {
            None => {
                let message = format!("a `shortest` block without `{name}`");
                Err(Error::query(message)
                    .with_hint(format!("write `{name}: 0x1` or `{name}: uid(x)`")))
            }
            Some(Endpoint::Uid(uid)) => Ok(self.version.nodes.node(Uid(uid))),
            Some(Endpoint::Var(var)) => {
                let nodes = self.uid_var(var);
                if 1 < nodes.len() {
                    let message = format!(
                        "`{name}` of a path must be one node, and variable `{}` holds {}",
                        self.var_name(var),
                        nodes.len()
                    );
                    let hint = "choose one with `first: 1` where it is defined";
                    return Err(Error::query(message).with_hint(hint));
                }
                Ok(nodes.iter().next())
            }
        }
    }

    fn one_path(
        &self,
        block: &Block,
        ends: &ShortestPath,
        from: u32,
        to: u32,
    ) -> Result<Option<Path>> {
        if let Some(ways) = self.unweighted_ways(block)? {
            let depth = ends.depth.map_or(usize::MAX, |depth| depth.max(0) as usize);
            return self.fewest_edges(&ways, from, to, depth);
        }
        let mut reach = Reach::new(self, block, from, ends.depth)?;
        let mut best: FxHashMap<u32, (f64, u32, usize)> = FxHashMap::default();
        // A node that came off the heap is done with: a negative weight must not send the search in
        // circles.
        let mut done: FxHashSet<u32> = FxHashSet::default();
        let mut heap = BinaryHeap::new();
        heap.push(Reached { weight: 0.0, hops: 0, node: from });
        best.insert(from, (0.0, from, 0));
        while let Some(reached) = heap.pop() {
            if reached.node == to {
                return Ok(Some(trace(&best, from, to)));
            }
            // A node is on the heap once for each time that it became lighter; only the lightest
            // counts.
            if !done.insert(reached.node) {
                continue;
            }
            self.check()?;
            let hops = reach.hops(self, block, reached.node)?;
            for hop in hops.iter().filter(|hop| !done.contains(&hop.to)) {
                let weight = reached.weight + hop.weight;
                if best.get(&hop.to).is_none_or(|(known, ..)| weight < *known) {
                    self.control.charge(REACHED_BYTES)?;
                    best.insert(hop.to, (weight, reached.node, hop.field));
                    heap.push(Reached { weight, hops: reached.hops + 1, node: hop.to });
                }
            }
        }
        Ok(None)
    }

    fn several_paths(
        &self,
        block: &Block,
        ends: &ShortestPath,
        from: u32,
        to: u32,
    ) -> Result<Vec<Path>> {
        let mut paths = Vec::new();
        let mut reach = Reach::new(self, block, from, ends.depth)?;
        let mut heap = BinaryHeap::new();
        let reached = Reached { weight: 0.0, hops: 0, node: from };
        self.control.charge(Beginning::bytes(1))?;
        heap.push(Beginning { reached, nodes: vec![from], fields: Vec::new() });
        let most = self.control.limits().frontier as usize;
        let frontier_max = ends.frontier_max.map_or(most, |asked| asked.max(1) as usize);
        while let Some(Beginning { reached, nodes, fields }) = heap.pop() {
            self.check()?;
            let weight = reached.weight;
            if reached.node != to {
                self.control.uncharge(Beginning::bytes(nodes.len()));
            }
            if reached.node == to {
                if ends.weight_min.is_none_or(|least| least <= weight) {
                    paths.push(Path { nodes, hops: fields, weight });
                }
                if ends.paths <= paths.len() as i64 {
                    break;
                }
                continue;
            }
            // A node may be on many beginnings, but only once on each: so there are no loops, and
            // the search ends.
            let hops = reach.hops(self, block, reached.node)?;
            for hop in hops.iter().filter(|hop| !nodes.contains(&hop.to)) {
                let weight = weight + hop.weight;
                if ends.weight_max.is_some_and(|most| most < weight) {
                    continue;
                }
                let reached = Reached { weight, hops: reached.hops + 1, node: hop.to };
                self.control.charge(Beginning::bytes(nodes.len() + 1))?;
                let nodes = [nodes.as_slice(), &[hop.to]].concat();
                let fields = [fields.as_slice(), &[hop.field]].concat();
                heap.push(Beginning { reached, nodes, fields });
            }
            if frontier_max < heap.len() {
                let what = format!("shortest keeps more than {frontier_max} beginnings of paths");
                let name = if ends.frontier_max.is_some() { "maxfrontiersize" } else { "frontier" };
                return Err(past_limit(&what, name));
            }
        }
        Ok(paths)
    }

    /// The edge fields of the block, when none of them has weights.
    fn unweighted_ways<'s>(&'s self, block: &'s Block) -> Result<Option<Vec<Way<'s>>>> {
        let mut ways = Vec::new();
        for (field, walk) in self.walks(block)? {
            if weight_facet(walk.field)?.is_some() {
                return Ok(None);
            }
            let back = walk.predicate.direction(!walk.reverse).filter(|_| walk.takes_all());
            ways.push(Way { field, walk, back });
        }
        Ok(Some(ways))
    }

    /// The fields of the block that are edges, by number.
    fn walks<'s>(&'s self, block: &'s Block) -> Result<Vec<(usize, Walk<'s>)>> {
        stack::require();
        let mut walks = Vec::new();
        for (number, field) in block.fields.iter().enumerate() {
            let FieldKind::Predicate { name, reverse, .. } = &field.kind else { continue };
            let Some(predicate) = self.predicate(name) else { continue };
            if predicate.is_edges() {
                let reverse = *reverse;
                let edges = predicate.direction(reverse).ok_or_else(|| no_reverse(name))?;
                walks.push((number, Walk { field, predicate, reverse, edges }));
            }
        }
        Ok(walks)
    }

    /// The edges of a node that count; of two to the same node the last field's wins.
    fn hops(&self, block: &Block, node: u32) -> Result<Vec<Hop>> {
        let mut hops: Vec<Hop> = Vec::new();
        let walks = self.walks(block)?;
        let several = 1 < walks.len();
        for (number, walk) in walks {
            let (_, targets) = self.walk(&[node], &walk, walk.field.page)?;
            let facet = weight_facet(walk.field)?;
            let facets = EdgeFacets::new(walk.predicate, walk.reverse);
            for target in targets {
                let weight = match facet {
                    None => Some(1.0),
                    Some(facet) => {
                        facets.and_then(|facets| number_of(facets.get(node, target, facet)?))
                    }
                };
                if let Some(weight) = weight {
                    hops.push(Hop { to: target, weight, field: number });
                }
            }
        }
        if several {
            // The sort puts the last field first, and that one is kept.
            hops.sort_by_key(|hop| (hop.to, std::cmp::Reverse(hop.field)));
            hops.dedup_by_key(|hop| hop.to);
        }
        Ok(hops)
    }
}

/// The facet that is the weight of a field's edges.
fn weight_facet(field: &Field) -> Result<Option<&str>> {
    match &field.facets {
        None => Ok(None),
        Some(facets) => match facets.items.as_slice() {
            [] => Ok(None),
            [item] => Ok(Some(item.facet.as_str())),
            items => {
                let message = format!("the weight of an edge is one facet, found {}", items.len());
                let hint = "name one in `@facets(...)`";
                Err(Error::query_at(field.at, message).with_hint(hint))
            }
        },
    }
}

fn number_of(value: ValueRef<'_>) -> Option<f64> {
    match value {
        ValueRef::Int(number) => Some(number as f64),
        ValueRef::Float(number) => Some(number),
        _ => None,
    }
}

fn trace(best: &FxHashMap<u32, (f64, u32, usize)>, from: u32, to: u32) -> Path {
    let weight = best.get(&to).map_or(0.0, |(weight, ..)| *weight);
    let (mut nodes, mut hops) = (vec![to], Vec::new());
    let mut node = to;
    while node != from {
        let (_, before, field) = best[&node];
        hops.push(field);
        nodes.push(before);
        node = before;
    }
    nodes.reverse();
    hops.reverse();
    Path { nodes, hops, weight }
}
