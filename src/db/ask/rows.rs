//! Counts the objects of an answer without writing them anywhere.

use hexgraph_base::types::{Sink, Uid, ValueRef};

/// The nesting depth of the objects of a block: they lie in the array of the block, in the object of all blocks.
const ROW_DEPTH: usize = 3;

/// A sink that counts the objects directly below the blocks of an answer, and keeps nothing else.
#[derive(Default)]
pub(in crate::db) struct RowCounter {
    rows: usize,
    /// The number of elements so far, for each object or array that is still open.
    open: Vec<usize>,
}

impl RowCounter {
    /// Returns the number of objects in all blocks.
    pub(in crate::db) fn rows(&self) -> usize {
        self.rows
    }

    fn item(&mut self) {
        if let Some(items) = self.open.last_mut() {
            *items += 1;
        }
    }

    fn begin(&mut self) {
        self.item();
        self.open.push(0);
    }

    fn discard(&mut self) {
        self.open.pop();
        if let Some(items) = self.open.last_mut() {
            *items -= 1;
        }
    }
}

impl Sink for RowCounter {
    fn begin_object(&mut self) {
        self.begin();
        self.rows += usize::from(self.open.len() == ROW_DEPTH);
    }

    fn end_object(&mut self) {
        self.open.pop();
    }

    fn discard_object(&mut self) {
        self.rows -= usize::from(self.open.len() == ROW_DEPTH);
        self.discard();
    }

    fn begin_array(&mut self) {
        self.begin();
    }

    fn end_array(&mut self) {
        self.open.pop();
    }

    fn discard_array(&mut self) {
        self.discard();
    }

    fn is_empty(&self) -> bool {
        self.open.last().is_none_or(|items| *items == 0)
    }

    fn key(&mut self, _key: &str) {}

    fn value(&mut self, _value: ValueRef<'_>) {
        self.item();
    }

    fn uid(&mut self, _uid: Uid) {
        self.item();
    }

    fn int(&mut self, _number: i64) {
        self.item();
    }

    fn null(&mut self) {
        self.item();
    }

    fn text(&mut self, _text: &str) {
        self.item();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_and_discarded_objects_do_not_count() {
        let mut counter = RowCounter::default();
        counter.begin_object();
        counter.key("q");
        counter.begin_array();
        for empty in [false, true] {
            counter.begin_object();
            counter.key("friend");
            counter.begin_array();
            assert!(counter.is_empty());
            counter.begin_object();
            counter.end_object();
            counter.end_array();
            if empty { counter.discard_object() } else { counter.end_object() }
        }
        assert!(!counter.is_empty());
        counter.end_array();
        counter.end_object();
        assert_eq!(counter.rows(), 1);
    }
}
