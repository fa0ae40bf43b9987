//! The edges that the paths of a `shortest` block may take, with their weights.
//!
//! A field without page and order is read in place, in both directions: a filter tests the target
//! alone and a filter on facets the edge alone, so both hold in whichever direction an edge is
//! read. Edges that are stored in one direction only are transposed, once a search has read so many
//! of them that this is worth while ([`super::back`]). A node is tested once by a filter. Any other
//! field is walked forth as a level is, once for each node.

use super::back::Back;
use crate::exec::choose::function::no_reverse;
use crate::exec::control::context::Context;
use crate::exec::control::pending::{NUMBER_ENTRY_BYTES, VALUE_ENTRY_BYTES};
use crate::exec::cost;
use crate::exec::select::facets::EdgeFacets;
use crate::exec::walk::lists::distinct;
use crate::exec::walk::traverse::Walk;
use crate::graph::EdgeNumbers;
use crate::storage::NodeSet;
use hexgraph_base::plan::{Block, Field, FieldKind};
use hexgraph_base::types::{Error, Result, stack};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::sync::Arc;

/// The edges that are read between two looks at the clock.
const EDGES_A_CHECK: usize = cost::CHECK.per(cost::SORT);

/// One edge of a path: the node at its other end, its weight, the number of its field in the block.
#[derive(Clone, Copy)]
pub(super) struct Hop {
    pub(super) to: u32,
    pub(super) field: u32,
    pub(super) weight: f64,
}

/// What the edges of a field weigh.
enum Weights<'s> {
    /// 1 each.
    One,
    /// What a facet says; an edge without it is not there.
    Facet(EdgeNumbers<'s>),
}

/// One field of the block.
struct Way<'s> {
    number: u32,
    walk: Walk<'s>,
    weights: Weights<'s>,
    /// The same edges in the other direction.
    back: Back<'s>,
    /// True when edges are read in place, without a walk.
    is_direct: bool,
    /// The nodes that the filter has tested.
    passed: FxHashMap<u32, bool>,
}

/// The edges of a block, as a search for paths reads them.
///
/// With a depth, only nodes that are fewer edges than that from the start are left by their edges,
/// as in Dgraph; a path through them may have more edges.
pub(super) struct PathEdges<'s> {
    context: &'s Context<'s>,
    ways: Vec<Way<'s>>,
    from: u32,
    depth: Option<usize>,
    /// The nodes that are fewer edges than the depth from the start, once somebody needed to know.
    near: Option<FxHashSet<u32>>,
    /// The edges of nodes that were walked, where not all fields are read in place.
    existing: FxHashMap<u32, Arc<Vec<Hop>>>,
    /// The edges that were read since the last look at the clock.
    unchecked: usize,
    /// The edges that a search has to read before it is checked again whether edges are transposed.
    turns_at: usize,
}

