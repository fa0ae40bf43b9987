//! Tables in JSON: an object or an array for each row, in any layout.
//!
//! ```text
//! [{"a": 1}, {"a": 2}]     {"a": 1}           [["a", "b"],
//!                          {"a": 2}            [1, 2]]
//! ```
//!
//! The file is read twice: for the columns and their types, and for the values. Both times it comes
//! in chunks, and what a chunk becomes is reserved before it is parsed.

use super::csv::file::check_names;
use super::csv::kinds::{ColumnKind, MissingTexts, TypedColumns, column_array};
use super::opened::open_file;
use super::pages::memory::ReadMemory;
use crate::tables::shape::options::{SniffedOption, TableOptions};
use crate::tables::shape::parts::{ColumnName, Fault};
use arrow_array::{ArrayRef, LargeListArray, RecordBatch};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Fields, Schema};
use hexgraph_base::budget::{Budget, Held, json_weight};
use hexgraph_base::formats::{Chunk, ChunkLine, ChunkReader, FilePosition};
use hexgraph_base::types::{Error, Position, Result, ValueType};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most columns of a table.
const COLUMNS_MAX: usize = 1 << 16;

/// The bytes that a value takes in a column, and in a part.
const VALUE_LEN: u64 = 2;

/// A file whose columns are detected.
pub(in crate::tables) struct JsonFile {
    path: PathBuf,
    columns: Vec<Column>,
    /// Whether rows are arrays.
    are_arrays: bool,
    /// Whether the first of them has the names.
    has_header: bool,
    missing: MissingTexts,
}

struct Column {
    name: String,
    kind: ColumnKind,
    is_list: bool,
    requested: Option<ColumnKind>,
    /// The first cell that is no value, which is an error where the column is read.
    refused: Option<(FilePosition, Nested)>,
}

/// What a cell has that is no value.
#[derive(Debug, Clone, Copy)]
enum Nested {
    Objects,
    ListsOfLists,
    ListsOfObjects,
}

/// Some rows of a file, as text.
pub(in crate::tables) struct JsonRows {
    chunk: Chunk,
    /// The lines on which rows begin.
    lines: Vec<u64>,
}

/// Reads a file as a table of JSON, or finds what is wrong in it.
///
/// # Panics
///
/// Panics where the rows are not those that `serde_json` reads, where a cell is not of the type
/// that was detected for its column, and for an error without a line.
#[doc(hidden)]
pub fn check_json_table(path: &Path) {
    let memory = ReadMemory::new(&Budget::new(1 << 30), 0);
    let opened = JsonFile::open(path.to_owned(), &TableOptions::default(), &memory, |_| None);
    let file = match opened {
        Ok(file) => file,
        Err(Error::Load { line: 1.., .. } | Error::Io { .. }) => return,
        Err(fault) => panic!("{fault}"),
    };
    let columns = 0..file.columns.len();
    let positions: Vec<usize> = columns.filter(|at| file.check_column(*at).is_ok()).collect();
    let mut count = 0;
    for chunk in file.chunks().expect("it was read before") {
        let chunk = chunk.expect("it was read before");
        let (rows, _held) = file.rows(chunk, &memory).expect("it was read before");
        let (batch, faults) = file.typed(&rows, &positions, count).expect("it was read before");
        assert_eq!((batch.num_rows(), faults.len()), (rows.len(), 0));
        count += rows.len() as u64;
    }
    let text = fs::read(path).expect("it was read before");
    if let Ok(rows) = serde_json::from_slice::<Vec<Value>>(&text) {
        assert_eq!(count + u64::from(file.has_header), rows.len() as u64);
    }
}

