//! Numbers, instants and texts that are stored contiguously, as ranks.
//!
//! The minimum of a few dozen is compared with the bound, in a loop that the compiler makes vector
//! instructions of, and each one only where that would be taken: 64 at a time are bits, of which
//! those that are set are visited.

use super::first::Top;
use crate::exec::columns::number_columns::NumberSlice;
use crate::exec::columns::rank::{foremost, rank_of_int};
use crate::storage::{NO_ROW, TextArray, Values, bits_where, vectorized};
use hexgraph_base::types::{ValueType, ordered_bits, ordered_prefix};
use std::ops::Range;

/// The number of values whose minimum is compared with the bound.
const GLANCE: usize = 128;

/// Values of one type, whose ranks do not descend where they ascend.
#[derive(Clone, Copy)]
pub(super) enum Ranks<'a> {
    Narrow(&'a [i32]),
    Ints(&'a [i64]),
    Floats(&'a [f64]),
    /// Days since 1970.
    Days(&'a [i16]),
    /// Seconds since 1970.
    Seconds(&'a [i32]),
    /// Texts, by their first bytes: different ones may have the same rank.
    Texts(&'a TextArray),
}

/// The nodes of values that lie contiguously.
#[derive(Clone, Copy)]
pub(super) enum Ids<'n> {
    /// Those from this one on, without a gap.
    From(u32),
    Each(&'n [u32]),
}

impl Ids<'_> {
    fn get(self, position: usize) -> u32 {
        match self {
            Ids::From(first) => first + position as u32,
            Ids::Each(nodes) => nodes[position],
        }
    }
}

impl<'a> Ranks<'a> {
    /// The values of a column; `None` where they have no order as numbers of 64 bits.
    pub(super) fn of(values: &'a Values, value_type: ValueType) -> Option<Ranks<'a>> {
        Some(match (values, value_type) {
            (Values::SmallInt(ints), ValueType::Int) => Ranks::Narrow(ints.as_slice()),
            (Values::Int(ints), ValueType::Int) => Ranks::Ints(ints.as_slice()),
            (Values::Float(floats), ValueType::Float) => Ranks::Floats(floats.as_slice()),
            (Values::Days(days), ValueType::DateTime) => Ranks::Days(days.as_slice()),
            (Values::SmallTime(seconds), ValueType::DateTime) => Ranks::Seconds(seconds.as_slice()),
            (
                Values::Text { value_type: ValueType::String | ValueType::Default, texts },
                ValueType::String | ValueType::Default,
            ) => Ranks::Texts(texts),
            _ => return None,
        })
    }

    /// Adds those of some values that `top` would take to `result`, with their nodes, in their
    /// order.
    pub(super) fn gather(
        self,
        rows: Range<usize>,
        ids: Ids<'_>,
        top: &Top,
        result: &mut Vec<(u64, u32)>,
    ) {
        match self {
            Ranks::Narrow(ints) => gather(&ints[rows], ids, of_narrow, top, result),
            Ranks::Ints(ints) => gather(&ints[rows], ids, rank_of_int, top, result),
            Ranks::Floats(floats) => gather(&floats[rows], ids, ordered_bits, top, result),
            Ranks::Days(days) => gather(&days[rows], ids, of_day, top, result),
            Ranks::Seconds(seconds) => gather(&seconds[rows], ids, of_second, top, result),
            Ranks::Texts(texts) => {
                let mut position = 0;
                texts.for_each(rows, |text| {
                    if let Some(rank) = top.taken(ordered_prefix(text)) {
                        result.push((rank, ids.get(position)));
                    }
                    position += 1;
                });
            }
        }
    }

    /// Whether different values have different ranks.
    pub(super) fn tell_apart(self) -> bool {
        !matches!(self, Ranks::Texts(_))
    }

    /// As [`Ranks::gather`], of the rows of some nodes; those without one are passed over.
    pub(super) fn gather_rows(
        self,
        rows: &[u32],
        nodes: &[u32],
        top: &Top,
        result: &mut Vec<(u64, u32)>,
    ) {
        fn each<S: Copy>(
            stored: &[S],
            rank: impl Fn(S) -> u64,
            (rows, nodes): (&[u32], &[u32]),
            top: &Top,
            result: &mut Vec<(u64, u32)>,
        ) {
            for (&row, &node) in rows.iter().zip(nodes).filter(|(row, _)| **row != NO_ROW) {
                if let Some(rank) = top.taken(rank(stored[row as usize])) {
                    result.push((rank, node));
                }
            }
        }
        let at = (rows, nodes);
        match self {
            Ranks::Narrow(ints) => each(ints, of_narrow, at, top, result),
            Ranks::Ints(ints) => each(ints, rank_of_int, at, top, result),
            Ranks::Floats(floats) => each(floats, ordered_bits, at, top, result),
            Ranks::Days(days) => each(days, of_day, at, top, result),
            Ranks::Seconds(seconds) => each(seconds, of_second, at, top, result),
            Ranks::Texts(texts) => {
                for (&row, &node) in rows.iter().zip(nodes).filter(|(row, _)| **row != NO_ROW) {
                    if let Some(rank) = top.taken(ordered_prefix(texts.get_bytes(row as usize))) {
                        result.push((rank, node));
                    }
                }
            }
        }
    }

    /// The number of values.
    pub(super) fn len(self) -> usize {
        match self {
            Ranks::Narrow(ints) | Ranks::Seconds(ints) => ints.len(),
            Ranks::Ints(ints) => ints.len(),
            Ranks::Floats(floats) => floats.len(),
            Ranks::Days(days) => days.len(),
            Ranks::Texts(texts) => texts.len(),
        }
    }
}

impl<'a> From<NumberSlice<'a>> for Ranks<'a> {
    fn from(numbers: NumberSlice<'a>) -> Ranks<'a> {
        match numbers {
            NumberSlice::Narrow(ints) => Ranks::Narrow(ints),
            NumberSlice::Ints(ints) => Ranks::Ints(ints),
            NumberSlice::Floats(floats) => Ranks::Floats(floats),
        }
    }
}

fn of_narrow(int: i32) -> u64 {
    rank_of_int(int.into())
}

fn of_day(day: i16) -> u64 {
    rank_of_seconds(i64::from(day) * 86_400)
}

fn of_second(second: i32) -> u64 {
    rank_of_seconds(second.into())
}

/// The rank of an instant that a column of small instants has.
fn rank_of_seconds(seconds: i64) -> u64 {
    // Such an instant lies between 1879 and 2060, so its nanoseconds fit.
    rank_of_int(seconds * 1_000_000_000)
}

/// Values whose ranks ascend as they do.
trait Ranked: Copy {
    /// The least of some values, or the greatest one; `None` where one is no number, which has a
    /// rank all the same.
    fn foremost(values: &[Self], greatest: bool) -> Option<Self>;
}

macro_rules! ranked_ints {
    ($($int:ty),+) => {
        $(
        impl Ranked for $int {
            #[inline]
            fn foremost(values: &[$int], greatest: bool) -> Option<$int> {
                Some(match greatest {
                    true => foremost(values, <$int>::MIN, |value, best| best < value),
                    false => foremost(values, <$int>::MAX, |value, best| value < best),
                })
            }
        }
        )+
    };
}

ranked_ints!(i16, i32, i64);

impl Ranked for f64 {
    #[inline]
    fn foremost(values: &[f64], greatest: bool) -> Option<f64> {
        let is_none = values.iter().fold(false, |is_none, value| is_none | value.is_nan());
        (!is_none).then(|| match greatest {
            true => foremost(values, f64::NEG_INFINITY, |value, best| best < value),
            false => foremost(values, f64::INFINITY, |value, best| value < best),
        })
    }
}

fn gather<S: Ranked>(
    values: &[S],
    ids: Ids<'_>,
    rank: impl Fn(S) -> u64,
    top: &Top,
    result: &mut Vec<(u64, u32)>,
) {
    for (block, values) in values.chunks(GLANCE).enumerate() {
        // What represents a missing number may be looked at for nothing, and hides none.
        if top.has_bound()
            && let Some(foremost) = vectorized(|| S::foremost(values, top.is_negated()))
            && top.taken(rank(foremost)).is_none()
        {
            continue;
        }
        // Nearly all are taken as long as there is no bound.
        let (words, rest) = if top.has_bound() { values.as_chunks() } else { (&[][..], values) };
        let mut take = |position: usize, value: S| {
            result.extend(
                top.taken(rank(value)).map(|rank| (rank, ids.get(block * GLANCE + position))),
            );
        };
        for (word, rows) in words.iter().enumerate() {
            let mut taken = vectorized(|| bits_where(rows, |it| top.taken(rank(it)).is_some()));
            while taken != 0 {
                let position = taken.trailing_zeros() as usize;
                take(64 * word + position, rows[position]);
                taken &= taken - 1;
            }
        }
        rest.iter()
            .enumerate()
            .for_each(|(position, value)| take(64 * words.len() + position, *value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Values that the block check skips would not have been chosen, whatever their type and
        /// the direction.
        #[test]
        fn nothing_is_missed_at_a_glance(
            ints in prop::collection::vec(
                prop_oneof![-40i16..40, Just(i16::MIN), Just(i16::MAX), any::<i16>()], 1..3000
            ),
            expected in 1usize..20,
            descending in any::<bool>(),
            no_number in 0..6000_usize,
        ) {
            let narrow: Vec<i32> = ints.iter().map(|int| (*int).into()).collect();
            let wide: Vec<i64> = ints.iter().map(|int| (*int).into()).collect();
            let mut floats: Vec<f64> = ints.iter().map(|int| (*int).into()).collect();
            if let Some(float) = floats.get_mut(no_number) {
                *float = -f64::NAN;
            }
            let nodes: Vec<u32> = (7..7 + ints.len() as u32).collect();
            for ranks in [
                Ranks::Narrow(&narrow), Ranks::Ints(&wide), Ranks::Floats(&floats),
                Ranks::Days(&ints), Ranks::Seconds(&narrow),
            ] {
                let (mut at_a_glance, mut one_by_one) =
                    (Top::new(expected, descending), Top::new(expected, descending));
                let mut result = Vec::new();
                for start in (0..ints.len()).step_by(400) {
                    let end = ints.len().min(start + 400);
                    let (first, position) = (Ids::From(7 + start as u32), start as u32);
                    let ids = if start % 800 == 0 { first } else { Ids::Each(&nodes[start..end]) };
                    ranks.gather(start..end, ids, &at_a_glance, &mut result);
                    at_a_glance.retain(&result);
                    at_a_glance.sort_out();
                    result.clear();
                    let mut rows: Vec<u32> = (position..end as u32).collect();
                    rows[0] = NO_ROW;
                    ranks.gather_rows(&rows[..1], &nodes[start..], &one_by_one, &mut result);
                    prop_assert!(result.is_empty(), "a node without a row");
                    rows[0] = position;
                    ranks.gather_rows(&rows, &nodes[start..], &one_by_one, &mut result);
                    one_by_one.retain(&result);
                    result.clear();
                }
                prop_assert_eq!(at_a_glance.finish(), one_by_one.finish());
            }
        }
    }
}
