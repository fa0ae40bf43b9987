//! `q(func: f, first: n) @cascade { ... }`: the first nodes are walked, and more of them only while the cascade leaves fewer than
//! the page wants.

use super::Rewrite;
use crate::exec::physical::path::BlockPath;
use crate::exec::select::order::pages_as_whole;
use hexgraph_base::plan::{Block, Field, FieldKind};
use hexgraph_base::types::stack;

pub(super) const REWRITE: Rewrite = Rewrite {
    name: "walk_batches",
    before: BlockPath::Walk,
    after: BlockPath::WalkBatches,
    holds: |_, block| sees_page_alone(block),
};

/// From this many roots on all are walked.
pub(crate) const BATCH_MAX: usize = 1 << 28;

/// True for a block with `@cascade` whose page is all that is seen of its nodes. A block that sets a variable is none, since the variable
/// has the nodes behind the page too, nor is one with `expand`, whose fields are those of all nodes.
fn sees_page_alone(block: &Block) -> bool {
    block.cascade.is_some()
        && block.page.expected().is_some()
        && block.var.is_none()
        && block.defines.is_empty()
        && block.recurse.is_none()
        && pages_as_whole(&block.order)
        && !block.fields.iter().any(|field| has_expand(field))
}

fn has_expand(field: &Field) -> bool {
    stack::require();
    matches!(field.kind, FieldKind::Expand(_)) || field.fields.iter().any(|field| has_expand(field))
}
