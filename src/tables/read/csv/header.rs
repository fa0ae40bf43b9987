//! Decides whether the first record of a file has the names of its columns.
//!
//! It has, where a cell of it is of no type that the cells below it are of: a text above numbers. Where all cells of the file are
//! texts nothing can tell; a header is assumed, and said to be. A first record whose cells fit to what stands below is a row.

use super::dialect::Dialect;
use super::given::Given;
use super::kinds::{ColumnKind, MissingTexts, Observed};
use super::records::{Field, Records, commonest, field_text};

/// The columns of a file.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::tables) struct Header {
    /// The names as the file has them, or `column0`, `column1` and so on.
    pub columns: Vec<String>,
    /// Whether the first record has the names.
    pub is_first_record: bool,
    /// Whether that is no more than likely: all cells are texts.
    pub is_assumed: bool,
}

/// The columns of a sample, whose table begins with record `start`. The last comment in front that has as many fields names the
/// columns of a file that has no header, as those of edge lists do.
pub(super) fn header_of(
    (sample, dialect): (&str, Dialect),
    (records, start): (&Records, usize),
    comments: &[&str],
    given: &Given,
) -> Header {
    let text = |field: &Field| field_text(sample, *field, dialect).into_owned();
    let cells = |index: usize| -> Vec<String> { records.record(index).iter().map(text).collect() };
    if records.len() <= start {
        return Header { columns: Vec::new(), is_first_record: false, is_assumed: false };
    }
    let first = cells(start);
    let widths = records.widths(start);
    let width = commonest(&widths).max(first.len());
    let (found, is_assumed) = match given.header {
        Some(is_header) => (is_header, false),
        None => {
            let below = kinds(width, (start + 1..records.len()).map(cells), &given.missing);
            is_header(&first, &below, records.len() == start + 1, &given.missing)
        }
    };
    let numbered = |index: usize| format!("column{index}");
    if found {
        let unnamed = first.len()..width;
        let columns = first.into_iter().chain(unnamed.map(numbered)).collect();
        return Header { columns, is_first_record: true, is_assumed };
    }
    let named = comments
        .last()
        .map(|comment| comment.split_whitespace().map(str::to_owned).collect::<Vec<String>>());
    let columns = named
        .filter(|names| names.len() == width)
        .unwrap_or_else(|| (0..width).map(numbered).collect());
    Header { columns, is_first_record: false, is_assumed: false }
}

fn kinds(
    width: usize,
    rows: impl Iterator<Item = Vec<String>>,
    missing: &MissingTexts,
) -> Vec<ColumnKind> {
    let mut columns = vec![Observed::default(); width];
    for row in rows {
        for (column, cell) in columns.iter_mut().zip(&row) {
            column.add(cell, false, 0, missing);
        }
    }
    columns.iter().map(Observed::kind).collect()
}

/// Whether the first record has names, and whether that is assumed.
fn is_header(
    first: &[String],
    below: &[ColumnKind],
    is_alone: bool,
    missing: &MissingTexts,
) -> (bool, bool) {
    let own: Vec<ColumnKind> = first.iter().map(|cell| kind_of(cell, missing)).collect();
    let is_empty = own.iter().all(|kind| *kind == ColumnKind::Missing);
    if is_empty {
        return (false, false);
    }
    if is_alone {
        let is_text = own.iter().all(|kind| matches!(kind, ColumnKind::Text | ColumnKind::Missing));
        return (is_text, is_text);
    }
    let differs = own.iter().zip(below).any(|(own, below)| {
        let is_typed = !matches!(below, ColumnKind::Text | ColumnKind::Missing);
        is_typed && !fits(*own, *below)
    });
    if differs {
        return (true, false);
    }
    let is_typed = |kind: &ColumnKind| !matches!(kind, ColumnKind::Text | ColumnKind::Missing);
    let all_texts = !below.iter().any(is_typed) && !own.iter().any(is_typed);
    (all_texts, all_texts)
}

fn kind_of(cell: &str, missing: &MissingTexts) -> ColumnKind {
    if missing.is_gap(cell) {
        return ColumnKind::Missing;
    }
    let mut observed = Observed::default();
    observed.add(cell, false, 0, missing);
    observed.kind()
}

/// Whether a cell of one type may stand in a column of another.
fn fits(own: ColumnKind, column: ColumnKind) -> bool {
    use ColumnKind as K;
    own == column
        || own == K::Missing
        || matches!((own, column), (K::Int, K::Float) | (K::Float, K::Int))
}
