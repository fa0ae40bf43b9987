//! Moves of nodes between communities as long as modularity gains: what Louvain and Leiden begin each level with.
//!
//! Nodes wait in a queue, and are looked at in batches. Threads share a batch: for each of its nodes they find the best community as things
//! stood before it. Then the moves are made one after the other, each of which has to gain as things stand then, since neighbours may have moved in the
//! same batch; a node whose move does not gain any more waits again. The first move of a batch always gains, so it comes to an end; and batches depend
//! on the network alone, so the result does not on the threads.

use super::network::Network;
use super::sums::Sums;
use crate::algo::draws::Draws;
use crate::algo::run::Run;
use hexgraph_base::types::Result;
use std::collections::VecDeque;

/// The most pieces of a batch.
const PIECES_MAX: usize = 8;

/// The nodes between two looks at the clock.
const NODES_A_CHECK: usize = 1 << 12;

/// A gain below this share of all weight is rounding.
const LEAST_GAIN: f64 = 1e-12;

/// Stands for a community without members.
const ALONE: u32 = u32::MAX;

/// A node waits in the queue.
const WAITING: u8 = 1;

/// A neighbour of a node has moved since its batch began.
const STALE: u8 = 2;

/// How nodes move.
#[derive(Clone, Copy)]
pub(super) struct Moving {
    pub(super) resolution: f64,
    /// The neighbouring nodes that are looked at one behind the other at first, since their rows lie so, where a batch has room for them.
    pub(super) run: usize,
    /// It ends with a round, in which each node is looked at that waits when it begins, of fewer moves than one in so many nodes; `None` where it goes on
    /// until none gains.
    pub(super) last_share: Option<usize>,
}

/// Moves nodes between communities as long as one gains: a node is looked at again when a neighbour in another community has moved. The
/// numbers of communities are below that of nodes. Returns the number of moves.
pub(super) fn move_nodes(
    network: &Network<'_>,
    group_of: &mut [u32],
    moving: Moving,
    draws: &mut Draws,
    run: &Run<'_>,
) -> Result<usize> {
    if network.total <= 0.0 {
        return Ok(0);
    }
    let size = (network.len() / run.task.cut().batches).clamp(1, NODES_A_CHECK);
    let mut queue = shuffled(network.len(), moving.run.min(size), draws);
    let mut states = vec![WAITING; network.len()];
    let mut groups = Groups::new(network, group_of, moving.resolution);
    let (mut moves, mut unchecked) = (0, NODES_A_CHECK);
    let mut batch = Vec::with_capacity(size);
    let round_min = moving.last_share.map_or(0, |share| network.len() / share);
    let (mut left_of_round, mut moves_before) = (queue.len(), 0);
    while !queue.is_empty() {
        if left_of_round == 0 {
            if moves - moves_before < round_min {
                break;
            }
            (left_of_round, moves_before) = (queue.len(), moves);
        }
        unchecked += size;
        if NODES_A_CHECK <= unchecked {
            unchecked = 0;
            run.task.check()?;
        }
        batch.clear();
        batch.extend(queue.drain(..size.min(left_of_round)));
        left_of_round -= batch.len();
        batch.iter().for_each(|node| states[*node as usize] = 0);
        for mut wish in groups.wanted(&batch, run)? {
            let state = &mut states[wish.node as usize];
            if *state & STALE != 0 {
                groups.sum_up(&mut wish);
            }
            let Some(best) = groups.put(&wish) else {
                if *state & WAITING == 0 {
                    *state |= WAITING;
                    queue.push_back(wish.node);
                }
                continue;
            };
            moves += 1;
            for &to in network.neighbours(wish.node) {
                let state = &mut states[to as usize];
                *state |= STALE;
                if *state & WAITING == 0 && groups.group_of[to as usize] != best {
                    *state |= WAITING;
                    queue.push_back(to);
                }
            }
        }
    }
    Ok(moves)
}

/// A move that gains.
struct Wish {
    node: u32,
    /// Where to; [`ALONE`] for a community of its own.
    group: u32,
    /// What leads to the others of the node's community.
    to_own: f64,
    /// What leads to the members of the other one.
    to_group: f64,
}