impl JsonFile {
    /// Finds the columns of a file and their types. `type_of` says for a column which type it has;
    /// `None` leaves that to the values.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] for a file that can't be read; [`Error::Load`] with the line of what is no row
    /// of a table; [`Error::Limit`] where there is no memory.
    pub(in crate::tables) fn open(
        path: PathBuf,
        options: &TableOptions,
        memory: &ReadMemory,
        type_of: impl Fn(&str) -> Option<ValueType>,
    ) -> Result<JsonFile> {
        let missing = MissingTexts { given: options.text.null_values.clone(), quoted_empty: false };
        let mut file =
            JsonFile { path, columns: Vec::new(), are_arrays: false, has_header: false, missing };
        let mut is_first = true;
        for chunk in file.chunks()? {
            let chunk = chunk?;
            let _held = memory.reserve(json_weight(&chunk.text))?;
            for row in rows_of(&chunk) {
                let at = row.start;
                match file.parsed(&row)? {
                    Value::Array(cells) if is_first => file.begin_arrays(at, &cells, options)?,
                    Value::Array(cells) if file.are_arrays => file.observe_array(at, &cells)?,
                    Value::Object(row) if !file.are_arrays => file.observe(at, &row)?,
                    _ => return Err(file.no_row(at)),
                }
                is_first = false;
            }
        }
        for column in &mut file.columns {
            column.requested = type_of(&column.name).map(ColumnKind::from);
        }
        Ok(file)
    }

    /// Gives columns of one name in several files one type, that of all their values.
    pub(in crate::tables) fn widen(files: &mut [&mut JsonFile]) {
        let mut kinds = BTreeMap::<String, (ColumnKind, bool)>::new();
        for column in files.iter().flat_map(|file| &file.columns) {
            let both = kinds.entry(column.name.clone()).or_insert((ColumnKind::Missing, false));
            *both = (wider(both.0, column.kind), both.1 || column.is_list);
        }
        for column in files.iter_mut().flat_map(|file| &mut file.columns) {
            (column.kind, column.is_list) = kinds[&column.name];
        }
    }

    /// The error for reading a column in which a cell is no value.
    ///
    /// # Errors
    ///
    /// [`Error::Load`] with the position of the row whose cell it is.
    pub(in crate::tables) fn check_column(&self, position: usize) -> Result<()> {
        let Some(column) = self.columns.get(position) else { return Ok(()) };
        let Some((at, nested)) = column.refused else { return Ok(()) };
        let message = format!(
            "column {:?} has {}, which are no values: leave it out, with `columns`, make columns of them \
             (`pandas.json_normalize`), or load the file with `db.load`, which makes nodes of objects",
            column.name,
            nested.name()
        );
        Err(self.fault(at, message))
    }

    /// Its columns, with Arrow's types.
    pub(in crate::tables) fn schema(&self) -> Schema {
        Schema::new(self.columns.iter().map(Column::field).collect::<Vec<Field>>())
    }

    /// The bytes of the file.
    pub(in crate::tables) fn size(&self) -> u64 {
        fs::metadata(&self.path).map_or(0, |file| file.len())
    }

    /// What the file is, in one line.
    pub(in crate::tables) fn description(&self) -> String {
        let rows = if self.are_arrays { "arrays" } else { "objects" };
        let count = self.columns.len();
        let columns = if count == 1 { "column" } else { "columns" };
        format!("JSON, {rows}, {count} {columns}")
    }

    /// The options that reproduce this detection.
    pub(in crate::tables) fn written_with(&self) -> Vec<(&'static str, SniffedOption)> {
        let header = ("header", SniffedOption::Flag(self.has_header));
        if self.are_arrays { vec![header] } else { Vec::new() }
    }

    /// Whether its rows are arrays, so that they have no names.
    pub(in crate::tables) fn has_arrays(&self) -> bool {
        self.are_arrays || self.columns.is_empty()
    }

