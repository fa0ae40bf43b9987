//! Elimination of leaves: a variable with one edge becomes a number of matches of its neighbour. A
//! pattern without a cycle is counted so by reading each edge once; what remains of others is a
//! core of cycles and retained variables.

use super::candidates::{
    CHECKED_NODES, Candidates, Lookup, Reserved, collect, is_dense, span_of, too_many,
};
use super::edge_lists::{Part, nodes_of, parts_of};
use super::functions::{Function, Key};
use crate::execute::adjacency::{Adjacency, Lists};
use crate::execute::plan::{Edge, JoinStep, VarIndex};
use hexgraph_base::types::Result;
use rustc_hash::FxHashMap;

/// A list of a node is read in about so many nanoseconds, and an entry of it. Estimates: a miss of
/// the caches, and a few instructions.
const LIST_NANOS: usize = 20;
const ENTRY_NANOS: f64 = 1.5;

/// A pattern without constraints that is reduced step by step.
pub(super) struct Reduction<'g> {
    pub(super) graph: &'g dyn Adjacency,
    /// The candidates of each variable; `None` for all nodes.
    pub(super) candidates: Vec<Option<Candidates>>,
    pub(super) edges: Vec<Edge>,
    /// Edges that were read as tables.
    pub(super) functions: Vec<Function>,
    /// What is equal for several variables.
    pub(super) keys: Vec<Key>,
    /// Variables that stay.
    pub(super) retained: Vec<VarIndex>,
    /// Variables that are left, in ascending order.
    pub(super) left: Vec<VarIndex>,
    /// The numbers of matches of variables without edges that need no candidates for it.
    pub(super) totals: Vec<(VarIndex, u64)>,
    /// The number of matches of what has no variable left.
    pub(super) factor: u64,
    /// What was eliminated, in order.
    pub(super) steps: Vec<JoinStep>,
    pub(super) reserved: Reserved<'g>,
}

