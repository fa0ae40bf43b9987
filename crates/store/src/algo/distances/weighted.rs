//! Weighted distances, by buckets of nodes that are about as far (delta-stepping).
//!
//! Bucket `n` has nodes whose distance is from `n` to `n + 1` times a width. The nearest bucket is emptied, and as long as edges lead back
//! into it again, before the next one. A node whose distance falls again is looked at again; in the end no edge makes a way shorter, and the
//! distances are those of Dijkstra's algorithm, whatever the width was and whoever came first.
//!
//! A node stands in a bucket with the distance that put it there, which is less than all before: where it has fallen again meanwhile, the place is stale.
//! Threads share a large bucket. Each follows at once what it finds in the same bucket (Zhang et al.: Optimizing Ordered Graph Algorithms with
//! GraphIt. CGO, 2020), and hands over the rest. A small bucket is one thread's.

use super::bfs::{self, FAR};
use crate::algo::compact::rows::Rows;
use crate::algo::compact::weights::WeightSlice;
use crate::algo::lowered::LoweredFloats;
use crate::algo::run::{Found, Output, Report, Run};
use crate::algo::task::{EVEN_BLOCK, Task};
use hexgraph_base::types::Result;

/// The bytes for each node: its distance, and about two places in buckets.
pub(super) const BYTES_A_NODE: usize = size_of::<f64>() + 2 * size_of::<Place>();

/// The most buckets: they lie in a ring, of which one round is the greatest weight.
const BUCKETS_MAX: f64 = 4096.0;

/// The buckets that an edge of the mean weight leads over. With fewer more nodes are followed in vain, with more there are more rounds.
const BUCKETS_AN_EDGE: f64 = 8.0;

/// The pieces from which on a bucket is shared.
const PIECES_SHARED: usize = 4;

/// The most that a thread follows by itself for each node of its piece, before it hands over.
const ALONE_A_NODE: usize = 4;

/// The nodes that are followed between two looks at the clock.
const NODES_A_CHECK: usize = 1 << 14;

/// A node with the distance that put it there.
type Place = (u32, f64);

pub(in crate::algo) fn distances(run: &Run<'_>) -> Result<Found> {
    let sources = run.list("source").unwrap_or_default();
    if !run.graph.outgoing().is_weighted() {
        return levels(run, sources);
    }
    let _room = run.room_a_node(BYTES_A_NODE)?;
    let (mut found, report) = search(run.graph.outgoing(), sources, &run.task)?;
    found.iter_mut().filter(|distance| distance.is_infinite()).for_each(|it| *it = f64::NAN);
    Ok(Found { output: Output::Floats(found), report })
}

/// Where each edge weighs 1 they are levels.
fn levels(run: &Run<'_>, sources: &[u32]) -> Result<Found> {
    let _room = run.room_a_node(bfs::BYTES_A_NODE)?;
    let (levels, report) = bfs::search(run.graph, sources, usize::MAX, &run.task)?;
    let mut found = vec![0.0; levels.len()];
    run.task.fill_evenly(&mut found, |range, part| {
        let number = |level: u32| if level == FAR { f64::NAN } else { f64::from(level) };
        part.iter_mut().zip(&levels[range]).for_each(|(it, level)| *it = number(*level));
        Ok(())
    })?;
    Ok(Found { output: Output::Floats(found), report })
}

/// The least distances from some nodes to all others; infinite for those that are not reached. The rounds are the buckets that some node ends in, and the edges
/// those of the nodes that are reached.
pub(super) fn search(rows: &Rows, sources: &[u32], task: &Task<'_>) -> Result<(Vec<f64>, Report)> {
    let (mut search, mut unchecked) = (Search::new(rows), 0);
    for &source in sources {
        search.shorten(source, 0.0);
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
    let distances = search.distances.into_vec();
    let edges = task.blocks(distances.len().div_ceil(EVEN_BLOCK), |block| {
        let nodes = block * EVEN_BLOCK..distances.len().min((block + 1) * EVEN_BLOCK);
        let reached = nodes.filter(|node| distances[*node].is_finite());
        Ok(reached.map(|node| rows.degree(node as u32)).sum::<usize>())
    })?;
    report.edges = edges.into_iter().sum();
    Ok((distances, report))
}

struct Search<'r> {
    rows: &'r Rows,
    /// The least distances so far; infinite for nodes that were not reached.
    distances: LoweredFloats,
    /// One divided by the width of a bucket.
    by_width: f64,
    /// The nodes by their buckets; one that is reached again stands in several. Their number is a power of two.
    ring: Vec<Vec<Place>>,
    /// The number of buckets that are done, which is the number of the nearest one.
    done: u64,
    /// The places of all buckets.
    waiting: usize,
}

