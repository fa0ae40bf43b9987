//! `var(func: f) { a as age }`: the variable is a reference to a column of the nodes, which is read
//! when it is requested.

use super::{Rewrite, lists_uids, takes_all_roots};
use crate::exec::physical::path::BlockPath;
use hexgraph_base::plan::{Block, BlockKind, Field, FieldKind};
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
            _ => false,
        };
        is_plain && field.var.is_some() && !field.has_body && field.takes_all()
    };
    block.kind == BlockKind::Hidden
        && !block.fields.is_empty()
        && block.fields.iter().all(names_values)
        && takes_all_roots(block)
        && !lists_uids(block)
}
