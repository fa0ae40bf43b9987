//! Rows of one block as typed columns that may hold objects and lists of objects.
//!
//! [`super::TableSink`] is faster and knows flat rows alone: it writes rows with many threads.

use super::cells::{Cell, Structs};
use super::table::Table;
use crate::types::{Error, Result, Sink, Uid, ValueRef};
use std::collections::HashSet;
use std::sync::Arc;

/// The key under which `@groupby` writes its groups.
const GROUPS: &str = "@groupby";

/// A sink that collects the objects of one block as a table with nested columns. The groups of a
/// block are its rows.
#[derive(Default)]
pub struct NestedSink {
    expected: String,
    /// True to make one row of all objects of the block.
    joins: bool,
    joined: Vec<(Arc<str>, Cell)>,
    rows: Structs,
    texts: String,
    keys: HashSet<Arc<str>>,
    frames: Vec<Frame>,
    fault: Option<Error>,
}

/// An object or array that has begun and not ended.
enum Frame {
    /// The object of all blocks; true before the array of the requested one.
    Blocks(bool),
    /// The array of the requested block, and the number of its elements.
    Block(usize),
    /// An object: the key of the next value, and the values so far.
    Object(Option<Arc<str>>, Vec<(Arc<str>, Cell)>),
    /// A list.
    List(Vec<Cell>),
    /// Something in another block, and the number of its elements.
    Passed(usize),
}

impl NestedSink {
    /// Creates a sink for a block. `joins` makes one row of all its objects, where each has a value
    /// of its own, as those of a block without nodes do.
    pub fn new(block: String, joins: bool) -> NestedSink {
        NestedSink { expected: block, joins, ..NestedSink::default() }
    }

    /// Returns the table.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] that names the key whose values are of different kinds.
    pub fn finish(mut self) -> Result<Table> {
        if !self.joined.is_empty() {
            let row = std::mem::take(&mut self.joined);
            self.row(row);
        }
        let rows = self.rows.valid.len();
        let mut table = Table { columns: self.rows.columns, rows };
        for column in &mut table.columns {
            column.cells.pad_to(rows);
            column.cells.complete();
        }
        self.fault.map_or(Ok(table), Err)
    }

    fn row(&mut self, fields: Vec<(Arc<str>, Cell)>) {
        if let Err((key, kinds)) = self.rows.push(fields, &self.texts) {
            let message = format!("{key:?} holds {kinds}, so it is no column of a table");
            self.fault.get_or_insert(Error::query(message));
        }
    }

    /// Takes an entire object of the block.
    fn end_row(&mut self, fields: Vec<(Arc<str>, Cell)>) {
        if self.joins {
            self.joined.extend(fields);
            return;
        }
        if fields.iter().all(|(key, _)| &**key != GROUPS) {
            self.row(fields);
        } else {
            let groups = fields.into_iter().filter_map(|(_, cell)| match cell {
                Cell::List(groups) => Some(groups),
                _ => None,
            });
            for group in groups.flatten() {
                if let Cell::Object(fields) = group {
                    self.row(fields);
                }
            }
        }
        self.texts.clear();
    }

    fn cell(&mut self, cell: Cell) {
        match self.frames.last_mut() {
            Some(Frame::Object(key, fields)) => {
                if let Some(key) = key.take() {
                    fields.push((key, cell));
                }
            }
            Some(Frame::List(items)) => items.push(cell),
            Some(Frame::Passed(count) | Frame::Block(count)) => *count += 1,
            _ => {}
        }
    }

    fn end(&mut self) {
        match self.frames.pop() {
            Some(Frame::Object(_, fields)) => match self.frames.last_mut() {
                Some(Frame::Block(count)) => {
                    *count += 1;
                    self.end_row(fields);
                }
                _ => self.cell(Cell::Object(fields)),
            },
            Some(Frame::List(items)) => self.cell(Cell::List(items)),
            Some(Frame::Passed(_)) => self.cell(Cell::Null),
            _ => {}
        }
    }

    fn discard(&mut self) {
        self.frames.pop();
        if let Some(Frame::Object(key, _)) = self.frames.last_mut() {
            *key = None;
        }
    }

    fn begin(&mut self, inner: Frame) {
        let frame = match self.frames.last() {
            Some(Frame::Block(_) | Frame::Object(..) | Frame::List(_)) => inner,
            Some(Frame::Blocks(_) | Frame::Passed(_)) | None => Frame::Passed(0),
        };
        self.frames.push(frame);
    }
}

impl Sink for NestedSink {
    fn begin_object(&mut self) {
        match self.frames.is_empty() {
            true => self.frames.push(Frame::Blocks(false)),
            false => self.begin(Frame::Object(None, Vec::new())),
        }
    }

    fn end_object(&mut self) {
        self.end();
    }

    fn discard_object(&mut self) {
        self.discard();
    }

    fn begin_array(&mut self) {
        match self.frames.last() {
            Some(Frame::Blocks(true)) => self.frames.push(Frame::Block(0)),
            _ => self.begin(Frame::List(Vec::new())),
        }
    }

    fn end_array(&mut self) {
        self.end();
    }

    fn discard_array(&mut self) {
        self.discard();
    }

