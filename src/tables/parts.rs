//! Columns of a batch as parts of predicates.

use super::cells::Cells;
use crate::formats::Object;
use crate::graph::FacetPart;
use crate::graph::FacetRows;
use crate::graph::ValuePart;
use crate::graph::check_indexed;
use crate::graph::stored;
use crate::schema::PredicateDef;
use crate::storage::ValuesBuilder;
use crate::types::Value;
use crate::types::ValueRef;
use crate::types::ValueType;
use arrow_array::ArrayRef;
use std::borrow::Cow;

/// Values longer than this are cut in messages.
const SHOWN_LEN_MAX: usize = 60;

/// A cell that can't be stored.
pub struct Fault {
    /// The row in the table, from 0.
    pub row: u64,
    /// The column's name.
    pub column: String,
    /// The place of the column in the table, from 0.
    pub place: usize,
    /// The value, and why.
    pub reason: String,
}

/// A column that is read.
#[derive(Debug, Clone)]
pub struct ColumnName {
    /// Its name.
    pub name: String,
    /// Its place in the table, from 0.
    pub place: usize,
}

impl ColumnName {
    /// A fault of a cell.
    pub fn fault(&self, row: u64, reason: String) -> Fault {
        Fault { row, column: self.name.clone(), place: self.place, reason }
    }
}

/// The values of a predicate that a column has. `nodes` has the node of each row, 0 for none;
/// `first_row` is the place of the first one in the table.
pub fn value_part(
    array: &ArrayRef,
    nodes: &[u32],
    def: &PredicateDef,
    (column, first_row): (&ColumnName, u64),
    faults: &mut Vec<Fault>,
) -> ValuePart {
    let cells = match Cells::of(array, def.value_type == ValueType::Vector) {
        Ok(cells) => cells,
        Err(reason) => {
            faults.push(column.fault(first_row, reason));
            Cells::Empty
        }
    };
    let mut part_nodes = Vec::with_capacity(nodes.len());
    let mut values = ValuesBuilder::new(def.value_type);
    values.reserve(nodes.len());
    for (row, &node) in nodes.iter().enumerate().filter(|&(_, &node)| node != 0) {
        for value in cells.row(row).filter_map(|at| cells.get(at)) {
            match as_stored(value, def) {
                Ok(stored) => {
                    part_nodes.push(node);
                    values.push(stored.as_ref());
                }
                Err(reason) => {
                    let reason = format!("{}: {reason}", shown(value));
                    faults.push(column.fault(first_row + row as u64, reason));
                }
            }
        }
    }
    ValuePart { nodes: part_nodes, values: values.finish(), facets: Vec::new() }
}

/// A column as facets of the edges of `rows`.
///
/// # Errors
///
/// Why the column can't be one.
pub fn facet_part(array: &ArrayRef, rows: &[u32], key: &str) -> Result<Option<FacetPart>, String> {
    let cells = Cells::of(array, false)?;
    let value_type = match cells {
        Cells::Empty => return Ok(None),
        Cells::Int(_) => ValueType::Int,
        Cells::Float(_) => ValueType::Float,
        Cells::Bool(_) => ValueType::Bool,
        Cells::Text(_) => ValueType::String,
        Cells::Time(..) => ValueType::DateTime,
        Cells::Vector(..) | Cells::List(..) => return Err("a list can be no facet".to_owned()),
    };
    let mut facet_rows = Vec::with_capacity(rows.len());
    let mut values = ValuesBuilder::new(value_type);
    values.reserve(rows.len());
    for (at, &row) in rows.iter().enumerate() {
        if let Some(value) = cells.row(row as usize).next().and_then(|place| cells.get(place)) {
            facet_rows.push(at as u32);
            values.push(value);
        }
    }
    Ok(Some(FacetPart { key: key.to_owned(), rows: FacetRows::new(facet_rows), values: values.finish() }))
}

/// A value, borrowed where it is stored as it is.
enum Stored<'a> {
    Same(ValueRef<'a>),
    Converted(Value),
}

impl Stored<'_> {
    fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Stored::Same(value) => *value,
            Stored::Converted(value) => value.as_ref(),
        }
    }
}

fn as_stored<'a>(value: ValueRef<'a>, def: &PredicateDef) -> Result<Stored<'a>, String> {
    let same = match value {
        ValueRef::String(text) if def.value_type == ValueType::Default => ValueRef::Default(text),
        same if same.value_type() == def.value_type => same,
        other => {
            let object = Object::Value(other.to_value());
            return stored(&object, def).map(Stored::Converted);
        }
    };
    check_indexed(same, def)?;
    Ok(Stored::Same(same))
}

/// A value in a message.
pub fn shown(value: ValueRef<'_>) -> String {
    let text = match value {
        ValueRef::String(text) | ValueRef::Default(text) => Cow::Borrowed(text),
        other => match other.convert(ValueType::String) {
            Ok(Value::String(text)) => Cow::Owned(text),
            _ => Cow::Borrowed("the value"),
        },
    };
    let mut end = text.len().min(SHOWN_LEN_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let dots = if end < text.len() { "…" } else { "" };
    format!("{:?}{dots}", &text[..end])
}
