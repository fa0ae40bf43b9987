//! The rows of a table with the greatest numbers.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, RecordBatch, UInt64Array};
use arrow_select::take::take_record_batch;
use hexgraph_base::types::{Error, Result};
use std::cmp::Ordering;

/// The `count` rows whose numbers in a column are the greatest, the greatest first; of equal
/// numbers the row comes first that does so in the table. Rows without a number are left out.
/// O(rows + count · log count).
///
/// ```
/// use hexgraph::{db::Database, tables::{greatest_rows, record_batch}};
///
/// let db = Database::in_memory();
/// db.alter("born: int .")?;
/// db.mutate("<1> <born> \"1815\" .\n<2> <born> \"1906\" .", "")?;
/// let batch = record_batch(db.query("{ q(func: has(born)) { uid born } }")?.table(None)?)?;
/// assert_eq!(greatest_rows(&batch, "born", 1)?.num_rows(), 1);
/// # Ok::<(), hexgraph::types::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Query`] for a column that there is not, or that has no numbers.
pub fn greatest_rows(batch: &RecordBatch, column: &str, count: usize) -> Result<RecordBatch> {
    let result = batch.column_by_name(column);
    let array = result.ok_or_else(|| Error::query(format!("there is no column {column:?}")))?;
    let there = (0..array.len() as u64).filter(|row| array.is_valid(*row as usize));
    let mut rows: Vec<u64> = there.collect();
    if let Some(numbers) = array.as_primitive_opt::<Int64Type>() {
        let numbers = numbers.values();
        retain_first(&mut rows, count, |one, other| numbers[other].cmp(&numbers[one]));
    } else if let Some(numbers) = array.as_primitive_opt::<Float64Type>() {
        let numbers = numbers.values();
        // Zeros of both signs are equal.
        let descending = |one: usize, other: usize| numbers[other].partial_cmp(&numbers[one]);
        retain_first(&mut rows, count, |one, other| {
            descending(one, other).unwrap_or(Ordering::Equal)
        });
    } else {
        return Err(Error::query(format!("column {column:?} has no numbers")));
    }
    take_record_batch(batch, &UInt64Array::from(rows))
        .map_err(|error| Error::query(format!("the rows make no table: {error}")))
}

/// Sorts the first `count` rows by an order, and by their positions where that has them equal, and
/// drops the others.
fn retain_first(rows: &mut Vec<u64>, count: usize, order: impl Fn(usize, usize) -> Ordering) {
    let by_position =
        |one: &u64, other: &u64| order(*one as usize, *other as usize).then_with(|| one.cmp(other));
    if count < rows.len() {
        rows.select_nth_unstable_by(count, by_position);
        rows.truncate(count);
    }
    rows.sort_unstable_by(by_position);
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{ArrayRef, Float64Array, Int64Array, StringArray};
    use std::sync::Arc;

    #[test]
    fn the_greatest_come_first_and_equal_ones_as_they_stand() {
        let ints = Int64Array::from(vec![Some(3), None, Some(9), Some(3), Some(-1), Some(9)]);
        let floats: Vec<f64> = vec![0.0, 7.0, -0.0, f64::INFINITY, 0.0, -1.0];
        let names = StringArray::from(vec!["a", "b", "c", "d", "e", "f"]);
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("int", Arc::new(ints)),
            ("float", Arc::new(Float64Array::from(floats))),
            ("name", Arc::new(names)),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        for (column, all) in [("int", "cfade"), ("float", "dbacef")] {
            for count in 0..8 {
                let rows = greatest_rows(&batch, column, count).unwrap();
                let names: String = rows.column(2).as_string::<i32>().iter().flatten().collect();
                assert_eq!(names, all[..count.min(all.len())], "{column}, {count}");
            }
        }
        for wrong in ["name", "nothing"] {
            assert!(greatest_rows(&batch, wrong, 1).is_err());
        }
    }
}
