//! Modularity of given groups: the fraction of the weight of all edges within groups, less the
//! fraction expected for random edges with the same node strengths. A loop is an edge within its
//! group, with both endpoints there.

use crate::algo::run::{Outcome, Output, Run};
use hexgraph_base::types::Result;

/// The bytes for each node: the weight of its edges, and at most those of a group of its own, in
/// both directions.
const BYTES_A_NODE: usize = 4 * size_of::<f64>();

pub(in crate::algo) fn modularity(run: &Run<'_>) -> Result<Outcome> {
    // Modularity depends only on the relative weights.
    let scaled = run.graph.outgoing().scaled(&run.task)?;
    let rows = scaled.as_ref().unwrap_or(run.graph.outgoing());
    let groups = run.list("groups").unwrap_or_default();
    let _capacity = run.capacity_per_node(BYTES_A_NODE)?;
    let is_undirected = run.graph.is_undirected();
    let mut leaving = vec![0.0; rows.nodes()];
    // Without a direction rows have each edge twice and a loop once, which is why a loop counts
    // double here.
    let within = run.task.fill(&mut leaving, rows.blocks(), |number, part| {
        let mut within = 0.0;
        for (node, sum) in rows.block(number).zip(part) {
            for (to, weight) in rows.weighted(node) {
                let weight = if is_undirected && to == node { 2.0 * weight } else { weight };
                *sum += weight;
                within += if groups[node as usize] == groups[to as usize] { weight } else { 0.0 };
            }
        }
        Ok(within)
    })?;
    let all: f64 = leaving.iter().sum();
    if all <= 0.0 {
        return Ok(Outcome::once(Output::Float(0.0), rows.edges()));
    }
    let out = sums_of(groups, &leaving);
    let by_chance: f64 = if is_undirected {
        out.iter().map(|sum| (sum / all) * (sum / all)).sum()
    } else {
        let transposed = run.graph.incoming(&run.task)?;
        let scaled = transposed.scaled(&run.task)?;
        let transposed = scaled.as_ref().unwrap_or(transposed);
        run.task.fill(&mut leaving, transposed.blocks(), |number, part| {
            let nodes = transposed.block(number).zip(part);
            nodes.for_each(|(node, sum)| *sum = transposed.weight_of(node));
            Ok(())
        })?;
        let into = sums_of(groups, &leaving);
        out.iter().zip(&into).map(|(one, other)| (one / all) * (other / all)).sum()
    };
    let fraction = within.iter().sum::<f64>() / all;
    let value = fraction - run.call.float("resolution") * by_chance;
    Ok(Outcome::once(Output::Float(value), rows.edges()))
}

/// The sums of each group.
fn sums_of(groups: &[u32], numbers: &[f64]) -> Vec<f64> {
    let count = groups.iter().max().map_or(0, |most| *most as usize + 1);
    let mut sums = vec![0.0; count];
    groups.iter().zip(numbers).for_each(|(group, number)| sums[*group as usize] += number);
    sums
}
