//! Makes the values of a predicate that the schema does not know values of one type.

use crate::graph::build::parts::{FacetPart, FacetRows, ValuePart};
use crate::graph::change::check::convert_in_full;
use crate::graph::change::refusal::Refusal;
use crate::graph::load::batch::PredicateBatch;
use crate::storage::{Values, ValuesBuilder};
use hexgraph_base::formats::FilePosition;
use hexgraph_base::schema::PredicateDef;
use hexgraph_base::types::{Loss, ValueRef, ValueType};

/// True for numbers with some floats.
pub(super) fn has_float(values: &Values) -> bool {
    match values.value_type() {
        Some(value_type) => value_type == ValueType::Float,
        None => (0..values.len()).any(|at| values.get(at).value_type() == ValueType::Float),
    }
}

/// The first int that no float holds: one beyond 2^53.
pub(super) fn inexact_int(values: &Values) -> Option<i64> {
    const EXACT: u64 = 1 << 53;
    let int = |at| match values.get(at) {
        ValueRef::Int(int) => Some(int),
        _ => None,
    };
    let is_lost = |int: &i64| {
        EXACT < int.unsigned_abs()
            && Loss::of(ValueRef::Int(*int), ValueRef::Float(*int as f64)).is_some()
    };
    (0..values.len()).filter_map(int).find(is_lost)
}

/// The definition that the first statement of an unknown predicate gives it.
pub(super) fn first_definition(batch: &PredicateBatch) -> PredicateDef {
    let first =
        |at: &Vec<FilePosition>| at.first().map_or((u64::MAX, 0), |at| (at.line, at.column));
    // A kind without a statement counts as after all others.
    let is_edge =
        batch.positions.as_ref().is_some_and(|(values, edges)| first(edges) < first(values));
    let value = batch.langs.first().map(|(_, part)| part.values.get(0).value_type());
    let value_type = if is_edge { ValueType::Uid } else { value.unwrap_or(ValueType::Uid) };
    let mut def = PredicateDef::new(&*batch.name, value_type);
    def.list = value_type == ValueType::Uid;
    def
}

/// Returns a part with the values that a type can represent in full. The others are dropped;
/// `refuse` is called with the row of each and the reason.
pub(super) fn converted(
    part: &ValuePart,
    expected: ValueType,
    mut refuse: impl FnMut(usize, Refusal),
) -> ValuePart {
    let mut values = ValuesBuilder::new(expected);
    let mut nodes = Vec::new();
    let mut positions = vec![None; part.nodes.len()];
    for (row, &node) in part.nodes.iter().enumerate() {
        match convert_in_full(part.values.get(row), expected) {
            Ok(value) => {
                positions[row] = Some(nodes.len() as u32);
                nodes.push(node);
                values.push(value.as_ref());
            }
            Err(reason) => refuse(row, reason),
        }
    }
    let facets = part.facets.iter().map(|facet| moved_facet(facet, &positions)).collect();
    ValuePart { nodes, values: values.finish(), facets }
}

fn moved_facet(facet: &FacetPart, positions: &[Option<u32>]) -> FacetPart {
    let stored = facet.rows.iter().enumerate();
    let stored: Vec<(u32, u32)> = stored
        .filter_map(|(at, row)| positions[row as usize].map(|position| (at as u32, position)))
        .collect();
    FacetPart {
        key: facet.key.clone(),
        rows: FacetRows::new(stored.iter().map(|&(_, position)| position).collect()),
        values: facet.values.gather(&stored.iter().map(|&(at, _)| at).collect::<Vec<u32>>()),
    }
}
