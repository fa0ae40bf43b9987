//! Tables with nested columns as rectangles.

use arrow_array::{
    Array, ArrayRef, LargeListArray, RecordBatch, RecordBatchOptions, StructArray, UInt64Array,
};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema};
use arrow_select::take::take;
use hexgraph_base::types::{Error, Result};
use std::collections::HashSet;
use std::sync::Arc;

/// The most rows that a table is made longer to.
const ROWS_MAX: u64 = 100_000_000;

/// The bytes for each row while lists become rows: the number of the row that it was part of, and
/// that of its item, which lie twice for a moment.
const NUMBERS_BYTES: u64 = 40;

/// Reserves bytes that are about to be allocated in a memory budget.
pub type Reserve<'d> = &'d dyn Fn(u64) -> Result<()>;

/// Columns during the conversion.
struct Columns<'d> {
    rows: usize,
    columns: Vec<(FieldRef, ArrayRef)>,
    reserve: Reserve<'d>,
}

/// Makes columns of all objects, and rows of all lists of objects, those within others too. O(cells
/// of the result).
///
/// ```
/// use hexgraph::{db::Database, tables::{flattened, record_batch}};
///
/// let db = Database::in_memory();
/// db.alter("name: string .\nknows: [uid] .")?;
/// db.mutate("<1> <knows> <2> .\n<1> <knows> <3> .\n<2> <name> \"Bob\" .\n<3> <name> \"Eve\" .", "")?;
/// let answer = db.query("{ q(func: has(knows)) { uid knows { name } } }")?;
/// let rows = flattened(&record_batch(answer.table(None)?)?, &|_| Ok(()))?;
/// assert_eq!(rows.num_rows(), 2, "a row for each friend");
/// # Ok::<(), hexgraph::types::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Limit`] for more than 100 million rows; what `reserve` refuses.
pub fn flattened(batch: &RecordBatch, reserve: Reserve<'_>) -> Result<RecordBatch> {
    let mut table = Columns::of(batch, reserve);
    loop {
        let kinds = table.columns.iter().map(|(field, _)| field.data_type());
        let nested = kinds.enumerate().find_map(|(position, kind)| match kind {
            DataType::Struct(_) => Some((position, false)),
            DataType::LargeList(item) if matches!(item.data_type(), DataType::Struct(_)) => {
                Some((position, true))
            }
            _ => None,
        });
        match nested {
            Some((position, true)) => table.explode(position)?,
            Some((position, false)) => table.unnest(position),
            None => return table.finish(),
        }
    }
}

/// Makes a row of each item of the lists in a column, and columns of its items where they are
/// objects. O(cells of the result).
///
/// ```
/// use hexgraph::{db::Database, tables::{exploded, record_batch}};
///
/// let db = Database::in_memory();
/// db.alter("tags: [string] .")?;
/// db.mutate("<1> <tags> \"a\" .\n<1> <tags> \"b\" .", "")?;
/// let batch = record_batch(db.query("{ q(func: has(tags)) { tags } }")?.table(None)?)?;
/// assert_eq!(exploded(&batch, "tags", &|_| Ok(()))?.num_rows(), 2);
/// # Ok::<(), hexgraph::types::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Query`] for a column that there is not or that has no lists; as [`flattened`].
pub fn exploded(batch: &RecordBatch, column: &str, reserve: Reserve<'_>) -> Result<RecordBatch> {
    let mut table = Columns::of(batch, reserve);
    let Some(position) = table.columns.iter().position(|(field, _)| field.name() == column) else {
        let names = table.columns.iter().map(|(field, _)| field.name().as_str());
        let names = names.collect::<Vec<&str>>().join(", ");
        return Err(Error::query(format!("there is no column {column:?}; there are {names}")));
    };
    if !matches!(table.columns[position].0.data_type(), DataType::LargeList(_)) {
        let kind = table.columns[position].0.data_type();
        return Err(Error::query(format!("column {column:?} has no lists, but {kind}")));
    }
    table.explode(position)?;
    if matches!(table.columns[position].0.data_type(), DataType::Struct(_)) {
        table.unnest(position);
    }
    table.finish()
}

