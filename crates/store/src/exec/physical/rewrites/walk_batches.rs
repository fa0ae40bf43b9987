//! `q(func: f, first: n) @cascade { ... }`: the first nodes are walked, and more of them only while
//! the cascade leaves fewer than the page needs.

use super::Rewrite;
use crate::exec::access_path::BlockPath;
use crate::exec::cost::CostModel;
use hexgraph_base::plan::{Block, Field, FieldKind, OrderKey, Page};
use hexgraph_base::types::stack;

pub(super) const REWRITE: Rewrite = Rewrite {
    name: "walk_batches",
    before: BlockPath::Walk,
    after: BlockPath::WalkBatches,
    holds: |_, block| sees_page_alone(block),
};

/// From this many roots on all are walked.
const BATCH_MAX: usize = 1 << 28;

/// How many times as many nodes are walked when those of the batch before did not fill the page.
/// The batch before is walked again, so all of them together cost an eighth more than the last one.
const BATCH_GROWTH: usize = 8;

/// The number of nodes with which a page of a selection with `@cascade` begins; `None` for a page
/// that is not bounded from the front.
pub(crate) fn first_batch(page: Page, costs: &CostModel) -> Option<usize> {
    let most = costs.cascade_ratio.saturating_mul(page.expected()?).max(costs.cascade_batch);
    (most < BATCH_MAX).then_some(most)
}

/// The number of nodes of the batch after one that did not fill the page; `None` for all of them.
pub(crate) fn next_batch(most: usize) -> Option<usize> {
    Some(BATCH_GROWTH * most).filter(|most| *most < BATCH_MAX)
}

/// True for a block with `@cascade` whose page is all that is seen of its nodes. A block that sets
/// a variable is none, since the variable has the nodes after the page too, nor is one with
/// `expand`, whose fields are those of all nodes.
fn sees_page_alone(block: &Block) -> bool {
    block.cascade.is_some()
        && block.page.expected().is_some()
        && block.var.is_none()
        && block.defines.is_empty()
        && block.recurse.is_none()
        && pages_at_once(&block.order)
        && !block.fields.iter().any(|field| has_expand(field))
}

pub(crate) fn has_expand(field: &Field) -> bool {
    stack::require();
    matches!(field.kind, FieldKind::Expand(_)) || field.fields.iter().any(|field| has_expand(field))
}

/// Whether the first nodes of an order are the same when only a page of them is requested as when
/// all are. They are not where several keys begin with one in a language (see
/// `page_by_first_key`).
pub(crate) fn pages_at_once(order: &[OrderKey]) -> bool {
    !matches!(order, [OrderKey::Predicate { lang: Some(_), .. }, _, ..])
}
