//! The positions where the rows of a ragged column begin and end.

use crate::storage::files::blocks::unwind_with;
use crate::storage::{Array, vectorized};
use hexgraph_base::types::Result;
use std::ops::{Range, RangeInclusive};

/// The start positions of rows, and finally the end of the last one: n + 1 of them for n rows,
/// ascending. Four bytes each if the last one fits.
///
/// Mapped offsets unwind as [`Array`] does, also on a row of negative length.
#[derive(Debug, Clone)]
pub enum Offsets {
    /// All positions fit 32 bits.
    Narrow(Array<u32>),
    /// Some positions do not fit 32 bits.
    Wide(Array<u64>),
}

impl Default for Offsets {
    fn default() -> Offsets {
        Offsets::from_vec(vec![0])
    }
}

impl Offsets {
    /// The offsets of rows of these lengths, laid end to end from 0.
    pub fn from_lens(lens: impl Iterator<Item = usize>) -> Offsets {
        let mut lens = lens;
        let mut end = 0_u64;
        let mut narrow = Vec::with_capacity(lens.size_hint().0 + 1);
        narrow.push(0);
        for len in lens.by_ref() {
            end += len as u64;
            match u32::try_from(end) {
                Ok(end) => narrow.push(end),
                // Rarely reached, so only columns that need the space pay for it.
                Err(_) => return Offsets::Wide(Array::from_vec(widen(narrow, end, lens))),
            }
        }
        Offsets::Narrow(Array::from_vec(narrow))
    }

    /// The offsets as they are, narrowed when they fit.
    ///
    /// # Panics
    ///
    /// When there are none, not even the end of no rows. They must be ascending.
    pub fn from_vec(starts: Vec<u64>) -> Offsets {
        debug_assert!(starts.is_sorted(), "rows follow each other");
        let last = *starts.last().expect("offsets have one more entry than rows");
        if u32::try_from(last).is_err() {
            return Offsets::Wide(Array::from_vec(starts));
        }
        Offsets::Narrow(Array::from_vec(starts.into_iter().map(|start| start as u32).collect()))
    }

    /// Checks offsets that come from a file as far as O(1) goes.
    ///
    /// # Errors
    ///
    /// [`hexgraph_base::types::Error::Corrupt`] when there is no entry at all.
    pub(in crate::storage) fn checked(self) -> Result<Offsets> {
        match &self {
            Offsets::Narrow(starts) if starts.is_empty() => Err(starts.corrupt("no offsets")),
            Offsets::Wide(starts) if starts.is_empty() => Err(starts.corrupt("no offsets")),
            _ => Ok(self),
        }
    }

    /// The number of rows.
    #[inline]
    pub fn rows(&self) -> usize {
        match self {
            Offsets::Narrow(starts) => starts.len().saturating_sub(1),
            Offsets::Wide(starts) => starts.len().saturating_sub(1),
        }
    }

    /// The positions of row `row`.
    ///
    /// # Panics
    ///
    /// When there is no such row; mapped offsets unwind.
    #[inline]
    pub fn range(&self, row: usize) -> Range<usize> {
        let bounds = match self {
            Offsets::Narrow(starts) => two(starts.slice(row..row.saturating_add(2))),
            Offsets::Wide(starts) => two(starts.slice(row..row.saturating_add(2))),
        };
        self.positions(row, bounds)
    }

    /// Calls `visit` with some rows and their positions, in their order: a few instructions for
    /// each.
    ///
    /// # Panics
    ///
    /// When there are no such rows; mapped offsets unwind, also on a row of negative length.
    #[inline]
    pub(crate) fn for_each(&self, rows: Range<usize>, mut visit: impl FnMut(usize, Range<usize>)) {
        match self {
            Offsets::Narrow(starts) => {
                let pairs = starts.slice(rows.start..rows.end + 1).windows(2).zip(rows);
                pairs.for_each(|(pair, row)| visit(row, self.positions(row, two(pair))));
            }
            Offsets::Wide(starts) => {
                let pairs = starts.slice(rows.start..rows.end + 1).windows(2).zip(rows);
                pairs.for_each(|(pair, row)| visit(row, self.positions(row, two(pair))));
            }
        }
    }

