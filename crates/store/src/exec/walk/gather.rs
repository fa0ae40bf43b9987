//! The distinct nodes that edges lead to, where nothing asks which edge leads to which: a bit for each id of their span, and no lists.
//!
//! Two passes over the targets as they are stored: the first one finds how far they reach, the second one sets bits. Each thread takes parts of the
//! nodes, and the bits of all parts are put together. O(edges + span / 64).

use super::traverse::Walk;
use crate::exec::control::context::Context;
use crate::exec::physical::path::EdgesPath;
use crate::exec::select::batches::BATCH;
use crate::graph::Direction;
use crate::storage::{NodeSet, SpanBits, is_dense};
use hexgraph_base::plan::{Block, BlockKind, Field, FieldKind};
use hexgraph_base::types::{Result, stack};
use std::ops::Range;

/// The targets of fewer nodes are listed: a list of them is sorted as quickly as bits are looked through.
const NODES_MIN: usize = 64;

/// The nanoseconds that a node takes with its edges, about: to see how far they reach, and to set bits.
const REACH_NANOS: usize = 3;
const MARK_NANOS: usize = 8;

/// The morsels for each thread in which bits are set, each of which has bits of its own.
const MARK_PIECES: usize = 3;

/// How many edges there are, and the least and the greatest node that they lead to.
#[derive(Clone, Copy)]
struct Extent {
    count: usize,
    least: u32,
    greatest: u32,
}

impl Extent {
    const NONE: Extent = Extent { count: 0, least: u32::MAX, greatest: 0 };

    fn and(self, targets: &[u32]) -> Extent {
        Extent {
            count: self.count + targets.len(),
            least: targets.iter().fold(self.least, |least, target| least.min(*target)),
            greatest: targets.iter().fold(self.greatest, |most, target| most.max(*target)),
        }
    }

    fn joined(self, other: Extent) -> Extent {
        Extent {
            count: self.count + other.count,
            least: self.least.min(other.least),
            greatest: self.greatest.max(other.greatest),
        }
    }
}

/// Whether nothing looks at the lists of edges of a block: it is not shown, it has nothing but edges, values and nodes, and none of these is chosen
/// or computed list by list.
pub(crate) fn needs_no_lists(block: &Block) -> bool {
    block.kind == BlockKind::Hidden
        && block.cascade.is_none()
        && block.recurse.is_none()
        && block.group_by.is_none()
        && block.fields.iter().all(|field| is_plain(field))
}

fn is_plain(field: &Field) -> bool {
    stack::require();
    matches!(field.kind, FieldKind::Predicate { .. } | FieldKind::Uid)
        && field.order.is_empty()
        && field.page.is_all()
        && field.facets.is_none()
        && field.facet_filter.is_none()
        && field.cascade.is_none()
        && field.group_by.is_none()
        && field.fields.iter().all(|field| is_plain(field))
}

impl Context<'_> {
    /// The distinct nodes that edges of some nodes lead to and that pass the field's filter, ascending; `None` where they lie so far apart, or are
    /// so few, that lists are the better way.
    ///
    /// # Errors
    ///
    /// Those of the filter and of [`Context::check`].
    pub(super) fn gathered(&self, nodes: &[u32], walk: &Walk<'_>) -> Result<Option<Vec<u32>>> {
        let are_few = nodes.len() < NODES_MIN;
        let paths = || vec![EdgesPath::Gather, EdgesPath::Copy];
        let cheapest = if are_few { EdgesPath::Copy } else { EdgesPath::Gather };
        if self.pick(cheapest, nodes.len(), paths) != EdgesPath::Gather {
            return Ok(None);
        }
        let reach = |range: Range<usize>| {
            let mut extent = Extent::NONE;
            let see = |targets: &[u32]| extent = extent.and(targets);
            self.for_each_target_of(&nodes[range], walk.edges, see)?;
            Ok(extent)
        };
        let extents = self.morsels(nodes.len(), REACH_NANOS, reach)?;
        let extent = extents.into_iter().fold(Extent::NONE, Extent::joined);
        let Extent { count, least, greatest } = extent;
        if count == 0 || !is_dense(least, greatest, count) {
            return Ok(None);
        }
        let below = self.marked(nodes, walk.edges, (least, greatest))?;
        let below = match &walk.field.filter {
            Some(filter) => {
                let _while_filtering = self.control.charge_while(12 * below.len())?;
                let candidates = NodeSet::from(below);
                self.note_unmet_in(filter, &candidates);
                self.filter(filter, candidates)?.to_vec()
            }
            None => below,
        };
        self.took(EdgesPath::Gather);
        Ok(Some(below))
    }

    /// The distinct targets of some nodes, ascending, all of which lie between two.
    fn marked(&self, nodes: &[u32], edges: &Direction, ends: (u32, u32)) -> Result<Vec<u32>> {
        let spread = self.control.spread(nodes.len(), MARK_NANOS)?;
        let spread = spread.map(|spread| spread.with_few(MARK_PIECES).in_units_of(BATCH));
        let each = (ends.1 - ends.0) as usize / 8;
        let count = spread.map_or(1, |spread| spread.count());
        let _while_marking = self.control.charge_while(each * count)?;
        let mark = |range: Range<usize>| {
            let mut bits = SpanBits::empty(ends.0, ends.1);
            let set = |targets: &[u32]| bits.set_all(targets);
            self.for_each_target_of(&nodes[range], edges, set)?;
            Ok(bits)
        };
        let parts = match spread {
            Some(spread) => spread.collect(mark)?,
            None => vec![mark(0..nodes.len())?],
        };
        let Some(bits) = SpanBits::union(parts) else { return Ok(Vec::new()) };
        let mut members = Vec::new();
        self.make_room(&mut members, bits.count())?;
        bits.append_to(&mut members);
        Ok(members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::control::morsels::tests::sharing;
    use crate::exec::control::stop::Control;
    use crate::exec::random_graph::{EDGES, graph};
    use fastrand::Rng;
    use hexgraph_base::plan::Query;
    use std::collections::BTreeSet;

    /// Nodes that are gathered as bits, by threads or by one, are the distinct ones of all lists.
    #[test]
    fn gathered_nodes_are_the_distinct_targets() {
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
                let wanted: BTreeSet<u32> = targets.collect();
                let wanted: Vec<u32> = wanted.into_iter().collect();
                let (Some(least), Some(greatest)) = (wanted.first(), wanted.last()) else {
                    continue;
                };
                for control in [Control::new(), sharing(2, 1), sharing(3, 20_000)] {
                    let vars = Vec::new();
                    let context =
                        Context { version: &version, query: &query, control: &control, vars };
                    let found = context.marked(&nodes, edges, (*least, *greatest)).unwrap();
                    assert_eq!(found, wanted, "{name} of {} nodes", nodes.len());
                    gathered += 1;
                }
            }
        }
        assert!(60 < gathered, "{gathered}");
    }
}
