//! Neighbourhood samples by layers, for graph neural networks: some neighbours of the nodes of a
//! layer are sampled, and new ones among them are the next layer.

use super::choice::{Choices, random_of};
use crate::algo::bits::Bits;
use crate::algo::random::RandomStream;
use crate::algo::run::{Outcome, Output, Report, Run};
use hexgraph_base::types::Result;
use rustc_hash::FxHashSet;

/// The nodes of one chunk of work.
const NODES_A_CHUNK: usize = 1024;

/// The pairs between two looks at the clock.
const PAIRS_A_CHECK: usize = 1 << 16;

/// The bytes of a pair, in its chunk and in the result.
const BYTES_A_PAIR: usize = 2 * size_of::<(u32, u32, f64)>();

pub(in crate::algo) fn sample(run: &Run<'_>) -> Result<Outcome> {
    let rows = run.graph.outgoing();
    let _capacity = run.capacity_per_node(Choices::bytes_a_node(rows) + 2 * size_of::<u32>())?;
    let choices = Choices::new(run)?;
    let is_repeated = run.call.is("replace");
    let mut seen = Bits::new(rows.nodes());
    let mut layer = run.list("source").unwrap_or_default().to_vec();
    layer.iter().for_each(|node| seen.set(*node as usize));
    let (mut pairs, mut capacities) = (Vec::new(), Vec::new());
    for (number, fanout) in run.call.numbers("fanouts").iter().enumerate() {
        let fanout = *fanout as usize;
        let most = |node: &u32| if is_repeated { fanout } else { fanout.min(rows.degree(*node)) };
        capacities.push(run.task.capacity(layer.iter().map(most).sum(), BYTES_A_PAIR)?);
        let chunks: Vec<&[u32]> = layer.chunks(NODES_A_CHUNK).collect();
        let result = run.task.blocks(chunks.len(), |chunk| {
            let (mut result, mut unchecked) = (Vec::new(), 0);
            for &node in chunks[chunk] {
                if unchecked + PAIRS_A_CHECK < result.len() {
                    unchecked = result.len();
                    run.task.check()?;
                }
                let random = random_of(run.call.seed, node, number);
                let before = result.len();
                match is_repeated {
                    true => repeated(&choices, node, fanout, random, &mut result),
                    false => distinct(&choices, node, fanout, random, &mut result),
                }
                result[before..].sort_unstable();
            }
            Ok(result)
        })?;
        let mut next = Vec::new();
        for (from, to) in result.into_iter().flatten() {
            pairs.push((from, to, (number + 1) as f64));
            if !seen.has(to as usize) {
                seen.set(to as usize);
                next.push(to);
            }
        }
        layer = next;
    }
    let edges = pairs.len();
    Ok(Outcome { output: Output::Pairs(pairs), report: Report { edges, ..Report::default() } })
}

/// Samples so many neighbours with replacement, each in proportion to its weight.
fn repeated(
    choices: &Choices<'_>,
    node: u32,
    fanout: usize,
    mut random: RandomStream,
    result: &mut Vec<(u32, u32)>,
) {
    let sampled = (0..fanout).map_while(|_| choices.sample(node, &mut random, 1.0, |_| 1.0));
    result.extend(sampled.map(|to| (node, to)));
}

/// Samples so many different neighbours, or returns all if there are no more. One of weight 0 is
/// never sampled.
///
/// With weights each neighbour gets a random key, the smaller on average the heavier its edge, and
/// the least ones are chosen (Efraimidis, Spirakis: Weighted random sampling with a reservoir.
/// Information Processing Letters 97, 2006). Without, it is Floyd's sampling: O(fanout), whatever
/// the degree.
fn distinct(
    choices: &Choices<'_>,
    node: u32,
    fanout: usize,
    mut random: RandomStream,
    result: &mut Vec<(u32, u32)>,
) {
    let rows = choices.rows;
    if rows.is_weighted() {
        let weighted = rows.weighted(node).filter(|(_, weight)| 0.0 < *weight);
        // One less a fraction from 0 to below 1 is above 0, and has a logarithm.
        let keyed = weighted.map(|(to, weight)| (-(1.0 - random.fraction()).ln() / weight, to));
        let mut keyed: Vec<(f64, u32)> = keyed.collect();
        if fanout < keyed.len() {
            keyed.select_nth_unstable_by(fanout, |one, other| {
                one.0.total_cmp(&other.0).then(one.1.cmp(&other.1))
            });
            keyed.truncate(fanout);
        }
        result.extend(keyed.into_iter().map(|(_, to)| (node, to)));
        return;
    }
    let targets = rows.of(node);
    if targets.len() <= fanout {
        result.extend(targets.iter().map(|to| (node, *to)));
        return;
    }
    let mut chosen = FxHashSet::default();
    for last in targets.len() - fanout..targets.len() {
        let position = random.below(last + 1);
        // All chosen ones are below `last`.
        let position = if chosen.contains(&position) { last } else { position };
        chosen.insert(position);
    }
    // In the order of a hash set; callers sort the result of a node.
    result.extend(chosen.into_iter().map(|position| (node, targets[position])));
}
