//! Weighted distances, by buckets of nodes that are about as far (delta-stepping).
//!
//! Bucket `n` has nodes whose distance is from `n` to `n + 1` times a width. The nearest bucket is emptied, and as long as edges lead back
//! into it again, before the next one. A node whose distance falls again is looked at again; in the end no edge makes a way shorter, and the
//! distances are those of Dijkstra's algorithm, whatever the width was.
//!
//! Most edges make no way shorter. So threads share the nodes of a large bucket, and look for those that do as things stood before; then the ways are made
//! shorter one after the other.

use crate::algo::compact::rows::Rows;
use crate::algo::run::{Found, Output, Report, Run};
use crate::algo::task::Task;
use hexgraph_base::types::Result;

/// The bytes for each node: its distance, the one with which it was followed, and about two places in buckets.
pub(super) const BYTES_A_NODE: usize = 2 * size_of::<f64>() + 4 * size_of::<u32>();

/// The most buckets: they lie in a ring, of which one round is the greatest weight.
const BUCKETS_MAX: f64 = 4096.0;

/// The edges that are followed between two looks at the clock.
const EDGES_A_CHECK: usize = 1 << 18;

pub(in crate::algo) fn distances(run: &Run<'_>) -> Result<Found> {
    let _room = run.room_a_node(BYTES_A_NODE)?;
    let sources = run.list("source").unwrap_or_default();
    let (mut found, report) = search(run.graph.outgoing(), sources, &run.task)?;
    found.iter_mut().filter(|distance| distance.is_infinite()).for_each(|it| *it = f64::NAN);
    Ok(Found { output: Output::Floats(found), report })
}

/// The least distances from some nodes to all others; infinite for those that are not reached.
pub(super) fn search(rows: &Rows, sources: &[u32], task: &Task<'_>) -> Result<(Vec<f64>, Report)> {
    let (mut search, mut unchecked) = (Search::new(rows), 0);
    for &source in sources {
        search.shorten(source, 0.0);
    }
    let mut report = Report::default();
    while let Some(bucket) = search.nearest() {
        report.iterations += 1;
        // Edges shorter than the width lead into the same bucket again.
        while !search.ring[bucket].is_empty() {
            let nodes = search.take(bucket);
            let edges = nodes.iter().map(|(node, _)| rows.degree(*node)).sum::<usize>();
            report.edges += edges;
            unchecked += edges + nodes.len();
            search.follow(rows, &nodes, edges, task)?;
            if EDGES_A_CHECK < unchecked {
                unchecked = 0;
                task.check()?;
            }
        }
        search.done += 1;
    }
    Ok((search.distances, report))
}

struct Search {
    /// The least distances so far; infinite for nodes that were not reached.
    distances: Vec<f64>,
    /// The distance with which the edges of a node were followed last.
    followed: Vec<f64>,
    /// One divided by the width of a bucket.
    by_width: f64,
    /// The nodes by their buckets; one that is reached again stands in several.
    ring: Vec<Vec<u32>>,
    /// The number of buckets that are done, which is the number of the nearest one.
    done: u64,
    /// The entries of all buckets.
    waiting: usize,
}

impl Search {
    fn new(rows: &Rows) -> Search {
        let (mean, most) = rows.weight_range().unwrap_or((1.0, 1.0));
        // About the weight of an edge; wider where a few weights are far greater than the others. Where all weigh nothing any will do.
        let least = most / BUCKETS_MAX;
        let width = if mean.is_finite() { (mean / 2.0).max(least) } else { least };
        let width = if width.is_normal() { width } else { 1.0 };
        let buckets = (most / width) as usize + 2;
        let nodes = rows.nodes();
        Search {
            distances: vec![f64::INFINITY; nodes],
            followed: vec![f64::INFINITY; nodes],
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

    fn is_in(&self, bucket: usize, distance: f64) -> bool {
        (self.number(distance) % self.ring.len() as u64) as usize == bucket
    }

    /// Empties a bucket, and returns its nodes with their distances, each that was not followed with its distance yet.
    fn take(&mut self, bucket: usize) -> Vec<(u32, f64)> {
        let nodes = std::mem::take(&mut self.ring[bucket]);
        self.waiting -= nodes.len();
        let mut taken = Vec::with_capacity(nodes.len());
        for node in nodes {
            let distance = self.distances[node as usize];
            // A node whose way became shorter meanwhile was taken out of a nearer bucket.
            let is_new = self.followed[node as usize] != distance;
            if is_new && self.is_in(bucket, distance) {
                self.followed[node as usize] = distance;
                taken.push((node, distance));
            }
        }
        taken
    }

    /// Follows the edges of some nodes. A way that is not shorter than those known before is not shorter in its turn either: so it makes no difference to what
    /// follows whether threads look for the shorter ones first.
    fn follow(
        &mut self,
        rows: &Rows,
        nodes: &[(u32, f64)],
        edges: usize,
        task: &Task<'_>,
    ) -> Result<()> {
        let pieces = (edges / task.cut().batch_piece).min(nodes.len());
        if pieces < 2 || task.threads() == 1 {
            for (node, distance) in nodes {
                rows.weighted(*node).for_each(|(to, weight)| self.shorten(to, distance + weight));
            }
            return Ok(());
        }
        let pieces: Vec<&[(u32, f64)]> = nodes.chunks(nodes.len().div_ceil(pieces)).collect();
        let shorter = task.blocks(pieces.len(), |number| {
            let nodes = pieces[number].iter();
            let ways = nodes.flat_map(|(node, distance)| {
                rows.weighted(*node).map(move |(to, weight)| (to, distance + weight))
            });
            let is_shorter = |way: &(u32, f64)| way.1 < self.distances[way.0 as usize];
            Ok(ways.filter(is_shorter).collect::<Vec<(u32, f64)>>())
        })?;
        shorter.into_iter().flatten().for_each(|(to, distance)| self.shorten(to, distance));
        Ok(())
    }

    #[inline]
    fn shorten(&mut self, node: u32, distance: f64) {
        if distance < self.distances[node as usize] {
            self.distances[node as usize] = distance;
            let bucket = (self.number(distance) % self.ring.len() as u64) as usize;
            self.ring[bucket].push(node);
            self.waiting += 1;
        }
    }

    /// The place of the nearest bucket that has nodes; `None` when all are empty.
    fn nearest(&mut self) -> Option<usize> {
        if self.waiting == 0 {
            return None;
        }
        let length = self.ring.len() as u64;
        while self.ring[(self.done % length) as usize].is_empty() {
            self.done += 1;
        }
        Some((self.done % length) as usize)
    }
}
