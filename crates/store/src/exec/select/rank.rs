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
    if let Some(head) = bytes.first_chunk() {
        return u64::from_be_bytes(*head);
    }
    let mut head = [0; 8];
    head[..bytes.len()].copy_from_slice(bytes);
    u64::from_be_bytes(head)
}

/// The number of running results of a fold: the compiler makes none of one by itself for floats and ints of 64 bits.
const LANES: usize = 8;

/// The number that comes before `last` and all others; what comes before none, as what is no number, is passed over. Of several that come
/// before none of each other, as zeros with different signs, any.
#[inline]
pub(in crate::exec) fn foremost<T: Copy>(
    numbers: &[T],
    last: T,
    comes_before: impl Fn(T, T) -> bool,
) -> T {
    let mut lanes = [last; LANES];
    let (eights, rest) = numbers.as_chunks::<LANES>();
    for eight in eights {
        for (lane, &number) in lanes.iter_mut().zip(eight) {
            *lane = if comes_before(number, *lane) { number } else { *lane };
        }
    }
    let all = lanes.into_iter().chain(rest.iter().copied());
    all.fold(last, |best, number| if comes_before(number, best) { number } else { best })
}
