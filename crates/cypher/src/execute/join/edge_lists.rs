//! The lists of an edge of a pattern, as seen from one of its endpoints.

use super::candidates::{CHECKED_NODES, Lookup, Reserved, collect, is_dense, span_of};
use super::functions::{FunctionTable, Key};
use crate::execute::adjacency::{Adjacency, Lists};
use crate::execute::plan::{Edge, VarIndex};
use crate::execute::run::VisitedNodes;
use hexgraph_base::types::Result;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::sync::Arc;

/// A list is read in about so many nanoseconds, and an entry of it merged. Estimates: a miss of the
/// caches, and some instructions.
const LIST_NANOS: usize = 20;
const ENTRY_NANOS: f64 = 5.0;

/// A part of the lists of an edge: one type, in one direction.
#[derive(Clone, Copy)]
pub(super) struct Part<'g> {
    /// From the requested endpoint; `None` where only the other direction is stored.
    pub(super) lists: Option<&'g dyn Lists>,
    /// To the requested endpoint.
    pub(super) inverse: Option<&'g dyn Lists>,
    /// Whether a relationship from a node to itself is in another part.
    pub(super) skips_loops: bool,
}

/// The parts of an edge from the endpoint `variable`.
pub(super) fn parts_of<'g>(
    edge: &Edge,
    variable: VarIndex,
    graph: &'g dyn Adjacency,
) -> Vec<Part<'g>> {
    let mut parts = Vec::new();
    for &type_id in edge.types.iter() {
        for (inverse, used) in [(false, edge.from == variable), (true, edge.from != variable)] {
            if used || edge.either {
                parts.push(Part {
                    lists: graph.lists(type_id, inverse),
                    inverse: graph.lists(type_id, !inverse),
                    skips_loops: edge.either && inverse,
                });
            }
        }
    }
    parts
}

impl Part<'_> {
    /// How long a list is on average.
    pub(super) fn mean_length(&self) -> f64 {
        // Of lists that are stored in the other direction only, about as many nodes have one.
        let lists = self.lists.or(self.inverse);
        lists.map_or(0.0, |lists| lists.total() as f64 / lists.count().max(1) as f64)
    }

    /// About how many nodes have a list.
    pub(super) fn count(&self) -> usize {
        self.lists.or(self.inverse).map_or(0, Lists::count)
    }
}

/// The nodes that have a list in one of the parts, in ascending order.
pub(super) fn nodes_of(parts: &[Part<'_>], graph: &dyn Adjacency) -> Result<Vec<u32>> {
    let length = |part: &Part<'_>| match (part.lists, part.inverse) {
        (None, Some(inverse)) => inverse.total() as usize,
        _ => part.count(),
    };
    let _reserved =
        Reserved::new(graph, parts.iter().map(length).sum::<usize>() * size_of::<u32>())?;
    if let [Part { lists: Some(lists), .. }] = parts {
        return Ok(lists.nodes());
    }
    // Several parts, and the lists of many nodes, repeat their nodes.
    let mut nodes = VisitedNodes::default();
    for part in parts {
        graph.check()?;
        match (part.lists, part.inverse) {
            (Some(lists), _) => nodes.extend(&lists.nodes()),
            (None, Some(inverse)) => {
                for from in inverse.nodes().chunks(CHECKED_NODES) {
                    graph.check()?;
                    inverse.each(from, &mut |_, list| nodes.extend(list));
                }
            }
            (None, None) => {}
        }
    }
    Ok(nodes.into_sorted())
}

/// Lists that are sorted; a node comes as often as there are relationships.
pub(super) enum EdgeLists<'g> {
    Stored(&'g dyn Lists),
    Built(BuiltLists),
    Function(Arc<FunctionTable>),
}

/// Lists of several parts as one, of nodes that may match.
pub(super) struct BuiltLists {
    positions: Positions,
    /// Where the list of each position begins in `targets`, and after them the end.
    offsets: Vec<usize>,
    targets: Vec<u32>,
}

/// From a node to its position.
enum Positions {
    Table { start: u32, positions: Vec<u32> },
    Hashed(FxHashMap<u32, u32>),
}

impl Positions {
    fn new(nodes: &[u32]) -> Positions {
        let (start, span) = span_of(nodes);
        if !is_dense(4 * span, nodes.len()) {
            return Positions::Hashed((0..).zip(nodes).map(|(at, node)| (*node, at)).collect());
        }
        let mut positions = vec![u32::MAX; span];
        for (at, node) in (0..).zip(nodes) {
            positions[(node - start) as usize] = at;
        }
        Positions::Table { start, positions }
    }

