//! A map. Its entries are sorted by key, so that equal maps print alike and a key is a binary
//! search.

use super::Value;
use super::list::depth_around;
use crate::error::Result;
use std::sync::Arc;

/// A map from keys to values, sorted by key; a copy copies a reference.
///
/// ```
/// use hexgraph_scalar::{Map, Value};
///
/// let map = Map::new(vec![("b".into(), Value::Int(1)), ("a".into(), Value::Null)])?;
/// assert_eq!(map.get("b"), Some(&Value::Int(1)));
/// assert_eq!(Value::Map(map).to_string(), "{a: null, b: 1}");
/// # Ok::<(), Box<hexgraph_scalar::ScalarError>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Map(Arc<Entries>);

#[derive(Debug)]
struct Entries {
    depth: u8,
    entries: Vec<(Arc<str>, Value)>,
}

impl Map {
    /// Creates a map; of two entries with one key the last one counts.
    ///
    /// # Errors
    ///
    /// [`Fault::Limit`](crate::Fault::Limit) when lists and maps are nested deeper than
    /// [`NESTING_MAX`](super::NESTING_MAX).
    pub fn new(mut entries: Vec<(Arc<str>, Value)>) -> Result<Map> {
        // The sort is stable; the last of equal keys becomes the first.
        entries.reverse();
        entries.sort_by(|(one, _), (other, _)| one.cmp(other));
        entries.dedup_by(|(one, _), (other, _)| one == other);
        let depth = depth_around(entries.iter().map(|(_, value)| value))?;
        Ok(Map(Arc::new(Entries { depth, entries })))
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        let entries = self.entries();
        let index = entries.binary_search_by(|(other, _)| (**other).cmp(key)).ok()?;
        Some(&entries[index].1)
    }

    /// Returns all entries, sorted by key.
    pub fn entries(&self) -> &[(Arc<str>, Value)] {
        &self.0.entries
    }

    pub(crate) fn depth(&self) -> u8 {
        self.0.depth
    }
}
