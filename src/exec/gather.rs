//! Reading the values of many nodes at once.
//!
//! A node's row is its rank among the subjects. For a few nodes each is looked up; for many the
//! subjects are walked beside them, which costs about a nanosecond a subject.

use super::tree::Column;
use super::tree::ValueMap;
use crate::graph::LangValues;
use crate::storage::FrozenBitmap;
use crate::storage::Values;
use crate::types::ValueType;

/// How many subjects are walked in the time of one lookup.
const LOOKUP_COST: usize = 12;

/// Calls `found` with the place of each node that is a subject, and its row. `nodes` ascend.
pub(crate) fn rows_of(subjects: &FrozenBitmap, nodes: &[u32], mut found: impl FnMut(usize, usize)) {
    if nodes.len().saturating_mul(LOOKUP_COST) < subjects.len() {
        for (place, &node) in nodes.iter().enumerate() {
            if let Some(row) = subjects.row_of(node) {
                found(place, row);
            }
        }
        return;
    }
    let Some(&first) = nodes.first() else { return };
    let mut place = 0;
    for (row, subject) in (subjects.rank(first)..).zip(subjects.iter_from(first)) {
        while place < nodes.len() && nodes[place] < subject {
            place += 1;
        }
        if place == nodes.len() {
            return;
        }
        if nodes[place] == subject {
            found(place, row);
        }
    }
}

/// The numbers of nodes, which ascend: `None` when the values are no numbers of the wanted type,
/// or some changed since they were built.
pub(crate) fn numbers(part: &LangValues, wanted: ValueType, nodes: &[u32]) -> Option<ValueMap> {
    let column = &part.base.column;
    if !part.is_settled() || column.rows.is_some() {
        return None;
    }
    let mut with = Vec::new();
    let values = match (&column.values, wanted) {
        (Values::SmallInt(numbers), ValueType::Int) => {
            let (numbers, mut out) = (numbers.as_slice(), Vec::new());
            rows_of(&column.subjects, nodes, |place, row| {
                with.push(nodes[place]);
                out.push(i64::from(numbers[row]));
            });
            Column::Int(out)
        }
        (Values::Int(numbers), ValueType::Int) => {
            let (numbers, mut out) = (numbers.as_slice(), Vec::new());
            rows_of(&column.subjects, nodes, |place, row| {
                with.push(nodes[place]);
                out.push(numbers[row]);
            });
            Column::Int(out)
        }
        (Values::Float(numbers), ValueType::Float) => {
            let (numbers, mut out) = (numbers.as_slice(), Vec::new());
            rows_of(&column.subjects, nodes, |place, row| {
                with.push(nodes[place]);
                out.push(numbers[row]);
            });
            Column::Float(out)
        }
        _ => return None,
    };
    Some(ValueMap { nodes: with, values, constant: None })
}