    fn is_empty(&self) -> bool {
        match self.frames.last() {
            None | Some(Frame::Blocks(_)) => false,
            Some(Frame::Block(count) | Frame::Passed(count)) => *count == 0,
            Some(Frame::Object(_, fields)) => fields.is_empty(),
            Some(Frame::List(items)) => items.is_empty(),
        }
    }

    fn key(&mut self, key: &str) {
        match self.frames.last_mut() {
            Some(Frame::Blocks(is_next)) => *is_next = key == self.expected,
            Some(Frame::Object(next, _)) => {
                let own = self.keys.get(key).cloned().unwrap_or_else(|| {
                    let own: Arc<str> = Arc::from(key);
                    self.keys.insert(Arc::clone(&own));
                    own
                });
                *next = Some(own);
            }
            _ => {}
        }
    }

    fn value(&mut self, value: ValueRef<'_>) {
        match Cell::of(value, &mut self.texts) {
            Some(cell) => self.cell(cell),
            None => {
                if let Some(Frame::Object(key, _)) = self.frames.last_mut() {
                    *key = None;
                }
            }
        }
    }

    fn uid(&mut self, uid: Uid) {
        let cell = Cell::text(uid.text().as_str(), &mut self.texts);
        self.cell(cell);
    }

    fn int(&mut self, number: i64) {
        self.cell(Cell::Int(number));
    }

    fn null(&mut self) {
        self.cell(Cell::Null);
    }

    fn text(&mut self, text: &str) {
        let cell = Cell::text(text, &mut self.texts);
        self.cell(cell);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{CellOffsets, Cells, Form, Shape};

    /// Writes `{"p":[{"x":0}],"q":[ROWS]}`, where a row has the friends of these ages.
    fn table(rows: &[&[i64]]) -> Table {
        let mut sink = NestedSink::new("q".to_owned(), false);
        sink.begin_object();
        for (block, rows) in [("p", &[&[0_i64][..]][..]), ("q", rows)] {
            sink.key(block);
            sink.begin_array();
            for ages in rows {
                sink.begin_object();
                sink.key("name");
                sink.text("Ada");
                sink.key("friend");
                sink.begin_array();
                for &age in *ages {
                    sink.begin_object();
                    sink.key("age");
                    sink.int(age);
                    sink.end_object();
                }
                if sink.is_empty() {
                    sink.discard_array()
                } else {
                    sink.end_array()
                }
                sink.end_object();
            }
            sink.end_array();
        }
        sink.end_object();
        sink.finish().unwrap()
    }

    #[test]
    fn lists_of_objects_are_columns() {
        let result = table(&[&[1, 2], &[], &[3]]);
        assert_eq!((result.rows, result.columns[0].name.as_str()), (3, "name"));
        let Cells::List(lists) = &result.columns[1].cells else { panic!("no lists") };
        let offsets = CellOffsets::Narrow(vec![0, 2, 2, 3]);
        assert_eq!((&lists.offsets, &lists.valid[..]), (&offsets, &[true, false, true][..]));
        let Cells::Struct(friends) = &lists.items else { panic!("no objects") };
        let Cells::Int(ages) = &friends.columns[0].cells else { panic!("no ages") };
        assert_eq!(ages.values, [1, 2, 3]);
    }

    /// The last objects lack a key that some have.
    #[test]
    fn columns_of_objects_are_of_one_length() {
        let mut sink = NestedSink::new("q".to_owned(), false);
        sink.begin_object();
        sink.key("q");
        sink.begin_array();
        sink.begin_object();
        sink.key("friend");
        sink.begin_array();
        for key in ["age", "size", "age"] {
            sink.begin_object();
            sink.key(key);
            sink.int(1);
            sink.end_object();
        }
        sink.end_array();
        sink.end_object();
        sink.end_array();
        sink.end_object();
        let result = sink.finish().unwrap();
        let Cells::List(lists) = &result.columns[0].cells else { panic!("no lists") };
        let Cells::Struct(friends) = &lists.items else { panic!("no objects") };
        let lens: Vec<usize> = friends.columns.iter().map(|column| column.cells.len()).collect();
        assert_eq!(lens, [3, 3]);
    }

    #[test]
    fn a_shape_adds_what_no_row_has() {
        let friend = Form::List(Box::new(Form::Object(vec![
            Shape { key: "born".to_owned(), form: Form::Time },
            Shape { key: "age".to_owned(), form: Form::Int },
        ])));
        let shapes = [
            Shape { key: "friend".to_owned(), form: friend },
            Shape { key: "size".to_owned(), form: Form::Float },
        ];
        for mut result in [table(&[&[1, 2], &[]]), table(&[])] {
            let rows = result.rows;
            result.shape(&shapes);
            let names: Vec<&str> =
                result.columns.iter().map(|column| column.name.as_str()).collect();
            assert_eq!(names[..2], ["friend", "size"]);
            assert!(result.columns.iter().all(|column| column.cells.len() == rows));
            let Cells::List(lists) = &result.columns[0].cells else { panic!("no lists") };
            let Cells::Struct(friends) = &lists.items else { panic!("no objects") };
            assert!(matches!(friends.columns[0].cells, Cells::Time(_)));
            assert_eq!(friends.columns[0].cells.len(), friends.valid.len());
        }
    }
}
