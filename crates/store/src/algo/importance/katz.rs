//! Katz centrality: each node has the score `beta`, plus `alpha` times the sum over its
//! predecessors. Definitions are networkx's; a score is at least `beta`, so the bound of the change
//! is one for each node.
//!
//! If `alpha` is too great, each round changes the scores by as much as the previous one, or more.
//! Otherwise changes eventually fall. So rounds that end above the bound have a rough result if the
//! last change is smaller than the one before.

use super::eigenvector::{change, gathered, scale};
use crate::algo::run::{Outcome, Output, Report, Run};
use crate::algo::task::EVEN_BLOCK;
use hexgraph_base::types::{Error, Result};

/// A change falls if it is smaller than the previous one by this fraction: less is rounding.
const FALL: f64 = 1e-9;

/// A change by this fraction of the scores or less is rounding. Diverging scores change by more,
/// about one by the number of rounds.
const ROUNDING: f64 = 1e-12;

pub(in crate::algo) fn katz(run: &Run<'_>) -> Result<Outcome> {
    let nodes = run.graph.len();
    let _capacity = run.capacity_per_node(2 * size_of::<f64>())?;
    let incoming = run.graph.incoming(&run.task)?;
    let (alpha, beta) = (run.call.float("alpha"), run.call.float("beta"));
    let (mut scores, mut next) = (vec![0.0; nodes], vec![0.0; nodes]);
    let mut report = Report::default();
    let (mut before, mut has_converged) = (f64::INFINITY, false);
    for _ in 0..run.call.int("iterations").unwrap_or(1) {
        run.task.fill(&mut next, incoming.blocks(), |number, part| {
            for (position, node) in incoming.block(number).enumerate() {
                part[position] = alpha * gathered(incoming, node, &scores) + beta;
            }
            Ok(())
        })?;
        let change = change(&run.task, &mut scores, &next)?;
        if !change.is_finite() {
            // An overflow is reported first: no `alpha` is small enough for it.
            let is_heavy = (0..nodes as u32).any(|node| incoming.weight_of(node).is_infinite());
            return Err(match is_heavy {
                true => run.too_heavy("their sum at a node"),
                false => too_great(alpha, "the scores grow without end"),
            });
        }
        let tolerance = run.call.float("tolerance") * nodes as f64;
        let is_within = report.end_round(incoming.edges(), change, tolerance);
        has_converged = is_within || change < (1.0 - FALL) * before;
        if is_within {
            break;
        }
        before = change;
    }
    if !has_converged && !is_rounding(before, &scores) {
        let reported =
            format!("after {} rounds the scores grow as fast as before", report.iterations);
        return Err(too_great(alpha, &reported));
    }
    if run.call.is("normalized") {
        scale(&run.task, &mut scores)?;
    }
    Ok(Outcome { output: Output::Floats(scores), report })
}

/// Whether a change is too small in proportion to the scores to mean anything.
fn is_rounding(change: f64, scores: &[f64]) -> bool {
    let sum: f64 = scores.chunks(EVEN_BLOCK).map(|part| part.iter().sum::<f64>()).sum();
    change <= ROUNDING * sum.min(f64::MAX)
}

#[cold]
fn too_great(alpha: f64, reported: &str) -> Error {
    let hint = "it has to be less than one by the greatest eigenvalue: try a tenth of it";
    Error::query(format!("`alpha: {alpha}` is too great for this graph: {reported}"))
        .with_hint(hint)
}
