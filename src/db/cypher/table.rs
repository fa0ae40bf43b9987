//! Answers as columns of one type each.

use super::column_types::{ColumnType, TypeReader, temporal_number};
use super::json::JsonWriter;
use super::run::CypherAnswer;
use crate::db::guard::guarded;
use hexgraph_base::answer::{Cells, Column, Lists, Structs, Table, Temporals, Texts, Values};
use hexgraph_base::types::{Error, Result};
use hexgraph_cypher::AnswerColumn;
use hexgraph_scalar::{Point, Value};
use hexgraph_store::exec::RequestContext;
use std::sync::Arc;

/// Memory is reserved for so many bytes of cells at once.
const RESERVED_AT_ONCE: u64 = 64 << 10;

/// The bytes of a cell of a fixed width, and of the offset of a list or text, with the flag that
/// says whether it is null.
const CELL_BYTES: u64 = 9;

/// # Tables
impl CypherAnswer {
    /// The answer as a table, and a warning for each column that does not have all of its values. A
    /// node, relationship or path is an object, as it is in the rows. A key that some objects lack
    /// is null there. Lists and objects whose values have several types are JSON text, with a
    /// warning; ints and floats together are floats where no digit is lost. Times of one zone have
    /// that zone, times of several are in UTC, with a warning. Durations and times of day with an
    /// offset are texts.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let answer = Database::in_memory().cypher("UNWIND [1, 2.5] AS n RETURN n, [n] AS list")?;
    /// let (table, warnings) = answer.table(&RequestContext::new())?;
    /// assert_eq!((table.rows, table.columns.len()), (2, 2));
    /// assert!(warnings.is_empty());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Limit` when there is no memory for it, or `context` stops it.
    pub fn table(&self, context: &RequestContext) -> Result<(Table, Vec<String>)> {
        self.table_of(context, false)
    }

    /// As [`CypherAnswer::table`], without objects and lists, for forms of text: they are JSON
    /// text, and temporal values are texts of ISO 8601.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext};
    /// use hexgraph_base::answer::Cells;
    ///
    /// let answer = Database::in_memory().cypher("RETURN [1, 2] AS list")?;
    /// let (table, _) = answer.flat_table(&RequestContext::new())?;
    /// let Cells::Text(texts) = &table.columns[0].cells else { panic!("no texts") };
    /// assert_eq!(texts.get(0), Some("[1,2]"));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`CypherAnswer::table`].
    pub fn flat_table(&self, context: &RequestContext) -> Result<(Table, Vec<String>)> {
        self.table_of(context, true)
    }

    fn table_of(&self, context: &RequestContext, is_flat: bool) -> Result<(Table, Vec<String>)> {
        guarded(|| {
            self.prepare(context);
            let mut types = TypeReader::new(context);
            let mut columns = Vec::with_capacity(self.columns.len());
            for (index, name) in self.columns.iter().enumerate() {
                context.check()?;
                let values = match &self.values[index] {
                    AnswerColumn::Typed(cells) => {
                        context.reserve(cells.byte_len() as u64)?;
                        columns.push(Column { name: name.to_string(), cells: cells.clone() });
                        continue;
                    }
                    AnswerColumn::Any(values) => || values.iter(),
                };
                let column_type = types.column_type(name, values(), is_flat)?;
                let mut cells = empty_cells(&column_type);
                let json = JsonWriter::new(context, self.bytes_max);
                let mut writer = CellWriter { context, json, bytes: 0, column: name };
                for value in values() {
                    writer.write(&mut cells, &column_type, value)?;
                }
                writer.reserve()?;
                columns.push(Column { name: name.to_string(), cells });
            }
            Ok((Table { columns, rows: self.row_count() }, types.into_warnings()))
        })
    }
}

/// A column of a type without cells.
fn empty_cells(column_type: &ColumnType) -> Cells {
    let column = |name: &str, cells| Column { name: name.to_owned(), cells };
    match column_type {
        ColumnType::Null => Cells::default(),
        ColumnType::Bool => Cells::Bool(Values::default()),
        ColumnType::Int => Cells::Int(Values::default()),
        ColumnType::Float => Cells::Float(Values::default()),
        ColumnType::Text | ColumnType::Json => Cells::Text(Texts::default()),
        ColumnType::Temporal(unit) => {
            let (unit, cells) = (unit.clone(), Values::default());
            Cells::Temporal(Box::new(Temporals { unit, cells }))
        }
        ColumnType::List(item) => {
            Cells::List(Box::new(Lists { items: empty_cells(item), ..Lists::default() }))
        }
        ColumnType::Object(keys) => {
            let columns = keys.iter().map(|(key, key_type)| column(key, empty_cells(key_type)));
            Cells::Struct(Box::new(Structs::new(columns.collect(), Vec::new())))
        }
        ColumnType::Point { has_z } => {
            let mut columns = vec![column("srid", Cells::Int(Values::default()))];
            let names: &[&str] = if *has_z { &["x", "y", "z"] } else { &["x", "y"] };
            columns.extend(names.iter().map(|name| column(name, Cells::Float(Values::default()))));
            Cells::Struct(Box::new(Structs::new(columns, Vec::new())))
        }
    }
}

