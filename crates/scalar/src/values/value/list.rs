//! A list. It records how deep it is nested, so that a bound on the nesting costs no walk over the
//! elements' elements, and dropping, comparing and printing a value need a bounded stack.

use super::Value;
use crate::error::{Fault, Result, ScalarError};
use std::ops::Deref;
use std::sync::Arc;

/// How deep lists and maps may be nested.
pub const NESTING_MAX: u8 = 100;

/// A list of values; a copy copies a reference.
///
/// ```
/// use hexgraph_scalar::{List, Value};
///
/// let list = List::new(vec![Value::Int(1), Value::Int(2)])?;
/// assert_eq!((list.len(), &list[1]), (2, &Value::Int(2)));
/// # Ok::<(), Box<hexgraph_scalar::ScalarError>>(())
/// ```
#[derive(Debug, Clone)]
pub struct List(Arc<Items>);

#[derive(Debug, Clone)]
struct Items {
    depth: u8,
    items: Vec<Value>,
}

impl List {
    /// Creates a list.
    ///
    /// # Errors
    ///
    /// [`Fault::Limit`] when lists and maps are nested deeper than [`NESTING_MAX`].
    pub fn new(items: Vec<Value>) -> Result<List> {
        let depth = depth_around(items.iter())?;
        Ok(List(Arc::new(Items { depth, items })))
    }

    /// Appends values. Nothing is copied when this is the only reference to the list.
    ///
    /// # Errors
    ///
    /// [`Fault::Limit`] when lists and maps are nested deeper than [`NESTING_MAX`].
    pub fn extended(mut self, items: &[Value]) -> Result<List> {
        let depth = depth_around(items.iter())?;
        let list = Arc::make_mut(&mut self.0);
        list.depth = list.depth.max(depth);
        list.items.extend_from_slice(items);
        Ok(self)
    }

    /// Whether so many values can be appended without an allocation.
    pub(crate) fn has_capacity(&self, count: usize) -> bool {
        let items = &self.0.items;
        Arc::strong_count(&self.0) == 1 && count <= items.capacity() - items.len()
    }

    pub(crate) fn depth(&self) -> u8 {
        self.0.depth
    }
}

impl Deref for List {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.0.items
    }
}

/// The depth of a list or map of these values.
pub(super) fn depth_around<'a>(values: impl Iterator<Item = &'a Value>) -> Result<u8> {
    let depth = values.map(Value::depth).max().unwrap_or(0) + 1;
    if depth <= NESTING_MAX {
        return Ok(depth);
    }
    Err(ScalarError::new(
        Fault::Limit,
        format!("a value is nested deeper than {NESTING_MAX} levels of lists and maps"),
        "append to a list by `list + element` instead of wrapping it",
    ))
}