impl<'d> Columns<'d> {
    fn of(batch: &RecordBatch, reserve: Reserve<'d>) -> Columns<'d> {
        let fields = batch.schema();
        let columns = fields.fields().iter().cloned().zip(batch.columns().iter().cloned());
        Columns { rows: batch.num_rows(), columns: columns.collect(), reserve }
    }

    /// Replaces a column of objects by one for each of their keys.
    fn unnest(&mut self, position: usize) {
        let (field, array) = self.columns.remove(position);
        let Some(objects) = array.as_any().downcast_ref::<StructArray>() else { return };
        let columns = objects.fields().iter().zip(objects.columns()).map(|(inner, column)| {
            let name = format!("{}.{}", field.name(), inner.name());
            (Arc::new(Field::new(name, inner.data_type().clone(), true)), Arc::clone(column))
        });
        // The cells of an object that is null are null: tables are made so, and `take` preserves
        // it.
        self.columns.splice(position..position, columns);
    }

    /// Replaces a column of lists by their items, repeating the other columns.
    fn explode(&mut self, position: usize) -> Result<()> {
        let array = Arc::clone(&self.columns[position].1);
        let Some(lists) = array.as_any().downcast_ref::<LargeListArray>() else { return Ok(()) };
        let offsets = lists.value_offsets();
        let len = |row: usize| match lists.is_null(row) {
            true => 0,
            false => (offsets[row + 1] - offsets[row]) as u64,
        };
        let rows: u64 = (0..self.rows).map(|row| len(row).max(1)).sum();
        if ROWS_MAX < rows {
            let message = format!(
                "the table would have {rows} rows, of at most {ROWS_MAX}: request fewer nodes, or one list at a time"
            );
            return Err(Error::Limit { message });
        }
        (self.reserve)(rows * NUMBERS_BYTES)?;
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
            let (from, numbers) = match at == position {
                true => (lists.values(), &items),
                false => (&*column, &parents),
            };
            let expected = bytes_of(from, rows)?;
            (self.reserve)(expected)?;
            let gathered = take(from, numbers, None).map_err(internal)?;
            // Long texts may be repeated more often than short ones.
            let bytes = gathered.get_array_memory_size() as u64;
            (self.reserve)(bytes.saturating_sub(expected))?;
            *column = gathered;
            if at == position {
                *field = Arc::new(Field::new(field.name(), column.data_type().clone(), true));
            }
        }
        self.rows = rows as usize;
        Ok(())
    }

    fn finish(self) -> Result<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        let (fields, columns): (Vec<FieldRef>, Vec<ArrayRef>) = self.columns.into_iter().unzip();
        let schema = Arc::new(Schema::new(with_own_names(fields)));
        RecordBatch::try_new_with_options(schema, columns, &options).map_err(internal)
    }
}

/// Gives each column a name of its own: a column that is called as one before it becomes
/// `road.name_2`.
fn with_own_names(fields: Vec<FieldRef>) -> Vec<FieldRef> {
    let mut used: HashSet<String> = fields.iter().map(|field| field.name().clone()).collect();
    let mut seen = HashSet::new();
    let own = |field: FieldRef| {
        if seen.insert(field.name().clone()) {
            return field;
        }
        let name = (2..).map(|number| format!("{}_{number}", field.name()));
        let name = name.into_iter().find(|name| used.insert(name.clone()));
        let name = name.expect("fewer columns than numbers");
        Arc::new(Field::new(name, field.data_type().clone(), true))
    };
    fields.into_iter().map(own).collect()
}

/// The bytes of so many cells of a column, if they are as its own are on average.
fn bytes_of(column: &ArrayRef, cells: u64) -> Result<u64> {
    let own = column.to_data().get_slice_memory_size().map_err(internal)?;
    let mean = own as f64 / column.len().max(1) as f64;
    Ok((mean * cells as f64) as u64)
}

