//! The bytes that decoding rows of a row group takes, at most.
//!
//! ```text
//! for each column:  its largest page, compressed and decompressed  +  its dictionary, compressed, decompressed and decoded
//! for each row:     levels, and a value: as long as the type says
//!                   texts: the pages that have the rows; by a dictionary, its longest entry each;
//!                          where a text has a common prefix with the one before, the page each
//! ```
//!
//! Rows count three times: decoded, converted to the few types of values, and as parts of
//! predicates.

use super::column::{ColumnPages, PageAt, is_by_dictionary};
use super::header::PageKind;
use parquet::basic::Encoding;
use std::ops::Range;

/// The bytes of the levels of a value, and of its position.
const LEVELS_LEN: u64 = 12;

/// How often rows are in memory.
const COPIES: u64 = 3;

/// The bytes that it takes to read a range of rows of columns. `rows` is the number of rows of the
/// row group.
pub(super) fn cost_of<'c>(
    columns: impl Iterator<Item = &'c ColumnPages>,
    range: &Range<u64>,
    rows: u64,
) -> u64 {
    let costs = columns.map(|column| {
        let values = match column.is_list {
            true => lists_len(column, range, rows),
            false => values_len(column, range),
        };
        values.saturating_mul(COPIES).saturating_add(buffers_len(column))
    });
    costs.fold(0, u64::saturating_add)
}

/// The bytes of the lists of a range, where rows have as many items as others: what has more is
/// reserved when its pages come.
pub(super) fn lists_len(column: &ColumnPages, range: &Range<u64>, rows: u64) -> u64 {
    let pages = column.pages.iter().map(|page| page_len(column, page));
    let (all, largest) =
        pages.fold((0_u64, 0), |(all, largest), len| (all.saturating_add(len), largest.max(len)));
    let part = u128::from(all) * u128::from(range.end - range.start) / u128::from(rows.max(1));
    largest.saturating_add(part as u64).min(all)
}

/// The bytes that all values of a page become.
pub(super) fn page_len(column: &ColumnPages, page: &PageAt) -> u64 {
    part_len(column, page, page.values())
}

/// The bytes of the pages of a column that are in memory at once.
fn buffers_len(column: &ColumnPages) -> u64 {
    let (mut largest, mut dictionary) = (0, 0);
    for page in &column.pages {
        match page.header.kind {
            PageKind::Dictionary => {
                let entries = u64::from(page.header.values) * 8;
                dictionary = page.buffers_len() + u64::from(page.header.size) + entries;
            }
            _ => largest = page.buffers_len().max(largest),
        }
    }
    largest + dictionary
}

/// The bytes of the values of a range of rows, one per row.
fn values_len(column: &ColumnPages, range: &Range<u64>) -> u64 {
    let first = column.pages.partition_point(|page| page.first + page.values() <= range.start);
    let pages = column.pages[first..].iter().take_while(|page| page.first < range.end);
    let lens = pages.map(|page| {
        let end = (page.first + page.values()).min(range.end);
        part_len(column, page, end.saturating_sub(page.first.max(range.start)))
    });
    lens.fold(0, u64::saturating_add)
}

/// The bytes that some values of a page become.
fn part_len(column: &ColumnPages, page: &PageAt, values: u64) -> u64 {
    let size = u64::from(page.header.size);
    let len = match (column.value_len, page.header.encoding) {
        (Some(len), _) => values.saturating_mul(len.max(8)),
        (None, Encoding::PLAIN | Encoding::DELTA_LENGTH_BYTE_ARRAY) => size,
        (None, encoding) if is_by_dictionary(encoding) => values.saturating_mul(column.longest),
        (None, _) => values.saturating_mul(size),
    };
    len.saturating_add(values.saturating_mul(LEVELS_LEN))
}
