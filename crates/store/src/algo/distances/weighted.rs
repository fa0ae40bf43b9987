//! Weighted distances, by buckets of nodes at about the same distance (delta-stepping).
//!
//! Bucket `n` has nodes at a distance from `n` to `n + 1` times a width. The nearest bucket is
//! emptied, as long as edges lead back into it, before the next one. A node whose distance falls
//! again is expanded again. At the end no edge makes a path shorter, so the distances are those of
//! Dijkstra's algorithm for any width and thread timing.
//!
//! If all weights are integers, and so small that no path is longer than [`u32::MAX`], distances
//! are computed in four bytes: that halves the memory traffic, and the sums are the same, as floats
//! represent them exactly.
//!
//! A bucket entry has the distance with which the node was added; if the distance has fallen since,
//! the entry is stale. Threads process a large bucket in parallel. Each expands nodes that it adds
//! to the same bucket at once (Zhang et al.: Optimizing Ordered Graph Algorithms with GraphIt. CGO,
//! 2020), and returns the rest. A small bucket is processed by one thread.

use super::bfs::{self, FAR};
use crate::algo::compact::rows::{Rows, WeightRange};
use crate::algo::compact::weights::WeightSlice;
use crate::algo::lowered::{Falls, Lowered};
use crate::algo::run::{Outcome, Output, Report, Run};
use crate::algo::task::Task;
use hexgraph_base::types::Result;
use std::hint::black_box;

/// The bytes for each node: its distance, its reported distance, and about two bucket entries.
pub(super) const BYTES_A_NODE: usize = 2 * size_of::<f64>() + 2 * size_of::<Position<f64>>();

/// The most buckets: they form a ring, and one round of it is the greatest weight.
const BUCKETS_MAX: f64 = 4096.0;

/// The buckets that an edge of the mean weight spans. With fewer buckets more nodes are expanded in
/// vain, most of all in dense graphs: on a Kronecker graph a quarter as many buckets double the
/// time. With more there are more rounds.
const BUCKETS_AN_EDGE: f64 = 32.0;

/// The chunks from which on a bucket is shared.
const CHUNKS_SHARED: usize = 4;

/// The most that a thread follows by itself for each node of its chunk, before it hands over.
const ALONE_A_NODE: usize = 4;

/// The nodes whose rows are looked up at once, so that memory is waited for together.
const ROWS_AT_ONCE: usize = 8;

/// The nodes that are followed between two looks at the clock.
const NODES_A_CHECK: usize = 1 << 14;

/// The sum of weights that no float may hold, for errors.
pub(super) const ALONG_A_PATH: &str = "their sum along a path";

/// A node with the distance that put it there.
type Position<L> = (u32, L);

/// A distance while it is searched for.
trait Length: Falls {
    const ZERO: Self;
    /// The width of a bucket as it is used.
    type Width: Copy + Sync;

    fn width(expected: f64) -> Self::Width;
    /// The number of the bucket that a distance falls into.
    fn bucket(self, width: Self::Width) -> u64;
    fn plus(self, weight: f64) -> Self;
    /// The reported distance; infinite if there is none.
    fn reported(self) -> f64;
}

impl Length for f64 {
    const ZERO: f64 = 0.0;
    /// One divided by the width.
    type Width = f64;

    fn width(expected: f64) -> f64 {
        1.0 / expected
    }

    #[inline]
    fn bucket(self, width: f64) -> u64 {
        (self * width) as u64
    }

    #[inline]
    fn plus(self, weight: f64) -> f64 {
        self + weight
    }

    fn reported(self) -> f64 {
        self
    }
}

impl Length for u32 {
    const ZERO: u32 = 0;
    /// The width is a power of two: so many bits.
    type Width = u32;

    fn width(expected: f64) -> u32 {
        (expected as u32).max(1).ilog2()
    }

    #[inline]
    fn bucket(self, width: u32) -> u64 {
        u64::from(self >> width)
    }

