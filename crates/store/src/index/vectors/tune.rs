//! Tunes the search width to the data: five is enough for well separated clusters, hundreds are not
//! for vectors without any structure.
//!
//! Some vectors of the finished graph are searched, each hidden from its own search, and the result
//! is compared with the exact ten nearest. The width grows until nearly all of them are in the
//! result.

use super::links::NearGraph;
use super::points::Points;
use super::search::{Aim, Candidate, Scratch, candidate, key, walk};
use hexgraph_base::types::{Check, Result};
use rayon::prelude::*;
use std::collections::BinaryHeap;

/// The number of vectors that are searched for.
const SAMPLE: usize = 128;

/// The number of neighbours of each that a search should find.
const EXPECTED: usize = 10;

/// The recall required in the sample. It is above the promised recall, since a sample varies.
const PART: f64 = 0.97;

/// The least width from `least` on at which searches find nearly all they should, or the first one
/// past `most`. Costs a pass over all vectors for each of a sample.
///
/// # Errors
///
/// Those of `check`.
pub(super) fn tune(
    graph: &NearGraph,
    points: &Points<'_>,
    positions: &[u32],
    (least, most): (usize, usize),
    check: Check<'_>,
) -> Result<usize> {
    let members: rustc_hash::FxHashSet<u32> = graph.members.as_slice().iter().copied().collect();
    // Members are excluded: a search enters at one, and a hidden one would have no entry.
    let step = (positions.len() / SAMPLE).max(1);
    let sample: Vec<u32> =
        positions.iter().copied().step_by(step).filter(|at| !members.contains(at)).collect();
    let truth = |&own: &u32| check().map(|()| worst_expected(points, positions, own));
    let truth: Vec<u32> = sample.par_iter().map(truth).collect::<Result<_>>()?;
    // With an empty sample this is 0, which the least width finds at once.
    let expected = EXPECTED.min(positions.len().saturating_sub(1)) * sample.len();
    let mut width = least.max(EXPECTED);
    while width < most {
        check()?;
        let result: usize = sample
            .par_iter()
            .zip(&truth)
            .map_init(Scratch::default, |scratch, (&own, &worst)| {
                let query = points.query(own);
                let aim = Aim { points, query, width, retains: |_| true, hidden: Some(own) };
                let result = walk(graph, &aim, scratch);
                // By distance and not by vector: of several at the distance of the last one, any is
                // right.
                result.iter().take(EXPECTED).filter(|&&result| key(result) <= worst).count()
            })
            .sum();
        if PART * expected as f64 <= result as f64 {
            return Ok(width);
        }
        // A third more each time: few searches are tried that are much too narrow, and none is
        // much too wide.
        width += width / 3 + 1;
    }
    Ok(width)
}

/// The distance key of the last neighbour that a search for a vector should find.
fn worst_expected(points: &Points<'_>, positions: &[u32], own: u32) -> u32 {
    let query = points.query(own);
    let mut nearest: BinaryHeap<Candidate> = BinaryHeap::with_capacity(EXPECTED + 1);
    for &position in positions.iter().filter(|&&position| position != own) {
        nearest.push(candidate(points.key(&query, position), position));
        if EXPECTED < nearest.len() {
            nearest.pop();
        }
    }
    nearest.peek().map_or(0, |&worst| key(worst))
}
