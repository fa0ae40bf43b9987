//! `var(func: f) { one as math(1) e { g { n as math(one) } } }`: a constant that flows down a chain
//! of edges becomes the number of paths to a node, times the constant. The paths are counted edge
//! by edge, and no level is listed.

use super::{Rewrite, lists_uids, takes_all_roots};
use crate::exec::control::context::Context;
use crate::exec::groups::path_counts::Chain;
use crate::exec::physical::path::BlockPath;
use hexgraph_base::plan::{Block, BlockKind};

pub(super) const REWRITE: Rewrite = Rewrite {
    name: "count_paths",
    before: BlockPath::Walk,
    after: BlockPath::CountPaths,
    holds: counts_paths,
};

/// True for a hidden block that has a constant flow down a chain of edges, with no other request
/// than what arrives.
fn counts_paths(context: &Context<'_>, block: &Block) -> bool {
    let Some(chain) = Chain::of(block) else { return false };
    let is_read =
        |other: &Block| !std::ptr::eq(other, block) && other.reads.contains(&chain.source);
    block.kind == BlockKind::Hidden
        && !block.ignore_reflex
        && takes_all_roots(block)
        && !lists_uids(block)
        && !context.query.blocks.iter().any(is_read)
}
