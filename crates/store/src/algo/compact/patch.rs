//! Patches the compact graph of an earlier version: what commits changed since is read from the
//! changes of the predicates, and only the rows of nodes whose edges changed are written again.

use super::graph::Graph;
use super::numbering::Numbering;
use super::rows::Rows;
use super::source::Source;
use crate::algo::requested::Requested;
use crate::algo::task::Task;
use crate::graph::Direction as Edges;
use hexgraph_base::plan::Direction;
use hexgraph_base::types::Result;
use imbl::OrdMap;
use imbl::ordmap::DiffItem;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The most edges that may have changed: beyond them a graph is made anew.
const PAIRS_MAX: usize = 1 << 17;

/// The replacing rows may have one in so many of all edges; and at least so many.
const OVERLAY_RATIO: usize = 8;
const OVERLAY_MIN: usize = 1 << 16;

/// What edges between nodes are now, by the number of the node that they leave: their targets,
/// ascending, and weights; `None` for none any more.
type Updates = BTreeMap<u32, BTreeMap<u32, Option<f64>>>;

/// The graph that is requested, of one that was made of the same columns when their changes were
/// `before`: O(nodes + edges of nodes that changed). `None` where it has to be made anew: too much
/// has changed, or nodes went, or came between others.
///
/// # Errors
///
/// As `make`.
pub(in crate::algo) fn patch(
    old: &Graph,
    before: &[Edges],
    expected: &Requested<'_>,
    task: &Task<'_>,
) -> Result<Option<Graph>> {
    let sources = expected.parts.iter().map(Source::new).collect::<Result<Vec<_>>>()?;
    let Some(pairs) = changed_pairs(&sources, before) else { return Ok(None) };
    let patch = Patch { expected, sources: &sources };
    let mut now: BTreeMap<(u32, u32), Option<f64>> = BTreeMap::new();
    for &(from, to) in &pairs {
        let weight = patch.weight(from, to)?;
        now.insert((from, to), weight);
        // Without a direction the weights of both directions are added, so the unchanged direction
        // is read, too.
        if expected.direction == Direction::Both && from != to {
            now.insert((to, from), patch.weight(to, from)?);
        }
    }
    let Some(numbering) = numbering(old, expected, &now) else { return Ok(None) };
    let updates = updates(&numbering, expected.direction, &now);
    let mut weights = updates.values().flat_map(|row| row.values().flatten());
    if weights.any(|weight| weight.is_infinite()) {
        // Building the graph anew reports which edges those are.
        return Ok(None);
    }
    let Some(rows) = patched(old.outgoing(), &updates, numbering.nodes.len()) else {
        return Ok(None);
    };
    let transposed = match old.transposed_rows() {
        None => None,
        Some(transposed) => {
            let Some(rows) = patched(transposed, &inverted_round(&updates), numbering.nodes.len())
            else {
                return Ok(None);
            };
            Some(rows)
        }
    };
    let graph = Graph::with_inverted(numbering, rows, transposed, old.is_undirected());
    let is_same = expected.nodes.is_some() || !has_lost_nodes(&graph, &now, task)?;
    Ok(is_same.then_some(graph))
}

/// The edges, by their nodes in the direction of their part, that may not be what they were; `None`
/// for too many.
fn changed_pairs(sources: &[Source<'_>], before: &[Edges]) -> Option<BTreeSet<(u32, u32)>> {
    let mut pairs = BTreeSet::new();
    for (source, old) in sources.iter().zip(before) {
        let new = source.edges;
        for item in old.delta.rows.diff(&new.delta.rows) {
            let (node, was, is) = match item {
                DiffItem::Add(node, is) => (*node, None, Some(is)),
                DiffItem::Update { old: (node, was), new: (_, is) } => (*node, Some(was), Some(is)),
                DiffItem::Remove(node, was) => (*node, Some(was), None),
            };
            if !source.takes_row(node) {
                continue;
            }
            let (left, right) = (old.targets(node), new.targets(node));
            let mut changed: Vec<u32> = Vec::new();
            changed.extend(left.iter().filter(|to| right.binary_search(to).is_err()));
            changed.extend(right.iter().filter(|to| left.binary_search(to).is_err()));
            if source.numbers.is_some() {
                let none = OrdMap::new();
                let was = was.map_or(&none, |row| &row.added);
                let is = is.map_or(&none, |row| &row.added);
                changed.extend(was.diff(is).map(|item| match item {
                    DiffItem::Add(to, _) | DiffItem::Remove(to, _) => *to,
                    DiffItem::Update { new: (to, _), .. } => *to,
                }));
            }
            for to in changed.into_iter().filter(|to| source.takes_target(*to)) {
                pairs.insert(if source.part.reverse { (to, node) } else { (node, to) });
            }
            if PAIRS_MAX < pairs.len() {
                return None;
            }
        }
    }
    Some(pairs)
}

/// What is read for each edge that changed.
struct Patch<'p, 'w> {
    expected: &'p Requested<'w>,
    sources: &'p [Source<'p>],
}

impl Patch<'_, '_> {
    /// What an edge weighs in all parts together, which are added up as where a graph is made;
    /// `None` where no part has it.
    fn weight(&self, from: u32, to: u32) -> Result<Option<f64>> {
        // One for the parts in each direction, put together at the end: `make` adds
        // them up so, and sums of floats are the same bits only in the same order.
        let mut sums = [None, None];
        for source in self.sources {
            let is_transposed = source.part.reverse;
            let (one, other) = if is_transposed { (to, from) } else { (from, to) };
            let is_there = source.takes_row(one)
                && source.takes_target(other)
                && source.edges.contains(one, other);
            if !is_there {
                continue;
            }
            let number = source.numbers.as_ref().and_then(|numbers| numbers.of(one, other));
            let weight = source.weight((one, other), number, self.expected)?;
            let sum = &mut sums[usize::from(is_transposed)];
            *sum = Some(sum.map_or(weight, |before: f64| before + weight));
        }
        Ok(added(sums[0], sums[1]))
    }
}

