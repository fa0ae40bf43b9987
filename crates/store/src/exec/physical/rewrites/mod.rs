//! The rewrites: each replaces a block by a cheaper equivalent, in the order of a table.

mod count_alone;
mod name_columns;
mod keep_set;
mod count_paths;
mod group_set;
mod count_targets;
mod walk_batches;

pub(crate) use count_paths::Chain;
pub(crate) use name_columns::is_read_in_pages;
pub(crate) use walk_batches::{first_batch, has_expand, next_batch, pages_at_once};

use crate::exec::access_path::BlockPath;
use crate::exec::control::context::Context;
use hexgraph_base::plan::{Block, Call};

/// Replaces one strategy for a block by another one with the same answer.
pub struct Rewrite {
    /// Its name, which is that of its file.
    pub name: &'static str,
    /// The strategy that it replaces.
    pub before: BlockPath,
    /// The strategy that replaces it.
    pub after: BlockPath,
    /// Whether it holds for a block. Looks at the plan, the schema and the costs, and reads no
    /// data.
    holds: fn(&Context<'_>, &Block) -> bool,
}

/// The rewrites in the order in which they are tried. Each sees what those before it have made.
pub const REWRITES: &[Rewrite] = &[
    count_alone::REWRITE,
    name_columns::REWRITE,
    keep_set::REWRITE,
    count_paths::REWRITE,
    group_set::REWRITE,
    count_targets::REWRITE,
    walk_batches::REWRITE,
];

impl Context<'_> {
    /// What is made of a block of nodes.
    pub(crate) fn block_path(&self, block: &Block) -> BlockPath {
        let start = if block.group_by.is_some() { BlockPath::GroupList } else { BlockPath::Walk };
        let left_out = self.control.costs().left_out;
        let mut path = start;
        for (position, rewrite) in REWRITES.iter().enumerate() {
            if path == rewrite.before
                && left_out >> position & 1 == 0
                && (rewrite.holds)(self, block)
            {
                path = rewrite.after;
            }
        }
        path
    }
}

/// True for a block whose nodes are all that pass its filter, in no order of its own.
fn takes_all_roots(block: &Block) -> bool {
    block.page.is_all()
        && block.order.is_empty()
        && block.cascade.is_none()
        && block.recurse.is_none()
}

/// True for a root of literal uids, where one that is written twice counts twice.
pub(crate) fn lists_uids(block: &Block) -> bool {
    let call = block.root.as_ref().map(|function| &function.call);
    matches!(call, Some(Call::Uid { vars, .. }) if vars.is_empty())
}
