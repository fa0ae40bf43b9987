//! Louvain: nodes move to the neighbouring community where modularity gains most, until none gains;
//! then each community becomes a node, and it begins anew. Modularity with resolution γ is the
//! weight of edges within communities less γ times what chance would put there.

use super::moves::{Moving, move_nodes};
use super::network::{BYTES_A_NODE, BYTES_AN_EDGE, Network, renumber};
use crate::algo::components::numbered::by_first_node;
use crate::algo::random::RandomStream;
use crate::algo::run::{Outcome, Output, Report, Run};
use hexgraph_base::types::Result;

pub(in crate::algo) fn louvain(run: &Run<'_>) -> Result<Outcome> {
    let _nodes = run.capacity_per_node(BYTES_A_NODE)?;
    let _edges = run.task.capacity(2 * run.graph.outgoing().edges(), BYTES_AN_EDGE)?;
    let moving = Moving { resolution: run.call.float("resolution"), run: 1, last_fraction: None };
    let mut random = RandomStream::new(run.call.seed);
    // Communities depend only on the relative weights.
    let scaled = run.graph.outgoing().scaled(&run.task)?;
    let rows = scaled.as_ref().unwrap_or(run.graph.outgoing());
    let mut network = Network::of(rows, run)?;
    let mut group_of: Vec<u32> = (0..network.len() as u32).collect();
    let mut report = Report::default();
    loop {
        let mut moved: Vec<u32> = (0..network.len() as u32).collect();
        let moves = move_nodes(&network, &mut moved, moving, &mut random, run)?;
        report.iterations += 1;
        report.edges += network.edges();
        let count = renumber(&mut moved);
        group_of.iter_mut().for_each(|group| *group = moved[*group as usize]);
        if moves == 0 || count == network.len() {
            break;
        }
        network = network.grouped(&moved, count, run)?;
    }
    let numbers = by_first_node(group_of.len(), |node| group_of[node as usize]);
    Ok(Outcome { output: Output::Ints(numbers), report })
}
