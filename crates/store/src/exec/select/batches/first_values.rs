//! Reads the first values of nodes, with what changed since the column was built.

use crate::exec::select::numbers::rows_of;
use crate::graph::{LangValues, NumberRun};
use crate::storage::Values;
use hexgraph_base::types::ValueRef;

/// The first value of a node of a batch.
#[derive(Debug, Clone, Copy)]
pub enum BatchValue<'a> {
    /// The code of a text, for [`Values::text_of_code`].
    Code(usize),
    /// Any other value.
    Value(ValueRef<'a>),
}

/// Calls `visit` with the position of each of some ascending nodes that has a value, and with its
/// first value. O(nodes + changes between the first and the last node).
pub fn for_each_first<'a>(
    part: &'a LangValues,
    nodes: &[u32],
    mut visit: impl FnMut(usize, BatchValue<'a>),
) {
    let column = &part.base.column;
    let mut start = 0;
    part.by_changes(nodes, |run| {
        let nodes = match run {
            NumberRun::Stored(nodes) => nodes,
            NumberRun::Changed(_, row) => {
                if let Some(row) = row {
                    visit(start, BatchValue::Value(row.first()));
                }
                start += 1;
                return;
            }
        };
        let mut each = |value: &dyn Fn(usize) -> BatchValue<'a>| {
            rows_of(&column.subjects, nodes, |at, row| visit(start + at, value(row)));
        };
        match &column.values {
            Values::Coded { codes, .. } if column.rows.is_none() => {
                each(&|row| BatchValue::Code(codes.get(row).into()));
            }
            values => {
                each(&|row| BatchValue::Value(values.get(column.row_positions(row).start)));
            }
        }
        start += nodes.len();
    });
}
