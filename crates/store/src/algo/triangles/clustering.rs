//! Clustering coefficients: the fraction of the pairs of a node's neighbours that are neighbours
//! themselves, and that fraction over all nodes together (transitivity). A node with fewer than two
//! neighbours has no pairs, and the coefficient 0.

use super::counts::{degree, triangle_counts};
use crate::algo::run::{Outcome, Output, Run};
use hexgraph_base::types::Result;

/// Twice the number of pairs of a node's neighbours.
fn twice_pairs(run: &Run<'_>, node: usize) -> f64 {
    let neighbours = degree(run.graph.outgoing(), node as u32) as f64;
    neighbours * (neighbours - 1.0)
}

pub(in crate::algo) fn clustering(run: &Run<'_>) -> Result<Outcome> {
    let coefficient = |(node, count): (usize, u64)| match twice_pairs(run, node) {
        pairs if 0.0 < pairs => 2.0 * count as f64 / pairs,
        _ => 0.0,
    };
    let coefficients = triangle_counts(run)?.into_iter().enumerate().map(coefficient).collect();
    Ok(Outcome::once(Output::Floats(coefficients), run.graph.outgoing().edges()))
}

pub(in crate::algo) fn transitivity(run: &Run<'_>) -> Result<Outcome> {
    let counts = triangle_counts(run)?;
    let closed = 2.0 * counts.iter().sum::<u64>() as f64;
    let pairs: f64 = (0..counts.len()).map(|node| twice_pairs(run, node)).sum();
    let fraction = if 0.0 < pairs { closed / pairs } else { 0.0 };
    Ok(Outcome::once(Output::Float(fraction), run.graph.outgoing().edges()))
}