    /// The positions between two.
    #[inline]
    fn positions(&self, row: usize, (start, end): (u64, u64)) -> Range<usize> {
        // Offsets of a file are not compared when it is opened, since that would read them all.
        if end < start {
            self.reversed(row, start..end);
        }
        start as usize..end as usize
    }

    /// Adds the lengths of some rows to a list, in their order.
    ///
    /// # Panics
    ///
    /// When there are no such rows; mapped offsets unwind.
    pub(crate) fn push_lens(&self, rows: Range<usize>, out: &mut Vec<i64>) {
        /// Returns whether one of them is negative.
        fn push<T: Copy + Into<u64>>(starts: &[T], out: &mut Vec<i64>) -> bool {
            let before = out.len();
            out.resize(before + starts.len().saturating_sub(1), 0);
            let pairs = out[before..].iter_mut().zip(starts.windows(2));
            let bits = vectorized(|| {
                pairs.fold(0, |bits, (len, pair)| {
                    *len = pair[1].into().wrapping_sub(pair[0].into()) as i64;
                    bits | *len
                })
            });
            bits < 0
        }
        let before = out.len();
        let starts = rows.start..rows.end + 1;
        let is_negative = match self {
            Offsets::Narrow(narrow) => push(narrow.slice(starts), out),
            Offsets::Wide(wide) => push(wide.slice(starts), out),
        };
        // Offsets of a file are not compared when it is opened.
        if is_negative && let Some(row) = out[before..].iter().position(|len| *len < 0) {
            // It unwinds, as this row has negative length.
            self.range(rows.start + row);
        }
    }

    /// The rows whose length is requested, ascending; `expected` begins at 1 or above.
    ///
    /// # Panics
    ///
    /// Mapped offsets unwind, also on a row of negative length.
    pub(crate) fn rows_of_len(&self, expected: &RangeInclusive<i64>) -> Vec<u32> {
        let (rows, ascend) = match self {
            Offsets::Narrow(starts) => rows_of_len(starts.as_slice(), expected),
            Offsets::Wide(starts) => rows_of_len(starts.as_slice(), expected),
        };
        if !ascend {
            // One of them unwinds.
            (0..self.rows()).for_each(|row| _ = self.range(row));
        }
        rows
    }

    /// Appends the end positions of rows, each shifted by `by`. Returns false for a row of negative
    /// length, or if a position does not fit.
    ///
    /// # Panics
    ///
    /// When there are no such rows; mapped offsets unwind.
    pub(crate) fn push_bounds(&self, rows: Range<usize>, by: i64, out: &mut Vec<i32>) -> bool {
        fn bounds<T: Copy + Into<u64> + PartialOrd>(
            starts: &[T],
            by: i64,
            out: &mut Vec<i32>,
        ) -> bool {
            out.extend(starts[1..].iter().map(|&end| (end.into() as i64).wrapping_add(by) as i32));
            let last = (starts[starts.len() - 1].into() as i64).wrapping_add(by);
            // Without an early end the loop compares many at a time.
            let ascend = starts.windows(2).fold(true, |all, pair| all & (pair[0] <= pair[1]));
            ascend && i32::try_from(last).is_ok()
        }
        match self {
            Offsets::Narrow(starts) => bounds(starts.slice(rows.start..rows.end + 1), by, out),
            Offsets::Wide(starts) => bounds(starts.slice(rows.start..rows.end + 1), by, out),
        }
    }

    /// The position at which row `row` begins; for [`Offsets::rows`], the end of the last row.
    #[inline]
    pub fn start(&self, row: usize) -> usize {
        match self {
            Offsets::Narrow(starts) => starts.get(row) as usize,
            Offsets::Wide(starts) => starts.get(row) as usize,
        }
    }

    /// The end position of the last row.
    pub fn total(&self) -> usize {
        self.start(self.rows())
    }

