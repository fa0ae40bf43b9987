//! The distances from each of some nodes to each of the others.

use super::weighted::{BYTES_A_NODE, search};
use crate::algo::run::{Outcome, Output, Report, Run};
use hexgraph_base::types::Result;

/// The bytes of a pair.
const BYTES_A_PAIR: usize = 2 * size_of::<(u32, u32, f64)>();

pub(in crate::algo) fn distances_among(run: &Run<'_>) -> Result<Outcome> {
    let sources = run.list("source").unwrap_or_default();
    let _capacity = run.capacity_per_node(BYTES_A_NODE * run.task.threads())?;
    let _pairs = run.task.capacity(sources.len().saturating_mul(sources.len()), BYTES_A_PAIR)?;
    let rows = run.graph.outgoing();
    let result = run.task.blocks(sources.len(), |number| {
        let from = sources[number];
        let (distances, report) = search(rows, &[from], run)?;
        let others = sources.iter().filter(|to| **to != from);
        let pairs = others.map(|to| (from, *to, distances[*to as usize]));
        Ok((pairs.filter(|(.., distance)| distance.is_finite()).collect::<Vec<_>>(), report.edges))
    })?;
    let edges = result.iter().map(|(_, edges)| edges).sum();
    let pairs = result.into_iter().flat_map(|(pairs, _)| pairs).collect();
    Ok(Outcome { output: Output::Pairs(pairs), report: Report { edges, ..Report::default() } })
}