    #[inline]
    fn plus(self, weight: f64) -> u32 {
        self + weight as u32
    }

    fn reported(self) -> f64 {
        if self == u32::MAX { f64::INFINITY } else { f64::from(self) }
    }
}

pub(in crate::algo) fn distances(run: &Run<'_>) -> Result<Outcome> {
    let sources = run.list("source").unwrap_or_default();
    if !run.graph.outgoing().is_weighted() {
        return levels(run, sources);
    }
    let _capacity = run.capacity_per_node(BYTES_A_NODE)?;
    let (mut result, report) = search(run.graph.outgoing(), sources, run)?;
    result.iter_mut().filter(|distance| distance.is_infinite()).for_each(|it| *it = f64::NAN);
    Ok(Outcome { output: Output::Floats(result), report })
}

/// Where each edge weighs 1 they are levels.
fn levels(run: &Run<'_>, sources: &[u32]) -> Result<Outcome> {
    let _capacity = run.capacity_per_node(bfs::BYTES_A_NODE)?;
    let (levels, report) = bfs::search(run.graph, sources, usize::MAX, &run.task)?;
    let mut result = vec![0.0; levels.len()];
    run.task.fill_evenly(&mut result, |range, part| {
        let number = |level: u32| if level == FAR { f64::NAN } else { f64::from(level) };
        part.iter_mut().zip(&levels[range]).for_each(|(it, level)| *it = number(*level));
        Ok(())
    })?;
    Ok(Outcome { output: Output::Floats(result), report })
}

/// The least distances from some nodes to all others; infinite for unreachable ones. The rounds are
/// the buckets in which some node is final, and the edges those of the reachable nodes.
///
/// # Errors
///
/// `Query` for a node to which each path overflows a float; `Limit`.
pub(super) fn search(rows: &Rows, sources: &[u32], run: &Run<'_>) -> Result<(Vec<f64>, Report)> {
    let range = rows.weight_range().unwrap_or(WeightRange { mean: 1.0, most: 1.0, are_full: true });
    // No path passes a node twice, and one more edge is added to it before it is dropped.
    let longest = range.most * (rows.nodes() + 1) as f64;
    if range.are_full && longest < f64::from(u32::MAX) {
        return search_in::<u32>(rows, range, sources, &run.task);
    }
    let (distances, report) = search_in::<f64>(rows, range, sources, &run.task)?;
    // A path has each edge at most once: it weighs no more than all edges together.
    if range.mean.is_infinite() && has_lost(rows, &distances) {
        return Err(run.too_heavy(ALONG_A_PATH));
    }
    Ok((distances, report))
}

/// Whether an edge leads from a node that has a distance to one that has none, since no float holds
/// it.
fn has_lost(rows: &Rows, distances: &[f64]) -> bool {
    let is_lost = |to: &u32| distances[*to as usize].is_infinite();
    let nodes = (0..).zip(distances);
    let mut finite = nodes.filter(|(_, distance)| distance.is_finite());
    finite.any(|(node, _)| rows.of(node).iter().any(is_lost))
}

fn search_in<L: Length>(
    rows: &Rows,
    range: WeightRange,
    sources: &[u32],
    task: &Task<'_>,
) -> Result<(Vec<f64>, Report)> {
    let (mut search, mut unchecked) = (Search::<L>::new(rows, range), 0);
    for &source in sources {
        search.shorten(source, L::ZERO);
    }
    let mut report = Report::default();
    while let Some(bucket) = search.nearest() {
        let mut is_round = false;
        // Edges shorter than the width lead into the same bucket again.
        while !search.ring[bucket].is_empty() {
            unchecked += search.ring[bucket].len();
            is_round |= search.follow(bucket, task)?;
            if NODES_A_CHECK < unchecked {
                unchecked = 0;
                task.check()?;
            }
        }
        report.iterations += usize::from(is_round);
        search.done += 1;
    }
    let mut distances = vec![0.0; search.distances.len()];
    let edges = task.fill_evenly(&mut distances, |nodes, part| {
        let mut edges = 0;
        for (node, reported) in nodes.zip(part) {
            *reported = search.distances.get(node).reported();
            edges += if reported.is_finite() { rows.degree(node as u32) } else { 0 };
        }
        Ok(edges)
    })?;
    report.edges = edges.into_iter().sum();
    Ok((distances, report))
}