    /// The row that holds `position`: a binary search. Behind the last row it is
    /// [`Offsets::rows`].
    pub fn row_of(&self, position: usize) -> usize {
        let position = position as u64;
        let above = match self {
            Offsets::Narrow(starts) => {
                starts.partition_point(0..starts.len(), |start| u64::from(start) <= position)
            }
            Offsets::Wide(starts) => {
                starts.partition_point(0..starts.len(), |start| start <= position)
            }
        };
        // Never below 0 but for invalid offsets, whose first row does not begin at 0.
        above.saturating_sub(1)
    }

    /// The bytes of the offsets.
    pub fn byte_len(&self) -> usize {
        match self {
            Offsets::Narrow(starts) => starts.byte_len(),
            Offsets::Wide(starts) => starts.byte_len(),
        }
    }

    #[cold]
    fn reversed(&self, row: usize, range: Range<u64>) -> ! {
        let what = format!("row {row} has the reversed offsets {range:?}");
        unwind_with(match self {
            Offsets::Narrow(starts) => starts.corrupt(what),
            Offsets::Wide(starts) => starts.corrupt(what),
        })
    }
}

/// The start of a row and that of the next one.
#[inline]
fn two<T: Copy + Into<u64>>(starts: &[T]) -> (u64, u64) {
    match starts {
        [start, end, ..] => ((*start).into(), (*end).into()),
        // The slice has two items, or it would have unwound.
        _ => (0, 0),
    }
}

/// The rows with a requested length, and whether no row has negative length.
fn rows_of_len<T: Copy + Into<u64> + PartialOrd>(
    starts: &[T],
    expected: &RangeInclusive<i64>,
) -> (Vec<u32>, bool) {
    let mut rows = vec![0; starts.len()];
    let (mut end, mut ascend) = (0, true);
    // Each row is written, and the next one overwrites it unless it matches: a loop without
    // branches.
    for (row, pair) in starts.windows(2).enumerate() {
        let len = pair[1].into().wrapping_sub(pair[0].into()) as i64;
        ascend &= pair[0] <= pair[1];
        // In bounds: `end` is never ahead of `row`, and there is one start more than there are
        // rows.
        rows[end] = row as u32;
        end += usize::from((*expected.start()..=*expected.end()).contains(&len));
    }
    rows.truncate(end);
    (rows, ascend)
}

/// Goes on with wide offsets where `end` was the first that is not narrow.
fn widen(narrow: Vec<u32>, end: u64, lens: impl Iterator<Item = usize>) -> Vec<u64> {
    let mut wide: Vec<u64> = narrow.into_iter().map(u64::from).collect();
    let mut end = end;
    wide.push(end);
    wide.extend(lens.map(|len| {
        end += len as u64;
        end
    }));
    wide
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_lie_end_to_end() {
        let offsets = Offsets::from_lens([3, 0, 2].into_iter());
        assert_eq!((offsets.rows(), offsets.total()), (3, 5));
        let ranges: Vec<_> = (0..3).map(|row| offsets.range(row)).collect();
        assert_eq!(ranges, [0..3, 3..3, 3..5]);
        let rows: Vec<_> = (0..7).map(|position| offsets.row_of(position)).collect();
        assert_eq!(rows, [0, 0, 0, 2, 2, 3, 3]);
    }

    #[test]
    fn wide_only_where_needed() {
        let big = u32::MAX as usize;
        assert!(matches!(Offsets::from_lens([big].into_iter()), Offsets::Narrow(_)));
        let wide = Offsets::from_lens([1, big, 5].into_iter());
        assert!(matches!(wide, Offsets::Wide(_)));
        assert_eq!((wide.rows(), wide.range(2)), (3, big + 1..big + 6));
        assert!(matches!(Offsets::from_vec(vec![0, 7]), Offsets::Narrow(_)));
        assert!(matches!(Offsets::from_vec(vec![0, 1 << 32]), Offsets::Wide(_)));
        assert_eq!(Offsets::default().rows(), 0);
    }

    #[test]
    #[should_panic(expected = "out of bounds for 2 items")]
    fn a_row_behind_the_end_panics() {
        Offsets::from_vec(vec![0, 7]).range(1);
    }
}
