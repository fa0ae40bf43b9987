//! `q(func: f) @groupby(p) { ... }`: the nodes are grouped as the set that they are, without a list
//! of them.

use super::{Rewrite, takes_all_roots};
use crate::exec::access_path::BlockPath;
use hexgraph_base::plan::{Block, Call};

pub(super) const REWRITE: Rewrite = Rewrite {
    name: "group_set",
    before: BlockPath::GroupList,
    after: BlockPath::GroupSet,
    holds: |_, block| groups_a_set(block),
};

/// True for a block that groups all nodes of a set, without a page, which could be of nodes in an
/// order.
fn groups_a_set(block: &Block) -> bool {
    block.var.is_none()
        && takes_all_roots(block)
        && !matches!(block.root.as_ref().map(|function| &function.call), Some(Call::Uid { .. }))
}
