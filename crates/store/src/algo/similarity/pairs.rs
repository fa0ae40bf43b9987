//! The likeness of given nodes: of each of some with each of others.

use super::measure::{Measure, size};
use crate::algo::compact::rows::Rows;
use crate::algo::run::{Outcome, Output, Run};
use hexgraph_base::types::Result;

/// The bytes of a pair.
const BYTES_A_PAIR: usize = 2 * size_of::<(u32, u32, f64)>();

/// The edges that are compared between two looks at the clock.
const STEPS_A_CHECK: usize = 1 << 20;

pub(in crate::algo) fn similarity(run: &Run<'_>) -> Result<Outcome> {
    let sources = run.list("source").unwrap_or_default();
    let targets = run.list("target").unwrap_or(sources);
    let _capacity = run.task.capacity(sources.len().saturating_mul(targets.len()), BYTES_A_PAIR)?;
    let rows = run.graph.outgoing();
    let incoming = run.graph.incoming(&run.task)?;
    let measure = Measure::of(run.call);
    // Of two lists that are the same each pair comes once.
    let is_one_list = targets == sources;
    let result = run.task.blocks(sources.len(), |number| {
        let one = sources[number];
        let is_new = |other: &&u32| **other != one && (!is_one_list || one < **other);
        let (mut pairs, mut unchecked) = (Vec::new(), 0);
        for &other in targets.iter().filter(is_new) {
            let common = common(rows, incoming, measure, (one, other));
            pairs.push((one, other, measure.full(common, size(rows, one), size(rows, other))));
            unchecked += 1 + rows.degree(one) + rows.degree(other);
            if STEPS_A_CHECK < unchecked {
                unchecked = 0;
                run.task.check()?;
            }
        }
        Ok(pairs)
    })?;
    Ok(Outcome::once(Output::Pairs(result.into_iter().flatten().collect()), 0))
}

/// The sum over the common targets of two nodes. Neither of the two is one of these.
fn common(rows: &Rows, incoming: &Rows, measure: Measure, (one, other): (u32, u32)) -> f64 {
    let (mut left, mut right) = (rows.of(one).iter().peekable(), rows.of(other).iter().peekable());
    let mut common = 0.0;
    while let (Some(&&first), Some(&&second)) = (left.peek(), right.peek()) {
        if first == second && first != one && first != other {
            common += measure.part(size(incoming, first));
        }
        if first <= second {
            left.next();
        }
        if second <= first {
            right.next();
        }
    }
    common
}
