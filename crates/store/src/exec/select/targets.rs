//! The distinct nodes at the targets of the edges of many nodes, as a bit for each id of their
//! span.
//!
//! Two passes over the targets as they are stored: the first one computes their range, the second
//! one sets bits. Each thread scans parts of the nodes, and the bits of all parts are put together.
//! O(edges + span / 64).

use crate::exec::columns::batches::BATCH;
use crate::exec::control::context::Context;
use crate::exec::control::morsels::FEW_MORSELS;
use crate::exec::cost;
use crate::graph::Direction;
use crate::storage::{SpanBits, is_dense, vectorized};
use hexgraph_base::types::Result;
use std::ops::Range;

/// How many edges there are, and their least and greatest target.
#[derive(Clone, Copy)]
pub(in crate::exec) struct Extent {
    pub(in crate::exec) count: usize,
    least: u32,
    greatest: u32,
}

impl Extent {
    pub(in crate::exec) const NONE: Extent = Extent { count: 0, least: u32::MAX, greatest: 0 };

    /// With some more edges. Those of one node ascend: the first and the last are enough.
    pub(in crate::exec) fn and(self, targets: &[u32], ascend: bool) -> Extent {
        let (&[first, ..], &[.., last]) = (targets, targets) else { return self };
        let (least, greatest) = if ascend {
            (first, last)
        } else {
            vectorized(|| {
                let ends = |(least, most): (u32, u32), &it: &u32| (it.min(least), it.max(most));
                targets.iter().fold((first, first), ends)
            })
        };
        self.joined(Extent { count: targets.len(), least, greatest })
    }

    /// The least and the greatest node; `None` where there are no edges.
    pub(in crate::exec) fn ends(self) -> Option<(u32, u32)> {
        (self.count != 0).then_some((self.least, self.greatest))
    }

    fn joined(self, other: Extent) -> Extent {
        Extent {
            count: self.count + other.count,
            least: self.least.min(other.least),
            greatest: self.greatest.max(other.greatest),
        }
    }
}

impl Context<'_> {
    /// The distinct targets of some nodes, which ascend; `None` where there are none, or they lie
    /// so far apart that lists are cheaper.
    ///
    /// # Errors
    ///
    /// Those of [`Context::check`], and when there is too little memory.
    pub(crate) fn target_bits(&self, nodes: &[u32], edges: &Direction) -> Result<Option<SpanBits>> {
        let reach = |range: Range<usize>| {
            let mut extent = Extent::NONE;
            let see = |targets: &[u32], ascend| extent = extent.and(targets, ascend);
            self.for_each_target_of(&nodes[range], edges, see)?;
            Ok(extent)
        };
        let extents = self.morsels(nodes.len(), cost::LOOKUP, reach)?;
        let extent = extents.into_iter().fold(Extent::NONE, Extent::joined);
        let Extent { count, least, greatest } = extent;
        if count == 0 || !is_dense(least, greatest, count) {
            return Ok(None);
        }
        let spread = self.control.spread(nodes.len(), cost::PROBE)?;
        let spread = spread.map(|spread| spread.with_few(FEW_MORSELS).in_units_of(BATCH));
        let each = (greatest - least) as usize / 8;
        let count = spread.map_or(1, |spread| spread.count());
        let _while_marking = self.control.charge_while(each * count)?;
        let mark = |range: Range<usize>| {
            let mut bits = SpanBits::empty(least, greatest);
            let set = |targets: &[u32], _| bits.set_all(targets);
            self.for_each_target_of(&nodes[range], edges, set)?;
            Ok(bits)
        };
        let parts = match spread {
            Some(spread) => spread.collect(mark)?,
            None => vec![mark(0..nodes.len())?],
        };
        Ok(SpanBits::union(parts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::control::morsels::tests::sharing;
    use crate::exec::control::stop::RequestContext;
    use crate::exec::tests::random_graph::{EDGES, graph};
    use fastrand::Rng;
    use hexgraph_base::plan::Query;
    use std::collections::BTreeSet;

    /// Nodes that are gathered as bits, by threads or by one, are the distinct ones of all lists.
    #[test]
    fn bits_are_the_distinct_targets() {
        let mut rng = Rng::with_seed(23);
        let mut gathered = 0;
        for round in 0..20 {
            let count = if round % 5 == 0 { 9_000 } else { rng.u32(80..700) };
            let (version, query) = (graph(count.into(), &mut rng), Query::default());
            let nodes: Vec<u32> = (0..count * 5 / 4).filter(|_| rng.f64() < 0.8).collect();
            for name in EDGES {
                let Some(predicate) = version.predicate(name) else { continue };
                let Some(edges) = predicate.direction(false) else { continue };
                let targets = nodes.iter().flat_map(|node| edges.targets(*node).to_vec());
                let expected: BTreeSet<u32> = targets.collect();
                let expected: Vec<u32> = expected.into_iter().collect();
                for control in [RequestContext::new(), sharing(2, 1), sharing(3, 20_000)] {
                    let vars = Vec::new();
                    let context =
                        Context { version: &version, query: &query, control: &control, vars };
                    let Some(bits) = context.target_bits(&nodes, edges).unwrap() else { continue };
                    let mut result = Vec::new();
                    bits.append_to(&mut result);
                    assert_eq!(result, expected, "{name} of {} nodes", nodes.len());
                    gathered += 1;
                }
            }
        }
        assert!(60 < gathered, "{gathered}");
    }
}
