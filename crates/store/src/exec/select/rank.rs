//! Values as 64-bit numbers that compare as the values do.

use hexgraph_base::types::{DateTime, ValueRef, ordered_bits};

/// True for an instant whose nanoseconds since 1970 do not fit 64 bits.
pub(super) fn is_far(time: DateTime) -> bool {
    !(-9_223_372_036..=9_223_372_035).contains(&time.seconds)
}

/// A number that compares as the value does; texts by their first bytes.
pub(in crate::exec) fn rank_of(value: ValueRef<'_>) -> Option<u64> {
    Some(match value {
        ValueRef::Int(number) => rank_of_int(number),
        ValueRef::Bool(truth) => u64::from(truth),
        ValueRef::Float(number) => ordered_bits(number),
        ValueRef::DateTime(time) => {
            // Years beyond 1678..2262 do not fit in nanoseconds; they keep their side only,
            // and the whole instant is compared on ties.
            let nanos = i128::from(time.seconds) * 1_000_000_000 + i128::from(time.nanos);
            let clamped = nanos.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
            rank_of_int(clamped)
        }
        ValueRef::String(text) | ValueRef::Default(text) => prefix(text.as_bytes()),
        // All are alike here, and told apart by the keys beside the ranks.
        ValueRef::BigFloat(_) => 0,
        _ => return None,
    })
}

/// A number that compares as the int does.
pub(super) fn rank_of_int(int: i64) -> u64 {
    // The sign bit turned round puts negative numbers first.
    int as u64 ^ 1 << 63
}

/// The first eight bytes of a text as a number that compares as they do.
pub(super) fn prefix(bytes: &[u8]) -> u64 {
    let mut head = [0; 8];
    let count = bytes.len().min(8);
    head[..count].copy_from_slice(&bytes[..count]);
    u64::from_be_bytes(head)
}
