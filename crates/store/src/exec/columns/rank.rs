//! Values as 64-bit numbers that compare as the values do.

use hexgraph_base::types::{Content, DateTime, ValueRef, ValueType, ordered_bits, ordered_prefix};

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
        Content::Text(text) if value.value_type().is_text() => ordered_prefix(text.as_bytes()),
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
