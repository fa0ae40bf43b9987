//! The likeness of given nodes: of each of some with each of others.

use super::measure::{Measure, size};
use crate::algo::run::{Found, Output, Run};
use hexgraph_base::types::Result;

/// The bytes of a pair.
const BYTES_A_PAIR: usize = 2 * size_of::<(u32, u32, f64)>();

pub(in crate::algo) fn similarity(run: &Run<'_>) -> Result<Found> {
    let sources = run.list("source").unwrap_or_default();
    let targets = run.list("target").unwrap_or(sources);
    let _room = run.task.room(sources.len().saturating_mul(targets.len()), BYTES_A_PAIR)?;
    let rows = run.graph.outgoing();
    let incoming = run.graph.incoming(&run.task)?;
    let measure = Measure::of(run.call);
    let found = run.task.blocks(sources.len(), |number| {
        let one = sources[number];
        let likeness = |other: &u32| {
            let mut common = 0.0;
            let (mut left, mut right) =
                (rows.of(one).iter().peekable(), rows.of(*other).iter().peekable());
            while let (Some(&&first), Some(&&second)) = (left.peek(), right.peek()) {
                // Neither of the two is a node that they have in common.
                if first == second && first != one && first != *other {
                    common += measure.part(size(incoming, first));
                }
                if first <= second {
                    left.next();
                }
                if second <= first {
                    right.next();
                }
            }
            (one, *other, measure.whole(common, size(rows, one), size(rows, *other)))
        };
        // Of two lists that are the same each pair comes once.
        let is_new = |other: &&u32| **other != one && (targets != sources || one < **other);
        Ok(targets.iter().filter(is_new).map(likeness).collect::<Vec<_>>())
    })?;
    Ok(Found::once(Output::Pairs(found.into_iter().flatten().collect()), 0))
}
