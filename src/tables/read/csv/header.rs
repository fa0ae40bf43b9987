//! Decides whether the first record of a file has the names of its columns.
//!
//! It has, where a cell of it is of no type that the cells below it are of: a text above numbers.
//! Where all cells of the file are texts this is undecidable; a header is assumed, and said to be.
//! A first record whose cells fit to those below is a row, and so is one that has a date or another
//! text of digits and signs above such texts, that comes again at once, or whose cells are not
//! distinct names.

use super::dialect::Dialect;
use super::kinds::{ColumnKind, MissingTexts, Observed};
use super::options::CsvOptions;
use super::records::{Field, Records, commonest, field_text};
use crate::tables::shape::options::Ragged;
use std::borrow::Cow;
use std::collections::HashSet;

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

/// The columns of a sample, whose table begins with record `start`, and what their cells are. The
/// last comment in front that has as many fields names the columns of a file that has no header, as
/// those of edge lists do. `separators` are in many lines of a file of one column, so that a first
/// line with one of them is a text as the others.
pub(super) fn header_of(
    (sample, dialect): (&str, Dialect),
    (records, start, separators): (&Records, usize, &[u8]),
    comments: &[&str],
    given: &CsvOptions,
) -> (Header, Vec<Observed>) {
    let text = |field: &Field| field_text(sample, *field, dialect);
    if records.len() <= start {
        let none = Header { columns: Vec::new(), is_first_record: false, is_assumed: false };
        return (none, Vec::new());
    }
    let widths = records.widths(start);
    let first = &records.record(start)[..widths[0]];
    let width = commonest(&widths).max(first.len());
    let observe = |columns: &mut [Observed], index: usize| {
        if given.ragged == Ragged::Skip && widths[index - start] != width {
            return;
        }
        for (column, field) in columns.iter_mut().zip(records.record(index)) {
            column.add(&text(field), field.is_quoted(), records.lines[index], &given.missing);
        }
    };
    let mut own = vec![Observed::default(); width];
    observe(&mut own, start);
    let mut below = vec![Observed::default(); width];
    (start + 1..records.len()).for_each(|index| observe(&mut below, index));
    let (is_header, is_assumed) = match given.header {
        Some(is_header) => (is_header, false),
        None => {
            let own: Vec<ColumnKind> =
                first.iter().map(|field| kind_of(&text(field), &given.missing)).collect();
            let below: Vec<ColumnKind> = below.iter().map(Observed::kind).collect();
            let is_alone = records.len() == start + 1;
            let (is_header, was_assumed) = is_header(&own, &below, is_alone);
            // Names in a list of edges are those of nodes, and who names the columns knows of no
            // header.
            let has_values = || {
                let rows = (start + 1..records.len()).map(|index| records.record(index));
                has_values(first, rows, &text)
            };
            let has_names = || can_be_names(&first.iter().map(text).collect::<Vec<_>>(), &below);
            let has_separator =
                |field: &Field| text(field).bytes().any(|it| separators.contains(&it));
            let is_row = given.is_edges
                || given.is_named
                || dialect.merges_separators
                || is_alone && 0 < start
                || first.iter().any(has_separator);
            let is_assumed = was_assumed && !is_row && !has_values() && has_names();
            (is_header && (is_assumed || !was_assumed), is_assumed)
        }
    };
    let numbered = |index: usize| format!("column{index}");
    if is_header {
        let unnamed = first.len()..width;
        let names = first.iter().map(|field| text(field).into_owned());
        let columns = names.chain(unnamed.map(numbered)).collect();
        return (Header { columns, is_first_record: true, is_assumed }, below);
    }
    let named = comments
        .last()
        .map(|comment| comment.split_whitespace().map(str::to_owned).collect::<Vec<String>>());
    let columns = named
        .filter(|names| names.len() == width)
        .unwrap_or_else(|| (0..width).map(numbered).collect());
    own.iter_mut().zip(below).for_each(|(own, below)| own.merge(below));
    (Header { columns, is_first_record: false, is_assumed: false }, own)
}

/// Whether the first record has names, and whether that is assumed.
fn is_header(own: &[ColumnKind], below: &[ColumnKind], is_alone: bool) -> (bool, bool) {
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

/// Whether texts can be the names of columns: distinct, and none empty but the last one of an empty
/// column, since lines may end with a separator.
fn can_be_names(cells: &[Cow<'_, str>], below: &[ColumnKind]) -> bool {
    let has_trailing = 1 < cells.len()
        && cells.last().is_some_and(|cell| cell.is_empty())
        && below.get(cells.len() - 1) == Some(&ColumnKind::Missing)
        && below.iter().any(|kind| *kind != ColumnKind::Missing);
    let named = if has_trailing { &cells[..cells.len() - 1] } else { cells };
    let distinct: HashSet<&str> = named.iter().map(|cell| cell.trim()).collect();
    distinct.len() == named.len() && !distinct.contains("")
}

/// Whether the first record is a row in a table of texts: it equals the next record, or a cell of
/// it has digits and no letters, and so has each cell below it. `12:30` and `1/2/2020` name no
/// column.
fn has_values<'r, 't>(
    first: &'r [Field],
    mut below: impl Iterator<Item = &'r [Field]> + Clone,
    text: &impl Fn(&Field) -> Cow<'t, str>,
) -> bool {
    let is_value = |cell: &str| {
        cell.bytes().any(|byte| byte.is_ascii_digit()) && !cell.chars().any(char::is_alphabetic)
    };
    let is_column_of_values = |index: usize| {
        let cells = below.clone().filter_map(|record| record.get(index)).map(text);
        let mut cells = cells.filter(|cell| !cell.is_empty()).peekable();
        let is_alone = below.clone().next().is_none();
        (is_alone || cells.peek().is_some())
            && is_value(&text(&first[index]))
            && cells.all(|cell| is_value(&cell))
    };
    if (0..first.len()).any(is_column_of_values) {
        return true;
    }
    let texts = |record: &[Field]| record.iter().map(text).collect::<Vec<Cow<'t, str>>>();
    below.next().is_some_and(|next| texts(next) == texts(first))
}

fn kind_of(cell: &str, missing: &MissingTexts) -> ColumnKind {
    if missing.is_gap(cell) {
        return ColumnKind::Missing;
    }
    let mut observed = Observed::default();
    observed.add(cell, false, 0, missing);
    observed.kind()
}

/// Whether a cell of one type may be in a column of another.
fn fits(own: ColumnKind, column: ColumnKind) -> bool {
    use ColumnKind as K;
    own == column
        || own == K::Missing
        || matches!((own, column), (K::Int, K::Float) | (K::Float, K::Int))
}
