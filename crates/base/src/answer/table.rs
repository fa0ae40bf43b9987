//! Rows of one block as typed columns, for data frames.
//!
//! Cells are staged for one row and moved into their columns when the row is complete, so that an
//! object that is removed leaves nothing behind. The groups of a block with `@groupby` are its
//! rows.

use super::cells::{Cell, Cells, Column, column_position};
use super::keys::{Key, KeyPositions};
use super::name_positions::NamePositions;
use super::values::MixedTypes;
use crate::types::{Error, FragmentSink, ObjectCells, Objects, Result, Sink, Uid, ValueRef};
use std::mem;

/// The key under which `@groupby` writes its groups.
const GROUPS: &str = "@groupby";

/// The objects of a block as rows, stored column by column.
#[derive(Debug, Default)]
pub struct Table {
    /// The columns in the order of their first occurrence, or in that of [`Table::put_in_order`].
    pub columns: Vec<Column>,
    /// The number of rows. Each column has as many cells.
    pub rows: usize,
}

/// A sink that collects the objects of one block as a table.
#[derive(Default)]
pub struct TableSink {
    expected: Option<String>,
    /// The names of all blocks of the answer, for error messages.
    blocks: Vec<String>,
    table: Table,
    frames: Vec<Frame>,
    row: StagedRow,
    /// The keys from the row to the next value, joined by dots: the name of its column.
    path: String,
    /// The position where the search for the next column starts. Most rows have their columns in
    /// the same order, so the search usually stops there.
    next_column: usize,
    positions: NamePositions,
    /// The object just written held groups, which are the rows; so it is not a row itself.
    has_groups: bool,
    /// There are groups inside a list, which is an error.
    has_groups_below: bool,
    fault: Option<Error>,
}

/// The cells of the current row, each with the index of its column, and the buffer of their texts.
#[derive(Default)]
struct StagedRow {
    cells: Vec<(usize, Cell)>,
    texts: String,
}

/// An object or array that has begun and not ended.
enum Frame {
    /// The object of all blocks.
    Blocks,
    /// The array of a block; true for the block that is requested.
    Block(bool),
    /// A row, or an object below it.
    Object {
        /// The length in bytes of the path to it; 0 for a row.
        path_len: usize,
        /// The number of staged cells when it began: discarding it removes those after them.
        cells: usize,
    },
    /// A list below a row.
    List {
        /// The column.
        column: usize,
        /// The items so far.
        items: Vec<Cell>,
    },
    /// The groups of the block, one row each.
    Groups,
    /// An object or array in a list; true while it is empty.
    Item(bool),
    /// An object or array of another block; true while it is empty.
    Passed(bool),
}

impl Table {
    /// Sorts the columns by the order of the text of the query. The columns of one nested object
    /// stay together.
    pub fn put_in_order(&mut self, keys: &[Key]) {
        let positions = KeyPositions::new(keys.iter().enumerate());
        // The sort is stable: columns that no key names come last, in the order in which they were
        // met.
        self.columns.sort_by_cached_key(|column| {
            let nested = || positions.of_object(&column.name);
            positions.of(&column.name).or_else(nested).unwrap_or(usize::MAX)
        });
    }
}

impl Table {
    /// Adds the rows of another table after those of this one. Columns are matched by name; a row
    /// has no value in a column that its table does not have.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] that names the column whose values are of different kinds.
    pub fn append(&mut self, other: Table) -> Result<()> {
        let mut positions = NamePositions::default();
        for (next, Column { name, cells: more }) in other.columns.into_iter().enumerate() {
            let position = column_position(&mut self.columns, &mut positions, next, &name);
            let Column { name, cells } = &mut self.columns[position];
            // The cells of the other table belong to the rows after those of this one, whether
            // this one had the column or not.
            cells.pad_to(self.rows);
            cells.append(more).map_err(|kinds| no_column(name, kinds))?;
        }
        self.rows += other.rows;
        self.columns.iter_mut().for_each(|column| column.cells.pad_to(self.rows));
        Ok(())
    }

