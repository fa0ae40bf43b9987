//! Personalised PageRank by forward push (R. Andersen, F. Chung, K. Lang: Local Graph Partitioning using PageRank Vectors. FOCS, 2006).
//!
//! What is not yet told where it stays is a residue of nodes, at first of those where walks start. A push lets a node keep its share of
//! its residue and hands the rest on along its edges. Only nodes are looked at whose residue is more than a bound for each of their edges,
//! so the cost depends on the bound alone, and not on the size of the graph. The bound falls in stages; where the greatest are wanted, it
//! stops when it is small beside the least of them.
//!
//! About half of all residue is left then, spread over so many nodes that each has little. A smaller bound would follow much of it for a little more of
//! each rank. But which of two near ranks is the greater is told by what they are still to get. So for the candidates it is looked up, against the
//! edges: the first step exactly, and for all that lie behind it as if what is left were spread as the ends of edges are.

use crate::algo::run::{Found, Output, Report, Run};
use hexgraph_base::types::{Error, Result};
use std::collections::VecDeque;

/// The bytes for each node: what is kept, the residue, a place among those that were met, one in the queue, and its rank when the greatest
/// are looked for.
const BYTES_A_NODE: usize = 2 * size_of::<f64>() + 3 * size_of::<u32>() + size_of::<(u32, f64)>();

/// The bound on the residue by edge in the first stage.
const FIRST_BOUND: f64 = 1e-3;

/// The bound of a stage by that of the one before.
const STAGE: f64 = 0.25;

/// The bound of the last stage by the least of the ranks that are wanted: what an edge may still hand on is little beside it.
const LEAST_SHARE: f64 = 1.0 / 16.0;

/// The nodes for each wanted one among which the greatest are looked for in the end.
const CANDIDATES: usize = 3;

/// The stages that there are at least: of few nodes the first one tells which are the greatest, but not yet their ranks.
const LEAST_STAGES: usize = 2;

/// The edges that are followed between two looks at the clock.
const EDGES_A_CHECK: usize = 1 << 18;

pub(super) fn push(run: &Run<'_>, starts: &[u32], top: Option<usize>) -> Result<Found> {
    let damping = run.call.float("damping");
    if 1.0 <= damping {
        let hint = "a walk that never starts anew is found by `method: power`";
        return Err(Error::query("`method: push` with `damping: 1`").with_hint(hint));
    }
    let last = run.call.float("tolerance").max(f64::EPSILON);
    let _room = run.room_a_node(BYTES_A_NODE)?;
    let mut pushing = Pushing {
        run,
        starts,
        damping,
        kept: vec![0.0; run.graph.len()],
        residue: vec![0.0; run.graph.len()],
        met: Vec::new(),
        queue: VecDeque::new(),
        edges: 0,
    };
    for start in starts {
        pushing.receive(*start, 1.0 / starts.len() as f64);
    }
    let mut bound = if top.is_some() { FIRST_BOUND.max(last) } else { last };
    let mut stages = 0;
    loop {
        pushing.until(bound)?;
        stages += 1;
        if let Some(top) = top {
            let found = greatest(pushing.ranks(), top);
            let least = found.iter().map(|(_, rank)| *rank).fold(f64::INFINITY, f64::min);
            if found.len() == top && LEAST_STAGES <= stages && bound <= LEAST_SHARE * least {
                break;
            }
        }
        if bound <= last {
            break;
        }
        bound = (bound * STAGE).max(last);
    }
    let left: f64 = pushing.met.iter().map(|node| pushing.residue[*node as usize]).sum();
    let ranks = match top {
        Some(top) => pushing.greatest_in_the_end(top, left)?,
        None => greatest(pushing.ranks(), usize::MAX),
    };
    let report = Report { iterations: stages, residual: Some(left), edges: pushing.edges };
    Ok(Found { output: Output::Some(ranks), report })
}

/// The nodes with the greatest ranks, ascending by node. Of equal ranks those of the lesser nodes are taken.
pub(super) fn greatest(mut ranks: Vec<(u32, f64)>, top: usize) -> Vec<(u32, f64)> {
    if top < ranks.len() {
        ranks.select_nth_unstable_by(top, |one, other| {
            other.1.total_cmp(&one.1).then(one.0.cmp(&other.0))
        });
        ranks.truncate(top);
    }
    ranks.sort_unstable_by_key(|(node, _)| *node);
    ranks
}