    /// The text of the file, in chunks.
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub(in crate::tables) fn chunks(&self) -> Result<ChunkReader<'static>> {
        ChunkReader::new(open_file(&self.path)?, &self.name())
    }

    /// The rows of a chunk, without that of the names, and the memory that reading them takes.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] where there is no memory; [`Error::Load`] for what is no text.
    pub(in crate::tables) fn rows(
        &self,
        chunk: Chunk,
        memory: &ReadMemory,
    ) -> Result<(JsonRows, Held)> {
        let held = memory.reserve(json_weight(&chunk.text) * VALUE_LEN)?;
        let skipped = usize::from(self.has_header && chunk.index == 0);
        let lines = rows_of(&chunk).skip(skipped).map(|row| match row.text {
            Ok(_) => Ok(row.start.line),
            Err(reason) => Err(self.fault(row.start, reason)),
        });
        let lines = lines.collect::<Result<_>>()?;
        Ok((JsonRows { chunk, lines }, held))
    }

    /// The values of some columns of rows from `first_row` on, and those that do not fit their
    /// column.
    ///
    /// # Errors
    ///
    /// [`Error::Load`] where the file is not as it was when it was opened.
    pub(in crate::tables) fn typed(
        &self,
        rows: &JsonRows,
        positions: &[usize],
        first_row: u64,
    ) -> Result<(RecordBatch, Vec<Fault>)> {
        let skipped = usize::from(self.has_header && rows.chunk.index == 0);
        let mut parsed = Vec::with_capacity(rows.lines.len());
        for row in rows_of(&rows.chunk).skip(skipped) {
            parsed.push(self.parsed(&row)?);
        }
        let mut typed = TypedColumns::default();
        for &position in positions {
            let column = &self.columns[position];
            let cells: Vec<&Value> =
                parsed.iter().map(|row| cell_of(row, column, position)).collect();
            let name = ColumnName { name: column.name.clone(), position };
            let (array, mismatches) = column.array(&cells, &self.missing);
            let mismatches =
                mismatches.into_iter().map(|row| (row, Cow::Owned(cells[row].to_string())));
            typed.push((name, column.kind()), array, mismatches, first_row);
        }
        typed.finish(parsed.len())
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn parsed(&self, row: &ChunkLine<'_>) -> Result<Value> {
        let text = row.text.as_ref().map_err(|reason| self.fault(row.start, reason.clone()))?;
        serde_json::from_str(text).map_err(|error| {
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            let column = u32::try_from(error.column().saturating_sub(1)).unwrap_or(u32::MAX);
            let line = u32::try_from(error.line()).unwrap_or(u32::MAX);
            self.fault(row.start.within(Position { line, column }), format!("no JSON: {message}"))
        })
    }

    /// Names the columns of rows that are arrays, by the first of them where it has names.
    fn begin_arrays(
        &mut self,
        at: FilePosition,
        first: &[Value],
        options: &TableOptions,
    ) -> Result<()> {
        self.are_arrays = true;
        let names: Option<Vec<&str>> = first.iter().map(Value::as_str).collect();
        let given = options.text.columns.as_ref();
        // An empty array has no names.
        let has_names = names.is_some_and(|names| !names.is_empty());
        self.has_header = options.text.header.unwrap_or(has_names && given.is_none());
        if let Some(names) = given {
            check_names(&self.name(), names, first.len())?;
        }
        for (index, cell) in first.iter().enumerate() {
            let name = match cell {
                _ if let Some(names) = given => names[index].clone(),
                Value::String(name) if self.has_header => name.clone(),
                _ => format!("column{index}"),
            };
            self.columns.push(Column::new(name));
            if !self.has_header {
                self.columns[index].observe(at, cell);
            }
        }
        Ok(())
    }

    fn observe_array(&mut self, at: FilePosition, cells: &[Value]) -> Result<()> {
        if self.columns.len() < cells.len() {
            let (have, are) = (cells.len(), self.columns.len());
            let message = format!("this row has {have} cells, and the table has {are} columns");
            return Err(self.fault(at, message));
        }
        for (index, cell) in cells.iter().enumerate() {
            self.columns[index].observe(at, cell);
        }
        Ok(())
    }

    fn observe(&mut self, at: FilePosition, row: &Map<String, Value>) -> Result<()> {
        for (guess, (name, cell)) in row.iter().enumerate() {
            // Rows mostly have the same names in the same order.
            let is_guessed = self.columns.get(guess).is_some_and(|column| column.name == *name);
            let existing = || self.columns.iter().position(|column| column.name == *name);
            let position = match is_guessed.then_some(guess).or_else(existing) {
                Some(position) => position,
                None if self.columns.len() == COLUMNS_MAX => {
                    let message = format!("the table has more than {COLUMNS_MAX} columns");
                    return Err(self.fault(at, message));
                }
                None => {
                    self.columns.push(Column::new(name.clone()));
                    self.columns.len() - 1
                }
            };
            self.columns[position].observe(at, cell);
        }
        Ok(())
    }

    fn no_row(&self, at: FilePosition) -> Error {
        let message = "each row of a table is an object, or each is an array".to_owned();
        self.fault(at, message)
    }

    fn fault(&self, at: FilePosition, message: String) -> Error {
        let column = at.column.saturating_add(1);
        Error::Load { file: self.name(), line: at.line, column, message }
    }
}

