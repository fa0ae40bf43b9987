//! Betweenness by Brandes' algorithm: the fraction of the shortest paths between other nodes that
//! pass through a node. Each edge counts as one step.
//!
//! With `samples`, searches start at so many random nodes, and the sums are scaled to all; with
//! `source` at given nodes. Starts are partitioned into a fixed number of groups, whose sums are
//! added up in order: the result does not depend on the threads.
//!
//! A search has a bit for each node of the levels so far, and a bit for each edge that goes to the
//! next level. The first are small enough for a cache, and most edges need nothing else. The
//! numbers of paths, at random addresses, are only read for edges to the next level. A level of
//! many nodes is sorted, so that rows are read sequentially.

use crate::algo::bits::Bits;
use crate::algo::compact::rows::Rows;
use crate::algo::random::RandomStream;
use crate::algo::run::{Outcome, Output, Run};
use crate::algo::task::Task;
use hexgraph_base::types::{Error, Result};
use std::ops::Range;

/// The groups of starts.
const GROUPS: usize = 4;

/// The bytes of a node for each group: the sum, and for one search the number of paths, the
/// dependency and a position in its order.
const BYTES_A_NODE: usize = 3 * size_of::<f64>() + size_of::<u32>();

/// A level with more than one in so many of all nodes is sorted, by a look at the bits of all.
const SORT_RATIO: usize = 32;

/// The nodes between two looks at the clock.
const NODES_A_CHECK: usize = 4096;

pub(in crate::algo) fn betweenness(run: &Run<'_>) -> Result<Outcome> {
    let nodes = run.graph.len();
    let _capacity = run.capacity_per_node(BYTES_A_NODE * GROUPS + size_of::<f64>())?;
    let rows = run.graph.outgoing();
    let _bits = run.task.capacity((rows.edges() + 2 * nodes).div_ceil(8), GROUPS)?;
    let given = run.list("source");
    let mut starts: Vec<u32> = given.map_or_else(|| (0..nodes as u32).collect(), <[u32]>::to_vec);
    if given.is_some() {
        if run.call.int("samples").is_some() {
            let hint = "leave out one of them";
            return Err(Error::query("`betweenness` with `samples` and `source`").with_hint(hint));
        }
    } else if let Some(samples) = run.call.int("samples").filter(|count| (*count as usize) < nodes)
    {
        RandomStream::new(run.call.seed).shuffle(&mut starts);
        starts.truncate(samples as usize);
    }
    let sums = run.task.blocks(GROUPS.min(starts.len()), |group| {
        let mut search = Search::new(rows);
        for start in starts.iter().skip(group).step_by(GROUPS) {
            search.from(*start, rows, &run.task)?;
        }
        Ok(search.sums)
    })?;
    // With given starts the result is not scaled. A sampled node is on no path from itself, so it
    // has one start less.
    let is_sampled = given.is_none() && starts.len() < nodes;
    let others = nodes.saturating_sub(1) as f64;
    let scale = if is_sampled { others / starts.len().max(1) as f64 } else { 1.0 };
    // Without a direction each path is counted from both of its endpoints.
    let scale = if run.graph.is_undirected() { scale / 2.0 } else { scale };
    let pairs = nodes.saturating_sub(1) as f64 * nodes.saturating_sub(2) as f64;
    let pairs = if run.graph.is_undirected() { pairs / 2.0 } else { pairs };
    let unit = if run.call.is("normalized") && 0.0 < pairs { pairs } else { 1.0 };
    let mut scores = vec![0.0; nodes];
    for sums in &sums {
        scores.iter_mut().zip(sums).for_each(|(score, sum)| *score += sum);
    }
    scores.iter_mut().for_each(|score| *score *= scale / unit);
    if is_sampled {
        for start in &starts {
            // The only one that was sampled was looked for by none, so it has no number.
            scores[*start as usize] *= match starts.len() {
                1 => f64::NAN,
                many => many as f64 / (many - 1) as f64,
            };
        }
    }
    Ok(Outcome::once(Output::Floats(scores), 2 * rows.edges() * starts.len()))
}

