//! The number of edges of each node, or their total weight; an overflow of the float is an error.
//! Without a direction a loop counts twice, once for each endpoint.

use crate::algo::run::{Outcome, Output, Run};
use hexgraph_base::types::Result;

pub(in crate::algo) fn degree(run: &Run<'_>) -> Result<Outcome> {
    let nodes = run.graph.len();
    let _capacity = run.capacity_per_node(size_of::<f64>())?;
    let rows = run.graph.outgoing();
    let others = nodes.saturating_sub(1).max(1) as f64;
    let unit = if run.call.is("normalized") { others } else { 1.0 };
    let mut degrees = vec![0.0; nodes];
    run.task.fill_evenly(&mut degrees, |range, part| {
        for (position, node) in range.enumerate() {
            let node = node as u32;
            let loops = run.graph.is_undirected().then(|| rows.weight_between(node, node));
            part[position] = (rows.weight_of(node) + loops.flatten().unwrap_or(0.0)) / unit;
        }
        Ok(())
    })?;
    if degrees.iter().any(|degree| degree.is_infinite()) {
        return Err(run.too_heavy("their sum at a node"));
    }
    Ok(Outcome::once(Output::Floats(degrees), rows.edges()))
}
