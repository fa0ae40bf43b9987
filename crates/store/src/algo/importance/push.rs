//! Personalised PageRank by forward push (R. Andersen, F. Chung, K. Lang: Local Graph Partitioning
//! using PageRank Vectors. FOCS, 2006).
//!
//! Rank that is not assigned yet is a residue of nodes, at first of the start nodes. A push assigns
//! a fraction of a node's residue to it and passes the rest on along its edges. Only nodes with a
//! residue above a bound for each edge are pushed, so the cost depends on the bound alone, and not
//! on the size of the graph. The bound falls in stages. If the greatest ranks are requested, it
//! stops when it is small in proportion to the least of them; otherwise it falls to the tolerance
//! of the call.
//!
//! A walk without a next edge restarts. Spreading the residue of a node without edges over the
//! starts would cost as much as there are starts, again and again. But a restart has the same
//! distribution as the initial residue. So it gives the same ranks and needs no push: it is set
//! aside, and at the end all ranks are divided by what was not set aside.
//!
//! About half of all residue is left then, spread over so many nodes that each has a small part. A
//! smaller bound would process much of it for a small gain of each rank. But the order of two close
//! ranks depends on it. So for the candidates it is estimated against the edges: the first step
//! exactly, and the steps before it with the remaining residue spread in proportion to edges. The
//! same fraction of it reaches nodes without edges as so far.

use crate::algo::run::{Outcome, Output, Report, Run};
use hexgraph_base::types::{Error, Result};
use std::collections::VecDeque;

/// The bytes for each node: what is retained, the residue, a position among those that were met,
/// one in the queue, and its rank when the greatest are looked for.
const BYTES_A_NODE: usize = 2 * size_of::<f64>() + 3 * size_of::<u32>() + size_of::<(u32, f64)>();

/// The bound on the residue by edge in the first stage.
const FIRST_BOUND: f64 = 1e-3;

/// The bound of a stage by that of the one before.
const STAGE: f64 = 0.25;

/// The bound of the last stage in proportion to the least requested rank: what an edge may still
/// pass on is small against it.
const LEAST_RATIO: f64 = 1.0 / 16.0;

/// The candidates for each requested node.
const CANDIDATES: usize = 3;

/// The least number of stages: with few nodes the first one gives the greatest, but not yet their
/// ranks.
const LEAST_STAGES: usize = 2;

/// The edges that are followed between two looks at the clock, and at what all rounds would cost.
const EDGES_A_CHECK: usize = 1 << 18;

/// The rounds over all edges that cost as much as it may: pushes go from node to node through
/// memory, and on one thread.
const ROUNDS_MAX: usize = 16;

/// By how much the bound may be missed, since more is set aside meanwhile.
const SLACK: f64 = 1.0 / 16.0;

/// The ranks near some nodes; `None` where `may_stop` lets it and rounds over all edges cost less.
///
/// # Errors
///
/// `Query` for a damping of 1; `Limit`.
pub(super) fn push(
    run: &Run<'_>,
    starts: &[u32],
    top: Option<usize>,
    may_stop: bool,
) -> Result<Option<Outcome>> {
    let damping = run.call.float("damping");
    if 1.0 <= damping {
        let hint = "a walk without restarts needs `method: power`";
        return Err(Error::query("`method: push` with `damping: 1`").with_hint(hint));
    }
    let last = run.call.float("tolerance").max(f64::EPSILON);
    let _capacity = run.capacity_per_node(BYTES_A_NODE)?;
    let mut pushing = Pushing::new(run, starts, may_stop);
    let mut bound = if top.is_some() { FIRST_BOUND.max(last) } else { last };
    let is_exact = run.call.differs("tolerance");
    let mut stages = 0;
    loop {
        if !pushing.until(bound)? {
            return Ok(None);
        }
        stages += 1;
        if let Some(top) = top.filter(|_| !is_exact) {
            let result = greatest(pushing.ranks(), top);
            let least = result.iter().map(|(_, rank)| *rank).fold(f64::INFINITY, f64::min);
            let full = pushing.full();
            if result.len() == top && LEAST_STAGES <= stages && bound <= LEAST_RATIO * least / full
            {
                break;
            }
        }
        if bound <= last {
            break;
        }
        bound = (bound * STAGE).max(last);
    }
    let left: f64 = pushing.met.iter().map(|node| pushing.residue[*node as usize]).sum();
    let (mut ranks, full) = match top {
        Some(top) => pushing.greatest_in_the_end(top, left)?,
        None => (greatest(pushing.ranks(), usize::MAX), pushing.full()),
    };
    ranks.iter_mut().for_each(|(_, rank)| *rank /= full);
    let residual = Some(left / pushing.full());
    let report =
        Report { iterations: stages, residual, converged: Some(true), edges: pushing.edges };
    Ok(Some(Outcome { output: Output::Some(ranks), report }))
}

/// The nodes with the greatest ranks, ascending by node. Of equal ranks the lesser nodes are
/// chosen.
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
    damping: f64,
    /// What stays at each node.
    cached: Vec<f64>,
    /// What each node is to hand on.
    residue: Vec<f64>,
    /// The nodes that have one or the other.
    met: Vec<u32>,
    queue: VecDeque<u32>,
    /// What starts anew since a node has no edges.
    aside: f64,
    /// What was handed on along edges, and how much of it came to nodes that have none.
    handed: f64,
    stuck: f64,
    edges: usize,
    /// Whether to stop where rounds over all edges cost less.
    may_stop: bool,
}

