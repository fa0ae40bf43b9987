//! Rows as lines of text: columns for a terminal, and tables of Markdown.
//!
//! A table that is wider than its limit first gets narrower columns, the widest ones first. Where
//! even narrow columns are too wide together, columns in the middle are left out. A table with too
//! many rows has its first and its last rows. A mark (`…`) is at each position where something is
//! left out, and [`TableExtent`] has the counts.

use super::cells::{failed, is_numeric, names_of, plain_text};
use arrow_array::{ArrayRef, RecordBatch};
use hexgraph_base::answer::JsonSink;
use hexgraph_base::types::Result;
use std::io::Write;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The most columns of a terminal that a cell has where no width is given.
const CELL_MAX: usize = 60;
/// The width below which a column is left out and not cut further.
const CELL_MIN: usize = 12;
/// What is between two columns.
const GAP: &str = "  ";
const MARK: &str = "…";

/// The limits of a table as text.
#[derive(Debug, Clone, Copy, Default)]
pub struct TableLimits {
    /// The columns of the terminal. Without it each cell has 60 of them at the most, and a line any
    /// number.
    pub width: Option<usize>,
    /// The most rows, in equal parts from the beginning and the end.
    pub rows: Option<usize>,
    /// Whether a rule separates the names of the columns from the rows.
    pub has_rule: bool,
}

/// What a table as text has of its rows and columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TableExtent {
    /// The rows.
    pub rows: usize,
    /// The rows that are written.
    pub rows_shown: usize,
    /// The columns.
    pub columns: usize,
    /// The columns that are written.
    pub columns_shown: usize,
    /// The cells that are cut.
    pub cells_cut: usize,
}

/// Writes rows as columns of characters within limits. They are a rectangle, as
/// [`super::flatten::flattened`] makes one. O(cells that are written).
///
/// ```
/// use hexgraph::tables::{PlainColumn, TableLimits, plain_rows, write_table};
///
/// let numbers = PlainColumn::Numbers(vec![1, 20, 300, 4000]);
/// let rows = plain_rows(vec![("count", numbers)])?;
/// let limits = TableLimits { rows: Some(2), ..TableLimits::default() };
/// let mut text = Vec::new();
/// let extent = write_table(&rows, &limits, &mut text)?;
/// assert_eq!(String::from_utf8(text).unwrap(), "count\n    1\n    …\n 4000\n");
/// assert_eq!((extent.rows, extent.rows_shown), (4, 2));
/// # Ok::<(), hexgraph::types::Error>(())
/// ```
///
/// # Errors
///
/// `Io` when `out` refuses.
pub fn write_table(
    rows: &RecordBatch,
    limits: &TableLimits,
    out: &mut dyn Write,
) -> Result<TableExtent> {
    let mut sink = JsonSink::new();
    let (head, tail) = shown_rows(rows.num_rows(), limits.rows);
    let lines: Vec<usize> = head.chain(tail.clone()).collect();
    let gap = (lines.len() < rows.num_rows()).then(|| lines.len() - tail.len());
    let names = names_of(rows);
    let columns: Vec<TextColumn> = names
        .iter()
        .zip(rows.columns())
        .map(|(name, column)| TextColumn::new(name, column, &lines, &mut sink))
        .collect();
    let widths: Vec<usize> = columns.iter().map(|it| it.width).collect();
    let layout = Layout::of(&widths, limits.width);
    let mut extent = TableExtent {
        rows: rows.num_rows(),
        rows_shown: lines.len(),
        columns: columns.len(),
        columns_shown: layout.shown(columns.len()),
        cells_cut: 0,
    };
    let mut write = |cells: Vec<String>| {
        writeln!(out, "{}", cells.join(GAP).trim_end_matches(' ')).map_err(failed)
    };
    for row in 0..=lines.len() {
        if limits.has_rule && row == 1 {
            write(layout.line(|at| "─".repeat(layout.width_of(widths[at]))))?;
        }
        if gap.is_some_and(|gap| row == gap + 1) {
            write(layout.line(|at| columns[at].aligned(MARK, layout.width_of(widths[at]))))?;
        }
        write(layout.line(|at| {
            let (column, width) = (&columns[at], layout.width_of(widths[at]));
            let (cell, is_cut) = cut(&column.cells[row], width);
            extent.cells_cut += usize::from(is_cut);
            column.aligned(&cell, width)
        }))?;
    }
    Ok(extent)
}

/// Writes rows as a table of Markdown, with all characters of all cells.
///
/// # Errors
///
/// `Io` when `out` refuses.
pub(super) fn write_markdown(rows: &RecordBatch, out: &mut dyn Write) -> Result<()> {
    let mut sink = JsonSink::new();
    let mut write = |cells: Vec<String>| {
        let cells: String = cells.iter().map(|cell| format!(" {cell} |")).collect();
        writeln!(out, "|{cells}").map_err(failed)
    };
    write(names_of(rows).iter().map(|name| markdown_cell(name)).collect())?;
    let rule = |column: &ArrayRef| if is_numeric(column) { "---:" } else { "---" }.to_owned();
    write(rows.columns().iter().map(rule).collect())?;
    for row in 0..rows.num_rows() {
        let cell = |column: &ArrayRef, sink: &mut JsonSink| {
            plain_text(column, row, sink).map_or(String::new(), |text| markdown_cell(&text))
        };
        write(rows.columns().iter().map(|column| cell(column, &mut sink)).collect())?;
    }
    Ok(())
}