impl<'s> PathEdges<'s> {
    /// The edges of a block whose paths start at `from`.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] when a field has several facets as its weight, or a wrong filter.
    pub(super) fn new(
        context: &'s Context<'s>,
        block: &'s Block,
        from: u32,
        depth: Option<i64>,
    ) -> Result<PathEdges<'s>> {
        let mut ways = Vec::new();
        for (number, walk) in context.edge_fields(block)? {
            let field = walk.field;
            let is_direct = field.page.is_all()
                && field.order.is_empty()
                && field.facets.as_ref().is_none_or(|facets| facets.order.is_empty());
            if let Some(filter) = field.filter.as_ref().filter(|_| is_direct) {
                // A wrong argument is an error also where no edge has a target to be tested.
                context.filter(filter, NodeSet::default())?;
            }
            let weights = match weight_facet(field)? {
                None => Weights::One,
                Some(facet) => match EdgeNumbers::new(walk.predicate, facet) {
                    Some(numbers) => Weights::Facet(numbers),
                    None => continue,
                },
            };
            let back = Back::stored(walk.predicate.direction(!walk.reverse));
            let number = number as u32;
            let passed = FxHashMap::default();
            ways.push(Way { number, walk, weights, back, is_direct, passed });
        }
        let depth = depth.map(|depth| depth.max(0) as usize);
        let (near, existing) = (None, FxHashMap::default());
        Ok(PathEdges { context, ways, from, depth, near, existing, unchecked: 0, turns_at: 0 })
    }

    /// The request that the edges are read for.
    pub(super) fn context(&self) -> &'s Context<'s> {
        self.context
    }

    /// True when all edges that count can be read in reverse, or could be once they are transposed.
    pub(super) fn may_go_back(&self) -> bool {
        self.depth.is_none() && self.are_direct()
    }

    fn are_direct(&self) -> bool {
        self.ways.iter().all(|way| way.is_direct)
    }

    /// True when all edges can be read back, now that a search has read `cost` edges from the
    /// start. With a depth, some of these may not count.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] when the request has to stop.
    pub(super) fn can_go_back(&mut self, cost: usize) -> Result<bool> {
        if !self.are_direct() || cost < self.turns_at {
            return Ok(false);
        }
        for way in &mut self.ways {
            if let Some(edges) = way.back.turn(self.context, way.walk.predicate, cost)? {
                self.turns_at = edges;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A bound of the number of nodes on a path.
    pub(super) fn nodes_max(&self) -> usize {
        self.ways.iter().map(|way| way.walk.edges.subjects_max()).sum::<usize>() + 1
    }

    /// True when some edge may weigh less than 0. The first time after facets were built or opened
    /// this reads them all.
    pub(super) fn has_negative(&self) -> Result<bool> {
        for way in &self.ways {
            if let Weights::Facet(numbers) = &way.weights
                && numbers.has_negative(&|| self.context.check())?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The number of weights that [`PathEdges::has_negative`] has to read.
    pub(super) fn unread(&self) -> usize {
        let facets = self.ways.iter().map(|way| match &way.weights {
            Weights::One => 0,
            Weights::Facet(numbers) => numbers.unread(),
        });
        facets.sum()
    }

    /// Whether the edges of a node are followed that is `hops` edges from the start. Without a
    /// depth each one is; with one, the first node at that distance costs a walk over all nodes
    /// within the depth.
    pub(super) fn leaves(&mut self, node: u32, hops: usize) -> Result<bool> {
        let Some(depth) = self.depth.filter(|depth| *depth <= hops) else { return Ok(true) };
        if self.near.is_none() {
            self.near = Some(self.within(depth)?);
        }
        Ok(self.near.as_ref().is_some_and(|near| near.contains(&node)))
    }

    /// The nodes that are fewer than `depth` edges from the start.
    fn within(&mut self, depth: usize) -> Result<FxHashSet<u32>> {
        let mut near = FxHashSet::default();
        let mut layer = vec![self.from];
        let mut hops = Vec::new();
        for _ in 0..depth {
            let mut next = Vec::new();
            for node in layer {
                if near.insert(node) {
                    self.forth(node, &mut hops)?;
                    next.extend(hops.iter().map(|hop| hop.to).filter(|to| !near.contains(to)));
                }
            }
            if next.is_empty() {
                break;
            }
            self.context.control.charge((size_of::<u32>() + NUMBER_ENTRY_BYTES) * next.len())?;
            layer = next;
        }
        Ok(near)
    }

    /// Reads the edges that lead from a node on; of two to the same node the last field's counts.
    pub(super) fn forth(&mut self, node: u32, hops: &mut Vec<Hop>) -> Result<()> {
        hops.clear();
        if let Some(existing) = self.existing.get(&node) {
            hops.extend_from_slice(existing);
            return self.pace(hops.len());
        }
        for way in &mut self.ways {
            way.forth(self.context, node, hops)?;
        }
        self.keep_last_field(hops);
        if !self.ways.iter().all(|way| way.is_direct) {
            self.context.control.charge(VALUE_ENTRY_BYTES + size_of_val(hops.as_slice()))?;
            self.existing.insert(node, Arc::new(hops.clone()));
        }
        self.pace(hops.len())
    }

    /// Reads the incoming edges of a node, as [`PathEdges::forth`] would read them at their other
    /// ends. Only where [`PathEdges::can_go_back`] has said so. An edge whose weight is a facet
    /// costs a search in the edges of its start.
    pub(super) fn back(&mut self, node: u32, hops: &mut Vec<Hop>) -> Result<()> {
        hops.clear();
        for way in &mut self.ways {
            way.back(self.context, node, hops)?;
        }
        self.keep_last_field(hops);
        self.pace(hops.len())
    }

    fn keep_last_field(&self, hops: &mut Vec<Hop>) {
        if 1 < self.ways.len() {
            // Of edges to one node the one of the last field comes first, and is the one that
            // stays.
            hops.sort_unstable_by_key(|hop| (hop.to, Reverse(hop.field)));
            hops.dedup_by_key(|hop| hop.to);
        }
    }

    fn pace(&mut self, edges: usize) -> Result<()> {
        self.unchecked += edges + 1;
        if self.unchecked < EDGES_A_CHECK {
            return Ok(());
        }
        self.unchecked = 0;
        self.context.check()
    }
}

impl Way<'_> {
    fn forth(&mut self, context: &Context<'_>, node: u32, hops: &mut Vec<Hop>) -> Result<()> {
        let (start, field) = (hops.len(), self.number);
        if !self.is_direct {
            let (_, targets) = context.walk(&[node], &self.walk, self.walk.field.page)?;
            hops.extend(targets.iter().filter_map(|&to| self.hop(node, to)));
            return Ok(());
        }
        // Facets are stored with the forward edges, so only in that direction they are read in a
        // row.
        if let Weights::Facet(numbers) = &self.weights
            && !self.walk.reverse
        {
            numbers.leaving(node, |to, weight| hops.push(Hop { to, field, weight }));
        } else {
            let targets = self.walk.edges.targets(node);
            hops.extend(targets.iter().filter_map(|&to| self.hop(node, to)));
        }
        self.keep_passing_facets(context, start, hops, |hop| (node, hop.to))?;
        self.retain_passing(context, start, hops)
    }

    fn back(&mut self, context: &Context<'_>, node: u32, hops: &mut Vec<Hop>) -> Result<()> {
        let (start, field) = (hops.len(), self.number);
        // A filter is about the target of an edge: going back that is this node, for all of its
        // edges.
        if let Some(filter) = &self.walk.field.filter {
            ask(context, filter, &[node], &mut self.passed)?;
            if !self.passed.get(&node).copied().unwrap_or(false) {
                return Ok(());
            }
        }
        if let Weights::Facet(numbers) = &self.weights
            && self.walk.reverse
        {
            numbers.leaving(node, |to, weight| hops.push(Hop { to, field, weight }));
        } else {
            self.back.each(node, |from| {
                hops.extend(self.hop(from, node).map(|hop| Hop { to: from, ..hop }));
            });
        }
        self.keep_passing_facets(context, start, hops, |hop| (hop.to, node))
    }

    /// The edge from one node to another, if it has a weight.
    fn hop(&self, from: u32, to: u32) -> Option<Hop> {
        let weight = match &self.weights {
            Weights::One => 1.0,
            Weights::Facet(numbers) if self.walk.reverse => numbers.of(to, from)?,
            Weights::Facet(numbers) => numbers.of(from, to)?,
        };
        Some(Hop { to, field: self.number, weight })
    }

    /// Drops the edges from `start` on whose facets do not pass.
    fn keep_passing_facets(
        &self,
        context: &Context<'_>,
        start: usize,
        hops: &mut Vec<Hop>,
        ends: impl Fn(&Hop) -> (u32, u32),
    ) -> Result<()> {
        let Some(filter) = &self.walk.field.facet_filter else { return Ok(()) };
        let facets = EdgeFacets::new(self.walk.predicate, self.walk.reverse);
        let mut retained = start;
        for position in start..hops.len() {
            let (from, to) = ends(&hops[position]);
            let facet = |key: &str| facets.and_then(|facets| facets.get(from, to, key));
            if context.facets_pass(filter, &facet)? {
                // Those that are retained stay in their order; what is swapped after them is cut
                // off.
                hops.swap(retained, position);
                retained += 1;
            }
        }
        hops.truncate(retained);
        Ok(())
    }

    /// Drops the edges from `start` on whose targets do not pass the filter.
    fn retain_passing(
        &mut self,
        context: &Context<'_>,
        start: usize,
        hops: &mut Vec<Hop>,
    ) -> Result<()> {
        let Some(filter) = &self.walk.field.filter else { return Ok(()) };
        let targets: Vec<u32> = hops[start..].iter().map(|hop| hop.to).collect();
        ask(context, filter, &targets, &mut self.passed)?;
        let mut position = 0;
        hops.retain(|hop| {
            position += 1;
            position <= start || self.passed.get(&hop.to).copied().unwrap_or(false)
        });
        Ok(())
    }
}

/// Tests which nodes pass a filter, of those that were not tested before.
fn ask<'f>(
    context: &Context<'f>,
    filter: &'f hexgraph_base::plan::Filter,
    nodes: &[u32],
    passed: &mut FxHashMap<u32, bool>,
) -> Result<()> {
    let unknown: Vec<u32> =
        nodes.iter().copied().filter(|node| !passed.contains_key(node)).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    context.control.charge(NUMBER_ENTRY_BYTES * unknown.len())?;
    // First as if none passed, since the set has only those that do.
    passed.extend(unknown.iter().map(|&node| (node, false)));
    let set = context.filter(filter, NodeSet::from(distinct(&unknown)))?;
    passed.extend(set.iter().map(|node| (node, true)));
    Ok(())
}

impl Context<'_> {
    /// The fields of a block that are edges, by number.
    pub(super) fn edge_fields<'s>(&'s self, block: &'s Block) -> Result<Vec<(usize, Walk<'s>)>> {
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
}

/// The facet that is the weight of a field's edges.
pub(super) fn weight_facet(field: &Field) -> Result<Option<&str>> {
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
