//! `q(func: f) @filter(g) { count(uid) }`: the nodes are counted as a set, or in a column, and
//! never listed.

use super::{Rewrite, lists_uids, takes_all_roots};
use crate::exec::access_path::BlockPath;
use hexgraph_base::plan::{Block, Field, FieldKind};
use std::sync::Arc;

pub(super) const REWRITE: Rewrite = Rewrite {
    name: "count_alone",
    before: BlockPath::Walk,
    after: BlockPath::Count,
    holds: |_, block| asks_for_counts(block),
};

/// True for a block that requests only the number of its nodes.
fn asks_for_counts(block: &Block) -> bool {
    let counts =
        |field: &Arc<Field>| matches!(field.kind, FieldKind::CountUid) && field.var.is_none();
    !block.fields.is_empty()
        && block.fields.iter().all(counts)
        && takes_all_roots(block)
        && !lists_uids(block)
}
