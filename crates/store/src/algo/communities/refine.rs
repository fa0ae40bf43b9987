//! The refinement of communities, which distinguishes Leiden from Louvain: the nodes of each
//! community are separated again, and merged with parts of it that they are well connected to.
//! Communities are independent, so threads process them in parallel, each with its own random
//! numbers.

use super::network::{GroupMembers, Network};
use super::sums::{Spares, Sums};
use crate::algo::random::RandomStream;
use crate::algo::run::Run;
use hexgraph_base::types::Result;

/// The probability of merges of less gain, in edges of usual weight. The authors' value.
const RANDOMNESS: f64 = 0.01;

/// The nodes that are refined between two looks at the clock.
const NODES_A_CHECK: usize = 1 << 12;

/// Splits each of `count` communities, and merges its nodes with well-connected parts of it, chosen
/// at random by gain. Returns the part of each node, by the number of one of its nodes.
pub(super) fn refine(
    network: &Network<'_>,
    (community_of, count): (&[u32], usize),
    resolution: f64,
    random: &mut RandomStream,
    run: &Run<'_>,
) -> Result<Vec<u32>> {
    let seed = random.next();
    let nodes = network.len();
    if network.total <= 0.0 {
        return Ok((0..nodes as u32).collect());
    }
    let members = GroupMembers::new(community_of, count);
    let mut positions = vec![0; nodes];
    members.nodes.iter().zip(0..).for_each(|(node, position)| positions[*node as usize] = position);
    let full = Full { network, community_of, positions: &positions, resolution };
    let chunks = members.chunks(network, run.task.cut());
    let bounds: Vec<usize> = chunks.iter().map(|chunk| members.starts[chunk.end]).collect();
    let mut part_of_position = vec![0; nodes];
    let spares = Spares::default();
    run.task.fill(&mut part_of_position, &bounds, |number, parts| {
        spares.lend(|sums| {
            let mut rest = parts;
            for community in chunks[number].clone() {
                let nodes = members.of(community);
                let (own, others) = std::mem::take(&mut rest).split_at_mut(nodes.len());
                let mut parts = Parts::new(full, nodes, members.starts[community], sums);
                // Random numbers of the seed and the community alone: the thread and the order make
                // no difference.
                parts.merge_all(&mut RandomStream::new(seed ^ (community as u64) << 32), run)?;
                own.iter_mut().zip(parts.part_of).for_each(|(it, part)| *it = nodes[part as usize]);
                rest = others;
            }
            Ok(())
        })
    })?;
    Ok(positions.into_iter().map(|position: u32| part_of_position[position as usize]).collect())
}

/// The common state of all communities.
#[derive(Clone, Copy)]
struct Full<'w> {
    network: &'w Network<'w>,
    community_of: &'w [u32],
    /// The position of each node among the members of all communities.
    positions: &'w [u32],
    resolution: f64,
}

/// The parts of a community while they are merged. Nodes have their numbers within the community
/// here, and a part that of the node that it began with.
struct Parts<'w, 's> {
    full: Full<'w>,
    nodes: &'w [u32],
    /// The position of the first node.
    first: usize,
    part_of: Vec<u32>,
    /// What the edges of all members weigh together, by part, and in all.
    strengths: Vec<f64>,
    all: f64,
    /// What leads from each part to the rest of the community.
    outside: Vec<f64>,
    /// Whether a node is in no part with others.
    is_alone: Vec<bool>,
    sums: &'s mut Sums,
}

/// A part that a node may be merged with.
struct Candidate {
    part: u32,
    /// What leads from the node to it.
    weight: f64,
    /// What the merge gains.
    gain: f64,
}

impl<'w, 's> Parts<'w, 's> {
    fn new(full: Full<'w>, nodes: &'w [u32], first: usize, sums: &'s mut Sums) -> Parts<'w, 's> {
        let strength = |node: &u32| full.network.strengths[*node as usize];
        let strengths: Vec<f64> = nodes.iter().map(strength).collect();
        let mut parts = Parts {
            full,
            nodes,
            first,
            part_of: (0..nodes.len() as u32).collect(),
            all: strengths.iter().sum(),
            strengths,
            outside: Vec::new(),
            is_alone: vec![true; nodes.len()],
            sums,
        };
        let outside = |number: usize| {
            let mut sum = 0.0;
            parts.each_inside(number, |_, weight| sum += weight);
            sum
        };
        parts.outside = (0..nodes.len()).map(outside).collect();
        parts
    }