fn internal(error: ArrowError) -> Error {
    Error::query(format!("the rows make no flat table: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::builder::{Int64Builder, LargeListBuilder};
    use arrow_array::{Int64Array, StringArray};
    use std::cell::Cell;

    /// A row with two lists of so many objects, and a text.
    fn lists(count: i64) -> RecordBatch {
        let list = || -> ArrayRef {
            let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..count));
            let field = Arc::new(Field::new("n", DataType::Int64, true));
            let objects = StructArray::from(vec![(field, numbers)]);
            let item = Arc::new(Field::new("item", objects.data_type().clone(), true));
            let offsets = arrow_buffer::OffsetBuffer::from_lengths([count as usize]);
            Arc::new(LargeListArray::new(item, offsets, Arc::new(objects), None))
        };
        let text: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(100)]));
        RecordBatch::try_from_iter([("a", list()), ("b", list()), ("t", text)]).unwrap()
    }

    /// An alias may be called as the column that a nested key becomes.
    #[test]
    fn equal_columns_get_names_of_their_own() {
        let number = |n| -> ArrayRef { Arc::new(Int64Array::from(vec![n])) };
        let field = Arc::new(Field::new("n", DataType::Int64, true));
        let object =
            || -> ArrayRef { Arc::new(StructArray::from(vec![(Arc::clone(&field), number(7))])) };
        let columns = [
            ("a.n", number(1)),
            ("a.n_2", number(2)),
            ("a", object()),
            ("b", object()),
            ("b.n", number(3)),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let table = flattened(&batch, &|_| Ok(())).unwrap();
        let schema = table.schema();
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        assert_eq!(names, ["a.n", "a.n_2", "a.n_3", "b.n", "b.n_2"]);
        let numbers =
            |at: usize| table.column(at).as_any().downcast_ref::<Int64Array>().unwrap().value(0);
        assert_eq!([0, 1, 2, 3, 4].map(numbers), [1, 2, 7, 7, 3]);
    }

    #[test]
    fn memory_is_reserved_before_allocation() {
        let reserved = Cell::new(0);
        let batch = lists(300);
        let reserve = |bytes: u64| {
            reserved.set(reserved.get() + bytes);
            Ok(())
        };
        let table = flattened(&batch, &reserve).unwrap();
        assert_eq!(table.num_rows(), 90_000);
        let bytes = table.get_array_memory_size() as u64;
        // The table itself, and the numbers of rows, of both lists.
        assert!(
            bytes < reserved.get() && reserved.get() < 3 * bytes,
            "{} for {bytes}",
            reserved.get()
        );
        // What is refused is not made: the second list would have 90,000 rows.
        let most = |bytes: u64| match bytes {
            0..1_000_000 => Ok(()),
            _ => Err(Error::Limit { message: "no memory".to_owned() }),
        };
        assert!(flattened(&batch, &most).unwrap_err().to_string().contains("no memory"));
        let exploded = exploded(&batch, "a", &most).unwrap();
        assert_eq!(exploded.num_rows(), 300);
    }

    #[test]
    fn long_texts_count_where_they_are_repeated() {
        // The long text has all items, and the mean is half of it.
        let mut items = LargeListBuilder::new(Int64Builder::new());
        items.append_value((0..1000).map(Some));
        items.append_value([]);
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(1000), String::new()]));
        let items: ArrayRef = Arc::new(items.finish());
        let batch = RecordBatch::try_from_iter([("i", items), ("t", texts)]).unwrap();
        let reserved = Cell::new(0);
        let reserve = |bytes: u64| {
            reserved.set(reserved.get() + bytes);
            Ok(())
        };
        let table = exploded(&batch, "i", &reserve).unwrap();
        assert!(table.get_array_memory_size() as u64 <= reserved.get());
        assert!(1_000_000 < reserved.get());
    }
}
