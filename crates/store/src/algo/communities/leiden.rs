//! Leiden: as Louvain, but each community is refined before it becomes a node: its nodes begin alone again and are merged only with those
//! that they are well connected to. So communities are connected, and a level can take apart what the one before put together.

use super::louvain::move_nodes;
use super::network::{BYTES_A_NODE, BYTES_AN_EDGE, Network, Sums, renumber};
use crate::algo::components::numbered::by_first_node;
use crate::algo::draws::Draws;
use crate::algo::run::{Found, Output, Report, Run};
use hexgraph_base::types::Result;

/// How readily a merge of less gain is drawn, in edges of usual weight. The authors' value.
const RANDOMNESS: f64 = 0.01;

/// The nodes that are refined between two looks at the clock.
const NODES_A_CHECK: usize = 1 << 12;

pub(in crate::algo) fn leiden(run: &Run<'_>) -> Result<Found> {
    let _nodes = run.room_a_node(2 * BYTES_A_NODE)?;
    let _edges = run.task.room(3 * run.graph.outgoing().edges(), BYTES_AN_EDGE)?;
    let resolution = run.call.float("resolution");
    let mut draws = Draws::new(run.call.seed);
    let whole = Network::of(run)?;
    let mut groups: Vec<u32> = (0..whole.len() as u32).collect();
    let mut report = Report::default();
    for _ in 0..run.call.int("iterations").unwrap_or(1) {
        let before = groups.clone();
        pass(&whole, &mut groups, resolution, &mut draws, run, &mut report)?;
        renumber(&mut groups);
        if groups == before {
            break;
        }
    }
    let numbers = by_first_node(groups.len(), |node| groups[node as usize]);
    Ok(Found { output: Output::Ints(numbers), report })
}

/// One pass over all levels, from the communities that are there.
fn pass(
    whole: &Network,
    groups: &mut [u32],
    resolution: f64,
    draws: &mut Draws,
    run: &Run<'_>,
    report: &mut Report,
) -> Result<()> {
    // The node of the present level that each node of the graph is in, and the community of each node of the level.
    let mut node_of: Vec<u32> = (0..whole.len() as u32).collect();
    let mut community_of = groups.to_vec();
    let mut grouped: Option<Network> = None;
    loop {
        let network = grouped.as_ref().unwrap_or(whole);
        move_nodes(network, &mut community_of, resolution, draws, run)?;
        report.iterations += 1;
        report.edges += 2 * network.ends();
        let communities = renumber(&mut community_of);
        let parts = match communities == network.len() {
            true => None,
            false => {
                let mut refined = refine(network, &community_of, resolution, draws, run)?;
                let count = renumber(&mut refined);
                (count < network.len()).then_some((refined, count))
            }
        };
        let Some((refined, count)) = parts else {
            let community = node_of.iter().map(|node| community_of[*node as usize]);
            groups.iter_mut().zip(community).for_each(|(group, community)| *group = community);
            return split(whole, groups, run);
        };
        // The communities of the next level's nodes, which are parts of communities.
        let mut next_community = vec![0; count];
        for (part, community) in refined.iter().zip(&community_of) {
            next_community[*part as usize] = *community;
        }
        node_of.iter_mut().for_each(|node| *node = refined[*node as usize]);
        grouped = Some(network.grouped(&refined, count, run)?);
        community_of = next_community;
    }
}

/// Makes a group of each part of a group that no edge joins with the rest: the last level may have left some.
fn split(network: &Network, groups: &mut [u32], run: &Run<'_>) -> Result<()> {
    let mut parts = vec![u32::MAX; groups.len()];
    let mut open = Vec::new();
    for first in 0..groups.len() as u32 {
        if (first as usize).is_multiple_of(NODES_A_CHECK) {
            run.task.check()?;
        }
        if parts[first as usize] != u32::MAX {
            continue;
        }
        parts[first as usize] = first;
        open.push(first);
        while let Some(node) = open.pop() {
            for (to, _) in network.neighbours(node) {
                if parts[to as usize] == u32::MAX && groups[to as usize] == groups[node as usize] {
                    parts[to as usize] = first;
                    open.push(to);
                }
            }
        }
    }
    groups.copy_from_slice(&parts);
    Ok(())
}