    /// Visits the neighbours of a node within the community.
    #[inline]
    fn each_inside(&self, number: usize, mut visit: impl FnMut(u32, f64)) {
        let node = self.nodes[number];
        let full = &self.full;
        let community = full.community_of[node as usize];
        full.network.each_other(node, |to, weight| {
            if full.community_of[to as usize] == community {
                visit(full.positions[to as usize] - self.first as u32, weight);
            }
        });
    }

    /// Merges each node that is still alone and is well connected with a part of the community.
    fn merge_all(&mut self, random: &mut RandomStream, run: &Run<'_>) -> Result<()> {
        let mut order: Vec<u32> = (0..self.nodes.len() as u32).collect();
        random.shuffle(&mut order);
        let network = self.full.network;
        let usual = network.total / network.edges() as f64;
        let mut candidates = Vec::new();
        for (looked, &node) in order.iter().enumerate() {
            if looked.is_multiple_of(NODES_A_CHECK) {
                run.task.check()?;
            }
            if !self.is_alone[node as usize] || !self.is_well_connected(node) {
                continue;
            }
            self.find_candidates(node, &mut candidates);
            if let Some(sampled) = sampled(&candidates, usual, random) {
                self.merge(node, sampled);
            }
        }
        Ok(())
    }

    /// What chance would put between two sets of nodes.
    fn expected(&self, one: f64, other: f64) -> f64 {
        self.full.resolution * one * other / self.full.network.total
    }

    /// Whether as much leads from a part to the rest of its community as chance would put there.
    fn is_well_connected(&self, part: u32) -> bool {
        let own = self.strengths[part as usize];
        self.expected(own, self.all - own) <= self.outside[part as usize]
    }

    /// The parts that a node may be merged with.
    fn find_candidates(&mut self, node: u32, candidates: &mut Vec<Candidate>) {
        // Moved out while they are filled, since `each_inside` reads the rest of `self`.
        let mut sums = std::mem::take(self.sums);
        let degree = self.full.network.degree(self.nodes[node as usize]);
        sums.begin(degree.min(self.nodes.len()), self.nodes.len());
        self.each_inside(node as usize, |to, weight| sums.add(self.part_of[to as usize], weight));
        candidates.clear();
        let strength = self.strengths[node as usize];
        for &(part, weight) in sums.all() {
            let gain = weight - self.expected(strength, self.strengths[part as usize]);
            if 0.0 <= gain && self.is_well_connected(part) {
                candidates.push(Candidate { part, weight, gain });
            }
        }
        *self.sums = sums;
    }

    fn merge(&mut self, node: u32, candidate: &Candidate) {
        let (node, part) = (node as usize, candidate.part as usize);
        // The part that began with the node is empty from now on: nobody else was in it, and nobody
        // is led to it.
        self.part_of[node] = candidate.part;
        self.strengths[part] += self.strengths[node];
        // The edges between the node and the part are inside now, at both endpoints.
        self.outside[part] += self.outside[node] - 2.0 * candidate.weight;
        self.is_alone[part] = false;
        self.is_alone[node] = false;
    }
}

/// Samples one of some parts: the greater its gain, the likelier. `usual` is the mean weight of an
/// edge.
fn sampled<'c>(
    candidates: &'c [Candidate],
    usual: f64,
    random: &mut RandomStream,
) -> Option<&'c Candidate> {
    let most = candidates.iter().map(|it| it.gain).fold(f64::NEG_INFINITY, f64::max);
    // Relative to the best, so that nothing overflows.
    let likely = |gain: f64| ((gain - most) / (RANDOMNESS * usual)).exp();
    let sum: f64 = candidates.iter().map(|it| likely(it.gain)).sum();
    let mut left = random.fraction() * sum;
    for candidate in candidates {
        left -= likely(candidate.gain);
        if left < 0.0 {
            return Some(candidate);
        }
    }
    // What rounding has left over falls to the last one.
    candidates.last()
}