fn added(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one + other),
        (one, other) => one.or(other),
    }
}

/// The numbers of the nodes: the old ones, and those of new nodes after them. `None` where a new
/// one comes before an old one.
fn numbering(
    old: &Graph,
    expected: &Requested<'_>,
    now: &BTreeMap<(u32, u32), Option<f64>>,
) -> Option<Arc<Numbering>> {
    let there = now.iter().filter(|(_, weight)| weight.is_some());
    let endpoints = there.flat_map(|((from, to), _)| [*from, *to]);
    let new: BTreeSet<u32> = match &expected.nodes {
        Some(_) => BTreeSet::new(),
        None => endpoints.filter(|node| old.number(*node).is_none()).collect(),
    };
    let Some(first) = new.first() else { return Some(Arc::clone(old.numbering())) };
    // Numbers ascend with node ids: one new node before the last old one would change the numbers
    // of those after it.
    if old.nodes().last().is_some_and(|last| first < last) {
        return None;
    }
    Some(Arc::new(Numbering::new(old.nodes().iter().copied().chain(new).collect())))
}

/// The changes of the graph's rows.
fn updates(
    numbering: &Numbering,
    direction: Direction,
    now: &BTreeMap<(u32, u32), Option<f64>>,
) -> Updates {
    let mut updates = Updates::new();
    for (&(from, to), &weight) in now {
        // An edge to a node that is not in the graph is none of its edges, nor is one that went
        // together with its node.
        let (Some(one), Some(other)) = (numbering.number(from), numbering.number(to)) else {
            continue;
        };
        let (one, other, weight) = match direction {
            Direction::Out => (one, other, weight),
            Direction::In => (other, one, weight),
            Direction::Both if one == other => (one, other, weight),
            Direction::Both => (one, other, added(weight, now.get(&(to, from)).copied().flatten())),
        };
        updates.entry(one).or_default().insert(other, weight);
    }
    updates
}

fn inverted_round(updates: &Updates) -> Updates {
    let mut transposed = Updates::new();
    for (from, row) in updates {
        row.iter().for_each(|(to, weight)| {
            transposed.entry(*to).or_default().insert(*from, *weight);
        });
    }
    transposed
}

/// Rows with the changes; `None` where so much has changed that they are better made anew.
fn patched(old: &Rows, updates: &Updates, nodes: usize) -> Option<Rows> {
    let is_weighted = old.is_weighted();
    let mut overlay = old.overlay().cloned().unwrap_or_default();
    let edges_max = (old.edges() / OVERLAY_RATIO).max(OVERLAY_MIN);
    let mut edges = old.edges();
    let is_new = |node: u32| old.nodes() <= node as usize;
    for (&node, changes) in updates {
        let mut row: BTreeMap<u32, f64> = BTreeMap::new();
        if !is_new(node) {
            row.extend(old.weighted(node));
        }
        edges -= row.len();
        for (&to, weight) in changes {
            match weight {
                Some(weight) => row.insert(to, *weight),
                None => row.remove(&to),
            };
        }
        edges += row.len();
        let row: Vec<(u32, f64)> = row.into_iter().collect();
        overlay.set(node, &row, is_weighted);
        // Rows that were replaced again count, too: their memory is not freed.
        if edges_max < overlay.edges() {
            return None;
        }
    }
    for node in old.nodes() as u32..nodes as u32 {
        if !updates.contains_key(&node) {
            // A new node needs a row, if only an empty one, since the rows below have none for it.
            overlay.set(node, &[], is_weighted);
        }
    }
    Some(old.with_overlay(overlay, nodes, edges))
}

/// Whether a node whose edge went has no edge any more: it is no node of the graph then.
fn has_lost_nodes(
    graph: &Graph,
    now: &BTreeMap<(u32, u32), Option<f64>>,
    task: &Task<'_>,
) -> Result<bool> {
    let gone = now.iter().filter(|(_, weight)| weight.is_none());
    let endpoints = gone.flat_map(|((from, to), _)| [*from, *to]);
    let suspects: BTreeSet<u32> = endpoints
        .filter_map(|node| graph.number(node))
        .filter(|node| graph.outgoing().degree(*node) == 0)
        .collect();
    if suspects.is_empty() || graph.is_undirected() {
        return Ok(!suspects.is_empty());
    }
    if let Some(transposed) = graph.transposed_rows() {
        return Ok(suspects.iter().any(|node| transposed.degree(*node) == 0));
    }
    // Only all edges show whether anything has them as targets.
    let mut is_suspect = vec![false; graph.len()];
    suspects.iter().for_each(|node| is_suspect[*node as usize] = true);
    let rows = graph.outgoing();
    let met = task.blocks(rows.blocks().len(), |number| {
        let targets = rows.block(number).flat_map(|node| rows.of(node).iter().copied());
        Ok(targets.filter(|to| is_suspect[*to as usize]).collect::<Vec<u32>>())
    })?;
    let met: BTreeSet<u32> = met.into_iter().flatten().collect();
    Ok(suspects.iter().any(|node| !met.contains(node)))
}
