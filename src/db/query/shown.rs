//! What happens to a query whose caller may not see all predicates.
//!
//! A version with a view has no other predicates, so fields, filters and orders by them find
//! nothing, as those of predicates that are not there. Only a block whose root function names one
//! is treated otherwise, as in Dgraph: it is absent from the answer, and its variables are
//! empty.

use hexgraph_base::plan::{Block, BlockKind, Call, Function, Order, Page, Query};
use hexgraph_store::graph::View;
use std::sync::Arc;

/// Returns the plan without the blocks that begin with a predicate which the view does not show.
/// Costs O(blocks) where there are none, and a copy of the plan where there are some.
pub(in crate::db) fn shown_blocks(plan: Arc<Query>, view: &View) -> Arc<Query> {
    if plan.blocks.iter().all(|block| is_shown(block, view)) {
        return plan;
    }
    let mut plan = Query::clone(&plan);
    for block in plan.blocks.iter_mut().filter(|block| !is_shown(block, view)) {
        if block.kind == BlockKind::Visible {
            block.kind = BlockKind::Hidden;
        }
        if let Some(root) = &mut block.root {
            root.call = Call::Uid { uids: Vec::new(), vars: Vec::new() };
        }
        // They select among no nodes, and could fail for naming what is not there.
        (block.filter, block.order, block.page) = (None, Order::default(), Page::default());
    }
    Arc::new(plan)
}

fn is_shown(block: &Block, view: &View) -> bool {
    block.root.as_ref().and_then(Function::predicate).is_none_or(|name| view.shows(name))
}
