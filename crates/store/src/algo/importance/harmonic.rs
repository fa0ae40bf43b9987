//! Closeness and harmonic centrality: how near a node is to those that reach it, by a breadth-first search against the edges from each node.
//!
//! Many searches run at once: a bit of a word stands for each of 64 of them, so that an edge which several follow in the same round is looked
//! at once (Then et al., "The More the Merrier: Efficient Multi-Source Graph Traversal", VLDB 2015).

use crate::algo::compact::rows::Rows;
use crate::algo::run::{Found, Output, Run};
use hexgraph_base::types::Result;

/// The searches that run at once.
const LANES: usize = 64;

/// The bytes of a node for each thread: who has seen it, who comes to it in this round and in the next one.
const BYTES_A_NODE: usize = 3 * size_of::<u64>();

/// What is known of one search.
#[derive(Clone, Copy, Default)]
struct Reach {
    /// The nodes that were reached, without the start.
    nodes: f64,
    /// The sum of their distances.
    distances: f64,
    /// The sum of one by their distances.
    inverse: f64,
}

pub(in crate::algo) fn harmonic(run: &Run<'_>) -> Result<Found> {
    let others = run.graph.len().saturating_sub(1).max(1) as f64;
    let unit = if run.call.is("normalized") { others } else { 1.0 };
    centrality(run, |reach| reach.inverse / unit)
}

/// One by the sum of the distances; normalized, it is multiplied by the nodes that were reached, and by their share of all.
pub(in crate::algo) fn closeness(run: &Run<'_>) -> Result<Found> {
    let others = run.graph.len().saturating_sub(1).max(1) as f64;
    let is_normalized = run.call.is("normalized");
    centrality(run, |reach| match (reach.distances, is_normalized) {
        (0.0, _) => 0.0,
        (sum, false) => 1.0 / sum,
        (sum, true) => reach.nodes / sum * (reach.nodes / others),
    })
}

fn centrality(run: &Run<'_>, score: impl Fn(Reach) -> f64) -> Result<Found> {
    let nodes = run.graph.len();
    let rows = run.graph.incoming(&run.task)?;
    let asked = run.list("source");
    let starts: Vec<u32> = match asked {
        Some(list) => list.to_vec(),
        None => (0..nodes as u32).collect(),
    };
    let _room = run.room_a_node(BYTES_A_NODE * run.task.threads() + size_of::<f64>())?;
    let batches: Vec<&[u32]> = starts.chunks(LANES).collect();
    let found = run.task.blocks(batches.len(), |number| search(rows, batches[number], run))?;
    let mut scores = vec![f64::NAN; nodes];
    let reached = found.into_iter().flatten();
    starts.iter().zip(reached).for_each(|(node, reach)| scores[*node as usize] = score(reach));
    Ok(Found::once(Output::Floats(scores), rows.edges() * batches.len()))
}

/// Searches from at most 64 nodes at once.
fn search(rows: &Rows, starts: &[u32], run: &Run<'_>) -> Result<Vec<Reach>> {
    let mut seen = vec![0_u64; rows.nodes()];
    let mut front = vec![0_u64; rows.nodes()];
    let mut next = vec![0_u64; rows.nodes()];
    for (lane, start) in starts.iter().enumerate() {
        seen[*start as usize] |= 1 << lane;
        front[*start as usize] |= 1 << lane;
    }
    let mut reach = vec![Reach::default(); starts.len()];
    for distance in 1.. {
        for block in 0..rows.blocks().len() {
            run.task.check()?;
            for node in rows.block(block).filter(|node| front[*node as usize] != 0) {
                let lanes = front[node as usize];
                rows.of(node).iter().for_each(|to| next[*to as usize] |= lanes);
            }
        }
        let mut is_over = true;
        for (seen, next) in seen.iter_mut().zip(&mut next) {
            *next &= !*seen;
            *seen |= *next;
            let mut lanes = *next;
            is_over &= lanes == 0;
            while lanes != 0 {
                let reach = &mut reach[lanes.trailing_zeros() as usize];
                reach.nodes += 1.0;
                reach.distances += f64::from(distance);
                reach.inverse += 1.0 / f64::from(distance);
                lanes &= lanes - 1;
            }
        }
        if is_over {
            break;
        }
        std::mem::swap(&mut front, &mut next);
        next.fill(0);
    }
    Ok(reach)
}