impl<'r> Search<'r> {
    fn new(rows: &'r Rows) -> Search<'r> {
        let (mean, most) = rows.weight_range().unwrap_or((1.0, 1.0));
        // Wider where a few weights are far greater than the others. Where all weigh nothing any will do.
        let least = most / BUCKETS_MAX;
        let width = if mean.is_finite() { (mean / BUCKETS_AN_EDGE).max(least) } else { least };
        let width = if width.is_normal() { width } else { 1.0 };
        let buckets = ((most / width) as usize + 2).next_power_of_two();
        Search {
            rows,
            distances: LoweredFloats::new(rows.nodes()),
            by_width: 1.0 / width,
            ring: vec![Vec::new(); buckets],
            done: 0,
            waiting: 0,
        }
    }

    /// The number of the bucket of a distance. Rounding may put a node into a later bucket than the width says, and no node into one that
    /// is done: distances only grow along ways, and so does their rounded product.
    #[inline]
    fn number(&self, distance: f64) -> u64 {
        ((distance * self.by_width) as u64).max(self.done)
    }

    /// Empties a bucket, and follows the edges of its nodes. Returns whether one of them had a place that was not stale.
    fn follow(&mut self, bucket: usize, task: &Task<'_>) -> Result<bool> {
        let places = self.ring[bucket].len();
        let edges = places * self.rows.edges() / self.rows.nodes().max(1);
        let pieces = (edges / task.cut().batch_piece).min(places);
        if pieces < PIECES_SHARED || task.threads() == 1 {
            return Ok(self.follow_alone(bucket));
        }
        let places = std::mem::take(&mut self.ring[bucket]);
        self.waiting -= places.len();
        let pieces: Vec<&[Place]> = places.chunks(places.len().div_ceil(pieces)).collect();
        let shared = &*self;
        let found = task.blocks(pieces.len(), |piece| Ok(shared.follow_piece(pieces[piece])))?;
        let mut is_round = false;
        for (farther, is_new) in found {
            is_round |= is_new;
            farther.into_iter().for_each(|(node, distance)| self.put(node, distance));
        }
        Ok(is_round)
    }

    fn follow_alone(&mut self, bucket: usize) -> bool {
        let (rows, mut is_round, mut next) = (self.rows, false, 0);
        let mut places = std::mem::take(&mut self.ring[bucket]);
        while let Some(&(node, distance)) = places.get(next) {
            next += 1;
            if self.distances.get(node as usize) == distance {
                is_round = true;
                each_weighted(rows, node, |to, weight| self.shorten(to, distance + weight));
            }
            // What was found in the same bucket comes right behind.
            if next == places.len() {
                places.append(&mut self.ring[bucket]);
            }
        }
        self.waiting -= places.len();
        places.clear();
        self.ring[bucket] = places;
        is_round
    }

    /// Follows the edges of some nodes of the nearest bucket. Returns the nodes that are nearer now and were not followed, and whether one of the places was not stale.
    fn follow_piece(&self, places: &[Place]) -> (Vec<Place>, bool) {
        let (mut near, mut farther, mut is_round) = (Vec::new(), Vec::new(), false);
        let mut follow = |(node, distance): Place, near: &mut Vec<Place>| {
            if self.distances.get(node as usize) != distance {
                return;
            }
            is_round = true;
            each_weighted(self.rows, node, |to, weight| {
                let distance = distance + weight;
                if self.distances.lower(to as usize, distance) {
                    let is_near = self.number(distance) == self.done;
                    if is_near { &mut *near } else { &mut farther }.push((to, distance));
                }
            });
        };
        places.iter().for_each(|place| follow(*place, &mut near));
        let mut next = 0;
        while next < near.len().min(ALONE_A_NODE * places.len()) {
            let place = near[next];
            next += 1;
            follow(place, &mut near);
        }
        farther.extend_from_slice(&near[next..]);
        (farther, is_round)
    }

    #[inline]
    fn shorten(&mut self, node: u32, distance: f64) {
        if self.distances.lower_alone(node as usize, distance) {
            self.put(node, distance);
        }
    }

    #[inline]
    fn put(&mut self, node: u32, distance: f64) {
        let bucket = self.number(distance) as usize & (self.ring.len() - 1);
        self.ring[bucket].push((node, distance));
        self.waiting += 1;
    }

    /// The place of the nearest bucket that has nodes; `None` when all are empty.
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

/// Visits the targets of a node with the weights of the edges: which kind of weights there are is asked once a row.
#[inline]
fn each_weighted(rows: &Rows, node: u32, mut visit: impl FnMut(u32, f64)) {
    let (targets, weights) = rows.row(node);
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
