//! Builds the stored form of a predicate from parts in order of arrival.
//!
//! What arrives last wins: a node has one value of a single-valued predicate, a list has each
//! value once, and the facets of a value or edge that is set again are replaced as a whole. Parts
//! that come sorted, which is usual, are laid end to end without sorting.

use super::edge_order::order_edges;
use super::edge_order::reverse_edges;
use super::edge_order::sort_edges;
use super::edges::Direction;
use super::edges::EdgeStore;
use super::parts::EdgePart;
use super::parts::FacetPart;
use super::parts::ValuePart;
use super::value_order::compare_values;
use super::values::LangValues;
use super::values::ValueBase;
use crate::index::VectorIndex;
use crate::index::build_index;
use crate::index::index_kinds;
use crate::index::vector_options;
use crate::schema::PredicateDef;
use crate::storage::Array;
use crate::storage::Column;
use crate::storage::Edges;
use crate::storage::FacetColumn;
use crate::storage::FrozenBitmap;
use crate::storage::Offsets;
use crate::storage::Values;
use crate::storage::ValuesBuilder;
use crate::types::ValueType;
use rayon::prelude::*;
use std::sync::Arc;

/// Builds the values of a predicate in one language, with their indexes. `before` is what the
/// language had before, of use to indexes that can be changed for less than they can be built.
pub fn build_values(
    def: &PredicateDef,
    lang: &str,
    parts: Vec<ValuePart>,
    before: Option<&ValueBase>,
) -> LangValues {
    index_column(def, lang, build_column(parts, def.value_type, def.list), before)
}

/// Builds the indexes of a column.
fn index_column(
    def: &PredicateDef,
    lang: &str,
    column: Column,
    before: Option<&ValueBase>,
) -> LangValues {
    let kinds = index_kinds(def);
    let build = |&kind| (kind, build_index(kind, &column, def.value_type, lang));
    let indexes = kinds.par_iter().map(build).collect();
    let vectors = index_vectors(def, &column, before);
    LangValues::new(Arc::from(lang), ValueBase { column, indexes, vectors })
}

/// Builds the index of the vectors of a column, where the schema wants one.
pub fn index_vectors(
    def: &PredicateDef,
    column: &Column,
    before: Option<&ValueBase>,
) -> Option<VectorIndex> {
    let options = vector_options(def)?;
    let before = before.and_then(|base| Some((base.vectors.as_ref()?, &base.column)));
    Some(VectorIndex::build(column, options, before))
}

/// Builds the edges of a predicate, both ways if the schema says so.
pub fn build_edge_store(def: &PredicateDef, parts: Vec<EdgePart>) -> EdgeStore {
    let forward = build_edges(parts, def.list);
    let reverse = def.reverse.then(|| Direction::new(build_reverse(&forward)));
    EdgeStore { forward: Direction::new(forward), reverse }
}

/// Puts the parts of a column together.
///
/// # Panics
///
/// When the parts have 2^32 rows or more.
pub fn build_column(parts: Vec<ValuePart>, value_type: ValueType, list: bool) -> Column {
    let (mut nodes, mut facets) = (Vec::new(), Vec::new());
    let mut values = match &parts[..] {
        [only] => only.values.clone(),
        _ => Values::empty(value_type),
    };
    let is_one = parts.len() == 1;
    let mut builder = ValuesBuilder::new(value_type);
    nodes.reserve_exact(parts.iter().map(|part| part.nodes.len()).sum());
    for part in parts {
        push_facets(part.facets, nodes.len(), &mut facets);
        nodes.extend_from_slice(&part.nodes);
        if !is_one {
            builder.append(&part.values);
        }
    }
    if !is_one {
        values = builder.finish();
    }
    assert!(u32::try_from(nodes.len()).is_ok(), "a predicate has fewer than 2^32 values");
    let kept = kept_rows(&nodes, &values, list);
    if let Some(kept) = &kept {
        values = values.gather(kept);
        nodes = kept.iter().map(|&row| nodes[row as usize]).collect();
    }
    let facets = place_facets(facets, kept.as_deref());
    let rows = list.then(|| Offsets::from_lens(runs(&nodes).map(<[u32]>::len)));
    let subjects = FrozenBitmap::from_sorted_iter(runs(&nodes).map(|run| run[0]));
    Column { subjects, rows, values, facets }
}

fn runs(nodes: &[u32]) -> impl Iterator<Item = &[u32]> {
    nodes.chunk_by(|one, next| one == next)
}

/// The rows that stay, in their final order; `None` when all do, in the order they have.
fn kept_rows(nodes: &[u32], values: &Values, list: bool) -> Option<Vec<u32>> {
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
    let mut kept = Vec::with_capacity(rows.len());
    for run in rows.chunk_by_mut(same_node) {
        if list {
            // A stable sort leaves the last one of equal values behind the others.
            run.sort_by(|&one, &other| by_value(one, other));
            let equal = run.chunk_by(|&one, &other| by_value(one, other).is_eq());
            kept.extend(equal.map(|run| run[run.len() - 1]));
        } else {
            kept.push(run[run.len() - 1]);
        }
    }
    Some(kept)
}

/// All rows by node, and as they came for one node.
fn rows_by_node(nodes: &[u32]) -> Vec<u32> {
    if nodes.is_sorted() {
        return (0..nodes.len() as u32).collect();
    }
    let rows = nodes.iter().enumerate();
    let mut keyed: Vec<u64> = rows.map(|(row, &node)| pack(node, row as u32)).collect();
    keyed.par_sort_unstable();
    keyed.into_iter().map(|key| key as u32).collect()
}