/// A text as a cell of Markdown, in which it means itself.
fn markdown_cell(text: &str) -> String {
    let mut cell = String::new();
    for letter in text.chars() {
        match letter {
            '\n' => cell.push_str("<br>"),
            '\r' => {}
            '<' => cell.push_str("&lt;"),
            '&' => cell.push_str("&amp;"),
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' => cell.extend(['\\', letter]),
            letter if moves_cursor(letter) => cell.push(' '),
            letter => cell.push(letter),
        }
    }
    cell
}

/// The rows that are written: some from the beginning, and some up to the end.
fn shown_rows(
    count: usize,
    most: Option<usize>,
) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
    match most {
        Some(most) if most < count => (0..most.div_ceil(2), count - most / 2..count),
        _ => (0..count, count..count),
    }
}

/// A column as characters, its name first.
struct TextColumn {
    cells: Vec<String>,
    width: usize,
    is_numeric: bool,
}

impl TextColumn {
    fn new(name: &str, column: &ArrayRef, rows: &[usize], sink: &mut JsonSink) -> TextColumn {
        let mut cells = vec![in_one_line(name)];
        cells.extend(rows.iter().map(|row| {
            plain_text(column, *row, sink).map_or(String::new(), |text| in_one_line(&text))
        }));
        let width = cells.iter().map(|cell| cell.width()).max().unwrap_or(0);
        TextColumn { cells, width, is_numeric: is_numeric(column) }
    }

    fn aligned(&self, cell: &str, width: usize) -> String {
        let blanks = blanks_to(cell, width);
        if self.is_numeric { format!("{blanks}{cell}") } else { format!("{cell}{blanks}") }
    }
}

/// Which columns a table has, and how wide they may be.
struct Layout {
    /// The most that a column has.
    widest: usize,
    /// The number of columns before and after the mark, where some in the middle are left out.
    around: Option<(usize, usize)>,
    columns: usize,
}

impl Layout {
    fn of(widths: &[usize], limit: Option<usize>) -> Layout {
        let columns = widths.len();
        let Some(limit) = limit else {
            return Layout { widest: CELL_MAX, around: None, columns };
        };
        let all: Vec<usize> = (0..columns).collect();
        if let Some(widest) = widest_within(widths, &all, limit) {
            return Layout { widest, around: None, columns };
        }
        // Columns are added from both sides, alternately, for as long as narrow ones fit next to
        // the mark.
        let (mut before, mut after) = (1, 0);
        let shown = |before: usize, after: usize| {
            (0..before).chain(columns - after..columns).collect::<Vec<usize>>()
        };
        let limit = limit.saturating_sub(GAP.len() + MARK.width());
        while before + after < columns {
            let (next_before, next_after) =
                if after < before { (before, after + 1) } else { (before + 1, after) };
            if widest_within(widths, &shown(next_before, next_after), limit).is_none() {
                break;
            }
            (before, after) = (next_before, next_after);
        }
        let widest = widest_within(widths, &shown(before, after), limit);
        // One column alone has what there is.
        Layout { widest: widest.unwrap_or(limit.max(1)), around: Some((before, after)), columns }
    }

    fn width_of(&self, width: usize) -> usize {
        width.min(self.widest)
    }

    fn shown(&self, columns: usize) -> usize {
        self.around.map_or(columns, |(before, after)| before + after)
    }

    /// The cells of a line, with the mark where columns are left out.
    fn line(&self, mut cell: impl FnMut(usize) -> String) -> Vec<String> {
        match self.around {
            None => (0..self.columns).map(cell).collect(),
            Some((before, after)) => {
                let mut cells: Vec<String> = (0..before).map(&mut cell).collect();
                cells.push(MARK.to_owned());
                cells.extend((self.columns - after..self.columns).map(cell));
                cells
            }
        }
    }
}

/// The greatest width of a cell with which some columns fit together; `None` where narrow ones do
/// not.
fn widest_within(widths: &[usize], columns: &[usize], limit: usize) -> Option<usize> {
    let gaps = GAP.len() * columns.len().saturating_sub(1);
    let fits =
        |most: usize| columns.iter().map(|at| widths[*at].min(most)).sum::<usize>() + gaps <= limit;
    let (mut least, mut most) = (CELL_MIN, limit.max(CELL_MIN));
    if !fits(least) {
        return None;
    }
    while least < most {
        let middle = (least + most).div_ceil(2);
        if fits(middle) { least = middle } else { most = middle - 1 }
    }
    Some(least)
}