/// Adds values to the cells of a column, and reserves their memory.
struct CellWriter<'a> {
    context: &'a RequestContext,
    json: JsonWriter<'a>,
    /// The bytes of cells that no memory is reserved for yet.
    bytes: u64,
    column: &'a str,
}

impl CellWriter<'_> {
    fn write(&mut self, cells: &mut Cells, column_type: &ColumnType, value: &Value) -> Result<()> {
        self.count(CELL_BYTES)?;
        if value.is_null() {
            return self.null(cells);
        }
        match (&mut *cells, column_type, value) {
            (Cells::Bool(cells), _, Value::Bool(truth)) => cells.push(*truth),
            (Cells::Int(cells), _, Value::Int(number)) => cells.push(*number),
            (Cells::Float(cells), _, Value::Float(number)) => cells.push(*number),
            (Cells::Float(cells), _, Value::Int(number)) => cells.push(*number as f64),
            (Cells::Text(texts), ColumnType::Json, value) => {
                let text = self.json.text_of(value)?;
                texts.push(text);
                let bytes = text.len() as u64;
                self.count(bytes)?;
            }
            (Cells::Text(texts), _, Value::String(text)) => {
                self.count(text.len() as u64)?;
                texts.push(text);
            }
            (Cells::Text(texts), _, value) => {
                let text = value.to_string();
                self.count(text.len() as u64)?;
                texts.push(&text);
            }
            (Cells::Temporal(temporals), _, value) => {
                let number = temporal_number(value, &temporals.unit);
                temporals.cells.push(number.ok_or_else(|| self.mismatch())?);
            }
            (Cells::List(lists), ColumnType::List(item_type), Value::List(items)) => {
                for item in items.iter() {
                    self.write(&mut lists.items, item_type, item)?;
                }
                lists.end_list();
            }
            (Cells::Struct(structs), ColumnType::Object(keys), Value::Map(map)) => {
                self.object(structs, keys, map.entries())?;
            }
            (Cells::Struct(structs), _, Value::Point(point)) => self.point(structs, point)?,
            _ => return Err(self.mismatch()),
        }
        Ok(())
    }

    /// Adds an object. The keys of the column and those of the object have one order.
    fn object(
        &mut self,
        structs: &mut Structs,
        keys: &[(Arc<str>, ColumnType)],
        entries: &[(Arc<str>, Value)],
    ) -> Result<()> {
        structs.valid.push(true);
        let mut entries = entries.iter().peekable();
        for (column, (key, key_type)) in structs.columns.iter_mut().zip(keys) {
            let entry = entries.next_if(|(own, _)| own == key);
            let value = entry.map_or(&Value::Null, |(_, value)| value);
            self.write(&mut column.cells, key_type, value)?;
        }
        match entries.next() {
            Some(_) => Err(self.mismatch()),
            None => Ok(()),
        }
    }

    fn point(&mut self, structs: &mut Structs, point: &Point) -> Result<()> {
        self.count(4 * CELL_BYTES)?;
        structs.valid.push(true);
        let numbers = point.coordinates();
        for (index, column) in structs.columns.iter_mut().enumerate() {
            match (&mut column.cells, index.checked_sub(1).map(|index| numbers.get(index))) {
                (Cells::Int(cells), None) => cells.push(point.srid() as i64),
                (Cells::Float(cells), Some(Some(number))) => cells.push(*number),
                (cells, _) => cells.pad_to(cells.len() + 1),
            }
        }
        Ok(())
    }

    /// Adds a null cell, in the columns of objects too.
    fn null(&mut self, cells: &mut Cells) -> Result<()> {
        if let Cells::Struct(structs) = cells {
            structs.valid.push(false);
            for column in &mut structs.columns {
                self.count(CELL_BYTES)?;
                self.null(&mut column.cells)?;
            }
            return Ok(());
        }
        cells.pad_to(cells.len() + 1);
        Ok(())
    }

    fn count(&mut self, bytes: u64) -> Result<()> {
        self.bytes += bytes;
        match self.bytes < RESERVED_AT_ONCE {
            true => Ok(()),
            false => self.reserve(),
        }
    }

    /// Reserves memory for the cells since the last time.
    fn reserve(&mut self) -> Result<()> {
        self.context.check()?;
        // A buffer doubles, and is copied then.
        self.context.reserve(3 * std::mem::take(&mut self.bytes))
    }

    /// The error for a value that is not of the type of its column, which was made of all values.
    fn mismatch(&self) -> Error {
        Error::query(format!("the column `{}` has a value of another type", self.column))
    }
}
