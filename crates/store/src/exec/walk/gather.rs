//! The distinct targets of edges, if the edge of each is not needed: a bit for each id of their
//! span, and no lists.

use super::lists::distinct;
use super::traverse::Walk;
use crate::exec::access_path::EdgesPath;
use crate::exec::control::context::Context;
use crate::exec::cost;
use crate::storage::{Edges, NodeSet};
use hexgraph_base::plan::{Block, BlockKind, Field, FieldKind};
use hexgraph_base::types::{Result, stack};

/// The targets of fewer nodes are listed: a list of them is sorted as quickly as bits are looked
/// through.
const NODES_MIN: usize = cost::SETUP.per(cost::LOOKUP);

/// Whether nothing looks at the lists of edges of a block: it is not shown, it has nothing but
/// edges, values and nodes, and none of these is chosen or computed list by list.
pub(crate) fn needs_no_lists(block: &Block) -> bool {
    block.kind == BlockKind::Hidden
        && block.cascade.is_none()
        && block.recurse.is_none()
        && block.group_by.is_none()
        && block.fields.iter().all(|field| is_plain(field))
}

/// How the distinct targets of so many nodes are collected.
pub(crate) fn gather_path(nodes: usize) -> EdgesPath {
    if nodes < NODES_MIN { EdgesPath::Copy } else { EdgesPath::Gather }
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
    /// The distinct targets of edges of some nodes that pass the field's filter, ascending; `None`
    /// where they lie so far apart, or are so few, that lists are cheaper.
    ///
    /// # Errors
    ///
    /// Those of the filter and of [`Context::check`].
    pub(super) fn gathered(&self, nodes: &[u32], walk: &Walk<'_>) -> Result<Option<Vec<u32>>> {
        let cheapest = gather_path(nodes.len());
        let paths = || vec![EdgesPath::Gather, EdgesPath::Copy];
        if self.pick(cheapest, nodes.len(), paths) != EdgesPath::Gather {
            let is_filtered = walk.field.filter.is_some();
            return if cheapest == EdgesPath::Copy && !is_filtered {
                self.targets_of_few(nodes, walk)
            } else {
                Ok(None)
            };
        }
        let Some(bits) = self.target_bits(nodes, walk.edges)? else { return Ok(None) };
        let mut below = Vec::new();
        self.make_space(&mut below, bits.count())?;
        bits.append_to(&mut below);
        let below = match &walk.field.filter {
            Some(filter) => {
                let _while_filtering = self.control.charge_while(12 * below.len())?;
                let candidates = NodeSet::from(below);
                self.note_unresolved_in(filter, &candidates);
                self.filter(filter, candidates)?.to_vec()
            }
            None => below,
        };
        self.record_path(EdgesPath::Gather);
        Ok(Some(below))
    }

    /// The distinct targets of a few nodes, out of one list of all of them.
    fn targets_of_few(&self, nodes: &[u32], walk: &Walk<'_>) -> Result<Option<Vec<u32>>> {
        let mut targets = Vec::new();
        for some in nodes.chunks(Edges::PREFETCH) {
            walk.edges.stored().touch(some);
            for &node in some {
                let list = walk.edges.targets(node);
                self.make_space(&mut targets, list.len())?;
                targets.extend_from_slice(&list);
            }
        }
        self.record_path(EdgesPath::Copy);
        // The caller charges what it does with them.
        self.control.uncharge(size_of::<u32>() * targets.capacity());
        // A single list ascends, and is not copied.
        let is_one = targets.is_sorted_by(|one, other| one < other);
        Ok(Some(if is_one { targets } else { distinct(&targets) }))
    }
}