impl JsonRows {
    /// The number of rows.
    pub(in crate::tables) fn len(&self) -> usize {
        self.lines.len()
    }

    /// The bytes of text.
    pub(in crate::tables) fn size(&self) -> u64 {
        self.chunk.text.len() as u64
    }

    /// The line on which a row begins.
    pub(in crate::tables) fn line_of(&self, row: usize) -> Option<u64> {
        self.lines.get(row).copied()
    }
}

impl Column {
    fn new(name: String) -> Column {
        let (kind, is_list) = (ColumnKind::Missing, false);
        Column { name, kind, is_list, requested: None, refused: None }
    }

    fn kind(&self) -> ColumnKind {
        self.requested.unwrap_or(self.kind)
    }

    fn field(&self) -> Field {
        if let Some((_, nested)) = self.refused {
            return Field::new(&self.name, nested.data_type(), true);
        }
        let item = self.kind().data_type();
        let data_type = match self.is_list {
            true => DataType::LargeList(Arc::new(Field::new("item", item, true))),
            false => item,
        };
        Field::new(&self.name, data_type, true)
    }

    /// Widens the type of the column to that of a cell, or notes that the cell is no value.
    fn observe(&mut self, at: FilePosition, cell: &Value) {
        use ColumnKind as K;
        let kind = match cell {
            Value::Null => K::Missing,
            Value::Bool(_) => K::Bool,
            Value::Number(number) if number.is_i64() => K::Int,
            Value::Number(number) if number.is_u64() => K::Text,
            Value::Number(_) => K::Float,
            Value::String(_) => K::Text,
            Value::Array(items) => {
                self.is_list = true;
                match items.iter().find(|item| item.is_array() || item.is_object()) {
                    Some(item) if item.is_array() => self.refuse(at, Nested::ListsOfLists),
                    Some(_) => self.refuse(at, Nested::ListsOfObjects),
                    None => items.iter().for_each(|item| self.observe(at, item)),
                }
                return;
            }
            Value::Object(_) => return self.refuse(at, Nested::Objects),
        };
        self.kind = wider(self.kind, kind);
    }

    fn refuse(&mut self, at: FilePosition, nested: Nested) {
        self.refused.get_or_insert((at, nested));
    }