/// All nodes, in runs of so many neighbouring ones whose order is random.
fn shuffled(nodes: usize, run: usize, draws: &mut Draws) -> VecDeque<u32> {
    let mut runs: Vec<usize> = (0..nodes.div_ceil(run)).collect();
    draws.shuffle(&mut runs);
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
    /// What leads from the nodes of small batches to each community.
    sums: Sums,
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
        let sums = Sums::default();
        Groups { network, group_of, resolution, strengths, sizes, empty, sums }
    }

    /// The nodes of a batch that gain by a move, with the community that they gain most by.
    fn wanted(&mut self, batch: &[u32], run: &Run<'_>) -> Result<Vec<Wish>> {
        let ends: usize = batch.iter().map(|node| self.network.degree(*node)).sum();
        let pieces = (ends / run.task.cut().batch_piece).min(PIECES_MAX).min(batch.len());
        if pieces < 2 {
            let mut sums = std::mem::take(&mut self.sums);
            let wanted = self.wanted_of(batch, &mut sums);
            self.sums = sums;
            return Ok(wanted);
        }
        let parts: Vec<&[u32]> = batch.chunks(batch.len().div_ceil(pieces)).collect();
        let wanted = run
            .task
            .blocks(parts.len(), |number| Ok(self.wanted_of(parts[number], &mut Sums::default())));
        Ok(wanted?.into_iter().flatten().collect())
    }

    fn wanted_of(&self, nodes: &[u32], sums: &mut Sums) -> Vec<Wish> {
        nodes.iter().filter_map(|node| self.best_for(*node, sums)).collect()
    }

    /// What a node gains in a community to whose members its edges weigh `sum`.
    #[inline]
    fn gain(&self, node: u32, group: u32, sum: f64) -> f64 {
        let strength = self.network.strengths[node as usize];
        let own = if group == self.group_of[node as usize] { strength } else { 0.0 };
        let others = self.strengths[group as usize] - own;
        sum - self.resolution * strength * others / self.network.total
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
        let (margin, to_own) = (self.margin(), sums.of(own));
        let mut best = (own, self.gain(node, own, to_own), to_own);
        for &(group, sum) in sums.all() {
            // No more is gained than what leads there. So the strengths of most communities need not be fetched.
            if sum <= best.1 + margin {
                continue;
            }
            let gained = self.gain(node, group, sum);
            if best.1 + margin < gained {
                best = (group, gained, sum);
            }
        }
        let (group, gained, to_group) = best;
        // A community of its own, where all others are worse than none.
        if gained + margin < 0.0 && 1 < self.sizes[own as usize] {
            return Some(Wish { node, group: ALONE, to_own, to_group: 0.0 });
        }
        (group != own).then_some(Wish { node, group, to_own, to_group })
    }

    /// Finds anew what leads from a node to its community and to the one that it wants.
    fn sum_up(&self, wish: &mut Wish) {
        let own = self.group_of[wish.node as usize];
        let (mut to_own, mut to_group) = (0.0, 0.0);
        self.network.each_other(wish.node, |to, weight| {
            let there = self.group_of[to as usize];
            to_own += if there == own { weight } else { 0.0 };
            to_group += if there == wish.group { weight } else { 0.0 };
        });
        (wish.to_own, wish.to_group) = (to_own, to_group);
    }

    /// Moves a node where that gains now, and returns the community that it is in then.
    fn put(&mut self, wish: &Wish) -> Option<u32> {
        let &Wish { node, group, to_own, to_group } = wish;
        let own = self.group_of[node as usize];
        // The others may have left it in the same batch.
        let is_alone = group == ALONE || self.sizes[group as usize] == 0;
        let group = if is_alone { *self.empty.last()? } else { group };
        let gained = if is_alone { 0.0 } else { self.gain(node, group, to_group) };
        if gained <= self.gain(node, own, to_own) + self.margin() {
            return None;
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
        Some(group)
    }
}
