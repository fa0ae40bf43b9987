//! Louvain: nodes move to the neighbouring community where modularity gains most, until none gains; then each community becomes a node, and
//! it begins anew. Modularity with resolution γ is the weight of edges within communities less γ times what chance would put there.

use super::network::{BYTES_A_NODE, BYTES_AN_EDGE, Network, Sums, renumber};
use crate::algo::components::numbered::by_first_node;
use crate::algo::draws::Draws;
use crate::algo::run::{Found, Output, Report, Run};
use hexgraph_base::types::Result;
use std::collections::VecDeque;

/// The moves between two looks at the clock.
const MOVES_A_CHECK: usize = 1 << 12;

/// A gain below this share of all weight is rounding.
const LEAST_GAIN: f64 = 1e-12;

pub(in crate::algo) fn louvain(run: &Run<'_>) -> Result<Found> {
    let _nodes = run.room_a_node(BYTES_A_NODE)?;
    let _edges = run.task.room(2 * run.graph.outgoing().edges(), BYTES_AN_EDGE)?;
    let resolution = run.call.float("resolution");
    let mut draws = Draws::new(run.call.seed);
    let mut network = Network::of(run)?;
    let mut group_of: Vec<u32> = (0..network.len() as u32).collect();
    let mut report = Report::default();
    loop {
        let mut moved: Vec<u32> = (0..network.len() as u32).collect();
        let moves = move_nodes(&network, &mut moved, resolution, &mut draws, run)?;
        report.iterations += 1;
        report.edges += network.ends();
        let count = renumber(&mut moved);
        group_of.iter_mut().for_each(|group| *group = moved[*group as usize]);
        if moves == 0 || count == network.len() {
            break;
        }
        network = network.grouped(&moved, count, run)?;
    }
    let numbers = by_first_node(group_of.len(), |node| group_of[node as usize]);
    Ok(Found { output: Output::Ints(numbers), report })
}

/// Moves nodes between communities as long as one gains: a node is looked at again when a neighbour in another community has moved. The
/// numbers of communities are below that of nodes. Returns the number of moves.
pub(super) fn move_nodes(
    network: &Network,
    group_of: &mut [u32],
    resolution: f64,
    draws: &mut Draws,
    run: &Run<'_>,
) -> Result<usize> {
    if network.total <= 0.0 {
        return Ok(0);
    }
    let mut order: Vec<u32> = (0..network.len() as u32).collect();
    draws.shuffle(&mut order);
    let mut queue: VecDeque<u32> = order.into();
    let mut is_waiting = vec![true; network.len()];
    let mut groups = Groups::new(network, group_of, resolution);
    let (mut moves, mut looked) = (0, 0_usize);
    while let Some(node) = queue.pop_front() {
        if looked.is_multiple_of(MOVES_A_CHECK) {
            run.task.check()?;
        }
        looked += 1;
        is_waiting[node as usize] = false;
        let Some(best) = groups.best_for(node) else { continue };
        groups.put(node, best);
        moves += 1;
        for (to, _) in network.neighbours(node) {
            let is_elsewhere = groups.group_of[to as usize] != best;
            if is_elsewhere && !std::mem::replace(&mut is_waiting[to as usize], true) {
                queue.push_back(to);
            }
        }
    }
    Ok(moves)
}

/// The communities while nodes move.
struct Groups<'n> {
    network: &'n Network,
    group_of: &'n mut [u32],
    resolution: f64,
    /// What the edges of all members weigh together, by community.
    strengths: Vec<f64>,
    sizes: Vec<u32>,
    /// The communities without members.
    empty: Vec<u32>,
    /// What leads from the node that is looked at to each community.
    sums: Sums,
}

impl<'n> Groups<'n> {
    fn new(network: &'n Network, group_of: &'n mut [u32], resolution: f64) -> Groups<'n> {
        let nodes = network.len();
        let (mut strengths, mut sizes) = (vec![0.0; nodes], vec![0_u32; nodes]);
        for (node, group) in group_of.iter().enumerate() {
            strengths[*group as usize] += network.strengths[node];
            sizes[*group as usize] += 1;
        }
        let empty = (0..nodes as u32).rev().filter(|group| sizes[*group as usize] == 0).collect();
        Groups { network, group_of, resolution, strengths, sizes, empty, sums: Sums::new(nodes) }
    }

    /// The community that a node gains most by moving to; `None` where it stays.
    fn best_for(&mut self, node: u32) -> Option<u32> {
        let own = self.group_of[node as usize];
        for (to, weight) in self.network.neighbours(node).filter(|(to, _)| *to != node) {
            self.sums.add(self.group_of[to as usize], weight);
        }
        let strength = self.network.strengths[node as usize];
        let gain = |group: u32| {
            let others = self.strengths[group as usize] - if group == own { strength } else { 0.0 };
            self.sums.of(group) - self.resolution * strength * others / self.network.total
        };
        let margin = LEAST_GAIN * self.network.total;
        let mut best = (own, gain(own));
        for &group in &self.sums.groups {
            let gained = gain(group);
            if best.1 + margin < gained {
                best = (group, gained);
            }
        }
        // A community of its own, where all others are worse than none.
        let is_with_others = 1 < self.sizes[own as usize];
        if let Some(&alone) = self.empty.last().filter(|_| best.1 + margin < 0.0 && is_with_others)
        {
            best.0 = alone;
        }
        self.sums.take(|_, _| {});
        (best.0 != own).then_some(best.0)
    }

    fn put(&mut self, node: u32, group: u32) {
        let own = std::mem::replace(&mut self.group_of[node as usize], group);
        let strength = self.network.strengths[node as usize];
        self.strengths[own as usize] -= strength;
        self.strengths[group as usize] += strength;
        self.sizes[own as usize] -= 1;
        self.sizes[group as usize] += 1;
        if self.empty.last() == Some(&group) {
            self.empty.pop();
        }
        if self.sizes[own as usize] == 0 {
            self.empty.push(own);
        }
    }
}