    /// The bytes of the table in memory, about.
    pub fn byte_len(&self) -> usize {
        self.columns.iter().map(|column| column.name.len() + column.cells.byte_len()).sum()
    }
}

/// The error for a column that holds values of two kinds.
fn no_column(name: &str, kinds: MixedTypes) -> Error {
    Error::query(format!("{name:?} holds {kinds}, so it is no column of a table"))
}

impl TableSink {
    /// The number of rows so far.
    pub fn rows(&self) -> usize {
        self.table.rows
    }

    /// The bytes of the rows so far in memory, about.
    pub fn byte_len(&self) -> usize {
        self.table.byte_len()
    }

    /// Begins another answer, whose rows come after those of the one before.
    ///
    /// # Errors
    ///
    /// As [`TableSink::finish`] says of the one before.
    pub fn begin_answer(&mut self) -> Result<()> {
        self.check_block()?;
        self.blocks.clear();
        self.fault.take().map_or(Ok(()), Err)
    }

    fn check_block(&self) -> Result<()> {
        let names = self.blocks.join(", ");
        match &self.expected {
            Some(expected) if !self.blocks.contains(expected) => {
                let message = format!("the answer has no block {expected:?}, it has: {names}");
                Err(Error::query(message))
            }
            None if 1 < self.blocks.len() => {
                let message = format!("the answer has several blocks, choose one: {names}");
                Err(Error::query(message))
            }
            _ => Ok(()),
        }
    }

    /// Creates a sink for the rows of a block. With `None` the answer must have exactly one block,
    /// which is used.
    pub fn new(block: Option<String>) -> TableSink {
        TableSink { expected: block, ..TableSink::default() }
    }

    /// Returns the table.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] that names the key where rows hold several nodes or values of different
    /// kinds, and where there is no such block or more than one to choose from.
    pub fn finish(mut self) -> Result<Table> {
        self.check_block()?;
        for column in &mut self.table.columns {
            column.cells.pad_to(self.table.rows);
        }
        self.fault.map_or(Ok(self.table), Err)
    }

    fn end_row(&mut self) {
        let StagedRow { cells: staged, texts } = &mut self.row;
        for (column, cell) in staged.drain(..) {
            let Column { name, cells } = &mut self.table.columns[column];
            cells.pad_to(self.table.rows);
            if let Err(kinds) = cells.push(cell, texts) {
                self.fault.get_or_insert(no_column(name, kinds));
            }
        }
        texts.clear();
        self.table.rows += 1;
        self.next_column = 0;
    }

    /// Returns the index of the column that `path` names, and adds the column if it is new.
    fn column(&mut self) -> usize {
        let position = column_position(
            &mut self.table.columns,
            &mut self.positions,
            self.next_column,
            &self.path,
        );
        self.next_column = position + 1;
        position
    }

    fn cell(&mut self, cell: Cell) {
        match self.frames.last_mut() {
            Some(Frame::List { items, .. }) => items.push(cell),
            Some(Frame::Object { .. }) => {
                let column = self.column();
                self.row.cells.push((column, cell));
            }
            Some(Frame::Item(is_empty) | Frame::Passed(is_empty)) => *is_empty = false,
            _ => {}
        }
    }

    /// Records the error that a list holds objects or lists instead of values.
    fn refuse_item(&mut self) {
        let key = &self.path;
        let error = match self.has_groups_below {
            true => Error::query(format!(
                "{key:?} holds groups for each node, so the rows are no table: group in a block \
                 of its own, `var(func: ...) {{ x as {key} }} q(func: uid(x)) @groupby(...)`"
            )),
            false => Error::query(format!("{key:?} holds several nodes, so the rows are no table"))
                .with_hint(format!(
                    "add @normalize and an alias to every field of a row, or leave {key:?} out; \
                     in Python, `.flatten()` or `.explode(...)` of each result of `query_each` \
                     makes rows of the nodes"
                )),
        };
        self.fault.get_or_insert(error);
        self.cell(Cell::Null);
    }