/// The beginning of a text in one line, cut to the width of a cell.
pub(in crate::tables) fn shown_cell(text: &str) -> String {
    cut(&in_one_line(text), CELL_MAX).0
}

/// The columns of a terminal that a text has.
pub(in crate::tables) fn shown_width(text: &str) -> usize {
    text.width()
}

/// The blanks that fill a text up to a width.
pub(in crate::tables) fn blanks_to(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(text.width()))
}

/// A text without what would move a terminal's cursor.
fn in_one_line(text: &str) -> String {
    text.chars().map(|it| if moves_cursor(it) { ' ' } else { it }).collect()
}

/// Controls, line and paragraph separators, and what changes the direction of the characters after
/// it.
fn moves_cursor(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The beginning of a text that has so many columns of a terminal, with a mark where something is
/// cut.
fn cut(text: &str, width: usize) -> (String, bool) {
    if text.width() <= width {
        return (text.to_owned(), false);
    }
    let mut end = 0;
    let mut used = MARK.width();
    for (at, letter) in text.char_indices() {
        used += letter.width().unwrap_or(0);
        if width < used {
            break;
        }
        end = at + letter.len_utf8();
    }
    (format!("{}{MARK}", &text[..end]), true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{Int64Array, StringArray};
    use std::sync::Arc;

    fn rows(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
        RecordBatch::try_from_iter(columns).unwrap()
    }

    fn texts(texts: &[&str]) -> ArrayRef {
        Arc::new(StringArray::from(texts.to_vec()))
    }

    fn written(
        rows: &RecordBatch,
        width: Option<usize>,
        most: Option<usize>,
    ) -> (String, TableExtent) {
        let mut out = Vec::new();
        let limits = TableLimits { width, rows: most, has_rule: false };
        let extent = write_table(rows, &limits, &mut out).unwrap();
        (String::from_utf8(out).unwrap(), extent)
    }

    #[test]
    fn many_rows_have_a_beginning_and_an_end() {
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1000));
        let (text, extent) = written(&rows(vec![("n", numbers)]), Some(80), Some(5));
        assert_eq!(text, "  n\n  0\n  1\n  2\n  …\n998\n999\n");
        assert_eq!((extent.rows, extent.rows_shown), (1000, 5));
    }

    #[test]
    fn wide_letters_have_two_columns() {
        let names = texts(&["東京都", "Köln", "e\u{301}a"]);
        let (text, extent) =
            written(&rows(vec![("a", names), ("b", texts(&["x"; 3]))]), None, None);
        assert_eq!(text, "a       b\n東京都  x\nKöln    x\ne\u{301}a      x\n");
        assert_eq!(extent.cells_cut, 0);
        assert_eq!(cut("東京都", 5), ("東京…".to_owned(), true));
        assert_eq!(cut("東京都", 4), ("東…".to_owned(), true));
    }

    #[test]
    fn columns_are_cut_and_then_left_out() {
        let long = "x".repeat(100);
        let two = rows(vec![("a", texts(&["short"])), ("b", texts(&[&long]))]);
        let (text, extent) = written(&two, Some(40), None);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], format!("short  {}…", "x".repeat(32)));
        assert_eq!((extent.columns_shown, extent.cells_cut), (2, 1));
        let names: Vec<String> = (0..30).map(|at| format!("column_{at:02}")).collect();
        let columns = names.iter().map(|name| (name.as_str(), texts(&[&long]))).collect();
        for width in [1, 20, 40, 41, 80, 200] {
            let (text, extent) = written(&rows(columns_of(&names, &long)), Some(width), None);
            assert!(text.lines().all(|line| line.width() <= width.max(CELL_MIN + 3)), "{text}");
            assert!(extent.columns_shown < 30 && text.contains("  …"), "{text}");
        }
        let (text, extent) = written(&rows(columns), Some(80), None);
        assert_eq!(extent.columns_shown, 5);
        assert!(text.starts_with("column_00      column_01"), "{text}");
        assert!(text.contains("column_29"), "{text}");
    }

    fn columns_of<'n>(names: &'n [String], cell: &str) -> Vec<(&'n str, ArrayRef)> {
        names.iter().map(|name| (name.as_str(), texts(&[cell]))).collect()
    }

    #[test]
    fn no_cell_moves_the_cursor() {
        let (text, _) =
            written(&rows(vec![("a\u{1b}[2J", texts(&["x\u{202e}y\r\u{9b}z"]))]), None, None);
        assert_eq!(text, "a [2J\nx y  z\n");
    }

    #[test]
    fn cells_of_markdown_mean_themselves() {
        let mut out = Vec::new();
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None]));
        let cells = texts(&["a|b\nc", "<i> & *x*"]);
        write_markdown(&rows(vec![("n", numbers), ("t", cells)]), &mut out).unwrap();
        let lines = [
            "| n | t |",
            "| ---: | --- |",
            "| 1 | a\\|b<br>c |",
            "|  | &lt;i> &amp; \\*x\\* |",
            "",
        ];
        assert_eq!(String::from_utf8(out).unwrap(), lines.join("\n"));
    }
}
