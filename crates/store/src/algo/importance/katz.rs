//! Katz centrality: each node has the score `beta`, and `alpha` times what the nodes that lead to it have together. Definitions are
//! networkx's; a score is `beta` at the least, so the bound of the change is one for each node.

use super::eigenvector::{change, gathered, scale};
use crate::algo::run::{Found, Output, Report, Run};
use hexgraph_base::types::{Error, Result};

pub(in crate::algo) fn katz(run: &Run<'_>) -> Result<Found> {
    let nodes = run.graph.len();
    let _room = run.room_a_node(2 * size_of::<f64>())?;
    let incoming = run.graph.incoming(&run.task)?;
    let (alpha, beta) = (run.call.float("alpha"), run.call.float("beta"));
    let (mut scores, mut next) = (vec![0.0; nodes], vec![0.0; nodes]);
    let mut report = Report::default();
    for _ in 0..run.call.int("iterations").unwrap_or(1) {
        run.task.fill(&mut next, incoming.blocks(), |number, part| {
            for (place, node) in incoming.block(number).enumerate() {
                part[place] = alpha * gathered(incoming, node, &scores) + beta;
            }
            Ok(())
        })?;
        let change = change(&run.task, &mut scores, &next)?;
        if !change.is_finite() {
            let message = format!(
                "`alpha: {alpha}` is too great for this graph: the scores grow without end"
            );
            let hint = "it has to be less than one by the greatest eigenvalue: try a tenth of it";
            return Err(Error::query(message).with_hint(hint));
        }
        report.iterations += 1;
        report.edges += incoming.edges();
        report.residual = Some(change);
        if change < run.call.float("tolerance") * nodes as f64 {
            break;
        }
    }
    if run.call.is("normalized") {
        scale(&run.task, &mut scores)?;
    }
    Ok(Found { output: Output::Floats(scores), report })
}
