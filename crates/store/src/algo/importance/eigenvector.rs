//! Eigenvector centrality: the score of a node is proportional to the sum of the scores of its
//! predecessors. Rounds of the power method on the matrix plus the identity, so that bipartite
//! graphs do not oscillate; the squares of the scores add up to 1, as in networkx. It stops when a
//! round changes all scores together by less than `tolerance`.

use super::pagerank::pulled;
use crate::algo::compact::rows::Rows;
use crate::algo::run::{Outcome, Output, Report, Run};
use crate::algo::task::Task;
use hexgraph_base::types::Result;

pub(in crate::algo) fn eigenvector(run: &Run<'_>) -> Result<Outcome> {
    let nodes = run.graph.len();
    let _capacity = run.capacity_per_node(2 * size_of::<f64>())?;
    let incoming = run.graph.incoming(&run.task)?;
    let scaled = incoming.scaled(&run.task)?;
    let incoming = scaled.as_ref().unwrap_or(incoming);
    let mut scores = vec![1.0 / nodes.max(1) as f64; nodes];
    let mut next = vec![0.0; nodes];
    let mut report = Report::default();
    for _ in 0..run.call.int("iterations").unwrap_or(1) {
        run.task.fill(&mut next, incoming.blocks(), |number, part| {
            for (position, node) in incoming.block(number).enumerate() {
                part[position] = scores[node as usize] + gathered(incoming, node, &scores);
            }
            Ok(())
        })?;
        scale(&run.task, &mut next)?;
        let change = change(&run.task, &mut scores, &next)?;
        if report.end_round(incoming.edges(), change, run.call.float("tolerance")) {
            break;
        }
    }
    Ok(Outcome { output: Output::Floats(scores), report })
}

/// What the nodes before a node have together, by the weights of the edges.
#[inline]
pub(super) fn gathered(incoming: &Rows, node: u32, scores: &[f64]) -> f64 {
    // An empty sum of floats is -0; adding 0 makes it 0.
    pulled(incoming, node, scores) + 0.0
}

/// Divides by the root of the sum of squares, where that is not 0.
pub(super) fn scale(task: &Task<'_>, scores: &mut [f64]) -> Result<()> {
    let mut squares = squares(task, scores)?;
    if !squares.is_normal() {
        // The squares are beyond what a float holds, if the scores themselves are not.
        let greatest = scores.iter().copied().fold(0.0, f64::max);
        if greatest == 0.0 {
            return Ok(());
        }
        divide(task, scores, greatest)?;
        squares = self::squares(task, scores)?;
    }
    divide(task, scores, squares.sqrt())
}

fn squares(task: &Task<'_>, scores: &mut [f64]) -> Result<f64> {
    let squares = task
        .fill_evenly(scores, |_, part| Ok(part.iter().map(|score| score * score).sum::<f64>()))?;
    Ok(squares.iter().sum())
}

fn divide(task: &Task<'_>, scores: &mut [f64], by: f64) -> Result<()> {
    task.fill_evenly(scores, |_, part| {
        part.iter_mut().for_each(|score| *score /= by);
        Ok(())
    })?;
    Ok(())
}

/// Replaces old scores by new ones, and returns their total change.
pub(super) fn change(task: &Task<'_>, scores: &mut [f64], next: &[f64]) -> Result<f64> {
    let changes = task.fill_evenly(scores, |range, part| {
        let mut change = 0.0;
        for (score, next) in part.iter_mut().zip(&next[range]) {
            change += (*next - *score).abs();
            *score = *next;
        }
        Ok(change)
    })?;
    Ok(changes.iter().sum())
}
