//! A range of numbers as a test of the rows of a column of numbers: without a value for each row, in loops that become vector instructions.

use super::compare::Wanted;
use crate::exec::select::batches::{RowFinder, Rows};
use crate::graph::{LangValues, Row};
use crate::storage::{FrozenBitmap, Values};
use hexgraph_base::types::{Result, ValueRef, ValueType};
use std::ops::RangeInclusive;

/// A plain array of numbers, and the range that is asked for.
pub(crate) enum NumberRange<'a> {
    /// Ints of four bytes.
    Small(&'a [i32], RangeInclusive<i64>),
    /// Ints of eight bytes.
    Wide(&'a [i64], RangeInclusive<i64>),
    /// Floats.
    Floats(&'a [f64], RangeInclusive<f64>),
}

/// The number of rows that are counted between two questions whether to go on.
const COUNTED: usize = 1 << 16;

impl<'a> NumberRange<'a> {
    /// The numbers of a predicate of a type, and those of them that meet a condition; `None` where these are no range of numbers of that type, and
    /// where the values are stored otherwise.
    pub(crate) fn new(
        part: &'a LangValues,
        value_type: ValueType,
        wanted: &Wanted,
    ) -> Option<NumberRange<'a>> {
        let column = &part.base.column;
        if column.rows.is_some() {
            return None;
        }
        match (&column.values, value_type) {
            (Values::SmallInt(ints), ValueType::Int) => {
                Some(NumberRange::Small(ints.as_slice(), int_range(wanted)?))
            }
            (Values::Int(ints), ValueType::Int) => {
                Some(NumberRange::Wide(ints.as_slice(), int_range(wanted)?))
            }
            (Values::Float(floats), ValueType::Float) => {
                Some(NumberRange::Floats(floats.as_slice(), wanted.float_range()?))
            }
            _ => None,
        }
    }

    /// True when the number of a row is in the range.
    pub(crate) fn holds_row(&self, row: usize) -> bool {
        match self {
            NumberRange::Small(ints, range) => range.contains(&ints[row].into()),
            NumberRange::Wide(ints, range) => range.contains(&ints[row]),
            NumberRange::Floats(floats, range) => range.contains(&floats[row]),
        }
    }

    /// Whether the only value of a changed node is a number in the range.
    pub(crate) fn holds_changed(&self, row: Option<&Row>) -> bool {
        let only = row.filter(|row| row.len() == 1).map(Row::first);
        match (self, only) {
            (
                NumberRange::Small(_, range) | NumberRange::Wide(_, range),
                Some(ValueRef::Int(int)),
            ) => range.contains(&int),
            (NumberRange::Floats(_, range), Some(ValueRef::Float(float))) => range.contains(&float),
            _ => false,
        }
    }

    /// The nodes that changed since the numbers were stored, ascending, and whether each has a number in the range now. O(changes).
    pub(crate) fn changes(&self, part: &LangValues) -> Vec<(u32, bool)> {
        match self {
            NumberRange::Small(_, range) | NumberRange::Wide(_, range) => {
                listed(part.changed_ints().as_ref().map(|it| it.iter()), range)
            }
            NumberRange::Floats(_, range) => {
                listed(part.changed_floats().as_ref().map(|it| it.iter()), range)
            }
        }
        .unwrap_or_else(|| {
            let changes = part.changed_between(0, u32::MAX);
            changes.map(|(node, row)| (node, self.holds_changed(row))).collect()
        })
    }

    /// The number of stored numbers in the range. O(rows), in loops without branches.
    ///
    /// # Errors
    ///
    /// Those of `check`, which is called every few thousand rows.
    pub(crate) fn count(&self, check: impl Fn() -> Result<()>) -> Result<usize> {
        match self {
            NumberRange::Small(ints, range) => {
                let (low, high) = (*range.start(), *range.end());
                let narrow = |bound: i64| bound.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
                // Asked first: a range that lies outside of 32 bits as a whole would be clamped to one that has an int.
                let is_outside = high < i32::MIN.into() || i64::from(i32::MAX) < low || high < low;
                if is_outside { Ok(0) } else { counted(ints, &(narrow(low)..=narrow(high)), check) }
            }
            NumberRange::Wide(ints, range) => counted(ints, range, check),
            NumberRange::Floats(floats, range) => counted(floats, range, check),
        }
    }

    /// Adds those of some ascending nodes to `kept` whose number, in their row among the subjects, is in the range. Costs about
    /// a nanosecond a node where the nodes have no gap between them.
    pub(super) fn keep(
        &self,
        rows: (&FrozenBitmap, &mut RowFinder),
        nodes: &[u32],
        kept: &mut Vec<u32>,
    ) {
        match self {
            NumberRange::Small(ints, range) => {
                keep_in_range(rows, ints, nodes, |int| range.contains(&int.into()), kept);
            }
            NumberRange::Wide(ints, range) => {
                keep_in_range(rows, ints, nodes, |int| range.contains(&int), kept);
            }
            NumberRange::Floats(floats, range) => {
                keep_in_range(rows, floats, nodes, |float| range.contains(&float), kept);
            }
        }
    }
}

fn int_range(wanted: &Wanted) -> Option<RangeInclusive<i64>> {
    wanted.int_range().map(|(low, high)| low..=high)
}

/// Changed nodes, and whether the number of each is in a range.
fn listed<'c, T: PartialOrd + Copy + 'c>(
    changes: Option<impl Iterator<Item = &'c (u32, Option<T>)>>,
    range: &RangeInclusive<T>,
) -> Option<Vec<(u32, bool)>> {
    let holds = |now: Option<T>| now.is_some_and(|now| range.contains(&now));
    Some(changes?.map(|(node, now)| (*node, holds(*now))).collect())
}

fn counted<T: Copy + PartialOrd>(
    numbers: &[T],
    range: &RangeInclusive<T>,
    check: impl Fn() -> Result<()>,
) -> Result<usize> {
    let (low, high) = (*range.start(), *range.end());
    let mut count = 0;
    for piece in numbers.chunks(COUNTED) {
        check()?;
        // A piece has no more numbers than 32 bits count, and narrow counters make wide vectors.
        let passing = piece.iter().map(|&number| u32::from((low <= number) & (number <= high)));
        count += passing.sum::<u32>() as usize;
    }
    Ok(count)
}

fn keep_in_range<T: Copy>(
    (subjects, finder): (&FrozenBitmap, &mut RowFinder),
    numbers: &[T],
    nodes: &[u32],
    holds: impl Fn(T) -> bool,
    kept: &mut Vec<u32>,
) {
    let mut rest = nodes;
    finder.for_each_piece(subjects, nodes, |rows| {
        let (nodes, behind) = rest.split_at(rows.len());
        rest = behind;
        // Each node is written, and the next one over it where it does not pass: a loop without branches.
        let mut end = kept.len();
        kept.resize(end + nodes.len(), 0);
        match rows {
            Rows::Run(rows) => {
                for (&node, &number) in nodes.iter().zip(&numbers[rows]) {
                    kept[end] = node;
                    end += usize::from(holds(number));
                }
            }
            Rows::Missing(_) => {}
            Rows::Each(rows) => {
                for (&node, &row) in nodes.iter().zip(rows) {
                    // What stands for no row is behind all rows.
                    let number = numbers.get(row as usize);
                    kept[end] = node;
                    end += usize::from(number.is_some_and(|number| holds(*number)));
                }
            }
        }
        kept.truncate(end);
    });
}