impl<'p, 'r> Pushing<'p, 'r> {
    fn new(run: &'p Run<'r>, starts: &[u32], may_stop: bool) -> Pushing<'p, 'r> {
        let mut pushing = Pushing {
            run,
            damping: run.call.float("damping"),
            cached: vec![0.0; run.graph.len()],
            residue: vec![0.0; run.graph.len()],
            met: Vec::new(),
            queue: VecDeque::new(),
            aside: 0.0,
            handed: 0.0,
            stuck: 0.0,
            edges: 0,
            may_stop,
        };
        for start in starts {
            pushing.hand(*start, 1.0 / starts.len() as f64, f64::INFINITY);
        }
        // The starts got it from nobody.
        pushing.stuck = 0.0;
        pushing
    }

    /// What was not set aside: above 0, since a fraction of it is retained.
    fn full(&self) -> f64 {
        1.0 - self.aside
    }

    /// The ranks so far, times the total. A node retains at least a fraction of its residue.
    fn ranks(&self) -> Vec<(u32, f64)> {
        let rank = |node: &u32| {
            let position = *node as usize;
            (*node, self.cached[position] + (1.0 - self.damping) * self.residue[position])
        };
        self.met.iter().map(rank).collect()
    }

    /// The nodes with the greatest ranks, including an estimate of the remaining residue, and their
    /// divisor: what is not set aside at the end.
    fn greatest_in_the_end(&mut self, top: usize, left: f64) -> Result<(Vec<(u32, f64)>, f64)> {
        let graph = self.run.graph;
        let (leaving, coming) = (graph.outgoing(), graph.incoming(&self.run.task)?);
        let by_edge = 1.0 / leaving.edges().max(1) as f64;
        // Of what is left a step hands on `damping`, of that the next one hands on what is not
        // stuck, and so on.
        let stuck = if 0.0 < self.handed { self.stuck / self.handed } else { 0.0 };
        let steps = 1.0 / (1.0 - self.damping * (1.0 - stuck).clamp(0.0, 1.0));
        let cached = 1.0 - self.damping;
        let mut candidates = greatest(self.ranks(), top.saturating_mul(CANDIDATES));
        for (node, rank) in &mut candidates {
            let (mut near, mut far) = (0.0, 0.0);
            for (from, weight) in coming.weighted(*node).filter(|(_, weight)| 0.0 < *weight) {
                let (unit, full) = leaving.unit_and_sum(from);
                let fraction = weight / unit / full;
                near += self.residue[from as usize] * fraction;
                far += coming.degree(from) as f64 * by_edge * fraction;
            }
            *rank += cached * self.damping * (near + self.damping * left * steps * far);
            self.edges += coming.degree(*node);
        }
        // All that was handed on so far, but for what is left, was retained or put aside.
        let full = self.full() - left + cached * left * (1.0 + self.damping * steps);
        Ok((greatest(candidates, top), full))
    }

    /// Pushes until no node has a rank to hand on of more than `bound` for each of its edges. False
    /// where it stopped before.
    fn until(&mut self, bound: f64) -> Result<bool> {
        loop {
            let full = self.full();
            if !self.push_above(bound * full)? {
                return Ok(false);
            }
            if full <= self.full() * (1.0 + SLACK) {
                return Ok(true);
            }
        }
    }

    /// Pushes until no node has a residue of more than `bound` for each of its edges. False where
    /// it stopped before.
    fn push_above(&mut self, bound: f64) -> Result<bool> {
        let rows = self.run.graph.outgoing();
        let capacity = |node: u32| bound * rows.degree(node).max(1) as f64;
        let mut unchecked = 0;
        let open = self.met.iter().filter(|node| capacity(**node) < self.residue[**node as usize]);
        self.queue = open.copied().collect();
        while let Some(node) = self.queue.pop_front() {
            let residue = std::mem::take(&mut self.residue[node as usize]);
            let (unit, full) = rows.unit_and_sum(node);
            if full <= 0.0 {
                // It has edges, but none with weight.
                self.stay(node, residue);
                continue;
            }
            self.cached[node as usize] += (1.0 - self.damping) * residue;
            let handed = self.damping * residue;
            self.handed += handed;
            for (to, weight) in rows.weighted(node) {
                self.hand(to, handed * (weight / unit) / full, capacity(to));
            }
            unchecked += rows.degree(node);
            if EDGES_A_CHECK < unchecked {
                self.edges += std::mem::take(&mut unchecked);
                self.run.task.check()?;
                if self.may_stop && rows.edges().saturating_mul(ROUNDS_MAX) < self.edges {
                    return Ok(false);
                }
            }
        }
        self.edges += unchecked;
        Ok(true)
    }

    /// Gives a node some of the residue of another, and puts it into the queue when that makes it
    /// more than there is space for.
    #[inline]
    fn hand(&mut self, node: u32, amount: f64, capacity: f64) {
        // An edge that weighs nothing hands on nothing.
        if amount <= 0.0 {
            return;
        }
        let position = node as usize;
        let before = self.residue[position];
        // Recorded once: a push always assigns something, for the damping is below 1.
        if before == 0.0 && self.cached[position] == 0.0 {
            self.met.push(node);
        }
        if self.run.graph.outgoing().degree(node) == 0 {
            return self.stay(node, amount);
        }
        self.residue[position] = before + amount;
        // Only when it passes the bound just now: so a node is in the queue once, as long as it is
        // above.
        if before <= capacity && capacity < before + amount {
            self.queue.push_back(node);
        }
    }

    /// The residue of a node without edges: it retains its fraction, and the rest is set aside.
    #[inline]
    fn stay(&mut self, node: u32, amount: f64) {
        self.cached[node as usize] += (1.0 - self.damping) * amount;
        self.aside += self.damping * amount;
        self.stuck += amount;
    }
}
