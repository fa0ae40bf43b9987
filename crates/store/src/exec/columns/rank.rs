//! Values as 64-bit numbers that compare as the values do.

use hexgraph_base::types::{Content, DateTime, ValueRef, ValueType, ordered_bits};

/// True for an instant whose nanoseconds since 1970 do not fit 64 bits.
pub(in crate::exec) fn is_far(time: DateTime) -> bool {
    !(-9_223_372_036..=9_223_372_035).contains(&time.seconds)
}

/// A number that compares as the value does; texts by their first bytes.
pub(in crate::exec) fn rank_of(value: ValueRef<'_>) -> Option<u64> {
    Some(match value.content() {
        Content::Int(number) => rank_of_int(number),
        Content::Bool(truth) => u64::from(truth),
        Content::Float(number) => ordered_bits(number),
        Content::Time(time) => {
            // Years beyond 1678..2262 do not fit in nanoseconds; only their side is stored,
            // and the entire instant is compared on ties.
            let nanos = i128::from(time.seconds) * 1_000_000_000 + i128::from(time.nanos);
            let clamped = nanos.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
            rank_of_int(clamped)
        }
        Content::Text(text) if value.value_type().is_text() => prefix(text.as_bytes()),
        // All are alike here, and distinguished by the keys next to the ranks.
        Content::Text(_) if value.value_type() == ValueType::BigFloat => 0,
        Content::Text(_) | Content::Numbers(_) | Content::Bytes(_) => return None,
    })
}

/// A number that compares as the int does.
pub(in crate::exec) fn rank_of_int(int: i64) -> u64 {
    // The inverted sign bit puts negative numbers first.
    int as u64 ^ 1 << 63
}

/// The first eight bytes of a text as a number that compares as they do; a shorter text is followed
/// by zeros.
#[inline]
pub(in crate::exec) fn prefix(bytes: &[u8]) -> u64 {
    if let Some(head) = bytes.first_chunk() {
        return u64::from_be_bytes(*head);
    }
    let at = |position: usize| u64::from(bytes[position]) << (56 - 8 * position);
    match (bytes.first_chunk(), bytes.last_chunk()) {
        // Four bytes from either end, which may overlap: no copy of a variable length.
        (Some(first), Some(last)) => {
            let last = u64::from(u32::from_be_bytes(*last)) << (64 - 8 * bytes.len());
            u64::from(u32::from_be_bytes(*first)) << 32 | last
        }
        _ if bytes.is_empty() => 0,
        // The first, the middle and the last of one to three.
        _ => at(0) | at(bytes.len() / 2) | at(bytes.len() - 1),
    }
}

/// The number of running results of a fold: the compiler makes none of one by itself for floats and
/// ints of 64 bits.
const ACCUMULATORS: usize = 8;

/// The number that comes before `last` and all others; what comes before none, as what is no
/// number, is passed over. Of several that come before none of each other, as zeros with different
/// signs, any.
#[inline]
pub(in crate::exec) fn foremost<T: Copy>(
    numbers: &[T],
    last: T,
    comes_before: impl Fn(T, T) -> bool,
) -> T {
    let mut accumulators = [last; ACCUMULATORS];
    let (eights, rest) = numbers.as_chunks::<ACCUMULATORS>();
    for eight in eights {
        for (lane, &number) in accumulators.iter_mut().zip(eight) {
            *lane = if comes_before(number, *lane) { number } else { *lane };
        }
    }
    let all = accumulators.into_iter().chain(rest.iter().copied());
    all.fold(last, |best, number| if comes_before(number, best) { number } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_prefix_is_the_first_eight_bytes(text in prop::collection::vec(any::<u8>(), 0..12)) {
            let mut head = [0; 8];
            let len = text.len().min(8);
            head[..len].copy_from_slice(&text[..len]);
            prop_assert_eq!(prefix(&text), u64::from_be_bytes(head));
        }
    }
}
