//! Builds the stored form of a predicate from parts in order of arrival.
//!
//! The last value wins: a node has one value of a single-valued predicate, a list has each value
//! once, and setting a value or edge again replaces all its facets. Sorted parts, the usual case,
//! are concatenated without sorting.

use super::edge_order::{Ordered, RepeatedEdge, order_edges, reverse_edges};
use super::facet_columns::{pack, position_facets, push_facets};
use super::parts::{EdgePart, FacetPart, ValuePart};
use super::replaced_rows::{Dropped, SupersededCounter};
use super::value_order::compare_values;
use crate::graph::thresholds::Thresholds;
use crate::graph::version::edges::{Direction, EdgeStore};
use crate::graph::version::values::{LangValues, ValueBase};
use crate::index::{IndexKind, VectorIndex, build_index, index_kinds, vector_options};
use crate::storage::{Array, Column, Edges, FacetColumn, FrozenBitmap, Offsets, Values};
use hexgraph_base::schema::PredicateDef;
use hexgraph_base::types::{Check, Result, ValueType, endless, parallel};
use std::sync::Arc;

/// Counts what values of a load supersede, without an index.
pub(in crate::graph) fn count_values(
    parts: Vec<ValuePart>,
    of: (ValueType, bool),
    counter: &mut SupersededCounter,
) {
    column_of(parts, of, Some(counter));
}

/// Counts what edges of a load supersede.
pub(in crate::graph) fn count_edges(
    parts: Vec<EdgePart>,
    list: bool,
    counter: &mut SupersededCounter,
) {
    edges_of_parts(parts, list, Some(counter));
}

/// Builds the values of a predicate in one language, with their indexes. `before` is what the
/// language had before, of use to indexes that can be changed for less than they can be built.
pub(in crate::graph) fn build_values(
    def: &PredicateDef,
    lang: &str,
    parts: Vec<ValuePart>,
    before: Option<&ValueBase>,
    thresholds: &Thresholds,
) -> LangValues {
    index_column(def, lang, build_column(parts, def.value_type, def.list), before, thresholds, true)
}

/// As [`build_values`] for those of a load, and counts what they supersede. Building indexes one at
/// a time, if not `at_once`, costs more time and less memory.
pub(in crate::graph) fn build_loaded_values(
    def: &PredicateDef,
    lang: &str,
    parts: Vec<ValuePart>,
    (before, at_once): (Option<&ValueBase>, bool),
    thresholds: &Thresholds,
    counter: &mut SupersededCounter,
) -> LangValues {
    let column = column_of(parts, (def.value_type, def.list), Some(counter));
    index_column(def, lang, column, before, thresholds, at_once)
}

/// Builds the indexes of a column.
fn index_column(
    def: &PredicateDef,
    lang: &str,
    column: Column,
    before: Option<&ValueBase>,
    thresholds: &Thresholds,
    at_once: bool,
) -> LangValues {
    let kinds = index_kinds(def);
    let build = |kind: &IndexKind| {
        let built = build_index(*kind, &column, def.value_type, lang, &endless);
        (*kind, built.expect("nothing stops it"))
    };
    let indexes = match at_once {
        true => parallel::map(&kinds, build),
        false => kinds.iter().map(build).collect(),
    };
    let vectors =
        index_vectors(def, &column, before, thresholds, &endless).expect("nothing stops it");
    LangValues::new(Arc::from(lang), ValueBase { column, indexes, vectors })
}

/// Builds the index of the vectors of a column, if the schema has one.
///
/// # Errors
///
/// Those of `check`.
pub(in crate::graph) fn index_vectors(
    def: &PredicateDef,
    column: &Column,
    before: Option<&ValueBase>,
    thresholds: &Thresholds,
    check: Check<'_>,
) -> Result<Option<VectorIndex>> {
    let Some(options) = vector_options(def) else { return Ok(None) };
    let before = before.and_then(|base| Some((base.vectors.as_ref()?, &base.column)));
    VectorIndex::build(column, options, before, thresholds.vectors, check).map(Some)
}

/// Builds the edges of a predicate, with reverse edges if the schema has `@reverse`.
pub(in crate::graph) fn build_edge_store(def: &PredicateDef, parts: Vec<EdgePart>) -> EdgeStore {
    edge_store(def, build_edges(parts, def.list))
}

/// As [`build_edge_store`] for those of a load, and counts what they supersede.
pub(in crate::graph) fn build_loaded_edges(
    def: &PredicateDef,
    parts: Vec<EdgePart>,
    counter: &mut SupersededCounter,
) -> EdgeStore {
    edge_store(def, edges_of_parts(parts, def.list, Some(counter)))
}

