//! `var(func: f) @groupby(e) { n as count(uid) }` of an edge `e`: the counters of the targets are
//! the variable, and no group is made.

use super::Rewrite;
use crate::exec::access_path::BlockPath;
use crate::exec::control::context::Context;
use hexgraph_base::plan::{Block, BlockKind, FieldKind};

pub(super) const REWRITE: Rewrite = Rewrite {
    name: "count_targets",
    before: BlockPath::GroupSet,
    after: BlockPath::CountTargets,
    holds: counts_targets,
};

/// True for a hidden block that counts its nodes by where one of their edges leads.
fn counts_targets(context: &Context<'_>, block: &Block) -> bool {
    let Some([key]) = block.group_by.as_ref().map(|group_by| group_by.keys.as_slice()) else {
        return false;
    };
    let name = key.predicate.strip_prefix('~').unwrap_or(&key.predicate);
    block.kind == BlockKind::Hidden
        && block.fields.iter().all(|field| field.kind == FieldKind::CountUid)
        && context.predicate(name).is_some_and(|predicate| predicate.is_edges())
}