    fn get(&self, node: u32) -> Option<usize> {
        let position = match self {
            Positions::Table { start, positions } => {
                positions.get(node.wrapping_sub(*start) as usize)
            }
            Positions::Hashed(map) => map.get(&node),
        };
        position.filter(|it| **it != u32::MAX).map(|it| *it as usize)
    }
}

impl<'g> EdgeLists<'g> {
    /// The lists of an edge from the endpoint `variable`: those of one type are read where they are
    /// stored. Others are built, without nodes that cannot match.
    pub(super) fn new(
        edge: &Edge,
        variable: VarIndex,
        (from, to): (&Lookup, &Lookup),
        keys: &[Key],
        graph: &'g dyn Adjacency,
        reserved: &mut Reserved<'_>,
    ) -> Result<EdgeLists<'g>> {
        let parts = parts_of(edge, variable, graph);
        let keys: Vec<(&FunctionTable, &FunctionTable)> =
            keys.iter().filter_map(|it| it.between(variable, edge.other(variable))).collect();
        if let [Part { lists: Some(lists), skips_loops: false, .. }] = parts[..]
            && keys.is_empty()
        {
            return Ok(EdgeLists::Stored(lists));
        }
        let mut nodes = nodes_of(&parts, graph)?;
        nodes.retain(|node| from.get(*node) != 0);
        reserved.grow(nodes.len() * 24)?;
        let passes = |node: u32, target: u32| {
            to.get(target) != 0
                && keys.iter().all(|(one, other)| one.get(node) == other.get(target))
        };
        let (offsets, targets) = match parts.iter().all(|it| it.lists.is_some()) {
            true => merged(&parts, &nodes, &passes, graph, reserved)?,
            false => inverted(&parts, &nodes, &passes, graph, reserved)?,
        };
        Ok(EdgeLists::Built(BuiltLists { positions: Positions::new(&nodes), offsets, targets }))
    }

    /// The lists of a function from its values.
    pub(super) fn inverse(
        table: &FunctionTable,
        reserved: &mut Reserved<'_>,
    ) -> Result<EdgeLists<'g>> {
        reserved.grow(table.len() * 36)?;
        let pairs = table.inverse_pairs();
        let (mut nodes, mut offsets) = (Vec::new(), Vec::new());
        for (at, (node, _)) in pairs.iter().enumerate() {
            if nodes.last() != Some(node) {
                nodes.push(*node);
                offsets.push(at);
            }
        }
        offsets.push(pairs.len());
        let targets = pairs.into_iter().map(|(_, target)| target).collect();
        Ok(EdgeLists::Built(BuiltLists { positions: Positions::new(&nodes), offsets, targets }))
    }

    #[inline]
    pub(super) fn list(&self, node: u32) -> Cow<'_, [u32]> {
        match self {
            EdgeLists::Stored(lists) => lists.list(node),
            EdgeLists::Built(built) => Cow::Borrowed(match built.positions.get(node) {
                Some(at) => &built.targets[built.offsets[at]..built.offsets[at + 1]],
                None => &[],
            }),
            EdgeLists::Function(table) => Cow::Borrowed(table.list(node)),
        }
    }

    /// How long a list is on average.
    pub(super) fn mean_length(&self) -> f64 {
        let (total, count) = match self {
            EdgeLists::Stored(lists) => (lists.total() as f64, lists.count()),
            EdgeLists::Built(built) => (built.targets.len() as f64, built.offsets.len() - 1),
            EdgeLists::Function(_) => (1.0, 1),
        };
        total / count.max(1) as f64
    }
}

/// Where the lists of nodes begin, and after them the end; and their targets.
type Rows = (Vec<usize>, Vec<u32>);