    fn end(&mut self) {
        match self.frames.pop() {
            Some(Frame::Object { path_len: 0, .. }) if mem::take(&mut self.has_groups) => {}
            Some(Frame::Object { path_len: 0, .. }) => self.end_row(),
            Some(Frame::Groups) => self.has_groups = true,
            Some(Frame::List { column, items }) => self.row.cells.push((column, Cell::List(items))),
            Some(Frame::Item(_)) => self.refuse_item(),
            // Informs the enclosing frame that it has content.
            Some(Frame::Passed(_)) => self.cell(Cell::Null),
            _ => {}
        }
    }

    fn discard(&mut self) {
        if let Some(Frame::Object { cells, .. }) = self.frames.pop() {
            // The texts of the cells stay in the buffer until the row is complete: nothing refers
            // to them any more.
            self.row.cells.truncate(cells);
        }
    }
}

/// What a chunk of a table is a part of.
#[derive(Clone, Copy)]
pub enum TableForm {
    /// The rows of the requested block.
    Rows,
    /// The groups of that block.
    Groups,
    /// Something else.
    Other,
}

impl FragmentSink for TableSink {
    type Form = TableForm;
    type Chunk = TableSink;

    fn form(&self) -> TableForm {
        match self.frames.last() {
            Some(Frame::Block(true)) => TableForm::Rows,
            Some(Frame::Groups) => TableForm::Groups,
            _ => TableForm::Other,
        }
    }

    fn chunk(form: &TableForm) -> TableSink {
        let frame = match form {
            TableForm::Rows => Frame::Block(true),
            TableForm::Groups => Frame::Groups,
            TableForm::Other => Frame::Passed(true),
        };
        TableSink { frames: vec![frame], ..TableSink::default() }
    }

    fn append(&mut self, chunk: TableSink) {
        if let Some(Frame::Passed(is_empty)) = self.frames.last_mut() {
            *is_empty &= matches!(chunk.frames.last(), Some(Frame::Passed(true)));
        }
        if let Some(fault) = chunk.fault {
            self.fault.get_or_insert(fault);
        }
        for column in &mut self.table.columns {
            column.cells.pad_to(self.table.rows);
        }
        let mut table = chunk.table;
        for column in &mut table.columns {
            column.cells.pad_to(table.rows);
        }
        if let Err(fault) = self.table.append(table) {
            self.fault.get_or_insert(fault);
        }
    }

    fn expect(&mut self, _: usize) {}

    fn takes_objects(&self) -> bool {
        true
    }
}

impl Sink for TableSink {
    fn begin_object(&mut self) {
        let cells = self.row.cells.len();
        self.frames.push(match self.frames.last() {
            None => Frame::Blocks,
            Some(Frame::Block(true) | Frame::Groups) => Frame::Object { path_len: 0, cells },
            Some(Frame::Object { .. }) => Frame::Object { path_len: self.path.len(), cells },
            Some(Frame::List { .. }) => Frame::Item(true),
            Some(_) => Frame::Passed(true),
        });
    }

    fn end_object(&mut self) {
        self.end();
    }

    fn discard_object(&mut self) {
        self.discard();
    }

    fn begin_array(&mut self) {
        let frame = match self.frames.last() {
            Some(Frame::Blocks) => {
                let name = self.blocks.last().map_or("", String::as_str);
                // Without a requested block the first one is read, and `finish` refuses an answer
                // that has more.
                let is_first = self.blocks.len() == 1;
                Frame::Block(self.expected.as_ref().map_or(is_first, |expected| expected == name))
            }
            Some(Frame::Object { path_len: 0, .. }) if self.path == GROUPS => Frame::Groups,
            Some(Frame::Object { .. }) => Frame::List { column: self.column(), items: Vec::new() },
            Some(Frame::List { .. }) => Frame::Item(true),
            Some(_) | None => Frame::Passed(true),
        };
        self.frames.push(frame);
    }