fn pack(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// Puts the parts of the edges together.
///
/// # Panics
///
/// When the parts have 2^32 edges or more.
pub fn build_edges(parts: Vec<EdgePart>, list: bool) -> Edges {
    let (mut nodes, mut targets, mut facets) = (Vec::new(), Vec::new(), Vec::new());
    let len = parts.iter().map(|part| part.nodes.len()).sum();
    nodes.reserve_exact(len);
    targets.reserve_exact(len);
    for part in parts {
        push_facets(part.facets, nodes.len(), &mut facets);
        nodes.extend_from_slice(&part.nodes);
        targets.extend_from_slice(&part.targets);
    }
    assert!(u32::try_from(nodes.len()).is_ok(), "a predicate has fewer than 2^32 edges");
    if list && facets.is_empty() {
        let (nodes, targets) = sort_edges(nodes, targets);
        return edges_of(&nodes, targets, Vec::new());
    }
    let kept = if list { order_edges(&nodes, &targets) } else { last_rows(&nodes) };
    if let Some(kept) = &kept {
        let take = |from: &[u32]| kept.par_iter().map(|&row| from[row as usize]).collect();
        (nodes, targets) = rayon::join(|| take(&nodes), || take(&targets));
    }
    edges_of(&nodes, targets, place_facets(facets, kept.as_deref()))
}

/// The last row of each node, by node; `None` when each has one and they ascend.
fn last_rows(nodes: &[u32]) -> Option<Vec<u32>> {
    if nodes.is_sorted_by(|one, next| one < next) {
        return None;
    }
    let rows = rows_by_node(nodes);
    let same_node = |&one: &u32, &other: &u32| nodes[one as usize] == nodes[other as usize];
    Some(rows.chunk_by(same_node).map(|run| run[run.len() - 1]).collect())
}

/// The same edges the other way round, without facets.
pub fn build_reverse(forward: &Edges) -> Edges {
    let mut nodes = Vec::with_capacity(forward.targets.len());
    for (row, node) in forward.subjects.iter().enumerate() {
        nodes.extend(forward.offsets.range(row).map(|_| node));
    }
    let (nodes, targets) = reverse_edges(&nodes, forward.targets.as_slice());
    edges_of(&nodes, targets, Vec::new())
}

fn edges_of(nodes: &[u32], targets: Vec<u32>, facets: Vec<FacetColumn>) -> Edges {
    Edges {
        subjects: FrozenBitmap::from_sorted_iter(runs(nodes).map(|run| run[0])),
        offsets: Offsets::from_lens(runs(nodes).map(<[u32]>::len)),
        targets: Array::from_vec(targets),
        facets,
    }
}

/// Adds the facets of a part whose first row is row `first` of them all.
fn push_facets(parts: Vec<FacetPart>, first: usize, all: &mut Vec<FacetPart>) {
    let first = first as u32;
    all.extend(parts.into_iter().map(|mut part| {
        part.rows.iter_mut().for_each(|row| *row += first);
        part
    }));
}

/// Makes columns of facets by row. `kept` are the rows that stay, `None` for all.
fn place_facets(mut parts: Vec<FacetPart>, kept: Option<&[u32]>) -> Vec<FacetColumn> {
    if parts.is_empty() {
        return Vec::new();
    }
    let places = kept.map(|kept| {
        let mut places = vec![u32::MAX; kept.iter().max().map_or(0, |&row| row as usize + 1)];
        for (place, &row) in kept.iter().enumerate() {
            places[row as usize] = place as u32;
        }
        places
    });
    // The sort is stable, so the rows of one facet still ascend.
    parts.sort_by(|one, other| facet_key(one).cmp(&facet_key(other)));
    let groups = parts.chunk_by(|one, other| facet_key(one) == facet_key(other));
    groups.filter_map(|group| facet_column(group, places.as_deref())).collect()
}

fn facet_key(part: &FacetPart) -> (&str, Option<ValueType>) {
    (&part.key, part.values.value_type())
}

fn facet_column(parts: &[FacetPart], places: Option<&[u32]>) -> Option<FacetColumn> {
    let mut values = ValuesBuilder::new(parts[0].values.value_type().unwrap_or(ValueType::Default));
    let mut positions = Vec::with_capacity(parts.iter().map(|part| part.rows.len()).sum());
    for part in parts {
        let Some(places) = places else {
            positions.extend_from_slice(&part.rows);
            values.append(&part.values);
            continue;
        };
        for (at, &row) in part.rows.iter().enumerate() {
            let place = places.get(row as usize).copied().unwrap_or(u32::MAX);
            if place != u32::MAX {
                positions.push(place);
                values.push(part.values.get(at));
            }
        }
    }
    let mut values = values.finish();
    if !positions.is_sorted() {
        let mut order: Vec<u64> =
            positions.iter().enumerate().map(|(at, &place)| pack(place, at as u32)).collect();
        order.sort_unstable();
        values = values.gather(&order.iter().map(|&key| key as u32).collect::<Vec<u32>>());
        positions = order.iter().map(|&key| (key >> 32) as u32).collect();
    }
    let key = parts[0].key.clone();
    let positions = FrozenBitmap::from_sorted(&positions);
    (!positions.is_empty()).then_some(FacetColumn { key, positions, values })
}
