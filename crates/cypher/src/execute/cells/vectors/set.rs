//! The constants of `IN`.

use super::cell::Cell;
use hexgraph_scalar::Value;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// The items of a list.
#[derive(Debug, Default)]
pub(in crate::execute::cells) struct CellSet {
    ints: FxHashSet<i64>,
    texts: FxHashSet<Arc<str>>,
    /// The items of other kinds.
    others: Vec<Value>,
    has_null: bool,
    is_empty: bool,
}

impl CellSet {
    /// `None` where an item has no cell.
    pub(in crate::execute::cells) fn new(items: &[Value]) -> Option<CellSet> {
        let mut set = CellSet { is_empty: items.is_empty(), ..CellSet::default() };
        for item in items {
            match item {
                Value::Null => set.has_null = true,
                Value::Int(number) => {
                    set.ints.insert(*number);
                }
                Value::String(text) => {
                    set.texts.insert(Arc::clone(text));
                }
                other => {
                    Cell::of(other)?;
                    set.others.push(other.clone());
                }
            }
        }
        Some(set)
    }

    /// The integers, where all items are integers or null, and there are some.
    pub(in crate::execute::cells) fn only_ints(&self) -> Option<Vec<i64>> {
        let are_ints = self.texts.is_empty() && self.others.is_empty() && !self.is_empty;
        are_ints.then(|| self.ints.iter().copied().collect())
    }

    /// The strings, where there is an item: items of other kinds equal no string.
    pub(in crate::execute::cells) fn texts(&self) -> Option<Vec<&str>> {
        (!self.is_empty).then(|| self.texts.iter().map(|it| &**it).collect())
    }

    /// Whether an item is null.
    pub(in crate::execute::cells) fn has_null(&self) -> bool {
        self.has_null
    }

    /// `cell IN list`; `None` is null.
    pub(in crate::execute::cells) fn contains(&self, cell: Cell<'_>) -> Option<bool> {
        if self.is_empty {
            return Some(false);
        }
        let is_there = match cell {
            Cell::Null => return None,
            Cell::Int(number) => self.ints.contains(&number),
            Cell::Float(number) => {
                let int = number as i64;
                self.ints.contains(&int) && cell.equals(Cell::Int(int)) == Some(true)
            }
            Cell::Text(text) => self.texts.contains(text),
            Cell::Bool(_) | Cell::Time(_) => false,
        };
        let equals = |it: &Value| Cell::of(it).is_some_and(|it| cell.equals(it) == Some(true));
        match is_there || self.others.iter().any(equals) {
            true => Some(true),
            false if self.has_null => None,
            false => Some(false),
        }
    }
}
