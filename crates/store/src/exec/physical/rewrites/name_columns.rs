//! `var(func: f) { a as age }`: the variable is a reference to a column of the nodes, which is read
//! when it is requested.

use super::{Rewrite, lists_uids, takes_all_roots};
use crate::exec::access_path::BlockPath;
use hexgraph_base::plan::{Block, BlockKind, Call, Field, FieldKind, OrderKey, Query, VarId};
use hexgraph_base::types::stack;
use std::sync::Arc;

pub(super) const REWRITE: Rewrite = Rewrite {
    name: "name_columns",
    before: BlockPath::Walk,
    after: BlockPath::NameColumns,
    holds: |_, block| only_names_values(block),
};

/// True for a block that is not shown and gives names to values of its nodes, their numbers of
/// edges, and what is computed from them, and does nothing else.
fn only_names_values(block: &Block) -> bool {
    let names_values = |field: &Arc<Field>| {
        let is_plain = match &field.kind {
            FieldKind::Predicate { reverse: false, langs, .. } | FieldKind::Count { langs, .. } => {
                langs.is_empty()
            }
            FieldKind::Math(_) => true,
            FieldKind::Predicate { reverse: true, .. }
            | FieldKind::Uid
            | FieldKind::CountUid
            | FieldKind::Val(_)
            | FieldKind::AggregateVar(..)
            | FieldKind::AggregatePredicate { .. }
            | FieldKind::Expand(_)
            | FieldKind::CheckPassword { .. } => false,
        };
        is_plain && field.var.is_some() && !field.has_body && field.takes_all()
    };
    block.kind == BlockKind::Hidden
        && !block.fields.is_empty()
        && block.fields.iter().all(names_values)
        && takes_all_roots(block)
        && !lists_uids(block)
}

/// True for a variable that is read only for pages of its nodes in the order of its values. Nodes
/// without a value are not in that order, so the nodes that may have one suffice, and which
/// of them have one is not computed.
pub(crate) fn is_read_in_pages(query: &Query, var: VarId) -> bool {
    let mut readers = query.blocks.iter().filter(|block| block.reads.contains(&var));
    readers.all(|block| is_page_of(block, var))
}

fn is_page_of(block: &Block, var: VarId) -> bool {
    let root = block.root.as_ref().map(|function| &function.call);
    let is_root =
        matches!(root, Some(Call::Uid { uids, vars, .. }) if uids.is_empty() && *vars == [var]);
    let is_order =
        matches!(block.order.as_slice(), [OrderKey::Var { var: order, .. }] if *order == var);
    is_root
        && is_order
        && block.kind == BlockKind::Visible
        && block.page.expected().is_some()
        && block.filter.is_none()
        && block.cascade.is_none()
        && block.recurse.is_none()
        && block.group_by.is_none()
        && !block.is_aggregated
        && block.fields.iter().all(|field| {
            matches!(field.kind, FieldKind::Val(_)) && field.var.is_none()
                || reads_no_variable(field)
        })
}

/// True for a field of values or edges that reads no variable, and none below it does.
fn reads_no_variable(field: &Field) -> bool {
    stack::require();
    let is_plain = matches!(
        field.kind,
        FieldKind::Uid | FieldKind::Predicate { .. } | FieldKind::CheckPassword { .. }
    );
    is_plain
        && field.filter.is_none()
        && field.order.is_empty()
        && field.group_by.is_none()
        && field.fields.iter().all(|field| reads_no_variable(field))
}
