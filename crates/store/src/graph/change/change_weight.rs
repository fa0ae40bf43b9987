//! About the bytes of a change from its check until it is in a version: the change, its record, the
//! entries of deltas and of indexes. An estimate from their layouts, rounded up; memory shared with
//! the previous version is included.

use super::changes::{Delete, SetEdge, SetValue};
use crate::graph::version::weight::ENTRY;
use hexgraph_base::schema::{PredicateDef, Tokenizer};

/// A token in an index, with the nodes that have it.
const TOKEN: usize = 400;

/// The bytes of a delete.
pub(super) fn of_delete() -> usize {
    size_of::<Delete>() + 2 * ENTRY
}

/// The bytes of an edge that is set.
pub(super) fn of_edge(edge: &SetEdge, def: &PredicateDef) -> usize {
    let directions = 1 + usize::from(def.reverse) + usize::from(def.count);
    let facets: usize = edge.facets.iter().map(|(_, value)| ENTRY + 3 * value.heap_size()).sum();
    size_of::<SetEdge>() + directions * ENTRY + facets
}

/// The bytes of a value that is set.
pub(super) fn of_value(value: &SetValue, def: &PredicateDef) -> usize {
    let length = value.value.heap_size();
    let tokens: usize = def.indexes.iter().map(|index| tokens(index, length)).sum();
    let facets: usize = value.facets.iter().map(|(_, value)| ENTRY + 3 * value.heap_size()).sum();
    // The change, the record and the delta have the value; and an index of entire values.
    size_of::<SetValue>() + ENTRY + 4 * length + tokens * TOKEN + facets
}

/// The number of tokens, about, that an index makes of a value of `length` bytes.
fn tokens(index: &Tokenizer, length: usize) -> usize {
    match index {
        Tokenizer::Term | Tokenizer::FullText => 1 + length / 6,
        Tokenizer::Trigram => 1 + length,
        Tokenizer::NGram => 1 + 4 * length / 6,
        Tokenizer::Geo => 20,
        _ => 1,
    }
}
