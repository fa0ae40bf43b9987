//! Columns of a batch as parts of predicates.

use super::cell_error::CellError;
use super::reuse::reused;
use super::wkt::{geojson_of, is_wkt};
use crate::db::Canceller;
use crate::tables::read::cells::{Cells, Form, UnreadableCell};
use arrow_array::{ArrayRef, LargeStringArray};
use hexgraph_base::formats::Object;
use hexgraph_base::schema::PredicateDef;
use hexgraph_base::types::{Loss, Value, ValueRef, ValueType};
use hexgraph_store::graph::{
    FacetPart, FacetRows, FacetsBuilder, Refusal, ValuePart, check_indexed, check_storable,
    stored_in_full,
};
use hexgraph_store::storage::ValuesBuilder;
use std::borrow::Cow;

/// Values longer than this are cut in messages.
const SHOWN_LEN_MAX: usize = 60;

/// The position of a cell that can't be stored, and the reason.
pub(in crate::tables) struct Fault {
    /// The row in the table, from 0.
    pub row: u64,
    /// The line of a text file on which it begins, from 1.
    pub line: Option<u64>,
    /// The column's name.
    pub column: String,
    /// The index of the column in the table, from 0.
    pub position: usize,
    /// The reason.
    pub reason: CellError,
}

/// The name and the index of a column that is read.
#[derive(Debug, Clone)]
pub(in crate::tables) struct ColumnName {
    /// Its name.
    pub name: String,
    /// Its position in the table, from 0.
    pub position: usize,
}

impl ColumnName {
    /// Returns the fault of a cell of the column in a row, counted from 0 in the table.
    pub(in crate::tables) fn fault(&self, row: u64, reason: impl Into<CellError>) -> Fault {
        let reason = reason.into();
        Fault { row, line: None, column: self.name.clone(), position: self.position, reason }
    }

    /// Returns the fault of a cell that can't be read, in a batch that starts at `first_row`.
    fn mismatch(&self, first_row: u64, mismatch: UnreadableCell) -> Fault {
        let UnreadableCell { row, value, reason } = mismatch;
        let reason = CellError::from(reason);
        let reason = match value {
            Some(value) => reason.of_value(shown(ValueRef::String(&value))),
            None => reason,
        };
        self.fault(first_row + row as u64, reason)
    }
}

/// A column whose cells are values of a predicate.
#[derive(Debug, Clone)]
pub(in crate::tables) struct ValueColumn {
    /// The column.
    pub column: ColumnName,
    /// The predicate.
    pub def: PredicateDef,
    /// The language, empty for none.
    pub lang: String,
    /// The type that its texts are of, whatever that of the predicate is.
    pub exact: Option<ValueType>,
    /// The column of longitudes, where the column is one of latitudes and both make points.
    pub longitude: Option<ColumnName>,
    /// The columns with facets of its values.
    pub facets: Vec<FacetColumn>,
}

/// A column whose cells are facets of values in another column.
#[derive(Debug, Clone)]
pub(in crate::tables) struct FacetColumn {
    /// The column.
    pub column: ColumnName,
    /// The facet's key.
    pub key: String,
    /// The type that its texts are of.
    pub exact: Option<ValueType>,
}

/// Reads the values of a predicate from a column, with their facets. `nodes` has the node of each
/// row, 0 for none; `first_row` is the index of the first row in the table. A cell that can't be
/// stored is left out and added to `faults`. Hashing passwords is slow: after the load was stopped,
/// the rest of them is skipped.
pub(super) fn value_part<'b>(
    value: &ValueColumn,
    array: impl Fn(&ColumnName) -> &'b ArrayRef,
    (nodes, first_row): (&[u32], u64),
    canceller: &Canceller,
    faults: &mut Vec<Fault>,
) -> ValuePart {
    let ValueColumn { column, def, exact, .. } = value;
    let mut cells_of = |column: &ColumnName, form: Form| {
        let is_node = |row: usize| nodes[row] != 0;
        read_cells(column, array(column), (form, is_node), first_row, faults)
    };
    let form = match exact {
        Some(_) if def.value_type != ValueType::Vector => Form::Natural,
        _ => Form::of(def.value_type),
    };
    let mut cells = cells_of(column, form);
    if let Some(longitude) = &value.longitude {
        cells = points(&cells, &cells_of(longitude, Form::Natural), nodes.len());
    }
    let facet_cells: Vec<Cells> =
        value.facets.iter().map(|facet| cells_of(&facet.column, Form::Natural)).collect();
    let is_complete = facet_cells.is_empty() && exact.is_none();
    if let Some(part) = is_complete.then(|| reused(&cells, def, nodes)).flatten() {
        return part;
    }
    let is_ended = || canceller.check().is_err();
    cell_by_cell(value, &cells, &facet_cells, (nodes, first_row), is_ended, faults)
}

