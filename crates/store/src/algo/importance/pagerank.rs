//! PageRank.
//!
//! A walk is at each node with some probability. In a round each node hands on its rank along its
//! edges, in proportion to what they weigh; what nodes without such edges have goes to where walks
//! start. Definitions are networkx's: loops are edges, and the ranks sum to 1. It stops when a
//! round changes all ranks by less than `tolerance` together: networkx bounds the change of each by
//! it, which of a thousand nodes is as much as a rank. A round changes them by at most `damping` of
//! what the one before did, so by default 100 rounds are enough for 1e-6.
//!
//! Each round pulls: a node adds up what the nodes before it hand on, so no two threads write to
//! the same position, and the sums over all nodes are added up block by block.

use crate::algo::compact::rows::Rows;
use crate::algo::run::{Outcome, Output, Report, Run};
use crate::algo::task::EVEN_BLOCK;
use hexgraph_base::types::Result;

/// The bytes for each node: its rank, the next one, what it hands on, what all its edges weigh.
const BYTES_A_NODE: usize = 4 * size_of::<f64>();

pub(in crate::algo) fn pagerank(run: &Run<'_>) -> Result<Outcome> {
    let nodes = run.graph.len();
    if nodes == 0 {
        return Ok(Outcome::once(Output::Floats(Vec::new()), 0));
    }
    let _capacity = run.capacity_per_node(BYTES_A_NODE)?;
    let (damping, tolerance) = (run.call.float("damping"), run.call.float("tolerance"));
    let rounds = run.call.int("iterations").unwrap_or(1) as usize;
    let incoming = run.graph.incoming(&run.task)?;
    let (fractions, units) = edge_fractions(run)?;
    let scaled = units.map(|units| incoming.divided(&run.task, |from| units[from as usize]));
    let scaled = scaled.transpose()?;
    let incoming = scaled.as_ref().unwrap_or(incoming);
    let starts = Starts::new(run, nodes);
    let mut ranks = vec![0.0; nodes];
    let mut handed = vec![0.0; nodes];
    run.task.fill_evenly(&mut ranks, |range, part| {
        range.zip(part).for_each(|(node, rank)| *rank = starts.fraction(node));
        Ok(())
    })?;
    let mut report = Report::default();
    for _ in 0..rounds {
        // What a node hands on to an edge of weight 1, and what those without edges leave over.
        let left = run.task.fill_evenly(&mut handed, |range, part| {
            let mut left = 0.0;
            for (position, node) in range.enumerate() {
                part[position] = ranks[node] * fractions[node];
                left += if fractions[node] == 0.0 { ranks[node] } else { 0.0 };
            }
            Ok(left)
        })?;
        let spread = (1.0 - damping) + damping * left.iter().sum::<f64>();
        let changes = run.task.fill(&mut ranks, incoming.blocks(), |number, part| {
            let mut change = 0.0;
            for (position, node) in incoming.block(number).enumerate() {
                let rank = damping * pulled(incoming, node, &handed)
                    + spread * starts.fraction(node as usize);
                change += (rank - part[position]).abs();
                part[position] = rank;
            }
            Ok(change)
        })?;
        let change = changes.iter().sum::<f64>();
        if report.end_round(incoming.edges(), change, tolerance) {
            break;
        }
    }
    normalise(run, &mut ranks)?;
    Ok(Outcome { output: Output::Floats(ranks), report })
}

/// What the nodes before a node hand on to it.
#[inline]
pub(super) fn pulled(incoming: &Rows, node: u32, handed: &[f64]) -> f64 {
    if incoming.is_weighted() {
        return incoming.weighted(node).map(|(from, weight)| handed[from as usize] * weight).sum();
    }
    // Four sums side by side: one waits for each addition before the next.
    let mut sums = [0.0; 4];
    let (fours, rest) = incoming.of(node).as_chunks::<4>();
    for four in fours {
        for (sum, from) in sums.iter_mut().zip(four) {
            *sum += handed[*from as usize];
        }
    }
    let rest: f64 = rest.iter().map(|from| handed[*from as usize]).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// For each node the fraction of its rank that an edge of weight 1 gets; 0 for a node without
/// edges, or without weight. Also the divisors of the weights by source node, unless all are 1.
fn edge_fractions(run: &Run<'_>) -> Result<(Vec<f64>, Option<Vec<f64>>)> {
    let outgoing = run.graph.outgoing();
    let mut fractions = vec![0.0; run.graph.len()];
    let are_plain = run.task.fill_evenly(&mut fractions, |range, part| {
        let mut are_plain = true;
        for (position, node) in range.enumerate() {
            let (unit, sum) = outgoing.unit_and_sum(node as u32);
            are_plain &= unit == 1.0;
            part[position] = if 0.0 < sum { 1.0 / sum } else { 0.0 };
        }
        Ok(are_plain)
    })?;
    if are_plain.into_iter().all(|is_plain| is_plain) {
        return Ok((fractions, None));
    }
    let _capacity = run.capacity_per_node(size_of::<f64>())?;
    let units = (0..run.graph.len() as u32).map(|node| outgoing.unit_and_sum(node).0);
    Ok((fractions, Some(units.collect())))
}

/// Rounding adds up over many nodes: in the end the ranks are made to sum to 1.
fn normalise(run: &Run<'_>, ranks: &mut [f64]) -> Result<()> {
    let sum: f64 = ranks.chunks(EVEN_BLOCK).map(|part| part.iter().sum::<f64>()).sum();
    if sum.is_normal() {
        run.task.fill_evenly(ranks, |_, part| {
            part.iter_mut().for_each(|rank| *rank /= sum);
            Ok(())
        })?;
    }
    Ok(())
}

/// Where walks start.
enum Starts {
    /// At any node alike.
    All(f64),
    /// At some nodes alike.
    Some(Vec<bool>, f64),
}

impl Starts {
    /// Of nodes that are not in the graph none starts a walk; where that leaves none, all do.
    fn new(run: &Run<'_>, nodes: usize) -> Starts {
        match run.list("from") {
            Some(from) if !from.is_empty() => {
                let mut is_start = vec![false; nodes];
                from.iter().for_each(|node| is_start[*node as usize] = true);
                Starts::Some(is_start, 1.0 / from.len() as f64)
            }
            _ => Starts::All(1.0 / nodes as f64),
        }
    }

    #[inline]
    fn fraction(&self, node: usize) -> f64 {
        match self {
            Starts::All(fraction) => *fraction,
            Starts::Some(is_start, fraction) => f64::from(u8::from(is_start[node])) * fraction,
        }
    }
}
