//! Closeness and harmonic centrality: how near a node is to its predecessors, by a breadth-first
//! search against the edges from each node.
//!
//! Many searches run at once: each bit of a word belongs to one of 64 searches, so that an edge on
//! several of them in one round is read once (Then et al., "The More the Merrier: Efficient
//! Multi-Source Graph Traversal", VLDB 2015).
//!
//! A round with many nodes scans all nodes. Small rounds, as in a long path, use a list, and cost
//! the edges of its nodes.

use crate::algo::compact::rows::Rows;
use crate::algo::run::{Outcome, Output, Run};
use hexgraph_base::types::Result;

/// The searches that run at once.
const QUEUES: usize = 64;

/// The bytes of a node for each thread: the searches that have visited it, those that visit it in
/// this round and in the next one, and its positions in lists.
const BYTES_A_NODE: usize = 3 * size_of::<u64>() + size_of::<u32>();

/// The nodes of a round are listed where they and their edges are at most one in so many of all
/// nodes.
const LISTED_RATIO: usize = 8;

/// The edges of listed nodes that are followed between two looks at the clock.
const EDGES_A_CHECK: usize = 1 << 16;

/// The sums of one search.
#[derive(Clone, Copy, Default)]
struct DistanceSums {
    /// The visited nodes, without the start.
    nodes: f64,
    /// The sum of their distances.
    distances: f64,
    /// The sum of one by their distances.
    inverse: f64,
}

pub(in crate::algo) fn harmonic(run: &Run<'_>) -> Result<Outcome> {
    let others = run.graph.len().saturating_sub(1).max(1) as f64;
    let unit = if run.call.is("normalized") { others } else { 1.0 };
    centrality(run, |sums| sums.inverse / unit)
}

/// One by the sum of the distances; normalized, it is multiplied by the visited nodes, and by their
/// fraction of all.
pub(in crate::algo) fn closeness(run: &Run<'_>) -> Result<Outcome> {
    let others = run.graph.len().saturating_sub(1).max(1) as f64;
    let is_normalized = run.call.is("normalized");
    centrality(run, |sums| match (sums.distances, is_normalized) {
        (0.0, _) => 0.0,
        (sum, false) => 1.0 / sum,
        (sum, true) => sums.nodes / sum * (sums.nodes / others),
    })
}

fn centrality(run: &Run<'_>, score: impl Fn(DistanceSums) -> f64) -> Result<Outcome> {
    let nodes = run.graph.len();
    let rows = run.graph.incoming(&run.task)?;
    let requested = run.list("source");
    let starts: Vec<u32> = match requested {
        Some(list) => list.to_vec(),
        None => (0..nodes as u32).collect(),
    };
    let _capacity = run.capacity_per_node(BYTES_A_NODE * run.task.threads() + size_of::<f64>())?;
    let batches: Vec<&[u32]> = starts.chunks(QUEUES).collect();
    let result = run.task.blocks(batches.len(), |number| search(rows, batches[number], run))?;
    let mut scores = vec![f64::NAN; nodes];
    let sums_of_starts = result.into_iter().flatten();
    starts.iter().zip(sums_of_starts).for_each(|(node, sums)| scores[*node as usize] = score(sums));
    Ok(Outcome::once(Output::Floats(scores), rows.edges() * batches.len()))
}

/// At most 64 searches at once. A bit of each word belongs to each of them.
struct Search<'s> {
    rows: &'s Rows,
    run: &'s Run<'s>,
    /// The searches that have visited a node.
    seen: Vec<u64>,
    /// Those that visited it in the round before, and those that visit it in this one.
    front: Vec<u64>,
    next: Vec<u64>,
    /// The nodes of the front, where they are few; all others have no bit in it then.
    listed: Option<Vec<u32>>,
    sums: Vec<DistanceSums>,
    unchecked: usize,
}

/// Searches from at most 64 nodes at once.
fn search(rows: &Rows, starts: &[u32], run: &Run<'_>) -> Result<Vec<DistanceSums>> {
    let words = || vec![0_u64; rows.nodes()];
    let (seen, front, next) = (words(), words(), words());
    let sums = vec![DistanceSums::default(); starts.len()];
    let mut search = Search { rows, run, seen, front, next, listed: None, sums, unchecked: 0 };
    for (lane, start) in starts.iter().enumerate() {
        search.seen[*start as usize] |= 1 << lane;
        search.front[*start as usize] |= 1 << lane;
    }
    search.listed = search.few(starts.to_vec());
    for distance in 1.. {
        let is_over = match search.listed.take() {
            Some(list) => search.listed_round(list, f64::from(distance))?,
            None => search.full_round(f64::from(distance))?,
        };
        if is_over {
            break;
        }
    }
    Ok(search.sums)
}

impl Search<'_> {
    /// The most nodes and edges of a list.
    fn most(&self) -> usize {
        self.rows.nodes() / LISTED_RATIO
    }

    /// A list of distinct nodes, unless it is too long or too many edges leave them.
    fn few(&self, list: Vec<u32>) -> Option<Vec<u32>> {
        let mut cost = 0;
        let is_within = |node: &u32| {
            cost += 1 + self.rows.degree(*node);
            cost <= self.most()
        };
        list.iter().all(is_within).then_some(list)
    }

    /// One step from the nodes of a list, which are all of the front. True when no search came to a
    /// new node.
    fn listed_round(&mut self, list: Vec<u32>, distance: f64) -> Result<bool> {
        let mut met = Vec::new();
        for &node in &list {
            // The words that will be those of the next round are 0 before it.
            let queues = std::mem::take(&mut self.front[node as usize]);
            for &to in self.rows.of(node) {
                if self.next[to as usize] == 0 {
                    met.push(to);
                }
                self.next[to as usize] |= queues;
            }
            self.unchecked += 1 + self.rows.degree(node);
        }
        if EDGES_A_CHECK < self.unchecked {
            self.unchecked = 0;
            self.run.task.check()?;
        }
        met.retain(|node| self.arrive(*node as usize, distance));
        std::mem::swap(&mut self.front, &mut self.next);
        let is_over = met.is_empty();
        self.listed = self.few(met);
        Ok(is_over)
    }

    /// One step from all nodes of the front. True when no search came to a new node.
    fn full_round(&mut self, distance: f64) -> Result<bool> {
        for block in 0..self.rows.blocks().len() {
            self.run.task.check()?;
            for node in self.rows.block(block) {
                let queues = self.front[node as usize];
                if queues != 0 {
                    self.rows.of(node).iter().for_each(|to| self.next[*to as usize] |= queues);
                }
            }
        }
        let (mut list, mut count, most) = (Vec::new(), 0, self.most());
        for node in 0..self.next.len() {
            if self.arrive(node, distance) {
                count += 1;
                if count <= most {
                    list.push(node as u32);
                }
            }
        }
        std::mem::swap(&mut self.front, &mut self.next);
        self.next.fill(0);
        self.listed = if count <= most { self.few(list) } else { None };
        Ok(count == 0)
    }

    /// Masks the searches at a node to those that have not visited it, and counts it for them.
    /// False if none is left.
    #[inline]
    fn arrive(&mut self, node: usize, distance: f64) -> bool {
        self.next[node] &= !self.seen[node];
        self.seen[node] |= self.next[node];
        let mut queues = self.next[node];
        let is_new = queues != 0;
        while queues != 0 {
            let sums = &mut self.sums[queues.trailing_zeros() as usize];
            sums.nodes += 1.0;
            sums.distances += distance;
            sums.inverse += 1.0 / distance;
            queues &= queues - 1;
        }
        is_new
    }
}