    /// The cells as an array, and the rows of those that are not of its type.
    fn array(&self, cells: &[&Value], missing: &MissingTexts) -> (ArrayRef, Vec<usize>) {
        let kind = (self.kind(), self.requested.is_some());
        if !self.is_list {
            return column_array(cells.iter().map(|cell| text_of(cell)), kind, missing);
        }
        let (mut items, mut rows, mut lens) = (Vec::new(), Vec::new(), Vec::new());
        for (row, cell) in cells.iter().enumerate() {
            let own = match cell {
                Value::Array(items) => items.as_slice(),
                Value::Null => &[],
                one => std::slice::from_ref(*one),
            };
            items.extend(own);
            rows.resize(items.len(), row);
            lens.push(own.len());
        }
        let (array, mismatches) = column_array(items.into_iter().map(text_of), kind, missing);
        let field = Arc::new(Field::new("item", array.data_type().clone(), true));
        let nulls: NullBuffer = cells.iter().map(|cell| !cell.is_null()).collect();
        let offsets = OffsetBuffer::from_lengths(lens);
        let list = LargeListArray::new(field, offsets, array, Some(nulls));
        (Arc::new(list), mismatches.into_iter().map(|item| rows[item]).collect())
    }
}

impl Nested {
    fn name(self) -> &'static str {
        match self {
            Nested::Objects => "objects",
            Nested::ListsOfLists => "lists of lists",
            Nested::ListsOfObjects => "lists of objects",
        }
    }

    /// Arrow's type for such cells, which no predicate has.
    fn data_type(self) -> DataType {
        let list_of = |item| DataType::LargeList(Arc::new(Field::new("item", item, true)));
        match self {
            Nested::Objects => DataType::Struct(Fields::empty()),
            Nested::ListsOfLists => list_of(list_of(DataType::Utf8)),
            Nested::ListsOfObjects => list_of(DataType::Struct(Fields::empty())),
        }
    }
}

/// The type that has the values of both.
fn wider(one: ColumnKind, other: ColumnKind) -> ColumnKind {
    use ColumnKind as K;
    match (one, other) {
        (one, other) if one == other => one,
        (K::Missing, other) | (other, K::Missing) => other,
        (K::Int | K::Float, K::Int | K::Float) => K::Float,
        _ => K::Text,
    }
}

/// The rows of a chunk, and what is no text.
fn rows_of(chunk: &Chunk) -> impl Iterator<Item = ChunkLine<'_>> {
    chunk.lines().filter(|row| row.text.as_ref().map_or(true, |text| !text.trim_ascii().is_empty()))
}

fn cell_of<'v>(row: &'v Value, column: &Column, position: usize) -> &'v Value {
    match row {
        Value::Object(row) => row.get(&column.name).unwrap_or(&Value::Null),
        Value::Array(cells) => cells.get(position).unwrap_or(&Value::Null),
        _ => &Value::Null,
    }
}

/// A cell as that of a text file: its text, and whether it is one even where it is empty.
fn text_of(cell: &Value) -> (Cow<'_, str>, bool) {
    match cell {
        Value::String(text) => (Cow::Borrowed(text), true),
        Value::Null => (Cow::Borrowed(""), false),
        other => (Cow::Owned(other.to_string()), true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Parts of files in any order are read or refused with a line.
        #[test]
        fn any_parts_are_read_or_refused(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "[", "]", "{", "}", ",", ":", "\"a\"", "\"b\":", "1", "-0", "1.5", "1e9", "9999999999999999999",
                    "true", "null", "\"\"", "\"7\"", "\"2020-01-01\"", "{\"a\": 1}", "{\"a\": [1, \"x\"]}",
                    "{\"a\": {\"b\": []}}", "[[1], {}]", "\n", " ", "\u{feff}", "\\u00e9", "x",
                ]),
                0..12,
            ),
            shape in 0..3,
        ) {
            let text = match shape {
                0 => parts.concat(),
                1 => format!("[{{\"a\": 1}}, {}]", parts.join(",")),
                _ => format!("[[\"a\", \"b\"], [{}]]", parts.join(",")),
            };
            let file = tempfile::NamedTempFile::new().unwrap();
            fs::write(file.path(), text).unwrap();
            check_json_table(file.path());
        }
    }
}
