//! Tables with nested columns as rectangles.

use arrow_array::{
    Array, ArrayRef, LargeListArray, RecordBatch, RecordBatchOptions, StructArray, UInt64Array,
};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema};
use arrow_select::take::take;
use hexgraph_base::types::{Error, Result};
use std::sync::Arc;

/// The most rows that a table is made longer to.
const ROWS_MAX: u64 = 100_000_000;

/// Columns under way.
struct Columns {
    rows: usize,
    columns: Vec<(FieldRef, ArrayRef)>,
}

/// Makes columns of all objects, and rows of all lists of objects, those within others too. O(cells of the result).
///
/// # Errors
///
/// [`Error::Limit`] for more than 100 million rows.
pub fn flattened(batch: &RecordBatch) -> Result<RecordBatch> {
    let mut table = Columns::of(batch);
    loop {
        let kinds = table.columns.iter().map(|(field, _)| field.data_type());
        let nested = kinds.enumerate().find_map(|(place, kind)| match kind {
            DataType::Struct(_) => Some((place, false)),
            DataType::LargeList(item) if matches!(item.data_type(), DataType::Struct(_)) => {
                Some((place, true))
            }
            _ => None,
        });
        match nested {
            Some((place, true)) => table.explode(place)?,
            Some((place, false)) => table.unnest(place),
            None => return table.finish(),
        }
    }
}

/// Makes a row of each item of the lists in a column, and columns of its items where they are objects. O(cells of the result).
///
/// # Errors
///
/// [`Error::Query`] for a column that there is not or that has no lists; as [`flattened`].
pub fn exploded(batch: &RecordBatch, column: &str) -> Result<RecordBatch> {
    let mut table = Columns::of(batch);
    let Some(place) = table.columns.iter().position(|(field, _)| field.name() == column) else {
        let names = table.columns.iter().map(|(field, _)| field.name().as_str());
        let names = names.collect::<Vec<&str>>().join(", ");
        return Err(Error::query(format!("there is no column {column:?}; there are {names}")));
    };
    if !matches!(table.columns[place].0.data_type(), DataType::LargeList(_)) {
        let kind = table.columns[place].0.data_type();
        return Err(Error::query(format!("column {column:?} has no lists, but {kind}")));
    }
    table.explode(place)?;
    if matches!(table.columns[place].0.data_type(), DataType::Struct(_)) {
        table.unnest(place);
    }
    table.finish()
}

impl Columns {
    fn of(batch: &RecordBatch) -> Columns {
        let fields = batch.schema();
        let columns = fields.fields().iter().cloned().zip(batch.columns().iter().cloned());
        Columns { rows: batch.num_rows(), columns: columns.collect() }
    }

    /// Replaces a column of objects by one for each of their keys.
    fn unnest(&mut self, place: usize) {
        let (field, array) = self.columns.remove(place);
        let Some(objects) = array.as_any().downcast_ref::<StructArray>() else { return };
        let columns = objects.fields().iter().zip(objects.columns()).map(|(inner, column)| {
            let name = format!("{}.{}", field.name(), inner.name());
            (Arc::new(Field::new(name, inner.data_type().clone(), true)), Arc::clone(column))
        });
        // The cells of an object that is null are null: tables are made so, and `take` keeps it.
        self.columns.splice(place..place, columns);
    }

    /// Replaces a column of lists by their items, beside which the other columns are repeated.
    fn explode(&mut self, place: usize) -> Result<()> {
        let array = Arc::clone(&self.columns[place].1);
        let Some(lists) = array.as_any().downcast_ref::<LargeListArray>() else { return Ok(()) };
        let offsets = lists.value_offsets();
        let len = |row: usize| match lists.is_null(row) {
            true => 0,
            false => (offsets[row + 1] - offsets[row]) as u64,
        };
        let rows: u64 = (0..self.rows).map(|row| len(row).max(1)).sum();
        if ROWS_MAX < rows {
            let message = format!(
                "the table would have {rows} rows, of at most {ROWS_MAX}: ask for fewer nodes, or one list at a time"
            );
            return Err(Error::Limit { message });
        }
        let (mut parents, mut items) = (Vec::new(), Vec::new());
        for (row, &start) in offsets.iter().take(self.rows).enumerate() {
            let count = len(row);
            parents.extend((0..count.max(1)).map(|_| row as u64));
            match count {
                0 => items.push(None),
                count => items.extend((0..count).map(|at| Some(start as u64 + at))),
            }
        }
        let (parents, items) = (UInt64Array::from(parents), UInt64Array::from(items));
        for (at, (field, column)) in self.columns.iter_mut().enumerate() {
            let taken = match at == place {
                true => take(lists.values(), &items, None),
                false => take(column, &parents, None),
            };
            *column = taken.map_err(internal)?;
            if at == place {
                *field = Arc::new(Field::new(field.name(), column.data_type().clone(), true));
            }
        }
        self.rows = rows as usize;
        Ok(())
    }

    fn finish(self) -> Result<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        let (fields, columns): (Vec<FieldRef>, Vec<ArrayRef>) = self.columns.into_iter().unzip();
        let schema = Arc::new(Schema::new(fields));
        RecordBatch::try_new_with_options(schema, columns, &options).map_err(internal)
    }
}

fn internal(error: ArrowError) -> Error {
    Error::query(format!("the rows make no flat table: {error}"))
}