    fn end_array(&mut self) {
        self.end();
    }

    fn discard_array(&mut self) {
        self.discard();
    }

    fn is_empty(&self) -> bool {
        match self.frames.last() {
            None | Some(Frame::Blocks) => self.blocks.is_empty(),
            Some(Frame::Block(_) | Frame::Groups) => self.table.rows == 0,
            Some(Frame::Object { .. }) if self.has_groups => false,
            Some(Frame::Object { cells, .. }) => self.row.cells.len() == *cells,
            Some(Frame::List { items, .. }) => items.is_empty(),
            Some(Frame::Item(is_empty) | Frame::Passed(is_empty)) => *is_empty,
        }
    }

    fn key(&mut self, key: &str) {
        match self.frames.last() {
            Some(Frame::Blocks) => self.blocks.push(key.to_owned()),
            Some(Frame::Object { path_len, .. }) => {
                self.path.truncate(*path_len);
                if !self.path.is_empty() {
                    self.path.push('.');
                }
                self.path.push_str(key);
            }
            Some(Frame::Item(_)) => self.has_groups_below |= key == GROUPS,
            _ => {}
        }
    }

    fn value(&mut self, value: ValueRef<'_>) {
        if let Some(cell) = Cell::of(value, &mut self.row.texts) {
            self.cell(cell);
        }
    }

    fn uid(&mut self, uid: Uid) {
        let cell = Cell::text(uid.text().as_str(), &mut self.row.texts);
        self.cell(cell);
    }

    fn int(&mut self, number: i64) {
        self.cell(Cell::Int(number));
    }

    fn null(&mut self) {
        self.cell(Cell::Null);
    }

    fn text(&mut self, text: &str) {
        let cell = Cell::text(text, &mut self.row.texts);
        self.cell(cell);
    }

