//! Reads answers that the engine itself requested.

use serde_json::Value as Json;

/// The objects of a list; none of what is no list.
pub(in crate::db) fn objects(value: &Json) -> impl Iterator<Item = &Json> {
    value.as_array().into_iter().flatten()
}
