//! Core numbers: a node has the greatest `k` for which it is in a part of the graph where each node has `k` neighbours in that part. Loops
//! do not count. Nodes are taken out in the order of the neighbours that they have left, from buckets.

use crate::algo::run::{Found, Output, Run};
use hexgraph_base::types::Result;

/// The bytes for each node: its degree, its place, the order, the buckets, and the result.
const BYTES_A_NODE: usize = 4 * size_of::<u32>() + size_of::<i64>();

/// The nodes that are taken out between two looks at the clock.
const NODES_A_CHECK: usize = 1 << 14;

pub(in crate::algo) fn core_numbers(run: &Run<'_>) -> Result<Found> {
    let _room = run.room_a_node(BYTES_A_NODE)?;
    let rows = run.graph.outgoing();
    let nodes = run.graph.len();
    let degree = |node: u32| (rows.degree(node) - usize::from(rows.has(node, node))) as u32;
    let mut degrees: Vec<u32> = (0..nodes as u32).map(degree).collect();
    let most = degrees.iter().copied().max().unwrap_or(0) as usize;
    // Where the nodes of each degree begin in the order.
    let mut starts = vec![0_u32; most + 2];
    degrees.iter().for_each(|degree| starts[*degree as usize + 1] += 1);
    for degree in 0..=most {
        starts[degree + 1] += starts[degree];
    }
    let mut next = starts.clone();
    let (mut order, mut places) = (vec![0; nodes], vec![0; nodes]);
    for (node, degree) in degrees.iter().enumerate() {
        let place = next[*degree as usize];
        next[*degree as usize] += 1;
        order[place as usize] = node as u32;
        places[node] = place;
    }
    for place in 0..nodes {
        if place.is_multiple_of(NODES_A_CHECK) {
            run.task.check()?;
        }
        let node = order[place];
        for &other in rows.of(node) {
            let degree = degrees[other as usize];
            if degree <= degrees[node as usize] {
                continue;
            }
            // It changes places with the first node of its degree, which becomes the last one of the degree below.
            let (at, first) = (places[other as usize], starts[degree as usize]);
            let there = order[first as usize];
            order.swap(at as usize, first as usize);
            (places[other as usize], places[there as usize]) = (first, at);
            starts[degree as usize] += 1;
            degrees[other as usize] -= 1;
        }
    }
    let numbers = degrees.into_iter().map(i64::from).collect();
    Ok(Found::once(Output::Ints(numbers), rows.edges()))
}
