//! Columns of one predicate or facet, one of them set per row: `w` and `w^^int` have values of
//! different types, in different rows.

use super::cell_error::CellError;
use super::parts::{ColumnName, FacetColumn, Fault, ValueColumn};
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_schema::DataType;
use arrow_select::nullif::nullif;
use std::collections::BTreeMap;

/// The columns that are the same, with the name of what they are.
pub(super) struct Rivals<'c> {
    name: &'c str,
    columns: Vec<&'c ColumnName>,
}

/// The columns of single-valued predicates, and their facets.
pub(super) fn rival_values(values: &[ValueColumn]) -> Vec<Rivals<'_>> {
    let mut all = Vec::new();
    let single = || values.iter().filter(|value| !value.def.list);
    if single().any(|value| value.exact.is_some()) {
        let key = |value: &'_ ValueColumn| (value.def.name.clone(), value.lang.clone());
        let mut groups: BTreeMap<_, Rivals<'_>> = BTreeMap::new();
        for value in single() {
            let new = || Rivals { name: &value.def.name, columns: Vec::new() };
            groups.entry(key(value)).or_insert_with(new).columns.push(&value.column);
        }
        all.extend(groups.into_values().filter(|group| 1 < group.columns.len()));
    }
    all.extend(single().flat_map(|value| rival_facets(&value.facets)));
    all
}

/// The columns of facets.
pub(super) fn rival_facets(facets: &[FacetColumn]) -> Vec<Rivals<'_>> {
    if facets.iter().all(|facet| facet.exact.is_none()) {
        return Vec::new();
    }
    let mut groups: BTreeMap<&str, Rivals<'_>> = BTreeMap::new();
    for facet in facets {
        let new = || Rivals { name: &facet.key, columns: Vec::new() };
        groups.entry(&facet.key).or_insert_with(new).columns.push(&facet.column);
    }
    groups.into_values().filter(|group| 1 < group.columns.len()).collect()
}

/// Leaves out cells of rows that have another one in a rival before, and adds them to `faults`.
/// Returns the columns that are changed, by their positions. `is_row` says which rows count.
pub(super) fn without_rivals<'b>(
    rivals: &[Rivals<'_>],
    array: impl Fn(&ColumnName) -> &'b ArrayRef,
    (is_row, first_row): (impl Fn(usize) -> bool, u64),
    faults: &mut Vec<Fault>,
) -> BTreeMap<usize, ArrayRef> {
    let mut changed = BTreeMap::new();
    for Rivals { name, columns } in rivals {
        // The column in which each row has its cell.
        let mut first: Vec<Option<&ColumnName>> = Vec::new();
        for &column in columns {
            let cells = array(column);
            first.resize(cells.len(), None);
            let mut twice = vec![false; cells.len()];
            for row in (0..cells.len()).filter(|&row| is_row(row) && has_cell(cells, row)) {
                let Some(other) = first[row] else {
                    first[row] = Some(column);
                    continue;
                };
                twice[row] = true;
                let (other, name) = (other.name.clone(), (*name).to_owned());
                faults.push(column.fault(first_row + row as u64, CellError::Rival { other, name }));
            }
            if twice.contains(&true) {
                match nullif(cells, &BooleanArray::from(twice)) {
                    Ok(cells) => drop(changed.insert(column.position, cells)),
                    // Such columns have no values.
                    Err(_) => continue,
                }
            }
        }
    }
    changed
}

/// Whether a row has a cell: missing floats may be NaN.
fn has_cell(cells: &ArrayRef, row: usize) -> bool {
    match cells.data_type() {
        _ if cells.is_null(row) => false,
        DataType::Float64 => !cells.as_primitive::<Float64Type>().value(row).is_nan(),
        _ => true,
    }
}
