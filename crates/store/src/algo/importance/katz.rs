//! Katz centrality: each node has the score `beta`, and `alpha` times what the nodes that lead to
//! it have together. Definitions are networkx's; a score is `beta` at the least, so the bound of
//! the change is one for each node.
//!
//! Where `alpha` is too great, each round changes the scores by as much as the one before, or more.
//! Where it is not, changes fall in the end. So rounds that end before the bound was reached have
//! an answer, if a rough one, where the last change is less than the one before.

use super::eigenvector::{change, gathered, scale};
use crate::algo::run::{Outcome, Output, Report, Run};
use crate::algo::task::EVEN_BLOCK;
use hexgraph_base::types::{Error, Result};

/// A change falls where it is less than the one before by this share of it: what is less tells
/// rounding.
const FALL: f64 = 1e-9;

/// A change by this share of the scores or less is one by rounding. Scores that grow without end do
/// so by more, as one by the number of rounds is.
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
            // What was added up is told first: no `alpha` is small enough for it.
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

/// Whether a change is so small beside the scores that it tells nothing.
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
