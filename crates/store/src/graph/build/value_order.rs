//! The one order of the values in a list.

use hexgraph_base::types::{Content, DateTime, ValueRef, ValueType};
use std::cmp::Ordering;

/// Compares any two values: by type, then as values of the type. Only indistinguishable values are
/// equal, so two equal instants with different offsets are not.
pub(in crate::graph) fn compare_values(one: ValueRef<'_>, other: ValueRef<'_>) -> Ordering {
    let types = one.value_type().cmp(&other.value_type());
    if types.is_ne() {
        return types;
    }
    match (one.content(), other.content()) {
        (Content::Int(one), Content::Int(other)) => one.cmp(&other),
        (Content::Float(one), Content::Float(other)) => one.total_cmp(&other),
        (Content::Bool(one), Content::Bool(other)) => one.cmp(&other),
        (Content::Time(one), Content::Time(other)) => {
            let key = |time: DateTime| (time.seconds, time.nanos, time.offset_minutes);
            key(one).cmp(&key(other))
        }
        (Content::Numbers(one), Content::Numbers(other)) => one
            .iter()
            .map(|number| number.to_bits())
            .cmp(other.iter().map(|number| number.to_bits())),
        (Content::Bytes(one), Content::Bytes(other)) => one.cmp(other),
        (Content::Text(_), Content::Text(_)) if one.value_type() == ValueType::BigFloat => {
            one.compare(other).unwrap_or(Ordering::Equal)
        }
        (Content::Text(one), Content::Text(other)) => one.cmp(other),
        // Two values of one type have contents of one kind.
        _ => Ordering::Equal,
    }
}
