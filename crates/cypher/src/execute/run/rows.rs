//! Rows and their memory.

use crate::execute::graph::Graph;
use crate::execute::plan::SlotIndex;
use hexgraph_base::types::Result;
use hexgraph_scalar::Value;
use std::mem;

/// A row: the values of all slots.
pub(in crate::execute) type Row = Vec<Value>;

/// The values of some slots.
pub(super) fn cut(row: &Row, slots: &[SlotIndex]) -> Vec<Value> {
    slots.iter().map(|slot| row[*slot].clone()).collect()
}

/// Memory that is reserved as it grows, and returned when this is dropped.
pub(in crate::execute) struct Reservation<'a> {
    graph: &'a dyn Graph,
    bytes: usize,
}

impl<'a> Reservation<'a> {
    /// Reserves nothing yet.
    pub(super) fn new(graph: &'a dyn Graph) -> Reservation<'a> {
        Reservation { graph, bytes: 0 }
    }

    /// Reserves more.
    pub(in crate::execute) fn grow(&mut self, bytes: usize) -> Result<()> {
        self.graph.reserve(bytes)?;
        self.bytes += bytes;
        Ok(())
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether so much more could be reserved.
    pub(super) fn affords(&self, bytes: usize) -> bool {
        self.graph.affords(bytes)
    }

    /// Adds memory that the graph has reserved.
    pub(super) fn add_reserved(&mut self, bytes: usize) {
        self.bytes += bytes;
    }

    /// Reserves the memory of a row of values.
    pub(in crate::execute) fn grow_by_row(&mut self, values: &[Value]) -> Result<()> {
        const ROW: usize = 2 * mem::size_of::<Vec<Value>>();
        self.grow(ROW + values.iter().map(weight).sum::<usize>())
    }

    /// Returns memory that is not used any more.
    pub(super) fn shrink(&mut self, bytes: usize) {
        let bytes = bytes.min(self.bytes);
        self.graph.release(bytes);
        self.bytes -= bytes;
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.graph.release(self.bytes);
    }
}

/// The bytes of a value: those of lists without what is inside of their elements.
pub(in crate::execute) fn weight(value: &Value) -> usize {
    const VALUE: usize = mem::size_of::<Value>();
    VALUE
        + match value {
            Value::String(text) => 16 + text.len(),
            Value::List(list) => 32 + VALUE * list.len(),
            Value::Map(map) => 32 + 3 * VALUE * map.entries().len(),
            Value::Path(path) => 64 + 28 * path.nodes.len(),
            Value::DateTime(_) => 64,
            _ => 0,
        }
}
