//! Levels of a breadth-first search.
//!
//! A small frontier is expanded along its edges (top-down). When most edges of a large frontier go
//! to visited nodes, the unvisited nodes look for a predecessor in the frontier instead
//! (bottom-up), which stops at the first. Sets of nodes are bits: a million of them fit the second
//! cache, and a level is written for a node once.

use crate::algo::bits::Bits;
use crate::algo::compact::graph::Graph;
use crate::algo::compact::rows::Rows;
use crate::algo::run::{NO_INT, Outcome, Output, Report, Run};
use crate::algo::task::Task;
use hexgraph_base::types::Result;

/// The bytes for each node: its level, what is made of that, a position in the frontier and the
/// next one.
pub(super) const BYTES_A_NODE: usize = size_of::<i64>() + 3 * size_of::<u32>();

/// The search switches to bottom-up when the frontier has more than one in so many of the remaining
/// edges.
const UP_RATIO: usize = 14;

/// The search switches back when the frontier has less than one in so many of all nodes.
const DOWN_RATIO: usize = 24;

/// A frontier of at least so many edges is expanded in parallel.
const EDGES_SHARED: usize = 32 << 10;

/// The chunks that it is cut into.
const CHUNKS: usize = 16;

/// The nodes between two looks at the clock.
const NODES_A_CHECK: usize = 4096;

/// An unreachable node.
pub(super) const FAR: u32 = u32::MAX;

pub(in crate::algo) fn bfs(run: &Run<'_>) -> Result<Outcome> {
    let _capacity = run.capacity_per_node(BYTES_A_NODE)?;
    let sources = run.list("source").unwrap_or_default();
    let depth = run.call.int("depth").unwrap_or(i64::MAX);
    let depth = usize::try_from(depth).unwrap_or(0);
    let (levels, report) = search(run.graph, sources, depth, &run.task)?;
    let mut numbers = vec![0; levels.len()];
    run.task.fill_evenly(&mut numbers, |range, part| {
        let number = |level: u32| if level == FAR { NO_INT } else { i64::from(level) };
        part.iter_mut().zip(&levels[range]).for_each(|(it, level)| *it = number(*level));
        Ok(())
    })?;
    Ok(Outcome { output: Output::Ints(numbers), report })
}

/// The levels of all nodes, up to a depth; [`FAR`] for unreachable ones.
pub(super) fn search(
    graph: &Graph,
    sources: &[u32],
    depth: usize,
    task: &Task<'_>,
) -> Result<(Vec<u32>, Report)> {
    let (rows, nodes) = (graph.outgoing(), graph.len());
    let mut search = Search { levels: vec![FAR; nodes], visited: Bits::new(nodes), level: 0 };
    let mut frontier = sources.to_vec();
    sources.iter().for_each(|node| search.visit(*node));
    let mut report = Report::default();
    let mut left = rows.edges();
    while !frontier.is_empty() && report.iterations < depth {
        let edges: usize = frontier.iter().map(|node| rows.degree(*node)).sum();
        if left / UP_RATIO < edges {
            let incoming = graph.incoming(task)?;
            frontier = search.up(incoming, &frontier, depth, &mut report, task)?;
            left = left.saturating_sub(edges);
            continue;
        }
        search.level += 1;
        frontier = search.push(rows, &frontier, edges, task)?;
        report.edges += edges;
        report.iterations += 1;
        left -= edges;
    }
    Ok((search.levels, report))
}

struct Search {
    levels: Vec<u32>,
    visited: Bits,
    /// The level of the nodes that are visited now.
    level: u32,
}

impl Search {
    #[inline]
    fn visit(&mut self, node: u32) {
        self.visited.set(node as usize);
        self.levels[node as usize] = self.level;
    }

    /// Expands the frontier along its edges. Returns the newly visited nodes.
    fn push(
        &mut self,
        rows: &Rows,
        frontier: &[u32],
        edges: usize,
        task: &Task<'_>,
    ) -> Result<Vec<u32>> {
        let mut next = Vec::new();
        let mut add = |search: &mut Search, to: u32| {
            if !search.visited.has(to as usize) {
                search.visit(to);
                next.push(to);
            }
        };
        if task.threads() == 1 || edges < EDGES_SHARED {
            for nodes in frontier.chunks(NODES_A_CHECK) {
                task.check()?;
                let targets = nodes.iter().flat_map(|node| rows.of(*node));
                targets.for_each(|to| add(self, *to));
            }
            return Ok(next);
        }
        // Threads skip nodes visited before; duplicates among threads are removed by the merge.
        let chunks: Vec<&[u32]> = frontier.chunks(frontier.len().div_ceil(CHUNKS)).collect();
        let result = task.blocks(chunks.len(), |chunk| {
            let mut result = Vec::new();
            for node in chunks[chunk] {
                let is_new = |to: &&u32| !self.visited.has(**to as usize);
                result.extend(rows.of(*node).iter().filter(is_new));
            }
            Ok(result)
        })?;
        result.into_iter().flatten().for_each(|to| add(self, to));
        Ok(next)
    }

    /// Lets unvisited nodes look for a predecessor in the frontier, level by level while the
    /// frontier is large. Returns the last level.
    fn up(
        &mut self,
        incoming: &Rows,
        frontier: &[u32],
        depth: usize,
        report: &mut Report,
        task: &Task<'_>,
    ) -> Result<Vec<u32>> {
        let nodes = incoming.nodes();
        let (mut front, mut next) = (Bits::new(nodes), Bits::new(nodes));
        frontier.iter().for_each(|node| front.set(*node as usize));
        loop {
            self.level += 1;
            let (result, looked) = self.pull(incoming, &front, &mut next, task)?;
            report.iterations += 1;
            report.edges += looked;
            std::mem::swap(&mut front, &mut next);
            if result <= nodes / DOWN_RATIO || report.iterations == depth {
                let mut last = Vec::with_capacity(result);
                front.drain(|node| last.push(node as u32));
                return Ok(last);
            }
        }
    }

    /// Sets `next` to the nodes that have one of the front before them. Returns their number, and
    /// that of the edges that were looked at.
    fn pull(
        &mut self,
        incoming: &Rows,
        front: &Bits,
        next: &mut Bits,
        task: &Task<'_>,
    ) -> Result<(usize, usize)> {
        let (visited, level) = (&self.visited, self.level);
        let result = next.fill_with(&mut self.levels, task, |word, levels| {
            let (mut bits, mut looked) = (0, 0);
            let mut open = !visited.word(word);
            while open != 0 {
                let position = open.trailing_zeros() as usize;
                open &= open - 1;
                let Some(its) = levels.get_mut(position) else { break };
                let row = incoming.of((64 * word + position) as u32);
                let first = row.iter().position(|from| front.has(*from as usize));
                looked += first.map_or(row.len(), |first| first + 1);
                if first.is_some() {
                    *its = level;
                    bits |= 1 << position;
                }
            }
            (bits, looked)
        })?;
        self.visited.add_all(next);
        Ok(result)
    }
}