impl Reduction<'_> {
    /// Eliminates what can be eliminated.
    pub(super) fn run(&mut self) -> Result<()> {
        self.apply_loops()?;
        while self.factor != 0 {
            self.graph.check()?;
            if let Some(at) = self.next_leaf() {
                self.eliminate(at)?;
            } else if !self.drop_isolated()? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Relationships from a node to itself are a number of matches of the node.
    fn apply_loops(&mut self) -> Result<()> {
        while let Some(at) = self.edges.iter().position(Edge::is_loop) {
            let edge = self.edges.swap_remove(at);
            let variable = edge.from;
            self.restrict(&edge, variable)?;
            let lists: Vec<&dyn Lists> =
                edge.types.iter().filter_map(|it| self.graph.any_lists(*it)).collect();
            let Some(candidates) = &mut self.candidates[variable] else { continue };
            let mut factors = Vec::with_capacity(candidates.nodes.len());
            for nodes in candidates.nodes.chunks(CHECKED_NODES) {
                self.graph.check()?;
                factors.extend(nodes.iter().map(|node| {
                    let loops =
                        lists.iter().filter(|it| it.list(*node).binary_search(node).is_ok());
                    let count = loops.count() as u64;
                    if edge.once { count.min(1) } else { count }
                }));
            }
            candidates.multiply(&factors)?;
        }
        Ok(())
    }

    /// Gives a variable without candidates those that an edge has.
    fn restrict(&mut self, edge: &Edge, variable: VarIndex) -> Result<()> {
        if self.candidates[variable].is_some() {
            return Ok(());
        }
        let nodes = nodes_of(&parts_of(edge, variable, self.graph), self.graph)?;
        let candidates = Candidates { nodes, counts: None };
        self.reserved.grow(candidates.bytes())?;
        self.candidates[variable] = Some(candidates);
        Ok(())
    }

    fn next_leaf(&self) -> Option<(usize, VarIndex)> {
        let size = |variable: VarIndex| {
            self.candidates[variable].as_ref().map_or(usize::MAX, |it| it.nodes.len())
        };
        next_leaf(&self.edges, &self.retained, &self.left, size)
    }

    fn eliminate(&mut self, (at, leaf): (usize, VarIndex)) -> Result<()> {
        let edge = self.edges.swap_remove(at);
        let neighbour = edge.other(leaf);
        self.steps.push(JoinStep::Count { leaf, neighbour, edge: edge.clone() });
        if let Some(total) = self.total(&edge) {
            self.left.retain(|it| *it != leaf);
            self.totals.push((neighbour, total));
            return Ok(());
        }
        self.restrict(&edge, neighbour)?;
        let gone = self.candidates[leaf].take();
        self.left.retain(|it| *it != leaf);
        let parts = parts_of(&edge, neighbour, self.graph);
        let Some(candidates) = &mut self.candidates[neighbour] else { return Ok(()) };
        let nodes = &candidates.nodes;
        let mut sums: Option<Vec<u64>> = None;
        let (mut lookup, mut of_lookup) = (None, Reserved::new(self.graph, 0)?);
        for part in parts {
            let of_part = match strategy(&part, nodes.len(), gone.as_ref()) {
                Strategy::Pull(lists) => {
                    let lookup = match &mut lookup {
                        Some(lookup) => lookup,
                        none => none.insert(Lookup::new(gone.as_ref(), &mut of_lookup)?),
                    };
                    pull(self.graph, lists, part.skips_loops, nodes, lookup)?
                }
                Strategy::Push(lists) => {
                    push(self.graph, lists, part.skips_loops, gone.as_ref(), nodes)?
                }
                Strategy::Nothing => continue,
            };
            sums = Some(match sums {
                None => of_part,
                Some(sums) => {
                    let pairs = sums.into_iter().zip(of_part);
                    let added: Option<Vec<u64>> = pairs.map(|(a, b)| a.checked_add(b)).collect();
                    added.ok_or_else(too_many)?
                }
            });
        }
        let factors = sums.unwrap_or_else(|| vec![0; nodes.len()]);
        candidates.multiply(&factors)?;
        self.reserved.grow(candidates.bytes())
    }

    /// The number of relationships of an edge that was removed and that nothing restricts: neither
    /// variable has candidates, another edge, or a row that reads it.
    fn total(&self, edge: &Edge) -> Option<u64> {
        let is_free = |variable: VarIndex| {
            self.candidates[variable].is_none()
                && !self.retained.contains(&variable)
                && !self.edges.iter().any(|it| it.has(variable))
        };
        if edge.either || edge.once || !is_free(edge.from) || !is_free(edge.to) {
            return None;
        }
        let totals = edge.types.iter().filter_map(|it| self.graph.any_lists(*it));
        Some(totals.map(|it| it.total()).sum())
    }

    /// Multiplies by the candidates of a variable without edges that need not stay.
    fn drop_isolated(&mut self) -> Result<bool> {
        let isolated = next_isolated(&self.edges, &self.retained, &self.left);
        let Some(variable) = isolated else { return Ok(false) };
        self.left.retain(|it| *it != variable);
        self.steps.push(JoinStep::Multiply(variable));
        let total = self.totals.iter().find(|(it, _)| *it == variable).map(|(_, total)| *total);
        let count = match (total, &self.candidates[variable]) {
            (Some(total), _) => total,
            (None, Some(candidates)) => candidates.total()?,
            (None, None) => self.graph.all()?.len() as u64,
        };
        self.factor = self.factor.checked_mul(count).ok_or_else(too_many)?;
        Ok(true)
    }
}

/// The edge of a leaf, and the leaf: the one with the fewest candidates, so that conditions act
/// early.
pub(super) fn next_leaf(
    edges: &[Edge],
    retained: &[VarIndex],
    left: &[VarIndex],
    size: impl Fn(VarIndex) -> usize,
) -> Option<(usize, VarIndex)> {
    let leaf = |variable: &VarIndex| {
        let mut own = edges.iter().enumerate().filter(|(_, it)| it.has(*variable));
        let (at, edge) = own.next().filter(|_| !retained.contains(variable))?;
        // Several types that count as one need their lists as one.
        let is_simple = !edge.once || edge.types.len() == 1 && !edge.either;
        (own.next().is_none() && is_simple).then_some((at, *variable))
    };
    left.iter().filter_map(leaf).min_by_key(|(_, variable)| size(*variable))
}

/// A variable without edges that need not stay.
pub(super) fn next_isolated(
    edges: &[Edge],
    retained: &[VarIndex],
    left: &[VarIndex],
) -> Option<VarIndex> {
    let is_isolated =
        |it: &VarIndex| !retained.contains(it) && !edges.iter().any(|edge| edge.has(*it));
    left.iter().copied().find(is_isolated)
}

/// How a leaf is eliminated.
enum Strategy<'g> {
    /// The lists of the neighbour are summed.
    Pull(&'g dyn Lists),
    /// The lists of the leaf are added to a table.
    Push(&'g dyn Lists),
    Nothing,
}

/// The end with fewer nodes where both directions are stored.
fn strategy<'g>(part: &Part<'g>, neighbours: usize, leaf: Option<&Candidates>) -> Strategy<'g> {
    let leaves = leaf.map_or(usize::MAX, |it| it.nodes.len());
    match (part.lists, part.inverse) {
        // To add to a table costs about twice as much as to sum.
        (Some(lists), Some(inverse)) => match neighbours / 2 <= leaves {
            true => Strategy::Pull(lists),
            false => Strategy::Push(inverse),
        },
        (Some(lists), None) => Strategy::Pull(lists),
        (None, Some(inverse)) => Strategy::Push(inverse),
        (None, None) => Strategy::Nothing,
    }
}

