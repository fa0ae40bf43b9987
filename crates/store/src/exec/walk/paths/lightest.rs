//! The one path of least weight.
//!
//! Dijkstra's algorithm from the start decides which of several equal paths it is: the one whose
//! every node was reached first by the node before it, where nodes are taken by weight, then by the
//! most edges, then by number.
//!
//! Where all edges can be read back, once that is worth while, and none weighs less than 0, a
//! second search runs from the end, and whichever side has read less goes on (Pohl, "Bi-directional
//! search", 1971). Once no path through nodes that neither side is done with can be as light as the
//! best so far, the search from the start goes on alone, and only to nodes from which the end is as
//! near as that best path demands. All nodes before a node on equal paths are among them, so what
//! is taken, and in which order, is what the search from the start alone would take of them.
//!
//! Sums from the end are rounded otherwise than sums from the start, so bounds have a slack of more
//! than both errors: [`slack_of`]. Cost: O((edges read) · log) on each side, where an edge that is
//! read back costs a search in the edges of its start; on a random graph each side reads about the
//! square root of what one side would read.

use super::front::{Front, Reached};
use super::path_edges::{Hop, PathEdges};
use crate::exec::control::tree::Path;
use crate::exec::cost;
use hexgraph_base::types::Result;

/// The cost of reading an edge in reverse, in reads of an edge in place.
pub(super) const BACK_COST: usize = cost::FETCH.per(cost::LIST);

/// The edges that are read from the start before a search from the end begins. Most searches for
/// short paths are over by then.
const EDGES_BEFORE_BACK: usize = 512;

/// One in how many unread weights a search from the start reads before reading them all pays, which
/// shows whether one is below 0: an edge of a search costs about as much as 64 numbers in a row.
const WEIGHTS_AN_EDGE: usize = cost::SORT.per(cost::ROW);

/// The lightest path, and the search from the end, if there was one.
pub(super) struct Lightest<'c> {
    pub(super) path: Option<Path>,
    pub(super) behind: Option<Front<'c>>,
    /// The edges that were read from the start.
    pub(super) cost: usize,
}

/// The part by which two sums of the same weights in another order may differ, on paths of at most
/// `nodes` nodes, and as much again: each of `nodes` additions errs by half of [`f64::EPSILON`], in
/// both sums.
pub(super) fn slack_of(nodes: usize) -> f64 {
    4.0 * f64::EPSILON * nodes as f64
}

/// Returns the path of least weight between two different nodes.
pub(super) fn lightest<'c>(edges: &mut PathEdges<'c>, from: u32, to: u32) -> Result<Lightest<'c>> {
    let control = edges.context().control;
    let mut hops = Vec::new();
    let mut ahead = Front::new(control, from);
    let mut behind: Option<Front<'c>> = None;
    let mut may_go_back = edges.may_go_back();
    let slack = slack_of(edges.nodes_max());
    // The least weight of a path that was seen.
    let mut best = f64::INFINITY;
    loop {
        let begin = EDGES_BEFORE_BACK.max(edges.unread() / WEIGHTS_AN_EDGE);
        if may_go_back && behind.is_none() && begin <= ahead.cost {
            may_go_back = !edges.has_negative()?;
            if may_go_back && edges.can_go_back(ahead.cost)? {
                behind = Some(Front::new(control, to));
                // The search from the start may have visited the end already, by a path that need
                // not be the lightest.
                best = ahead.label(to).map_or(f64::INFINITY, |label| label.weight);
            }
        }
        let Some(least) = ahead.least() else {
            return Ok(Lightest { path: None, behind, cost: ahead.cost });
        };
        if let Some(behind) = &mut behind {
            // As long as no path was seen `best` is infinite, and nothing is more than that.
            let is_met = behind.least().is_none_or(|other| best + best * slack < least + other);
            if is_met {
                break;
            }
            if behind.cost < ahead.cost {
                step_back(edges, behind, &mut hops, |node, weight| {
                    if let Some(label) = ahead.label(node) {
                        best = best.min(label.weight + weight);
                    }
                })?;
                continue;
            }
        }
        let Some(reached) = ahead.pop() else { continue };
        if reached.node == to {
            let path = Some(trace(&ahead, &reached));
            return Ok(Lightest { path, behind, cost: ahead.cost });
        }
        step(edges, &mut ahead, &reached, &mut hops, |_, _| true)?;
        if let Some(behind) = &behind {
            // Those that just became lighter, and some that did not, which does no harm.
            for hop in &hops {
                if let Some(label) = behind.label(hop.to) {
                    best = best.min(reached.weight + hop.weight + label.weight);
                }
            }
        }
    }
    let (limit, cost) = (best + best * slack, ahead.cost);
    let path = match &behind {
        Some(behind) => finish(edges, ahead, behind, limit, to)?,
        None => None,
    };
    Ok(Lightest { path, behind, cost })
}

/// Goes on from the start alone, to nodes that the search from the end is done with and that are
/// near enough to it.
fn finish(
    edges: &mut PathEdges<'_>,
    mut ahead: Front<'_>,
    behind: &Front<'_>,
    limit: f64,
    to: u32,
) -> Result<Option<Path>> {
    let is_near = |node, weight: f64| {
        behind.clean(node).is_some_and(|rest| weight + rest <= limit) || node == to
    };
    ahead.heap.retain(|reached| is_near(reached.node, reached.weight));
    let mut hops = Vec::new();
    while let Some(reached) = ahead.pop() {
        if reached.node == to {
            return Ok(Some(trace(&ahead, &reached)));
        }
        step(edges, &mut ahead, &reached, &mut hops, is_near)?;
    }
    Ok(None)
}

/// Follows the edges of a node that was taken, to the nodes that `expects` them with their weight.
fn step(
    edges: &mut PathEdges<'_>,
    front: &mut Front<'_>,
    reached: &Reached,
    hops: &mut Vec<Hop>,
    expects: impl Fn(u32, f64) -> bool,
) -> Result<()> {
    hops.clear();
    if !edges.leaves(reached.node, reached.hops as usize)? {
        return Ok(());
    }
    edges.forth(reached.node, hops)?;
    front.cost += 1 + hops.len();
    for hop in hops.iter() {
        if expects(hop.to, reached.weight + hop.weight) {
            front.reach(reached, hop)?;
        }
    }
    Ok(())
}

/// Takes the lightest node of a search from the end and follows its edges back. `result` gets the
/// nodes that became lighter.
pub(super) fn step_back(
    edges: &mut PathEdges<'_>,
    front: &mut Front<'_>,
    hops: &mut Vec<Hop>,
    mut result: impl FnMut(u32, f64),
) -> Result<()> {
    let Some(reached) = front.pop() else { return Ok(()) };
    edges.back(reached.node, hops)?;
    front.cost += BACK_COST * (1 + hops.len());
    for hop in hops.iter() {
        if let Some(weight) = front.reach(&reached, hop)? {
            result(hop.to, weight);
        }
    }
    Ok(())
}

/// The path to a node that a search from the start has taken.
fn trace(front: &Front<'_>, end: &Reached) -> Path {
    let (mut nodes, mut hops) = (vec![end.node], Vec::new());
    let mut position = end.position;
    while position != 0 {
        let label = &front.labels[position as usize];
        hops.push(label.field as usize);
        position = label.before;
        nodes.push(front.labels[position as usize].node);
    }
    nodes.reverse();
    hops.reverse();
    Path { nodes, hops, weight: end.weight }
}