/// Reads the cells of a column. What can't be read is missing, and a fault if its row counts.
fn read_cells(
    column: &ColumnName,
    array: &ArrayRef,
    (form, counts): (Form, impl Fn(usize) -> bool),
    first_row: u64,
    faults: &mut Vec<Fault>,
) -> Cells {
    match Cells::of(array, form) {
        Ok((cells, mismatches)) => {
            let mismatches = mismatches.into_iter().filter(|mismatch| counts(mismatch.row));
            faults.extend(mismatches.map(|mismatch| column.mismatch(first_row, mismatch)));
            cells
        }
        Err(reason) => {
            faults.push(column.fault(first_row, reason));
            Cells::Empty
        }
    }
}

/// The part of [`value_part`] that reads the cells of a column and of its facets, whatever they
/// are.
fn cell_by_cell(
    value: &ValueColumn,
    cells: &Cells,
    facet_cells: &[Cells],
    (nodes, first_row): (&[u32], u64),
    is_ended: impl Fn() -> bool,
    faults: &mut Vec<Fault>,
) -> ValuePart {
    let ValueColumn { column, def, exact, .. } = value;
    let mut part_nodes = Vec::with_capacity(nodes.len());
    let mut values = ValuesBuilder::new(def.value_type);
    let mut facets = FacetsBuilder::default();
    values.reserve(nodes.len());
    let is_password = def.value_type == ValueType::Password;
    for (row, &node) in nodes.iter().enumerate().filter(|&(_, &node)| node != 0) {
        if is_password && is_ended() {
            break;
        }
        let own = cells.row(row);
        for (at, value_at) in own.enumerate() {
            let Some(given) = cells.get(value_at) else { continue };
            let fault = |column: &ColumnName, given, reason: CellError| {
                column.fault(first_row + row as u64, reason.of_value(shown(given)))
            };
            match as_stored(given, def, *exact) {
                Ok(stored) => values.push(stored.as_ref()),
                Err(reason) => {
                    let reason = reason.of_predicate(&def.name, &column.name);
                    faults.push(fault(column, given, reason));
                    continue;
                }
            }
            for (facet, cells) in value.facets.iter().zip(facet_cells) {
                let Some(given) = cells.row(row).nth(at).and_then(|at| cells.get(at)) else {
                    continue;
                };
                match as_facet(given, facet.exact) {
                    Ok(stored) => facets.push(part_nodes.len() as u32, &facet.key, stored.as_ref()),
                    Err(reason) => faults.push(fault(&facet.column, given, reason)),
                }
            }
            part_nodes.push(node);
        }
    }
    ValuePart { nodes: part_nodes, values: values.finish(), facets: facets.finish() }
}

/// The points of latitudes and longitudes as GeoJSON, null where one of both is missing. What is no
/// number, or no position on the sphere, is refused when it is converted.
fn points(latitudes: &Cells, longitudes: &Cells, rows: usize) -> Cells {
    let text = |cells: &Cells, row: usize| {
        let value = cells.row(row).next().and_then(|at| cells.get(at))?;
        match value {
            ValueRef::Int(number) => Some(number.to_string()),
            ValueRef::Float(number) => Some(number.to_string()),
            ValueRef::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            _ => None,
        }
    };
    let point = |row| {
        let (latitude, longitude) = (text(latitudes, row)?, text(longitudes, row)?);
        Some(format!("{{\"type\":\"Point\",\"coordinates\":[{longitude},{latitude}]}}"))
    };
    Cells::Text((0..rows).map(point).collect::<LargeStringArray>())
}