/// Lists that are stored from the nodes: those of all parts are merged.
fn merged<'g>(
    parts: &[Part<'g>],
    nodes: &[u32],
    passes: &(dyn Fn(u32, u32) -> bool + Sync),
    graph: &'g dyn Adjacency,
    reserved: &mut Reserved<'_>,
) -> Result<Rows> {
    let mean: f64 = parts.iter().map(Part::mean_length).sum();
    let chunks =
        collect(graph, nodes.len(), LIST_NANOS + (mean * ENTRY_NANOS) as usize, |range| {
            let (mut lens, mut targets) = (Vec::with_capacity(range.len()), Vec::new());
            let mut reserved = Reserved::new(graph, 0)?;
            for nodes in nodes[range].chunks(CHECKED_NODES) {
                graph.check()?;
                let before = targets.len();
                merge_chunk(parts, nodes, passes, &mut lens, &mut targets);
                reserved.grow((targets.len() - before) * size_of::<u32>())?;
            }
            Ok((lens, targets, reserved))
        })?;
    let total = chunks.iter().map(|it| it.1.len()).sum();
    reserved.grow(total * size_of::<u32>())?;
    let (mut offsets, mut targets) = (vec![0], Vec::with_capacity(total));
    for (lens, of_chunk, _) in chunks {
        offsets.extend(lens.iter().scan(targets.len(), |end, len| {
            *end += *len as usize;
            Some(*end)
        }));
        targets.extend(of_chunk);
    }
    Ok((offsets, targets))
}

/// Appends the lists of some nodes and their lengths.
fn merge_chunk(
    parts: &[Part<'_>],
    nodes: &[u32],
    passes: &dyn Fn(u32, u32) -> bool,
    lens: &mut Vec<u32>,
    targets: &mut Vec<u32>,
) {
    let of_parts: Vec<(Vec<u32>, Vec<u32>)> = parts
        .iter()
        .filter_map(|part| {
            let (mut stops, mut read) = (vec![0; nodes.len()], Vec::new());
            part.lists?.each(nodes, &mut |at, list| {
                let node = nodes[at];
                read.extend(
                    list.iter()
                        .filter(|it| passes(node, **it) && !(part.skips_loops && **it == node)),
                );
                stops[at] = read.len() as u32;
            });
            Some((stops, read))
        })
        .collect();
    let mut starts = vec![0_usize; of_parts.len()];
    for at in 0..nodes.len() {
        let before = targets.len();
        for ((stops, read), start) in of_parts.iter().zip(&mut starts) {
            // A node without a list has no end of its own.
            let end = (stops[at] as usize).max(*start);
            targets.extend_from_slice(&read[*start..end]);
            *start = end;
        }
        if 1 < of_parts.len() {
            // Runs that ascend are merged.
            targets[before..].sort();
        }
        lens.push((targets.len() - before) as u32);
    }
}

/// Lists that are perhaps stored from the targets.
fn inverted(
    parts: &[Part<'_>],
    nodes: &[u32],
    passes: &dyn Fn(u32, u32) -> bool,
    graph: &dyn Adjacency,
    reserved: &mut Reserved<'_>,
) -> Result<Rows> {
    let positions = Positions::new(nodes);
    let position = |node: u32, target: u32| positions.get(node).filter(|_| passes(node, target));
    let mut offsets = vec![0_usize; nodes.len() + 1];
    each_pair(parts, nodes, graph, |node, target| {
        if let Some(at) = position(node, target) {
            offsets[at + 1] += 1;
        }
    })?;
    for at in 0..nodes.len() {
        offsets[at + 1] += offsets[at];
    }
    let total = offsets[nodes.len()];
    reserved.grow(total * size_of::<u32>())?;
    let (mut targets, mut next) = (vec![0_u32; total], offsets.clone());
    each_pair(parts, nodes, graph, |node, target| {
        if let Some(at) = position(node, target) {
            targets[next[at]] = target;
            next[at] += 1;
        }
    })?;
    for at in 0..nodes.len() {
        targets[offsets[at]..offsets[at + 1]].sort_unstable();
    }
    Ok((offsets, targets))
}

/// Calls back with each node and each target of all parts.
fn each_pair(
    parts: &[Part<'_>],
    nodes: &[u32],
    graph: &dyn Adjacency,
    mut each: impl FnMut(u32, u32),
) -> Result<()> {
    for part in parts {
        match (part.lists, part.inverse) {
            (Some(lists), _) => {
                for (at, node) in nodes.iter().enumerate() {
                    if at.is_multiple_of(CHECKED_NODES) {
                        graph.check()?;
                    }
                    let list = lists.list(*node);
                    let targets = list.iter().filter(|it| !part.skips_loops || *it != node);
                    targets.for_each(|target| each(*node, *target));
                }
            }
            (None, Some(inverse)) => {
                for (at, target) in inverse.nodes().into_iter().enumerate() {
                    if at.is_multiple_of(CHECKED_NODES) {
                        graph.check()?;
                    }
                    let list = inverse.list(target);
                    let nodes = list.iter().filter(|it| !part.skips_loops || **it != target);
                    nodes.for_each(|node| each(*node, target));
                }
            }
            (None, None) => {}
        }
    }
    Ok(())
}
