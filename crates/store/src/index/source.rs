//! The column that an index is built over, in the type of its predicate.

use crate::storage::{Column, Values, ValuesBuilder, text_of};
use hexgraph_base::types::{Check, Result, ValueType};
use std::borrow::Cow;

/// The number of values that are read between two questions whether to go on.
pub(super) const CHECKED_VALUES: usize = 1024;

/// True when values of `stored` need no conversion to be tokens of a predicate of `expected`.
pub(super) fn is_of(stored: ValueType, expected: ValueType) -> bool {
    stored == expected || stored.is_text() && expected.is_text()
}

/// The values of a column in the predicate's type, with the node of each.
pub(super) struct Source<'a> {
    /// The values by position.
    pub values: Cow<'a, Values>,
    /// The node of each value, ascending.
    pub nodes: Vec<u32>,
}

impl<'a> Source<'a> {
    pub(super) fn new(
        column: &'a Column,
        value_type: ValueType,
        check: Check<'_>,
    ) -> Result<Source<'a>> {
        let mut nodes = Vec::with_capacity(column.values.len());
        for (row, node) in column.subjects.iter().enumerate() {
            nodes.extend(column.row_positions(row).map(|_| node));
        }
        if column.values.value_type().is_some_and(|stored| is_of(stored, value_type)) {
            return Ok(Source { values: Cow::Borrowed(&column.values), nodes });
        }
        // What can't be converted has no token and loses its node, so both lists stay of one
        // length.
        let mut converted = ValuesBuilder::new(value_type);
        let mut retained = Vec::with_capacity(nodes.len());
        for (position, node) in nodes.into_iter().enumerate() {
            if position.is_multiple_of(CHECKED_VALUES) {
                check()?;
            }
            if let Ok(value) = column.values.get(position).convert(value_type) {
                converted.push(value.as_ref());
                retained.push(node);
            }
        }
        Ok(Source { values: Cow::Owned(converted.finish()), nodes: retained })
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = (u32, &str)> {
        let text_at = |(position, &node): (usize, &u32)| {
            text_of(self.values.get(position)).map(|text| (node, text))
        };
        self.nodes.iter().enumerate().filter_map(text_at)
    }
}
