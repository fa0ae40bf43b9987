//! An estimate of the diameter, the greatest distance between two connected nodes: repeated
//! breadth-first searches (double sweep). Each starts at the farthest node of the previous one, and
//! inverts the direction of edges. The result is a distance of the graph, so it is a lower bound of
//! the diameter; on most real-world graphs it equals it (C. Magnien, M. Latapy, M. Habib: Fast
//! computation of empirically tight bounds for the diameter. JEA 13, 2009).

use crate::algo::compact::rows::Rows;
use crate::algo::run::{Outcome, Output, Report, Run};
use crate::algo::task::Task;
use hexgraph_base::types::Result;

/// The bytes for each node: its level and its position in the order.
const BYTES_A_NODE: usize = 2 * size_of::<u32>();

/// The nodes between two looks at the clock.
const NODES_A_CHECK: usize = 1 << 12;

/// An unreachable node.
const FAR: u32 = u32::MAX;

pub(in crate::algo) fn diameter(run: &Run<'_>) -> Result<Outcome> {
    let _capacity = run.capacity_per_node(BYTES_A_NODE)?;
    let (outgoing, incoming) = (run.graph.outgoing(), run.graph.incoming(&run.task)?);
    let most_edges = (0..run.graph.len() as u32).rev().max_by_key(|node| outgoing.degree(*node));
    let mut report = Report::default();
    let (mut greatest, mut start) = (0, most_edges);
    for sweep in 0..run.call.int("sweeps").unwrap_or(1) {
        let Some(node) = start else { break };
        let rows = if sweep % 2 == 0 { outgoing } else { incoming };
        let (far, distance) = farthest(rows, node, &run.task)?;
        greatest = greatest.max(distance);
        report.iterations += 1;
        report.edges += rows.edges();
        start = Some(far);
    }
    Ok(Outcome { output: Output::Float(f64::from(greatest)), report })
}

/// The node that is farthest from one, the least of several, and its distance.
fn farthest(rows: &Rows, start: u32, task: &Task<'_>) -> Result<(u32, u32)> {
    let mut levels = vec![FAR; rows.nodes()];
    levels[start as usize] = 0;
    let mut order = vec![start];
    let mut next = 0;
    while let Some(&node) = order.get(next) {
        if next.is_multiple_of(NODES_A_CHECK) {
            task.check()?;
        }
        next += 1;
        for &to in rows.of(node) {
            if levels[to as usize] == FAR {
                levels[to as usize] = levels[node as usize] + 1;
                order.push(to);
            }
        }
    }
    let last = order.last().map_or(0, |node| levels[*node as usize]);
    let far = order.into_iter().filter(|node| levels[*node as usize] == last).min();
    Ok((far.unwrap_or(start), last))
}
