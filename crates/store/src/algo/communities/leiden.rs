//! Leiden: as Louvain, but each community is refined before it becomes a node: its nodes are
//! separated again and merged only with those that they are well connected to. So communities are
//! connected, and a level can split what the one before merged.

use super::moves::{Moving, move_nodes};
use super::network::{BYTES_A_NODE, BYTES_AN_EDGE, Network, renumber};
use super::refine::refine;
use crate::algo::components::numbered::by_first_node;
use crate::algo::components::weak::Trees;
use crate::algo::random::RandomStream;
use crate::algo::run::{Outcome, Output, Report, Run};
use hexgraph_base::types::Result;

/// A level ends with a round that moves less than one in so many nodes: the last moves are the
/// slowest, and the next levels and passes recover their gain. So the first pass ends its levels
/// sooner than the others. The first level ends soonest, as nodes there compare as many communities
/// as neighbours.
const ROUND_RATIO: usize = 64;
const FIRST_PASS_RATIO: usize = 16;
const FIRST_ROUND_RATIO: usize = 8;

/// The neighbouring nodes that are looked at one after the other.
const RUN: usize = 16;

/// A pass ends at its first level if less than one in so many nodes moves there.
const CLEAN_RATIO: usize = 256;

/// The nodes that are split between two looks at the clock.
const NODES_A_CHECK: usize = 1 << 12;

pub(in crate::algo) fn leiden(run: &Run<'_>) -> Result<Outcome> {
    let _nodes = run.capacity_per_node(2 * BYTES_A_NODE)?;
    let _edges = run.task.capacity(2 * run.graph.outgoing().edges(), BYTES_AN_EDGE)?;
    let resolution = run.call.float("resolution");
    let mut random = RandomStream::new(run.call.seed);
    // Communities depend only on the relative weights.
    let scaled = run.graph.outgoing().scaled(&run.task)?;
    let full = Network::of(scaled.as_ref().unwrap_or(run.graph.outgoing()), run)?;
    let mut groups: Vec<u32> = (0..full.len() as u32).collect();
    let mut report = Report::default();
    for number in 0..run.call.int("iterations").unwrap_or(1) {
        let before = groups.clone();
        pass(&full, (&mut groups, number == 0), resolution, &mut random, run, &mut report)?;
        renumber(&mut groups);
        // Groups are numbered by their first members, so equal ones have equal numbers.
        if groups == before {
            break;
        }
    }
    let numbers = split(&full, &groups, run)?;
    Ok(Outcome { output: Output::Ints(numbers), report })
}

/// One pass over all levels, from the communities that are there.
fn pass(
    full: &Network<'_>,
    (groups, is_first): (&mut [u32], bool),
    resolution: f64,
    random: &mut RandomStream,
    run: &Run<'_>,
    report: &mut Report,
) -> Result<()> {
    // The node of the present level that each node of the graph is in, and the community of each
    // node of the level.
    let mut node_of: Vec<u32> = (0..full.len() as u32).collect();
    let mut community_of = groups.to_vec();
    let mut grouped: Option<Network<'_>> = None;
    loop {
        let network = grouped.as_ref().unwrap_or(full);
        let last_fraction = match (is_first, &grouped) {
            (true, None) => FIRST_ROUND_RATIO,
            (true, Some(_)) => FIRST_PASS_RATIO,
            (false, _) => ROUND_RATIO,
        };
        let moving = Moving { resolution, run: RUN, last_fraction: Some(last_fraction) };
        let moves = move_nodes(network, &mut community_of, moving, random, run)?;
        report.iterations += 1;
        report.edges += 2 * network.edges();
        let communities = renumber(&mut community_of);
        // Where a pass before has left next to nothing to move, there are no other parts to be made
        // of the same communities.
        let is_clean = !is_first && grouped.is_none() && moves <= network.len() / CLEAN_RATIO;
        let parts = match communities == network.len() || is_clean {
            true => None,
            false => {
                let mut refined =
                    refine(network, (&community_of, communities), resolution, random, run)?;
                let count = renumber(&mut refined);
                (count < network.len()).then_some((refined, count))
            }
        };
        let Some((refined, count)) = parts else {
            let community = node_of.iter().map(|node| community_of[*node as usize]);
            groups.iter_mut().zip(community).for_each(|(group, community)| *group = community);
            return Ok(());
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

/// The numbers of groups, each part of a group that no edge joins with the rest being one: the last
/// level may have left some.
fn split(network: &Network<'_>, groups: &[u32], run: &Run<'_>) -> Result<Vec<i64>> {
    let trees = Trees::new(groups.len() as u32);
    for node in 0..groups.len() as u32 {
        if (node as usize).is_multiple_of(NODES_A_CHECK) {
            run.task.check()?;
        }
        let mut root = trees.find(node);
        // Each edge occurs at both of its endpoints. The rows of the graph itself ascend, so its
        // lesser neighbours come first.
        for &to in network.neighbours(node).iter().take_while(|to| **to < node) {
            if groups[to as usize] == groups[node as usize] {
                root = trees.join(root, to);
            }
        }
    }
    let roots: Vec<u32> = (0..groups.len() as u32).map(|node| trees.find(node)).collect();
    Ok(by_first_node(roots.len(), |node| roots[node as usize]))
}
