//! Label propagation, synchronous, as LDBC Graphalytics defines it: each node begins with its own
//! label. In each round every node adopts the most frequent label of its neighbours, the least one
//! in a tie. In a directed graph both endpoints of an edge are neighbours, and two nodes with edges
//! in both directions are so twice.

use crate::algo::compact::rows::Rows;
use crate::algo::components::numbered::by_first_node;
use crate::algo::run::{Outcome, Output, Report, Run};
use hexgraph_base::types::Result;

/// The bytes for each node: its label, the next one, and the numbers of the result.
const BYTES_A_NODE: usize = 3 * size_of::<u32>() + size_of::<i64>();

pub(in crate::algo) fn label_propagation(run: &Run<'_>) -> Result<Outcome> {
    let nodes = run.graph.len();
    let _capacity = run.capacity_per_node(BYTES_A_NODE)?;
    let outgoing = run.graph.outgoing();
    let incoming =
        if run.graph.is_undirected() { None } else { Some(run.graph.incoming(&run.task)?) };
    let mut labels: Vec<u32> = (0..nodes as u32).collect();
    let mut next = labels.clone();
    let mut report = Report::default();
    for _ in 0..run.call.int("iterations").unwrap_or(1) {
        let changed = run.task.fill(&mut next, outgoing.blocks(), |number, part| {
            let (mut seen, mut changed) = (Vec::new(), 0_usize);
            for (position, node) in outgoing.block(number).enumerate() {
                part[position] = most_frequent(node, outgoing, incoming, &labels, &mut seen);
                changed += usize::from(part[position] != labels[node as usize]);
            }
            Ok(changed)
        })?;
        std::mem::swap(&mut labels, &mut next);
        report.iterations += 1;
        report.edges += outgoing.edges() + incoming.map_or(0, Rows::edges);
        if changed.iter().sum::<usize>() == 0 {
            break;
        }
    }
    let numbers = by_first_node(nodes, |node| labels[node as usize]);
    Ok(Outcome { output: Output::Ints(numbers), report })
}

/// The label that most neighbours of a node have; its own where it has none.
fn most_frequent(
    node: u32,
    outgoing: &Rows,
    incoming: Option<&Rows>,
    labels: &[u32],
    seen: &mut Vec<u32>,
) -> u32 {
    seen.clear();
    let before = incoming.map_or(&[][..], |rows| rows.of(node));
    seen.extend(outgoing.of(node).iter().chain(before).map(|other| labels[*other as usize]));
    seen.sort_unstable();
    let mut best = (0, labels[node as usize]);
    for same in seen.chunk_by(|one, other| one == other) {
        // Labels ascend, so of several that are as frequent the first stays.
        if best.0 < same.len() {
            best = (same.len(), same[0]);
        }
    }
    best.1
}