/// Reads a column as facets of the edges that the rows of a batch are, which starts at `first_row`
/// of the table. A cell that can't be one is left out and added to `faults`.
pub(super) fn facet_part(
    array: &ArrayRef,
    (rows, first_row): (&[u32], u64),
    facet: &FacetColumn,
    faults: &mut Vec<Fault>,
) -> Option<FacetPart> {
    let column = &facet.column;
    let is_edge = |row: usize| rows.binary_search(&(row as u32)).is_ok();
    let cells = read_cells(column, array, (Form::Natural, is_edge), first_row, faults);
    let value_type = match cells {
        Cells::Text(_) => facet.exact.unwrap_or(ValueType::String),
        Cells::Empty => return None,
        Cells::Int(_) => facet.exact.unwrap_or(ValueType::Int),
        Cells::Float(_) => facet.exact.unwrap_or(ValueType::Float),
        Cells::Bool(_) => facet.exact.unwrap_or(ValueType::Bool),
        Cells::Time(..) => facet.exact.unwrap_or(ValueType::DateTime),
        Cells::Vector(..) | Cells::List(..) => {
            faults.push(column.fault(first_row, CellError::ListFacet));
            return None;
        }
    };
    let mut facet_rows = Vec::with_capacity(rows.len());
    let mut values = ValuesBuilder::new(value_type);
    values.reserve(rows.len());
    for (at, &row) in rows.iter().enumerate() {
        let Some(given) = cells.row(row as usize).next().and_then(|position| cells.get(position))
        else {
            continue;
        };
        match as_facet(given, facet.exact) {
            Ok(stored) => {
                facet_rows.push(at as u32);
                values.push(stored.as_ref());
            }
            Err(reason) => {
                let reason = reason.of_value(shown(given));
                faults.push(column.fault(first_row + u64::from(row), reason));
            }
        }
    }
    let (key, rows) = (facet.key.clone(), FacetRows::new(facet_rows));
    Some(FacetPart { key, rows, values: values.finish() })
}

/// A value, which is borrowed from the column where it need not be converted.
enum Stored<'a> {
    Same(ValueRef<'a>),
    Converted(Value),
}

impl Stored<'_> {
    fn into_owned<'b>(self) -> Stored<'b> {
        match self {
            Stored::Same(value) => Stored::Converted(value.to_value()),
            Stored::Converted(value) => Stored::Converted(value),
        }
    }

    fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Stored::Same(value) => *value,
            Stored::Converted(value) => value.as_ref(),
        }
    }
}

fn as_stored<'a>(
    value: ValueRef<'a>,
    def: &PredicateDef,
    exact: Option<ValueType>,
) -> Result<Stored<'a>, CellError> {
    if exact.is_some() {
        let typed = typed(value, exact)?;
        let is_own =
            def.value_type == ValueType::Default || typed.as_ref().value_type() == def.value_type;
        if !is_own {
            let reason = CellError::OtherType { predicate: def.name.clone() };
            return Err(reason.expecting(def.value_type));
        }
        check_indexed(typed.as_ref(), def)?;
        return Ok(typed);
    }
    let same = match value {
        ValueRef::String(text) if def.value_type == ValueType::Default => ValueRef::Default(text),
        same if same.value_type() == def.value_type => same,
        ValueRef::String(text) if def.value_type == ValueType::Geo && is_wkt(text) => {
            let geometry = geojson_of(text).map_err(CellError::Wkt)?;
            return as_stored(ValueRef::String(&geometry), def, None).map(Stored::into_owned);
        }
        other => {
            let object = Object::Value(other.to_value());
            let stored = stored_in_full(&object, def).map_err(|reason| {
                let reason = match reason {
                    Refusal::Lossy(loss) => CellError::Lossy(loss),
                    other => CellError::from(other),
                };
                reason.expecting(def.value_type)
            })?;
            return Ok(Stored::Converted(stored));
        }
    };
    check_indexed(same, def)?;
    Ok(Stored::Same(same))
}