struct Search {
    sums: Vec<f64>,
    /// The number of shortest paths from the start; 0 for an unvisited node.
    path_counts: Vec<f64>,
    /// One plus the dependency of a node, divided by its number of paths.
    path_dependency: Vec<f64>,
    /// The visited nodes, level by level.
    order: Vec<u32>,
    /// The nodes of all levels but the next one.
    is_done: Bits,
    /// Scratch space to sort a level; empty between levels.
    is_in_level: Bits,
    /// A bit for each edge of the visited nodes, in their order: whether it goes to the next level.
    leads_on: Bits,
}

impl Search {
    fn new(rows: &Rows) -> Search {
        let nodes = rows.nodes();
        Search {
            sums: vec![0.0; nodes],
            path_counts: vec![0.0; nodes],
            path_dependency: vec![0.0; nodes],
            order: Vec::new(),
            is_done: Bits::new(nodes),
            is_in_level: Bits::new(nodes),
            leads_on: Bits::new(rows.edges()),
        }
    }

    fn from(&mut self, start: u32, rows: &Rows, task: &Task<'_>) -> Result<()> {
        self.order.push(start);
        self.is_done.set(start as usize);
        self.path_counts[start as usize] = 1.0;
        let (mut level, mut edge) = (0..1, 0);
        while !level.is_empty() {
            edge = self.follow(level.clone(), rows, edge, task)?;
            level = level.end..self.order.len();
            self.end_level(level.clone());
        }
        self.back(rows, edge, task)?;
        for node in self.order.drain(..) {
            self.path_counts[node as usize] = 0.0;
        }
        self.is_done.clear();
        Ok(())
    }

    /// Expands the edges of a level, numbered from `edge`; returns the number after the last. Newly
    /// visited nodes are appended to the order.
    fn follow(
        &mut self,
        level: Range<usize>,
        rows: &Rows,
        mut edge: usize,
        task: &Task<'_>,
    ) -> Result<usize> {
        for position in level {
            if position.is_multiple_of(NODES_A_CHECK) {
                task.check()?;
            }
            let node = self.order[position];
            let count = self.path_counts[node as usize];
            for &to in rows.of(node) {
                if !self.is_done.has(to as usize) {
                    let to_count = &mut self.path_counts[to as usize];
                    if *to_count == 0.0 {
                        self.order.push(to);
                    }
                    *to_count += count;
                    self.leads_on.set(edge);
                }
                edge += 1;
            }
        }
        Ok(edge)
    }

    /// Marks the nodes of a level as done, and puts them in their order where they are many.
    fn end_level(&mut self, level: Range<usize>) {
        let nodes = &mut self.order[level];
        nodes.iter().for_each(|node| self.is_done.set(*node as usize));
        if self.path_counts.len() / SORT_RATIO < nodes.len() {
            nodes.iter().for_each(|node| self.is_in_level.set(*node as usize));
            let mut positions = nodes.iter_mut();
            self.is_in_level.drain(|node| {
                positions.next().into_iter().for_each(|position| *position = node as u32);
            });
        }
    }

    /// Goes back, the farthest nodes first: a node adds up what the nodes of the next level owe to
    /// it. `edge` is the number of edges.
    fn back(&mut self, rows: &Rows, mut edge: usize, task: &Task<'_>) -> Result<()> {
        for (position, &node) in self.order.iter().enumerate().rev() {
            if position.is_multiple_of(NODES_A_CHECK) {
                task.check()?;
            }
            let row = rows.of(node);
            // Edges were numbered in the order of the nodes, so the
            // numbers of a node end where those of the one after begin.
            edge -= row.len();
            let mut owed = 0.0;
            // Cleared while reading, so that all bits are clear for the next search.
            self.leads_on.drain_range(edge..edge + row.len(), |number| {
                owed += self.path_dependency[row[number - edge] as usize];
            });
            let owed = owed * self.path_counts[node as usize];
            self.path_dependency[node as usize] = (1.0 + owed) / self.path_counts[node as usize];
            // The start lies between no others.
            if position != 0 {
                self.sums[node as usize] += owed;
            }
        }
        Ok(())
    }
}
