//! An order of nodes in which all edges go forward. Nodes in a cycle, and those reachable from one,
//! have no position in it (A. Kahn: Topological sorting of large networks. CACM 5, 1962).

use crate::algo::run::{NO_INT, Outcome, Output, Run};
use hexgraph_base::types::Result;

/// The bytes for each node: the number of its incoming edges, its position in the order, and the
/// result.
const BYTES_A_NODE: usize = 2 * size_of::<u32>() + size_of::<i64>();

/// The nodes between two looks at the clock.
const NODES_A_CHECK: usize = 1 << 12;

pub(in crate::algo) fn topological_order(run: &Run<'_>) -> Result<Outcome> {
    let _capacity = run.capacity_per_node(BYTES_A_NODE)?;
    let rows = run.graph.outgoing();
    let nodes = run.graph.len();
    let mut waiting = vec![0_u32; nodes];
    for block in 0..rows.blocks().len() {
        run.task.check()?;
        for node in rows.block(block) {
            rows.of(node).iter().for_each(|to| waiting[*to as usize] += 1);
        }
    }
    let mut order: Vec<u32> = Vec::with_capacity(nodes);
    order.extend((0..nodes as u32).filter(|node| waiting[*node as usize] == 0));
    let mut positions = vec![NO_INT; nodes];
    let mut next = 0;
    while let Some(&node) = order.get(next) {
        if next.is_multiple_of(NODES_A_CHECK) {
            run.task.check()?;
        }
        positions[node as usize] = next as i64;
        next += 1;
        for &to in rows.of(node) {
            waiting[to as usize] -= 1;
            if waiting[to as usize] == 0 {
                order.push(to);
            }
        }
    }
    Ok(Outcome::once(Output::Ints(positions), rows.edges()))
}