/// Takes each community apart, and merges its nodes with parts of it that they are well connected to: with one that is drawn, by its gain.
fn refine(
    network: &Network,
    community_of: &[u32],
    resolution: f64,
    draws: &mut Draws,
    run: &Run<'_>,
) -> Result<Vec<u32>> {
    let nodes = network.len();
    let mut parts = Parts::new(network, community_of, resolution);
    if 0.0 < network.total {
        let mut order: Vec<u32> = (0..nodes as u32).collect();
        draws.shuffle(&mut order);
        let mut candidates = Vec::new();
        for (looked, &node) in order.iter().enumerate() {
            if looked.is_multiple_of(NODES_A_CHECK) {
                run.task.check()?;
            }
            if !parts.is_alone[node as usize] || !parts.is_well_connected(node) {
                continue;
            }
            parts.find_candidates(node, &mut candidates);
            let usual = network.total / network.ends() as f64;
            if let Some(part) = drawn(&candidates, usual, draws) {
                parts.merge(node, part);
            }
        }
    }
    Ok(parts.part_of)
}

/// The parts of communities while they are merged. A part has the number of the node that it began with.
struct Parts<'n> {
    network: &'n Network,
    community_of: &'n [u32],
    resolution: f64,
    part_of: Vec<u32>,
    /// What the edges of all members weigh together, by part and by community.
    strengths: Vec<f64>,
    community_strengths: Vec<f64>,
    /// What leads from each part to the rest of its community.
    outside: Vec<f64>,
    /// Whether a node is in no part with others.
    is_alone: Vec<bool>,
    sums: Sums,
}

impl<'n> Parts<'n> {
    fn new(network: &'n Network, community_of: &'n [u32], resolution: f64) -> Parts<'n> {
        let nodes = network.len();
        let mut community_strengths = vec![0.0; nodes];
        for (node, community) in community_of.iter().enumerate() {
            community_strengths[*community as usize] += network.strengths[node];
        }
        let outside = (0..nodes as u32).map(|node| {
            let community = community_of[node as usize];
            let inside = network.neighbours(node);
            let inside =
                inside.filter(|(to, _)| *to != node && community_of[*to as usize] == community);
            inside.map(|(_, weight)| weight).sum()
        });
        Parts {
            network,
            community_of,
            resolution,
            part_of: (0..nodes as u32).collect(),
            strengths: network.strengths.clone(),
            community_strengths,
            outside: outside.collect(),
            is_alone: vec![true; nodes],
            sums: Sums::new(nodes),
        }
    }

    /// What chance would put between two sets of nodes.
    fn expected(&self, one: f64, other: f64) -> f64 {
        self.resolution * one * other / self.network.total
    }

    /// Whether as much leads from a part to the rest of its community as chance would put there.
    fn is_well_connected(&self, part: u32) -> bool {
        let all = self.community_strengths[self.community_of[part as usize] as usize];
        let own = self.strengths[part as usize];
        self.expected(own, all - own) <= self.outside[part as usize]
    }

    /// The parts that a node may be merged with, and what each gains.
    fn find_candidates(&mut self, node: u32, candidates: &mut Vec<(u32, f64)>) {
        let community = self.community_of[node as usize];
        for (to, weight) in self.network.neighbours(node) {
            if to != node && self.community_of[to as usize] == community {
                self.sums.add(self.part_of[to as usize], weight);
            }
        }
        candidates.clear();
        self.sums.take(|part, weight| candidates.push((part, weight)));
        let strength = self.network.strengths[node as usize];
        candidates.retain_mut(|(part, weight)| {
            *weight -= self.expected(strength, self.strengths[*part as usize]);
            0.0 <= *weight && self.is_well_connected(*part)
        });
    }

    fn merge(&mut self, node: u32, part: u32) {
        let to_part = self.network.neighbours(node);
        let to_part = to_part.filter(|(to, _)| *to != node && self.part_of[*to as usize] == part);
        let between: f64 = to_part.map(|(_, weight)| weight).sum();
        self.part_of[node as usize] = part;
        self.strengths[part as usize] += self.network.strengths[node as usize];
        // The edges between the node and the part are inside now, at both ends.
        self.outside[part as usize] += self.outside[node as usize] - 2.0 * between;
        self.is_alone[part as usize] = false;
        self.is_alone[node as usize] = false;
    }
}

/// Draws one of some parts: the greater its gain, the likelier. `usual` is what an edge weighs on average.
fn drawn(candidates: &[(u32, f64)], usual: f64, draws: &mut Draws) -> Option<u32> {
    let most = candidates.iter().map(|(_, gain)| *gain).fold(f64::NEG_INFINITY, f64::max);
    // Relative to the best, so that nothing overflows.
    let likely = |gain: f64| ((gain - most) / (RANDOMNESS * usual)).exp();
    let sum: f64 = candidates.iter().map(|(_, gain)| likely(*gain)).sum();
    let mut left = draws.share() * sum;
    for (part, gain) in candidates {
        left -= likely(*gain);
        if left < 0.0 {
            return Some(*part);
        }
    }
    candidates.last().map(|(part, _)| *part)
}
