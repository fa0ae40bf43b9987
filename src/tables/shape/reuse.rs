//! Columns whose cells are values as they stand: they are reused as arrays, and not cell by cell.

use crate::tables::read::cells::{Cells, instant};
use arrow_array::{Array, LargeStringArray};
use arrow_buffer::NullBuffer;
use hexgraph_base::schema::PredicateDef;
use hexgraph_base::types::{ValueRef, ValueType};
use hexgraph_store::graph::{ValuePart, check_indexed};
use hexgraph_store::storage::Values;

/// The rows of a column that have a node and a value.
enum Rows {
    /// All of them.
    All,
    /// These, ascending.
    Some(Vec<u32>),
}

impl Rows {
    fn of(nodes: &[u32], nulls: Option<&NullBuffer>, has_value: impl Fn(usize) -> bool) -> Rows {
        let is_null = |row: usize| nulls.is_some_and(|nulls| nulls.is_null(row));
        let is_retained = |row: usize| nodes[row] != 0 && !is_null(row) && has_value(row);
        match (0..nodes.len()).all(is_retained) {
            true => Rows::All,
            false => {
                let rows = 0..nodes.len() as u32;
                Rows::Some(rows.filter(|&row| is_retained(row as usize)).collect())
            }
        }
    }

    fn pick<T: Copy>(&self, items: &[T]) -> Vec<T> {
        match self {
            Rows::All => items.to_vec(),
            Rows::Some(rows) => rows.iter().map(|&row| items[row as usize]).collect(),
        }
    }
}

/// Returns the values of a column, with the node of each; `nodes` has that of each row, 0 for none.
/// `None` where a cell has to be converted or refused, or the column is of a kind that is seldom
/// long: then they are read one by one.
pub(super) fn reused(cells: &Cells, def: &PredicateDef, nodes: &[u32]) -> Option<ValuePart> {
    let (rows, values) = match (cells, def.value_type) {
        (Cells::Int(array), ValueType::Int) => {
            let rows = Rows::of(nodes, array.nulls(), |_| true);
            let values = Values::of_ints(rows.pick(array.values()));
            (rows, values)
        }
        (Cells::Float(array), ValueType::Float) => {
            let numbers = array.values();
            if numbers.iter().any(|number| number.is_infinite()) {
                return None;
            }
            let rows = Rows::of(nodes, array.nulls(), |row| !numbers[row].is_nan());
            let values = Values::of_floats(rows.pick(numbers));
            (rows, values)
        }
        (Cells::Time(array, units), ValueType::DateTime) => {
            // What stands below a null counts, too: then the cells are looked at one by one.
            let numbers = array.values().iter();
            let extremes = [numbers.clone().min(), numbers.max()];
            if extremes.into_iter().flatten().any(|&end| !instant(end, *units).is_writable()) {
                return None;
            }
            let rows = Rows::of(nodes, array.nulls(), |_| true);
            let values = times(&rows.pick(array.values()), *units);
            (rows, values)
        }
        (Cells::Text(array), ValueType::String | ValueType::Default) => {
            let rows = Rows::of(nodes, array.nulls(), |_| true);
            let values = texts(array, &rows, def)?;
            (rows, values)
        }
        _ => return None,
    };
    Some(ValuePart { nodes: rows.pick(nodes), values, facets: Vec::new() })
}

fn times(numbers: &[i64], units: i64) -> Values {
    // A division by a number that the compiler knows is a multiplication.
    fn of<const UNITS: i64>(numbers: &[i64]) -> Values {
        Values::of_times(numbers.iter().map(|&number| instant(number, UNITS)))
    }
    match units {
        1_000 => of::<1_000>(numbers),
        1_000_000 => of::<1_000_000>(numbers),
        1_000_000_000 => of::<1_000_000_000>(numbers),
        units => Values::of_times(numbers.iter().map(|&number| instant(number, units))),
    }
}

/// `None` where a text is too long for an index.
fn texts(array: &LargeStringArray, rows: &Rows, def: &PredicateDef) -> Option<Values> {
    let is_long = |text: &str| check_indexed(ValueRef::String(text), def).is_err();
    if !def.indexes.is_empty() && array.iter().flatten().any(is_long) {
        return None;
    }
    let offsets = array.value_offsets();
    let (lens, bytes) = match rows {
        Rows::All => {
            let bytes = &array.value_data()[offsets[0] as usize..offsets[array.len()] as usize];
            let lens = offsets.windows(2).map(|pair| (pair[1] - pair[0]) as usize);
            (lens.collect::<Vec<usize>>(), bytes.to_vec())
        }
        Rows::Some(rows) => {
            let texts = rows.iter().map(|&row| array.value(row as usize));
            (texts.clone().map(str::len).collect(), texts.collect::<String>().into_bytes())
        }
    };
    Some(Values::of_texts(def.value_type, lens.into_iter(), bytes))
}