/// Converts a cell to the value of a facet.
fn as_facet(value: ValueRef<'_>, exact: Option<ValueType>) -> Result<Stored<'_>, CellError> {
    let typed = match exact {
        Some(exact) if value.value_type() != exact && !matches!(value, ValueRef::String(_)) => {
            converted(value, exact)?
        }
        _ => typed(value, exact)?,
    };
    check_storable(typed.as_ref())?;
    Ok(typed)
}

/// Parses a text as a value of a type. The text of a password has to be its hash.
fn typed(value: ValueRef<'_>, exact: Option<ValueType>) -> Result<Stored<'_>, CellError> {
    let (Some(exact), ValueRef::String(text)) = (exact, value) else {
        return Ok(Stored::Same(value));
    };
    match exact {
        ValueType::Default => Ok(Stored::Same(ValueRef::Default(text))),
        ValueType::String => Ok(Stored::Same(value)),
        ValueType::Password => Ok(Stored::Converted(Value::hashed_password(text)?)),
        _ => converted(value, exact),
    }
}

/// Converts a value to a type that holds all of it.
fn converted(value: ValueRef<'_>, exact: ValueType) -> Result<Stored<'_>, CellError> {
    match value.convert(exact) {
        Ok(typed) => match Loss::of(value, typed.as_ref()) {
            Some(loss) => Err(CellError::Lossy(loss).expecting(exact)),
            None => Ok(Stored::Converted(typed)),
        },
        Err(reason) => Err(CellError::from(reason).expecting(exact)),
    }
}

/// Returns a value as messages show it.
pub(in crate::tables) fn shown(value: ValueRef<'_>) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{Array, Float64Array, Int64Array, TimestampMicrosecondArray};
    use hexgraph_base::schema::Tokenizer;
    use std::mem::discriminant;
    use std::sync::Arc;

    /// What is read cell by cell.
    fn slowly(cells: &Cells, def: &PredicateDef, nodes: &[u32]) -> ValuePart {
        let value = ValueColumn {
            column: ColumnName { name: "of".to_owned(), position: 0 },
            def: def.clone(),
            lang: String::new(),
            exact: None,
            longitude: None,
            facets: Vec::new(),
        };
        cell_by_cell(&value, cells, &[], (nodes, 0), || false, &mut Vec::new())
    }

    fn columns(len: i64) -> Vec<(ArrayRef, ValueType)> {
        let some = |at: i64| (at % 7 != 3).then_some(at);
        let texts = |at: i64| some(at).map(|at| "é".repeat((at % 5) as usize));
        let floats = |at: i64| if at % 5 == 0 { f64::NAN } else { at as f64 / 3.0 };
        vec![
            (Arc::new((0..len).collect::<Int64Array>()), ValueType::Int),
            (Arc::new((0..len).map(|at| some(at << 40)).collect::<Int64Array>()), ValueType::Int),
            (Arc::new((0..len).map(floats).collect::<Float64Array>()), ValueType::Float),
            (Arc::new((0..len).map(|at| at as f64).collect::<Float64Array>()), ValueType::Float),
            (
                Arc::new(
                    (0..len)
                        .map(|at| Some((at - 9) * 999_999))
                        .collect::<TimestampMicrosecondArray>(),
                ),
                ValueType::DateTime,
            ),
            (
                Arc::new(
                    (0..len).map(|at| some(at * 1_000_000)).collect::<TimestampMicrosecondArray>(),
                ),
                ValueType::DateTime,
            ),
            (Arc::new((0..len).map(texts).collect::<LargeStringArray>()), ValueType::String),
            (Arc::new((0..len).map(texts).collect::<LargeStringArray>()), ValueType::Default),
            (
                Arc::new((0..len).map(|at| Some(at.to_string())).collect::<LargeStringArray>()),
                ValueType::String,
            ),
        ]
    }

    #[test]
    fn reused_columns_equal_cells_read_one_by_one() {
        for (array, value_type) in columns(60) {
            for (array, step) in [(array.clone(), 1), (array.slice(7, 40), 0), (array, 4)] {
                let node = |row: usize| if step == 4 && row % 4 == 1 { 0 } else { row as u32 + 5 };
                let nodes: Vec<u32> = (0..array.len()).map(node).collect();
                let mut def = PredicateDef::new("of", value_type);
                for indexes in [vec![], vec![Tokenizer::Term]] {
                    def.indexes = indexes;
                    let cells = Cells::of(&array, Form::of(value_type)).unwrap().0;
                    let (one, other) =
                        (reused(&cells, &def, &nodes).unwrap(), slowly(&cells, &def, &nodes));
                    assert_eq!(one.nodes, other.nodes);
                    let all = |ValuePart { values, .. }: &ValuePart| {
                        let values = |at| format!("{:?}", values.get(at));
                        (0..one.values.len()).map(values).collect::<Vec<_>>()
                    };
                    assert_eq!(one.values.len(), other.values.len());
                    assert_eq!(all(&one), all(&other));
                    assert_eq!(discriminant(&one.values), discriminant(&other.values));
                }
            }
        }
    }

    #[test]
    fn what_has_to_be_refused_is_left_to_the_cells() {
        let floats: ArrayRef = Arc::new(Float64Array::from(vec![1.0, f64::INFINITY]));
        let cells = Cells::of(&floats, Form::Natural).unwrap().0;
        assert!(reused(&cells, &PredicateDef::new("of", ValueType::Float), &[1, 2]).is_none());
        assert!(reused(&cells, &PredicateDef::new("of", ValueType::Int), &[1, 2]).is_none());
        let texts: ArrayRef = Arc::new(LargeStringArray::from(vec!["x".repeat(1 << 17)]));
        let mut def = PredicateDef::new("of", ValueType::String);
        let cells = Cells::of(&texts, Form::Digits).unwrap().0;
        assert!(reused(&cells, &def, &[1]).is_some());
        def.indexes = vec![Tokenizer::Exact];
        assert!(reused(&cells, &def, &[1]).is_none());
    }
}
