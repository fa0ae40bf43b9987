//! Hubs and authorities: a good hub has edges to good authorities, and a good authority has edges
//! from good hubs.
//!
//! Rounds of both run until one changes the hubs together by less than `tolerance`. Each kind of
//! score is scaled to the sum 1.

use super::eigenvector::gathered;
use crate::algo::compact::rows::Rows;
use crate::algo::run::{Outcome, Output, Report, Run};
use crate::algo::task::{EVEN_BLOCK, Task};
use hexgraph_base::types::Result;

pub(in crate::algo) fn hits(run: &Run<'_>) -> Result<Outcome> {
    let nodes = run.graph.len();
    let _capacity = run.capacity_per_node(3 * size_of::<f64>())?;
    let (outgoing, incoming) = (run.graph.outgoing(), run.graph.incoming(&run.task)?);
    let (scaled_out, scaled_in) = (outgoing.scaled(&run.task)?, incoming.scaled(&run.task)?);
    let outgoing = scaled_out.as_ref().unwrap_or(outgoing);
    let incoming = scaled_in.as_ref().unwrap_or(incoming);
    let rounds = run.call.int("iterations").unwrap_or(1);
    let mut hubs = vec![1.0 / nodes.max(1) as f64; nodes];
    let mut authorities = vec![0.0; nodes];
    let mut report = Report::default();
    for _ in 0..rounds {
        pull(&run.task, incoming, &hubs, &mut authorities)?;
        let before = hubs.clone();
        pull(&run.task, outgoing, &authorities, &mut hubs)?;
        let change = |range: std::ops::Range<usize>| -> f64 {
            range.map(|node| (hubs[node] - before[node]).abs()).sum()
        };
        let starts = (0..nodes).step_by(EVEN_BLOCK);
        let change = starts.map(|start| change(start..nodes.min(start + EVEN_BLOCK))).sum::<f64>();
        if report.end_round(2 * outgoing.edges(), change, run.call.float("tolerance")) {
            break;
        }
    }
    let scores = if run.call.word("score") == "hub" { hubs } else { authorities };
    Ok(Outcome { output: Output::Floats(scores), report })
}

/// Adds up the scores along the rows, and scales them to the sum 1; where that is 0 they stay so.
fn pull(task: &Task<'_>, rows: &Rows, from: &[f64], to: &mut [f64]) -> Result<()> {
    let sums = task.fill(to, rows.blocks(), |number, part| {
        let mut sum = 0.0;
        for (position, node) in rows.block(number).enumerate() {
            part[position] = gathered(rows, node, from);
            sum += part[position];
        }
        Ok(sum)
    })?;
    let sum: f64 = sums.iter().sum();
    if 0.0 < sum {
        task.fill_evenly(to, |_, part| {
            part.iter_mut().for_each(|score| *score /= sum);
            Ok(())
        })?;
    }
    Ok(())
}
