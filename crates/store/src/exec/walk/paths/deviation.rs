//! The lightest path that starts with a given root path and continues with a new edge (a
//! deviation): one step of [`super::several`].
//!
//! The search from the last node of the beginning is A* (Hart, Nilsson and Raphael, 1968): nodes
//! are taken by their weight and a bound of what is left to the end. The bound is the result of a
//! search from the end for the nodes that it has closed, and its current weight for the others;
//! without one it is 0. It holds with the nodes of the beginning left out, too, since that makes
//! nothing lighter.
//!
//! A first search computes the weight of the path. A second one, which looks no further than that,
//! notes each edge that may be on a path of that weight ([`Steps`]), and the order among equals
//! chooses ([`super::ties`]).

use super::front::REACHED_BYTES;
use super::front::{Front, Meter, NodeIndexes};
use super::lightest::{slack_of, step_back};
use super::ordered::compared_by_ord;
use super::path_edges::{Hop, PathEdges};
use super::ties::{Spot, Steps, Tie};
use hexgraph_base::types::Result;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// How many times the weight of a path the limit of a search may be whose notes are taken. Edges
/// are noted that miss the least weight by a part of the limit, so a high one has many noted in
/// vain.
const LIMIT_RATIO: f64 = 4.0;

/// The weights of what is left to the end, as far as they are computed.
pub(super) struct Rest<'c> {
    to: u32,
    /// The search from the end; `None` where edges can't be read back.
    behind: Option<Front<'c>>,
    hops: Vec<Hop>,
}

impl<'c> Rest<'c> {
    pub(super) fn new(to: u32, behind: Option<Front<'c>>) -> Rest<'c> {
        Rest { to, behind, hops: Vec::new() }
    }

    /// Goes on from the end until that has cost as much as the searches from the start so far.
    fn retain_up(&mut self, edges: &mut PathEdges<'c>, cost: usize) -> Result<()> {
        if self.behind.is_none() && edges.can_go_back(cost)? {
            self.behind = Some(Front::new(edges.context().control, self.to));
        }
        if let Some(behind) = &mut self.behind {
            while behind.cost < cost && behind.least().is_some() {
                step_back(edges, behind, &mut self.hops, |_, _| {})?;
            }
        }
        Ok(())
    }

    /// A bound below what is left from a node; `None` when no path leads on from it.
    fn of(&self, node: u32) -> Option<f64> {
        match &self.behind {
            None => Some(0.0),
            Some(behind) => behind.clean(node).or_else(|| behind.least()),
        }
    }
}

/// What a path has to begin with: the nodes, the last of them being the spur node, the weight of
/// the path to it, and the nodes to which the deviation must not go.
#[derive(Clone, Copy)]
pub(super) struct Start<'n> {
    pub(super) nodes: &'n [u32],
    pub(super) weight: f64,
    pub(super) banned: &'n [u32],
}

/// The heaviest path that is requested.
#[derive(Clone, Copy)]
pub(super) struct Most {
    /// The weight up to which paths are looked for now, itself included.
    pub(super) existing: f64,
    /// The weight that none may have more than.
    pub(super) requested: f64,
}

/// A node on the heap of a search; the least `bound` comes first, then the greatest weight: it is
/// the nearest to the end.
struct Open {
    bound: f64,
    weight: f64,
    position: u32,
}

compared_by_ord!(Open);

impl Ord for Open {
    fn cmp(&self, other: &Open) -> Ordering {
        other.bound.total_cmp(&self.bound).then(self.weight.total_cmp(&other.weight))
    }
}

/// The result of a search.
pub(super) enum Deviation {
    /// No path.
    Nothing,
    /// No path within the limit; there may be heavier ones.
    Beyond,
    /// The first of the lightest paths.
    Path(Tie),
    /// Several paths of the least weight, and the order of edges does not determine which is first.
    Undecided,
}

/// The searches of one request.
pub(super) struct Deviations<'c> {
    pub(super) rest: Rest<'c>,
    /// The part of a weight by which sums may differ.
    slack: f64,
    /// The edges that were read so far.
    cost: usize,
}

/// One search.
struct Search<'c> {
    positions: NodeIndexes,
    spots: Vec<Spot>,
    heap: BinaryHeap<Open>,
    meter: Meter<'c>,
    /// Whether something was left out for its weight.
    is_cut: bool,
}

