//! The values of a column as vectors of one length.

use crate::storage::{Array, FrozenBitmap, Values};
use hexgraph_base::types::{Value, ValueRef, ValueType};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// A value as a vector, which text may be, too.
pub fn as_vector(value: ValueRef<'_>) -> Option<Cow<'_, [f32]>> {
    if let ValueRef::Vector(numbers) = value {
        return Some(Cow::Borrowed(numbers));
    }
    match value.convert(ValueType::Vector) {
        Ok(Value::Vector(numbers)) => Some(Cow::Owned(numbers)),
        _ => None,
    }
}

/// The vectors of a column: their length, whether they had to be copied, all their numbers by
/// position, and the positions that have none.
pub(super) fn vectors_of(values: &Values) -> (usize, bool, Array<f32>, FrozenBitmap) {
    let none = FrozenBitmap::empty();
    let dimension = usual_length(values);
    if dimension == 0 {
        return (0, false, Array::empty(), none);
    }
    // Where all have the usual length, the numbers of the column are the index's, too, and none
    // is copied.
    if let Values::Vector { offsets, numbers } = values
        && numbers.len() == dimension * offsets.rows()
        && (0..offsets.rows()).all(|row| offsets.range(row).len() == dimension)
    {
        return (dimension, false, numbers.clone(), none);
    }
    let mut numbers = vec![0.0; values.len() * dimension];
    let mut absent = Vec::new();
    for (position, slot) in numbers.chunks_exact_mut(dimension).enumerate() {
        match as_vector(values.get(position)).filter(|vector| vector.len() == dimension) {
            Some(vector) => slot.copy_from_slice(&vector),
            None => absent.push(position as u32),
        }
    }
    (dimension, true, Array::from_vec(numbers), FrozenBitmap::from_sorted(&absent))
}

/// The length that most vectors have, the less of two that are as many; empty ones don't count.
fn usual_length(values: &Values) -> usize {
    let mut counts: FxHashMap<usize, usize> = FxHashMap::default();
    for position in 0..values.len() {
        let length = match values {
            Values::Vector { offsets, .. } => offsets.range(position).len(),
            _ => as_vector(values.get(position)).map_or(0, |vector| vector.len()),
        };
        if 0 < length {
            *counts.entry(length).or_default() += 1;
        }
    }
    // No two lengths have equal keys, so the order of the hash map makes no difference.
    let usual = counts.into_iter().max_by_key(|&(length, count)| (count, usize::MAX - length));
    usual.map_or(0, |(length, _)| length)
}
