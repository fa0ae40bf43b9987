//! Moves of nodes between communities as long as modularity gains: the first phase of each level of
//! Louvain and Leiden.
//!
//! A round visits each node that may want to move: in the first one all, then those with a
//! neighbour that moved in the previous one, to another community than theirs. Threads process a
//! batch in parallel: for each node they compute the best community in the state before the batch.
//! Then the moves are applied one after the other. Each must gain in the current state, since
//! neighbours may have moved in the same batch; a node without a gain is visited again. The first
//! move of a batch always gains, so it terminates. Batches depend on the network alone, so the
//! result does not depend on the threads.
//!
//! After many moves nobody is notified: nodes check in parallel whether a neighbour has moved, and
//! the first one suffices. After few moves the moved nodes notify their neighbours.

use super::network::Network;
use super::sums::{Spares, Sums};
use crate::algo::bits::Bits;
use crate::algo::random::RandomStream;
use crate::algo::run::Run;
use crate::algo::task::EVEN_BLOCK;
use hexgraph_base::types::Result;

/// The most chunks of a batch.
const CHUNKS_MAX: usize = 8;

/// The nodes between two looks at the clock.
const NODES_A_CHECK: usize = 1 << 12;

/// A gain below this fraction of all weight is rounding.
const LEAST_GAIN: f64 = 1e-12;

/// Moved nodes notify their neighbours if they are less than one in so many nodes.
const REPORTED_RATIO: usize = 16;

/// The number of a community without members.
const ALONE: u32 = u32::MAX;

/// How nodes move.
#[derive(Clone, Copy)]
pub(super) struct Moving {
    pub(super) resolution: f64,
    /// The neighbouring nodes that are looked at one after the other, since their rows lie so,
    /// where a batch has space for them.
    pub(super) run: usize,
    /// It ends with a round of fewer moves than one in so many nodes; with `None` it runs until
    /// none gains.
    pub(super) last_fraction: Option<usize>,
}

/// Moves nodes between communities as long as one gains. The numbers of communities are below that
/// of nodes. Returns the number of moves.
pub(super) fn move_nodes(
    network: &Network<'_>,
    group_of: &mut [u32],
    moving: Moving,
    random: &mut RandomStream,
    run: &Run<'_>,
) -> Result<usize> {
    if network.total <= 0.0 {
        return Ok(0);
    }
    // By the network alone, and not the threads: the result depends on the batches.
    let size = (network.len() / run.task.cut().batches).clamp(1, NODES_A_CHECK);
    let order = shuffled(network.len(), moving.run.min(size), random);
    let mut groups = Groups::new(network, group_of, moving.resolution);
    let expected_min = moving.last_fraction.map_or(1, |fraction| (network.len() / fraction).max(1));
    let (mut moves, mut unchecked) = (0, NODES_A_CHECK);
    let mut waiting = order.clone();
    loop {
        let mut moved = 0;
        for batch in waiting.chunks(size) {
            unchecked += batch.len();
            if NODES_A_CHECK <= unchecked {
                unchecked = 0;
                run.task.check()?;
            }
            moved += groups.move_batch(batch, run)?;
        }
        moves += moved;
        if moved < expected_min {
            return Ok(moves);
        }
        waiting = groups.waiting(&order, moved, run)?;
    }
}

/// A move that gains.
struct Wish {
    node: u32,
    /// Where to; [`ALONE`] for a community of its own.
    group: u32,
    /// The weight to the others of the node's community.
    to_own: f64,
    /// The weight to the members of the other one.
    to_group: f64,
    /// The neighbours that are in the same batch.
    near: usize,
}

/// An edge between two nodes of one batch that both may move.
struct Near {
    to: u32,
    /// The community of that one before the batch.
    group: u32,
    weight: f64,
}

/// The moves that some nodes of a batch want, and the edges of these within the batch, in the same
/// order.
#[derive(Default)]
struct Wishes {
    wishes: Vec<Wish>,
    near: Vec<Near>,
}

/// All nodes, in runs of so many neighbouring ones whose order is random.
fn shuffled(nodes: usize, run: usize, random: &mut RandomStream) -> Vec<u32> {
    let mut runs: Vec<usize> = (0..nodes.div_ceil(run)).collect();
    random.shuffle(&mut runs);
    let nodes_of = |number: usize| number * run..nodes.min((number + 1) * run);
    runs.into_iter().flat_map(nodes_of).map(|node| node as u32).collect()
}