impl<'c> Deviations<'c> {
    /// Searches that follow upon one which has read `cost` edges.
    pub(super) fn new(rest: Rest<'c>, nodes_max: usize, cost: usize) -> Deviations<'c> {
        Deviations { rest, slack: slack_of(nodes_max), cost }
    }

    /// A lower bound of the weight of paths that begin at `start`; `None` if there are none. `has`
    /// tests for nodes of the root path. O(edges of its last node).
    pub(super) fn bound(
        &mut self,
        edges: &mut PathEdges<'c>,
        start: Start<'_>,
        has: impl Fn(u32) -> bool,
    ) -> Result<Option<f64>> {
        let Some((&node, before)) = start.nodes.split_last() else { return Ok(None) };
        if !edges.leaves(node, before.len())? {
            return Ok(None);
        }
        let mut hops = Vec::new();
        edges.forth(node, &mut hops)?;
        self.cost += 1 + hops.len();
        let onward = hops.iter().filter(|hop| !start.banned.contains(&hop.to) && !has(hop.to));
        let full = onward.filter_map(|hop| Some(start.weight + hop.weight + self.rest.of(hop.to)?));
        // What is left was added up in another order than a path is.
        Ok(full.reduce(f64::min).map(|least| least * (1.0 - 2.0 * self.slack)))
    }

    /// The first of the lightest paths to `to` that begin at `start`, from its last node on, with
    /// the weight of the entire path at each of its nodes.
    pub(super) fn find(
        &mut self,
        edges: &mut PathEdges<'c>,
        start: Start<'_>,
        to: u32,
        most: Most,
    ) -> Result<Deviation> {
        self.rest.retain_up(edges, self.cost)?;
        let mut limit = self.widened(most.existing.min(most.requested));
        let mut is_last = false;
        loop {
            let mut steps = Steps::new(self.slack * limit);
            let notes = (is_last || limit.is_finite()).then_some(&mut steps);
            let is_noted = notes.is_some();
            let mut search = Search::new(edges, start)?;
            let Some((end, weight)) = search.run(self, edges, start, to, limit, notes)? else {
                return Ok(if search.is_cut { Deviation::Beyond } else { Deviation::Nothing });
            };
            if most.requested < weight {
                return Ok(Deviation::Beyond);
            }
            if is_last || is_noted && limit <= LIMIT_RATIO * weight {
                let path = steps.first_path(edges.context().control, &search.spots, end)?;
                return Ok(path.map_or(Deviation::Undecided, Deviation::Path));
            }
            is_last = true;
            limit = self.widened(weight);
        }
    }

    /// What a sum in another order may be instead of a weight.
    fn widened(&self, weight: f64) -> f64 {
        weight + weight * self.slack
    }
}

impl<'c> Search<'c> {
    /// A search from the last node of a root path, whose other nodes no path visits again.
    fn new(edges: &PathEdges<'c>, start: Start<'_>) -> Result<Search<'c>> {
        let (&node, before) = start.nodes.split_last().expect("a path begins with its start");
        let hops = before.len() as u32;
        let mut spots = vec![Spot { node, hops, weight: start.weight }];
        // These weights are not compared with any: the search leaves out edges to them.
        spots.extend(before.iter().map(|&node| Spot { node, hops: 0, weight: f64::NEG_INFINITY }));
        let (mut positions, mut meter) = (NodeIndexes::new(), Meter::new(edges.context().control));
        for (spot, position) in spots.iter().zip(0..) {
            positions.get_or_put(spot.node, position, &mut meter)?;
        }
        Ok(Search { positions, spots, heap: BinaryHeap::new(), meter, is_cut: false })
    }

    /// Searches as far as `limit`. The position of the end, and its weight.
    fn run(
        &mut self,
        deviations: &mut Deviations<'c>,
        edges: &mut PathEdges<'c>,
        start: Start<'_>,
        to: u32,
        mut limit: f64,
        mut notes: Option<&mut Steps>,
    ) -> Result<Option<(u32, f64)>> {
        let Some(bound) = deviations.rest.of(self.spots[0].node) else { return Ok(None) };
        self.meter.take(REACHED_BYTES * start.nodes.len())?;
        self.heap.push(Open { bound: start.weight + bound, weight: start.weight, position: 0 });
        let mut result = None;
        let mut hops = Vec::new();
        while let Some(open) = self.heap.pop() {
            if limit < open.bound {
                self.is_cut = true;
                break;
            }
            let spot = self.spots[open.position as usize];
            // A node is on the heap once for each time that it became lighter; only its last entry
            // counts.
            if spot.weight < open.weight {
                continue;
            }
            if spot.node == to {
                result = Some((open.position, spot.weight));
                // It goes on, since edges of other paths of the same weight are still to be noted.
                limit = limit.min(deviations.widened(spot.weight));
                continue;
            }
            if !edges.leaves(spot.node, spot.hops as usize)? {
                continue;
            }
            edges.forth(spot.node, &mut hops)?;
            deviations.cost += 1 + hops.len();
            for hop in &hops {
                // An edge from a node to itself is on no path; noted, it would be a second path to
                // the node.
                let is_banned = open.position == 0 && start.banned.contains(&hop.to);
                if is_banned || hop.to == spot.node {
                    continue;
                }
                let weight = spot.weight + hop.weight;
                let Some(rest) = deviations.rest.of(hop.to) else { continue };
                // Written so that a weight that is no number is left out, too.
                let is_light = weight + rest <= limit;
                if !is_light {
                    self.is_cut = true;
                    continue;
                }
                // The root path is not visited again.
                let (position, is_new) = self.position_of(hop.to)?;
                if start.nodes.len() <= position as usize {
                    self.reach(open.position, (position, is_new), hop, rest, &mut notes)?;
                }
            }
        }
        Ok(result)
    }

    /// The position of a node, and whether it is new.
    fn position_of(&mut self, node: u32) -> Result<(u32, bool)> {
        let next = self.spots.len() as u32;
        let position = self.positions.get_or_put(node, next, &mut self.meter)?;
        if position == next {
            self.spots.push(Spot { node, hops: 0, weight: f64::INFINITY });
        }
        Ok((position, position == next))
    }

    /// Visits a position, which may be new, by an edge from another one.
    fn reach(
        &mut self,
        from: u32,
        (to, is_new): (u32, bool),
        hop: &Hop,
        rest: f64,
        notes: &mut Option<&mut Steps>,
    ) -> Result<()> {
        let Spot { hops, weight: before, .. } = self.spots[from as usize];
        let (weight, existing) = (before + hop.weight, &mut self.spots[to as usize]);
        if let Some(steps) = notes
            && steps.note(from, to, hop, before, existing.weight)
        {
            self.meter.take(REACHED_BYTES)?;
        }
        if weight < existing.weight || is_new {
            (existing.weight, existing.hops) = (weight, hops + 1);
            self.meter.take(REACHED_BYTES)?;
            self.heap.push(Open { bound: weight + rest, weight, position: to });
        }
        Ok(())
    }
}
