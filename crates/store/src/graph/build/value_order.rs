//! The one order of the values in a list.

use crate::storage::text_of;
use hexgraph_base::types::ValueRef;
use std::cmp::Ordering;

/// Compares any two values: by type, then as values of the type. Only indistinguishable values are
/// equal, so two equal instants with different offsets are not.
pub(in crate::graph) fn compare_values(one: ValueRef<'_>, other: ValueRef<'_>) -> Ordering {
    match (one, other) {
        (ValueRef::Int(one), ValueRef::Int(other)) => one.cmp(&other),
        (ValueRef::Float(one), ValueRef::Float(other)) => one.total_cmp(&other),
        (ValueRef::Bool(one), ValueRef::Bool(other)) => one.cmp(&other),
        (ValueRef::DateTime(one), ValueRef::DateTime(other)) => {
            let key = |time: hexgraph_base::types::DateTime| {
                (time.seconds, time.nanos, time.offset_minutes)
            };
            key(one).cmp(&key(other))
        }
        (ValueRef::Vector(one), ValueRef::Vector(other)) => {
            let bits = |numbers: &[f32]| numbers.iter().map(|number| number.to_bits()).collect();
            let (one, other): (Vec<u32>, Vec<u32>) = (bits(one), bits(other));
            one.cmp(&other)
        }
        (ValueRef::Binary(one), ValueRef::Binary(other)) => one.cmp(other),
        (ValueRef::BigFloat(_), ValueRef::BigFloat(_)) => {
            one.compare(other).unwrap_or(Ordering::Equal)
        }
        _ => {
            let types = one.value_type().cmp(&other.value_type());
            types.then_with(|| text_of(one).cmp(&text_of(other)))
        }
    }
}