/// The communities while nodes move.
struct Groups<'n> {
    network: &'n Network<'n>,
    group_of: &'n mut [u32],
    resolution: f64,
    /// What the edges of all members weigh together, by community.
    strengths: Vec<f64>,
    sizes: Vec<u32>,
    /// The communities without members.
    empty: Vec<u32>,
    /// The nodes that are looked at together.
    batch: Bits,
    /// The nodes that moved in this round.
    moved: Bits,
    /// Those that chose to move, and no longer gained when applied.
    again: Bits,
    spares: Spares,
}

impl<'n> Groups<'n> {
    fn new(network: &'n Network<'n>, group_of: &'n mut [u32], resolution: f64) -> Groups<'n> {
        let nodes = network.len();
        let (mut strengths, mut sizes) = (vec![0.0; nodes], vec![0_u32; nodes]);
        for (node, group) in group_of.iter().enumerate() {
            strengths[*group as usize] += network.strengths[node];
            sizes[*group as usize] += 1;
        }
        let empty = (0..nodes as u32).rev().filter(|group| sizes[*group as usize] == 0).collect();
        Groups {
            network,
            group_of,
            resolution,
            strengths,
            sizes,
            empty,
            batch: Bits::new(nodes),
            moved: Bits::new(nodes),
            again: Bits::new(nodes),
            spares: Spares::default(),
        }
    }

    /// Ends a round of so many moves, and returns the nodes that may want to move in the next one:
    /// a subsequence of `order`.
    fn waiting(&mut self, order: &[u32], moves: usize, run: &Run<'_>) -> Result<Vec<u32>> {
        let nodes = self.network.len();
        let mut moved = std::mem::replace(&mut self.moved, Bits::new(nodes));
        let mut awake = std::mem::replace(&mut self.again, Bits::new(nodes));
        if moves < nodes / REPORTED_RATIO {
            moved.drain(|node| {
                let others = self.network.neighbours(node as u32).iter();
                let apart = |to: &&u32| self.group_of[**to as usize] != self.group_of[node];
                others.filter(apart).for_each(|to| awake.set(*to as usize));
            });
            return Ok(order.iter().copied().filter(|node| awake.has(*node as usize)).collect());
        }
        let is_awake = |node: &u32| {
            let own = self.group_of[*node as usize];
            let has_moved =
                |to: &u32| moved.has(*to as usize) && self.group_of[*to as usize] != own;
            awake.has(*node as usize) || self.network.neighbours(*node).iter().any(has_moved)
        };
        let waiting = run.task.blocks(order.len().div_ceil(EVEN_BLOCK), |number| {
            let part = &order[number * EVEN_BLOCK..order.len().min((number + 1) * EVEN_BLOCK)];
            Ok(part.iter().copied().filter(is_awake).collect::<Vec<u32>>())
        })?;
        Ok(waiting.concat())
    }

    /// Moves those nodes of a batch that gain by it, and returns how many.
    fn move_batch(&mut self, batch: &[u32], run: &Run<'_>) -> Result<usize> {
        batch.iter().for_each(|node| self.batch.set(*node as usize));
        let expected = self.expected(batch, run)?;
        batch.iter().for_each(|node| self.batch.unset(*node as usize));
        Ok(expected.into_iter().map(|expected| self.apply(expected)).sum())
    }

    /// The moves that nodes of a batch gain by, each to the community that it gains most by.
    fn expected(&self, batch: &[u32], run: &Run<'_>) -> Result<Vec<Wishes>> {
        let edges: usize = batch.iter().map(|node| self.network.degree(*node)).sum();
        let chunks = (edges / run.task.cut().batch_chunk).min(CHUNKS_MAX).min(batch.len());
        if chunks < 2 {
            return Ok(vec![self.expected_of(batch)]);
        }
        let parts: Vec<&[u32]> = batch.chunks(batch.len().div_ceil(chunks)).collect();
        run.task.blocks(parts.len(), |number| Ok(self.expected_of(parts[number])))
    }

    fn expected_of(&self, nodes: &[u32]) -> Wishes {
        let mut expected = Wishes::default();
        self.spares.lend(|sums| {
            for node in nodes {
                if let Some(mut wish) = self.best_for(*node, sums) {
                    wish.near = self.find_near(*node, &mut expected.near);
                    expected.wishes.push(wish);
                }
            }
        });
        expected
    }

    /// Finds the edges of a node within its batch, and returns how many there are.
    fn find_near(&self, node: u32, near: &mut Vec<Near>) -> usize {
        let before = near.len();
        self.network.each_other(node, |to, weight| {
            if self.batch.has(to as usize) {
                near.push(Near { to, group: self.group_of[to as usize], weight });
            }
        });
        near.len() - before
    }

    /// Makes those moves that gain still, and returns how many.
    fn apply(&mut self, expected: Wishes) -> usize {
        let (mut moves, mut near) = (0, expected.near.as_slice());
        for mut wish in expected.wishes {
            let (own, others) = near.split_at(wish.near);
            near = others;
            self.correct(&mut wish, own);
            if self.put(&wish) {
                self.moved.set(wish.node as usize);
                moves += 1;
            } else {
                // Its choice was computed before the batch, so it may gain by another move now.
                self.again.set(wish.node as usize);
            }
        }
        moves
    }

    /// Corrects the weights from a node to its community and to its choice by the earlier moves of
    /// its batch.
    fn correct(&self, wish: &mut Wish, near: &[Near]) {
        let own = self.group_of[wish.node as usize];
        for &Near { to, group, weight } in near {
            let now = self.group_of[to as usize];
            if now != group {
                let if_in = |is_in: bool| if is_in { weight } else { 0.0 };
                wish.to_own += if_in(now == own) - if_in(group == own);
                wish.to_group += if_in(now == wish.group) - if_in(group == wish.group);
            }
        }
    }

    /// What it costs a node, for each unit of what the others of a community weigh, to be in it:
    /// what chance would put between them.
    #[inline]
    fn cost(&self, node: u32) -> f64 {
        // With random edges, two sets of strengths `a` and `b` have `a b / total` between them,
        // `total` being twice the weight of all edges. The cost is that without the factor of the
        // community.
        self.resolution * self.network.strengths[node as usize] / self.network.total
    }

    /// What a node gains in a community to whose members its edges weigh `sum`.
    #[inline]
    fn gain(&self, node: u32, group: u32, sum: f64) -> f64 {
        let strength = self.network.strengths[node as usize];
        // Among the others of its own community a node does not count itself.
        let own = if group == self.group_of[node as usize] { strength } else { 0.0 };
        sum - self.cost(node) * (self.strengths[group as usize] - own)
    }

    /// The least gain that is none of rounding.
    fn margin(&self) -> f64 {
        LEAST_GAIN * self.network.total
    }

    /// The move that a node gains most by; `None` where it stays.
    fn best_for(&self, node: u32, sums: &mut Sums) -> Option<Wish> {
        let own = self.group_of[node as usize];
        sums.begin(self.network.degree(node), self.network.len());
        self.network.each_other(node, |to, weight| sums.add(self.group_of[to as usize], weight));
        let (margin, cost, to_own) = (self.margin(), self.cost(node), sums.of(own));
        let mut best = (own, self.gain(node, own, to_own), to_own);
        for &(group, sum) in sums.all() {
            // No more is gained than what leads there. So the strengths of most communities need
            // not be fetched.
            if sum <= best.1 + margin {
                continue;
            }
            // Of its own community it is less than what it gains there, and so never better.
            let gained = sum - cost * self.strengths[group as usize];
            if best.1 + margin < gained {
                best = (group, gained, sum);
            }
        }
        let (group, gained, to_group) = best;
        // A community of its own, where all others are worse than none.
        if gained + margin < 0.0 && 1 < self.sizes[own as usize] {
            return Some(Wish { node, group: ALONE, to_own, to_group: 0.0, near: 0 });
        }
        (group != own).then_some(Wish { node, group, to_own, to_group, near: 0 })
    }

    /// Moves a node where that gains now, and returns whether it does.
    fn put(&mut self, wish: &Wish) -> bool {
        let &Wish { node, group, to_own, to_group, .. } = wish;
        let own = self.group_of[node as usize];
        // The others may have left it in the same batch.
        let is_alone = group == ALONE || self.sizes[group as usize] == 0;
        let group = match self.empty.last() {
            Some(empty) if is_alone => *empty,
            // Where no community is empty each has one member, and this node is alone already.
            None if is_alone => return false,
            _ => group,
        };
        let gained = if is_alone { 0.0 } else { self.gain(node, group, to_group) };
        if gained <= self.gain(node, own, to_own) + self.margin() {
            return false;
        }
        self.group_of[node as usize] = group;
        let strength = self.network.strengths[node as usize];
        self.strengths[own as usize] -= strength;
        self.strengths[group as usize] += strength;
        self.sizes[own as usize] -= 1;
        self.sizes[group as usize] += 1;
        if is_alone {
            self.empty.pop();
        }
        if self.sizes[own as usize] == 0 {
            self.empty.push(own);
        }
        true
    }
}