struct Search<'r, L: Length> {
    rows: &'r Rows,
    /// The least distances so far; the maximum for unreachable nodes.
    distances: Lowered<L>,
    width: L::Width,
    /// The nodes by their buckets; one whose distance fell is in several. Their number is a power
    /// of two.
    ring: Vec<Vec<Position<L>>>,
    /// The number of buckets that are done, which is the number of the nearest one.
    done: u64,
    /// The positions of all buckets.
    waiting: usize,
}

impl<'r, L: Length> Search<'r, L> {
    fn new(rows: &'r Rows, range: WeightRange) -> Search<'r, L> {
        let WeightRange { mean, most, .. } = range;
        // Wider where a few weights are far greater than the others. Where all weigh nothing any
        // will do.
        let least = most / BUCKETS_MAX;
        let expected = if mean.is_finite() { (mean / BUCKETS_AN_EDGE).max(least) } else { least };
        let width = L::width(if expected.is_normal() { expected } else { 1.0 });
        let buckets = (L::ZERO.plus(most).bucket(width) as usize + 2).next_power_of_two();
        Search {
            rows,
            distances: Lowered::new(rows.nodes()),
            width,
            ring: vec![Vec::new(); buckets],
            done: 0,
            waiting: 0,
        }
    }

    /// The number of the bucket of a distance. Rounding may put a node into a later bucket than the
    /// width implies, but never into a finished one: distances only grow along paths, and so does
    /// their rounded product.
    #[inline]
    fn number(&self, distance: L) -> u64 {
        distance.bucket(self.width).max(self.done)
    }

    /// Empties a bucket, and follows the edges of its nodes. Returns whether one of them had a
    /// position that was not stale.
    fn follow(&mut self, bucket: usize, task: &Task<'_>) -> Result<bool> {
        let positions = self.ring[bucket].len();
        let edges = positions * self.rows.edges() / self.rows.nodes().max(1);
        let chunks = (edges / task.cut().batch_chunk).min(positions);
        if chunks < CHUNKS_SHARED || task.threads() == 1 {
            return Ok(self.follow_alone(bucket));
        }
        let positions = std::mem::take(&mut self.ring[bucket]);
        self.waiting -= positions.len();
        let chunks: Vec<&[Position<L>]> =
            positions.chunks(positions.len().div_ceil(chunks)).collect();
        let shared = &*self;
        let result = task.blocks(chunks.len(), |chunk| Ok(shared.follow_chunk(chunks[chunk])))?;
        let mut is_round = false;
        for (farther, is_new) in result {
            is_round |= is_new;
            farther.into_iter().for_each(|(node, distance)| self.put(node, distance));
        }
        Ok(is_round)
    }

    fn follow_alone(&mut self, bucket: usize) -> bool {
        let (rows, mut is_round, mut next) = (self.rows, false, 0);
        let mut positions = std::mem::take(&mut self.ring[bucket]);
        while next < positions.len() {
            let end = positions.len().min(next + ROWS_AT_ONCE);
            let group = Group::of(rows, &self.distances, &positions[next..end]);
            is_round |= group.len != 0;
            group.each(|to, distance| self.shorten(to, distance));
            next = end;
            // Nodes added to the same bucket come next.
            if next == positions.len() {
                positions.append(&mut self.ring[bucket]);
            }
        }
        self.waiting -= positions.len();
        positions.clear();
        self.ring[bucket] = positions;
        is_round
    }

    /// Expands some nodes of the nearest bucket. Returns the nodes with smaller distances that were
    /// not expanded, and whether one of the entries was not stale.
    fn follow_chunk(&self, positions: &[Position<L>]) -> (Vec<Position<L>>, bool) {
        let (mut near, mut farther, mut is_round) = (Vec::new(), Vec::new(), false);
        let mut follow = |group: Group<'_, L>, near: &mut Vec<Position<L>>| {
            is_round |= group.len != 0;
            group.each(|to, distance| {
                if self.distances.lower(to as usize, distance) {
                    let is_near = self.number(distance) == self.done;
                    if is_near { &mut *near } else { &mut farther }.push((to, distance));
                }
            });
        };
        let group = |positions: &[Position<L>]| Group::of(self.rows, &self.distances, positions);
        positions.chunks(ROWS_AT_ONCE).for_each(|positions| follow(group(positions), &mut near));
        let (mut next, most) = (0, ALONE_A_NODE * positions.len());
        while next < near.len().min(most) {
            let end = near.len().min(most).min(next + ROWS_AT_ONCE);
            follow(group(&near[next..end]), &mut near);
            next = end;
        }
        farther.extend_from_slice(&near[next..]);
        (farther, is_round)
    }