fn edge_store(def: &PredicateDef, forward: Edges) -> EdgeStore {
    let reverse = def.reverse.then(|| Direction::new(build_reverse(&forward)));
    EdgeStore { forward: Direction::new(forward), reverse }
}

/// Puts the parts of a column together.
///
/// # Panics
///
/// When the parts have 2^32 rows or more.
pub(in crate::graph) fn build_column(
    parts: Vec<ValuePart>,
    value_type: ValueType,
    list: bool,
) -> Column {
    column_of(parts, (value_type, list), None)
}

fn column_of(
    parts: Vec<ValuePart>,
    (value_type, list): (ValueType, bool),
    mut counter: Option<&mut SupersededCounter>,
) -> Column {
    let (mut nodes, mut facets) = (Vec::new(), Vec::new());
    let mut runs_of_values = Vec::with_capacity(parts.len());
    nodes.reserve_exact(parts.iter().map(|part| part.nodes.len()).sum());
    for part in parts {
        push_facets(part.facets, nodes.len(), &mut facets);
        nodes.extend_from_slice(&part.nodes);
        runs_of_values.push(part.values);
    }
    let mut values = Values::concat(value_type, runs_of_values);
    assert!(u32::try_from(nodes.len()).is_ok(), "a predicate has fewer than 2^32 values");
    // Those of equal values; what a value that goes has for facets goes with it.
    let mut dropped = Vec::new();
    let retained = retained_rows(&nodes, &values, list, |row, last, position, is_equal| {
        if let Some(counter) = counter.as_mut() {
            match is_equal() {
                true if !facets.is_empty() => dropped.push(Dropped { row, position }),
                true => {}
                false => counter.note(row, nodes[last as usize]),
            }
        }
    });
    if let Some(retained) = &retained {
        values = values.gather(retained);
        nodes = retained.iter().map(|&row| nodes[row as usize]).collect();
    }
    let facets = position_counted(facets, retained.as_deref(), (&dropped, counter));
    let rows = list.then(|| Offsets::from_lens(runs(&nodes).map(<[u32]>::len)));
    let subjects = FrozenBitmap::from_sorted_iter(runs(&nodes).map(|run| run[0]));
    Column::new(subjects, rows, values.coded(), facets)
}

fn runs(nodes: &[u32]) -> impl Iterator<Item = &[u32]> {
    nodes.chunk_by(|one, next| one == next)
}

/// The retained rows in their final order; `None` if all are retained in their current order. Calls
/// `drop_row` for each dropped row with the row that supersedes it, the final position of that, and
/// a function that compares their values.
fn retained_rows(
    nodes: &[u32],
    values: &Values,
    list: bool,
    mut drop_row: impl FnMut(u32, u32, u32, &dyn Fn() -> bool),
) -> Option<Vec<u32>> {
    let by_value =
        |one: u32, other: u32| compare_values(values.get(one as usize), values.get(other as usize));
    let in_order = |row: usize| {
        nodes[row - 1] < nodes[row]
            || list && nodes[row - 1] == nodes[row] && by_value(row as u32 - 1, row as u32).is_lt()
    };
    if (1..nodes.len()).all(in_order) {
        return None;
    }
    let mut rows = rows_by_node(nodes);
    let same_node = |&one: &u32, &other: &u32| nodes[one as usize] == nodes[other as usize];
    let mut retained = Vec::with_capacity(rows.len());
    for run in rows.chunk_by_mut(same_node) {
        if list {
            // A stable sort leaves the last one of equal values after the others.
            run.sort_by(|&one, &other| by_value(one, other));
            for equal in run.chunk_by(|&one, &other| by_value(one, other).is_eq()) {
                if let [gone @ .., last] = equal {
                    gone.iter()
                        .for_each(|&row| drop_row(row, *last, retained.len() as u32, &|| true));
                    retained.push(*last);
                }
            }
        } else if let [gone @ .., last] = run {
            for &mut row in gone {
                let is_equal = || by_value(row, *last).is_eq();
                drop_row(row, *last, retained.len() as u32, &is_equal);
            }
            retained.push(*last);
        }
    }
    Some(retained)
}

/// All rows by node, and as they came for one node.
fn rows_by_node(nodes: &[u32]) -> Vec<u32> {
    if nodes.is_sorted() {
        return (0..nodes.len() as u32).collect();
    }
    let rows = nodes.iter().enumerate();
    // A node above its row: sorted as numbers, the rows of a node stay as they came.
    let mut keyed: Vec<u64> = rows.map(|(row, &node)| pack(node, row as u32)).collect();
    parallel::sort_unstable(&mut keyed);
    keyed.into_iter().map(|key| key as u32).collect()
}