/// What an item of a list takes, with its part of the entries.
fn nanos(lists: &dyn Lists, items: usize) -> usize {
    LIST_NANOS + (lists.total() as f64 / items.max(1) as f64 * ENTRY_NANOS) as usize
}

/// For each node the sum of its list.
fn pull(
    graph: &dyn Adjacency,
    lists: &dyn Lists,
    skips_loops: bool,
    nodes: &[u32],
    lookup: &Lookup,
) -> Result<Vec<u64>> {
    // The parts, and all of them in one list.
    let _reserved = Reserved::new(graph, 2 * nodes.len() * size_of::<u64>())?;
    let parts = collect(graph, nodes.len(), nanos(lists, nodes.len()), |range| {
        let mut sums = vec![0; range.len()];
        let mut overflows = false;
        let nodes = &nodes[range];
        for (start, nodes) in (0..).step_by(CHECKED_NODES).zip(nodes.chunks(CHECKED_NODES)) {
            graph.check()?;
            lists.each(nodes, &mut |at, list| match lookup.sum(list) {
                Some(mut sum) => {
                    if skips_loops && list.binary_search(&nodes[at]).is_ok() {
                        sum -= lookup.get(nodes[at]);
                    }
                    sums[start + at] = sum;
                }
                None => overflows = true,
            });
        }
        if overflows { Err(too_many()) } else { Ok(sums) }
    })?;
    Ok(parts.concat())
}

/// For each node the sum of the nodes in whose lists it is.
fn push(
    graph: &dyn Adjacency,
    lists: &dyn Lists,
    skips_loops: bool,
    leaf: Option<&Candidates>,
    nodes: &[u32],
) -> Result<Vec<u64>> {
    let all;
    let leaves = match leaf {
        Some(candidates) => &candidates.nodes,
        None => {
            all = lists.nodes();
            &all
        }
    };
    let count = |at: usize| leaf.map_or(1, |it| it.count(at));
    let (start, span) = span_of(nodes);
    if !is_dense(8 * span, nodes.len()) {
        let mut sums: FxHashMap<u32, u64> = nodes.iter().map(|node| (*node, 0)).collect();
        let _reserved = Reserved::new(graph, nodes.len() * 32)?;
        for (at, node) in leaves.iter().enumerate() {
            if at.is_multiple_of(CHECKED_NODES) {
                graph.check()?;
            }
            for target in lists.list(*node).iter().filter(|it| !skips_loops || *it != node) {
                if let Some(sum) = sums.get_mut(target) {
                    *sum = sum.checked_add(count(at)).ok_or_else(too_many)?;
                }
            }
        }
        return Ok(nodes.iter().map(|node| sums[node]).collect());
    }
    // Each thread has a table: no more of them than what is read is worth.
    let reads = (lists.total() as usize / span.max(1)).max(1);
    let threads = graph.threads().min(reads).max(1);
    let _reserved = Reserved::new(graph, threads * span * size_of::<u64>())?;
    let part_len = leaves.len().div_ceil(threads).max(1);
    let work = nanos(lists, threads);
    let tables = collect(graph, threads, work, |range| {
        let mut table = vec![0_u64; span];
        let mut overflows = false;
        let end = (range.end * part_len).min(leaves.len());
        let first = (range.start * part_len).min(end);
        for (start_of, nodes) in
            (first..).step_by(CHECKED_NODES).zip(leaves[first..end].chunks(CHECKED_NODES))
        {
            graph.check()?;
            lists.each(nodes, &mut |at, list| {
                let (node, count) = (nodes[at], count(start_of + at));
                for target in list.iter().filter(|it| !skips_loops || **it != node) {
                    if let Some(sum) = table.get_mut(target.wrapping_sub(start) as usize) {
                        let overflow;
                        (*sum, overflow) = sum.overflowing_add(count);
                        overflows |= overflow;
                    }
                }
            });
        }
        if overflows { Err(too_many()) } else { Ok(table) }
    })?;
    let sum = |node: &u32| {
        let at = (node - start) as usize;
        tables.iter().try_fold(0_u64, |sum, table| sum.checked_add(table[at]))
    };
    nodes.iter().map(sum).collect::<Option<Vec<u64>>>().ok_or_else(too_many)
}