    #[inline]
    fn shorten(&mut self, node: u32, distance: L) {
        if self.distances.lower_alone(node as usize, distance) {
            self.put(node, distance);
        }
    }

    #[inline]
    fn put(&mut self, node: u32, distance: L) {
        let bucket = self.number(distance) as usize & (self.ring.len() - 1);
        self.ring[bucket].push((node, distance));
        self.waiting += 1;
    }

    /// The position of the nearest non-empty bucket; `None` if all are empty.
    fn nearest(&mut self) -> Option<usize> {
        if self.waiting == 0 {
            return None;
        }
        loop {
            let bucket = self.done as usize & (self.ring.len() - 1);
            if !self.ring[bucket].is_empty() {
                return Some(bucket);
            }
            self.done += 1;
        }
    }
}

/// The rows of some positions that are not stale, with the distances of their nodes.
struct Group<'r, L> {
    rows: [(&'r [u32], WeightSlice<'r>, L); ROWS_AT_ONCE],
    len: usize,
}

impl<'r, L: Length> Group<'r, L> {
    /// Looks up the row bounds of several nodes before reading the rows, so that their cache misses
    /// overlap.
    fn of(rows: &'r Rows, distances: &Lowered<L>, positions: &[Position<L>]) -> Group<'r, L> {
        let none = (&[][..], WeightSlice::Ones, L::ZERO);
        let mut group = Group { rows: [none; ROWS_AT_ONCE], len: 0 };
        for &(node, distance) in positions {
            if distances.get(node as usize) == distance {
                let (targets, weights) = rows.row(node);
                group.rows[group.len] = (targets, weights, distance);
                group.len += 1;
            }
        }
        for (targets, weights, _) in &group.rows[..group.len] {
            if let [first, .., last] = targets {
                black_box((*first, *last, weights.at(0), weights.at(targets.len() - 1)));
            }
        }
        group
    }

    /// Visits the targets of the edges, each with its distance along that edge.
    #[inline]
    fn each(self, mut visit: impl FnMut(u32, L)) {
        for (targets, weights, distance) in &self.rows[..self.len] {
            each_weighted(targets, *weights, |to, weight| visit(to, distance.plus(weight)));
        }
    }
}

/// Visits targets with the weights of the edges: the form of the weights is tested once a row.
#[inline]
fn each_weighted(targets: &[u32], weights: WeightSlice<'_>, mut visit: impl FnMut(u32, f64)) {
    match weights {
        WeightSlice::Ones => targets.iter().for_each(|to| visit(*to, 1.0)),
        WeightSlice::Narrow(weights) => {
            targets.iter().zip(weights).for_each(|(to, weight)| visit(*to, f64::from(*weight)));
        }
        WeightSlice::Wide(weights) => {
            targets.iter().zip(weights).for_each(|(to, weight)| visit(*to, *weight));
        }
    }
}
