//! `aggregateT(filter: …) { countMax }`: the values of the nodes are aggregated off their columns,
//! for the set of the nodes, which are never listed.

use super::{Rewrite, lists_uids, takes_all_roots};
use crate::exec::access_path::BlockPath;
use hexgraph_base::plan::{Block, BlockKind, Field, FieldKind};
use std::sync::Arc;

pub(super) const REWRITE: Rewrite = Rewrite {
    name: "keep_set",
    before: BlockPath::Walk,
    after: BlockPath::RetainSet,
    holds: |_, block| only_aggregates_values(block),
};

/// True for a block that only aggregates values of its nodes.
fn only_aggregates_values(block: &Block) -> bool {
    let is_value = |field: &Arc<Field>| {
        let is_plain = matches!(field.kind, FieldKind::Predicate { reverse: false, .. });
        is_plain && field.var.is_none() && !field.has_body && field.takes_all()
    };
    block.is_aggregated
        && block.kind == BlockKind::Visible
        && block.var.is_none()
        && block.fields.iter().all(is_value)
        && takes_all_roots(block)
        && !lists_uids(block)
}
