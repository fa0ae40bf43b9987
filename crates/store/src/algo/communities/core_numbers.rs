//! Core numbers: the greatest `k` of a node such that it is in a subgraph where each node has `k`
//! neighbours. Loops do not count.
//!
//! Nodes with the fewest remaining neighbours are removed round by round, with those that drop to
//! this degree; each round scans the others. A node in `k` rounds has at least `k` neighbours, so
//! all scans together are O(edges).

use crate::algo::run::{Outcome, Output, Run};
use hexgraph_base::types::Result;

/// The bytes for each node: its degree, its positions among the remaining and the removed nodes,
/// and the result.
const BYTES_A_NODE: usize = 3 * size_of::<u32>() + size_of::<i64>();

/// The nodes that are removed between two checks of the clock.
const NODES_A_CHECK: usize = 1 << 14;

pub(in crate::algo) fn core_numbers(run: &Run<'_>) -> Result<Outcome> {
    let _capacity = run.capacity_per_node(BYTES_A_NODE)?;
    let rows = run.graph.outgoing();
    let nodes = run.graph.len();
    let mut degrees = vec![0_u32; nodes];
    run.task.fill_evenly(&mut degrees, |range, part| {
        for (node, degree) in (range.start as u32..).zip(part) {
            // A loop is no neighbour.
            *degree = (rows.degree(node) - usize::from(rows.has(node, node))) as u32;
        }
        Ok(())
    })?;
    let mut left: Vec<u32> = (0..nodes as u32).collect();
    // The removed nodes in order, and how many of them were processed. The position after them may
    // be written to at any time.
    let (mut out, mut end, mut processed) = (vec![0_u32; nodes + 1], 0, 0);
    while let Some(core) = left.iter().map(|node| degrees[*node as usize]).min() {
        run.task.check()?;
        // A removed node retains its degree, which is its number; it is at most the core's.
        left.retain(|node| {
            let is_out = degrees[*node as usize] <= core;
            if is_out {
                out[end] = *node;
                end += 1;
            }
            !is_out
        });
        while processed < end {
            let node = out[processed];
            processed += 1;
            if processed.is_multiple_of(NODES_A_CHECK) {
                run.task.check()?;
            }
            for &other in rows.of(node) {
                // Without branches, which nobody could foretell.
                let degree = &mut degrees[other as usize];
                let is_left = core < *degree;
                *degree -= u32::from(is_left);
                // Written in any case, and counted only when the degree has just dropped to the
                // core's: that happens once to a node, so `end` never exceeds their number.
                out[end] = other;
                end += usize::from(is_left & (*degree == core));
            }
        }
        left.retain(|node| core < degrees[*node as usize]);
    }
    let numbers = degrees.into_iter().map(i64::from).collect();
    Ok(Outcome::once(Output::Ints(numbers), rows.edges()))
}