struct Pushing<'p, 'r> {
    run: &'p Run<'r>,
    starts: &'p [u32],
    damping: f64,
    /// What stays at each node.
    kept: Vec<f64>,
    /// What each node is to hand on.
    residue: Vec<f64>,
    /// The nodes that have one or the other.
    met: Vec<u32>,
    queue: VecDeque<u32>,
    edges: usize,
}

impl Pushing<'_, '_> {
    /// The ranks as far as they are known. Of its residue a node keeps its share at least.
    fn ranks(&self) -> Vec<(u32, f64)> {
        let rank = |node: &u32| {
            let place = *node as usize;
            (*node, self.kept[place] + (1.0 - self.damping) * self.residue[place])
        };
        self.met.iter().map(rank).collect()
    }

    /// The nodes with the greatest ranks when what is left to be handed on has come to them, as far as that can be foretold.
    fn greatest_in_the_end(&mut self, top: usize, left: f64) -> Result<Vec<(u32, f64)>> {
        let graph = self.run.graph;
        let (leaving, coming) = (graph.outgoing(), graph.incoming(&self.run.task)?);
        let by_edge = 1.0 / leaving.edges().max(1) as f64;
        let mut candidates = greatest(self.ranks(), top.saturating_mul(CANDIDATES));
        for (node, rank) in &mut candidates {
            let (mut near, mut far) = (0.0, 0.0);
            for (from, weight) in coming.weighted(*node).filter(|(_, weight)| 0.0 < *weight) {
                let share = weight / leaving.weight_of(from);
                near += self.residue[from as usize] * share;
                far += coming.degree(from) as f64 * by_edge * share;
            }
            // The steps behind the first sum to `damping / (1 - damping)` times it, of which all but the share that stays is divided away.
            *rank += self.damping * ((1.0 - self.damping) * near + self.damping * left * far);
            self.edges += coming.degree(*node);
        }
        Ok(greatest(candidates, top))
    }

    #[inline]
    fn receive(&mut self, node: u32, amount: f64) -> f64 {
        let residue = &mut self.residue[node as usize];
        // Noted once: who has pushed has kept something, for the damping is below 1.
        if *residue == 0.0 && self.kept[node as usize] == 0.0 {
            self.met.push(node);
        }
        let before = *residue;
        *residue += amount;
        before
    }

    /// Pushes until no node has a residue of more than `bound` for each of its edges.
    fn until(&mut self, bound: f64) -> Result<()> {
        let rows = self.run.graph.outgoing();
        let room = |node: u32| bound * rows.degree(node).max(1) as f64;
        let mut unchecked = 0;
        let open = self.met.iter().filter(|node| room(**node) < self.residue[**node as usize]);
        self.queue = open.copied().collect();
        while let Some(node) = self.queue.pop_front() {
            let residue = std::mem::take(&mut self.residue[node as usize]);
            self.kept[node as usize] += (1.0 - self.damping) * residue;
            let handed = self.damping * residue;
            let whole = rows.weight_of(node);
            if 0.0 < whole {
                for (to, weight) in rows.weighted(node) {
                    self.hand(to, handed * weight / whole, room(to));
                }
                unchecked += rows.degree(node);
            } else {
                // A walk that is stuck starts anew.
                for place in 0..self.starts.len() {
                    let to = self.starts[place];
                    self.hand(to, handed / self.starts.len() as f64, room(to));
                }
                unchecked += self.starts.len();
            }
            if EDGES_A_CHECK < unchecked {
                self.edges += std::mem::take(&mut unchecked);
                self.run.task.check()?;
            }
        }
        self.edges += unchecked;
        Ok(())
    }

    /// Gives a node some of the residue of another, and puts it into the queue when that makes it too much.
    #[inline]
    fn hand(&mut self, node: u32, amount: f64, room: f64) {
        // An edge that weighs nothing hands on nothing.
        if amount <= 0.0 {
            return;
        }
        let before = self.receive(node, amount);
        // Only when it passes the bound just now: so a node is in the queue once, as long as it is above.
        if before <= room && room < before + amount {
            self.queue.push_back(node);
        }
    }
}