    fn objects(&mut self, objects: &Objects<'_>) -> bool {
        let is_list = matches!(self.frames.last(), Some(Frame::Block(true) | Frame::Groups));
        if objects.order.is_some() || !is_list {
            return false;
        }
        let column = |(name, cells): &(&str, ObjectCells<'_>)| {
            Some(Column { name: (*name).to_owned(), cells: Cells::of(cells)? })
        };
        let columns: Option<Vec<Column>> = objects.columns.iter().map(column).collect();
        let Some(mut columns) = columns else { return false };
        columns.retain(|column| !matches!(column.cells, Cells::Null(_)));
        for column in &mut self.table.columns {
            column.cells.pad_to(self.table.rows);
        }
        if let Err(fault) = self.table.append(Table { columns, rows: objects.len }) {
            self.fault.get_or_insert(fault);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes `{"q":[ROWS]}`.
    fn table(rows: impl FnOnce(&mut TableSink)) -> Result<Table> {
        let mut sink = TableSink::new(None);
        sink.begin_object();
        sink.key("q");
        sink.begin_array();
        rows(&mut sink);
        sink.end_array();
        sink.end_object();
        sink.finish()
    }

    fn row(sink: &mut TableSink, fields: impl FnOnce(&mut TableSink)) {
        sink.begin_object();
        fields(sink);
        sink.end_object();
    }

    #[test]
    fn nested_objects_become_columns_and_gaps_are_null() {
        let table = table(|sink| {
            row(sink, |sink| {
                sink.key("a.b");
                sink.int(1);
                sink.key("boss");
                row(sink, |sink| {
                    sink.key("name");
                    sink.text("x");
                    sink.key("age");
                    sink.int(2);
                });
                sink.key("z");
                sink.uid(Uid(16));
            });
            sink.begin_object();
            sink.key("z");
            sink.int(5);
            sink.discard_object();
            row(sink, |sink| {
                sink.key("boss");
                sink.begin_object();
                assert!(sink.is_empty());
                sink.discard_object();
                assert!(sink.is_empty());
                sink.key("later");
                sink.null();
            });
        })
        .unwrap();
        let names: Vec<&str> = table.columns.iter().map(|column| &*column.name).collect();
        assert_eq!(names, ["a.b", "boss.name", "boss.age", "z", "later"]);
        assert!(table.columns.iter().all(|column| column.cells.len() == 2));
        let Cells::Text(texts) = &table.columns[3].cells else { panic!("no texts") };
        assert_eq!((&texts.bytes[..], &texts.valid[..]), (&b"0x10"[..], &[true, false][..]));
    }

    #[test]
    fn nodes_in_a_list_are_refused_by_name() {
        let error = table(|sink| {
            row(sink, |sink| {
                sink.key("friend");
                sink.begin_array();
                sink.begin_object();
                assert!(sink.is_empty());
                sink.discard_object();
                row(sink, |sink| {
                    sink.key("name");
                    sink.text("x");
                    assert!(!sink.is_empty());
                });
                sink.end_array();
            });
        });
        let message = error.unwrap_err().to_string();
        assert!(message.contains("\"friend\"") && message.contains("@normalize"), "{message}");
    }

    #[test]
    fn groups_are_rows() {
        let group = |sink: &mut TableSink, age, count| {
            row(sink, |sink| {
                sink.key("age");
                sink.int(age);
                sink.key("count");
                sink.int(count);
            });
        };
        let table = table(|sink| {
            row(sink, |sink| {
                sink.key(GROUPS);
                sink.begin_array();
                group(sink, 30, 2);
                group(sink, 40, 1);
                sink.end_array();
                assert!(!sink.is_empty());
            });
        })
        .unwrap();
        assert_eq!(table.rows, 2);
        let Cells::Int(ages) = &table.columns[0].cells else { panic!("no numbers") };
        assert_eq!((table.columns.len(), &ages.values[..]), (2, &[30, 40][..]));
    }

    #[test]
    fn groups_in_a_list_are_refused_by_name() {
        let error = table(|sink| {
            row(sink, |sink| {
                sink.key("friend");
                sink.begin_array();
                row(sink, |sink| {
                    sink.key(GROUPS);
                    sink.begin_array();
                    row(sink, |_| {});
                    sink.end_array();
                });
                sink.end_array();
            });
        });
        let message = error.unwrap_err().to_string();
        assert!(message.contains("`var(func: ...) { x as friend }"), "{message}");
    }

    #[test]
    fn kinds_that_differ_are_refused_by_name() {
        let error = table(|sink| {
            row(sink, |sink| {
                sink.key("a");
                sink.int(1);
            });
            row(sink, |sink| {
                sink.key("a");
                sink.text("x");
            });
        });
        let message = error.unwrap_err().to_string();
        assert!(message.contains("\"a\" holds numbers and texts"), "{message}");
    }

    #[test]
    fn one_block_is_chosen() {
        let write = |mut sink: TableSink| {
            sink.begin_object();
            for (name, number) in [("p", 1), ("q", 2)] {
                sink.key(name);
                sink.begin_array();
                row(&mut sink, |sink| {
                    sink.key("n");
                    sink.int(number);
                });
                sink.end_array();
            }
            sink.end_object();
            sink.finish()
        };
        let table = write(TableSink::new(Some("q".to_owned()))).unwrap();
        let Cells::Int(numbers) = &table.columns[0].cells else { panic!("no numbers") };
        assert_eq!(numbers.values, [2]);
        let error = write(TableSink::new(None)).unwrap_err().to_string();
        assert_eq!(error, "the answer has several blocks, choose one: p, q");
        let error = write(TableSink::new(Some("r".to_owned()))).unwrap_err().to_string();
        assert_eq!(error, "the answer has no block \"r\", it has: p, q");
    }
}