/// Puts the parts of the edges together.
///
/// # Panics
///
/// When the parts have 2^32 edges or more.
pub(in crate::graph) fn build_edges(parts: Vec<EdgePart>, list: bool) -> Edges {
    edges_of_parts(parts, list, None)
}

fn edges_of_parts(
    parts: Vec<EdgePart>,
    list: bool,
    mut counter: Option<&mut SupersededCounter>,
) -> Edges {
    let (mut columns, mut facets, mut len) = (Vec::with_capacity(parts.len()), Vec::new(), 0);
    for part in parts {
        push_facets(part.facets, len, &mut facets);
        len += part.nodes.len();
        columns.push((part.nodes, part.targets));
    }
    assert!(u32::try_from(len).is_ok(), "a predicate has fewer than 2^32 edges");
    let Ordered { runs, targets, rows, repeated } = match list {
        true => order_edges(columns, !facets.is_empty()),
        false => last_edges(columns, counter.as_deref_mut()),
    };
    let mut edges = edges_of(&runs, Array::from_vec(targets), Vec::new());
    let dropped = match (&counter, facets.is_empty()) {
        (Some(_), false) => repeated
            .iter()
            .filter_map(|it| {
                let position = edges.position_of(it.node, it.target)? as u32;
                Some(Dropped { row: it.row, position })
            })
            .collect(),
        _ => Vec::new(),
    };
    edges.facets = position_counted(facets, rows.as_deref(), (&dropped, counter));
    edges
}

/// The last edge of each node. Edges to the same target as the last one are repeated, others are
/// replaced.
fn last_edges(
    columns: Vec<(Vec<u32>, Vec<u32>)>,
    mut counter: Option<&mut SupersededCounter>,
) -> Ordered {
    let (nodes, targets): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    let (mut nodes, mut targets) = (nodes.concat(), targets.concat());
    let mut repeated = Vec::new();
    let rows = last_rows(&nodes, |row, last| {
        let (node, [target, last]) =
            (nodes[row as usize], [row, last].map(|it| targets[it as usize]));
        match counter.as_mut() {
            _ if target == last => repeated.push(RepeatedEdge { row, node, target }),
            Some(counter) => counter.note(row, node),
            None => {}
        }
    });
    if let Some(retained) = &rows {
        let gather = |from: &[u32]| retained.iter().map(|&row| from[row as usize]).collect();
        (nodes, targets) = parallel::join(|| gather(&nodes), || gather(&targets));
    }
    Ordered { runs: nodes.into_iter().map(|node| (node, 1)).collect(), targets, rows, repeated }
}

/// The last row of each node, by node; `None` if each has one and they ascend. Calls `drop_row`
/// with each other row and the last one of its node.
fn last_rows(nodes: &[u32], mut drop_row: impl FnMut(u32, u32)) -> Option<Vec<u32>> {
    if nodes.is_sorted_by(|one, next| one < next) {
        return None;
    }
    let rows = rows_by_node(nodes);
    let same_node = |&one: &u32, &other: &u32| nodes[one as usize] == nodes[other as usize];
    let last = |run: &[u32]| {
        let last = run[run.len() - 1];
        run[..run.len() - 1].iter().for_each(|&row| drop_row(row, last));
        last
    };
    Some(rows.chunk_by(same_node).map(last).collect())
}

/// Builds the same edges in the other direction, without facets.
pub(in crate::graph) fn build_reverse(forward: &Edges) -> Edges {
    let Ordered { runs, targets, .. } = reverse_edges(forward);
    edges_of(&runs, Array::from_vec(targets), Vec::new())
}

/// Edges of sorted runs.
pub(super) fn edges_of(
    runs: &[(u32, u32)],
    targets: Array<u32>,
    facets: Vec<FacetColumn>,
) -> Edges {
    Edges {
        subjects: FrozenBitmap::from_sorted_iter(runs.iter().map(|run| run.0)),
        offsets: Offsets::from_lens(runs.iter().map(|run| run.1 as usize)),
        targets,
        facets,
    }
}

/// As [`position_facets`], and counts dropped rows whose facets differ from those of the
/// superseding row.
fn position_counted(
    parts: Vec<FacetPart>,
    retained: Option<&[u32]>,
    (dropped, counter): (&[Dropped], Option<&mut SupersededCounter>),
) -> Vec<FacetColumn> {
    match counter.filter(|_| !dropped.is_empty()) {
        None => position_facets(parts, retained),
        Some(counter) => {
            let columns = position_facets(parts.clone(), retained);
            counter.note_facets(parts, dropped, &columns);
            columns
        }
    }
}
