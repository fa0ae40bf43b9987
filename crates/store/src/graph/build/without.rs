//! Builds a part of a predicate without some of its nodes or edges.
//!
//! Deleting thousands of nodes changes thousands of rows of each column. Each change costs an entry
//! of a persistent map, and one for each token; copying what is left costs nanoseconds a row. Rows
//! and removed nodes ascend, so one pass over both copies the column. Postings are filtered in
//! order, and no value is tokenized again.
//!
//! ```text
//!   subjects  1 4 5 8 9 12        postings  "a": 1 5 9 | "b": 4 8 12
//!   removed     4   8                       "a": 1 5 9 | "b": 12
//! ```

use super::parts::{EdgePart, FacetPart, FacetRows, ValuePart};
use super::stored_form::{build_column, build_edges, build_values};
use crate::graph::thresholds::Thresholds;
use crate::graph::version::edges::{Direction, EdgeStore};
use crate::graph::version::values::{LangValues, ValueBase};
use crate::index::TokenIndex;
use crate::storage::{Array, Offsets};
use hexgraph_base::schema::PredicateDef;
use hexgraph_base::types::parallel;
use roaring::RoaringBitmap;

/// What is removed of one predicate.
#[derive(Default)]
pub(in crate::graph) struct Removed {
    /// The nodes that lose everything, ascending, each once.
    nodes: Vec<u32>,
    /// The same nodes.
    set: RoaringBitmap,
    /// Single edges: node and target, ascending.
    edges: Vec<(u32, u32)>,
}

impl Removed {
    /// Nodes that lose everything, and single edges. Both in any order and with repeats.
    pub(in crate::graph) fn new(mut nodes: Vec<u32>, mut edges: Vec<(u32, u32)>) -> Removed {
        nodes.sort_unstable();
        nodes.dedup();
        // Not `from_sorted_iter`, which looks for the greatest member before each one.
        let set = nodes.iter().copied().collect();
        edges.sort_unstable();
        edges.dedup();
        Removed { set, nodes, edges }
    }

    /// The nodes that lose everything, ascending.
    pub(in crate::graph) fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// The single edges, ascending.
    pub(in crate::graph) fn edges(&self) -> &[(u32, u32)] {
        &self.edges
    }
}

/// The values in one language without those of some nodes. O(rows), and with changes or vectors
/// what [`build_values`] costs.
pub(in crate::graph) fn values_without(
    values: &LangValues,
    def: &PredicateDef,
    removed: &Removed,
    thresholds: &Thresholds,
) -> LangValues {
    let ValuePart { nodes, values: stored, facets } = ValuePart::of(values);
    let retained = retained_rows(&nodes, &removed.nodes);
    let part = ValuePart {
        nodes: retained.iter().map(|&row| nodes[row as usize]).collect(),
        values: stored.gather(&retained),
        facets: retained_facets(facets, &retained),
    };
    let base = &values.base;
    if !values.is_clean() || base.vectors.is_some() {
        return build_values(def, &values.lang, vec![part], Some(base), thresholds);
    }
    let column = build_column(vec![part], def.value_type, def.list);
    let indexes = base.indexes.iter();
    let indexes = indexes.map(|(kind, index)| (*kind, index_without(index, &removed.set)));
    let base = ValueBase { column, indexes: indexes.collect(), vectors: None };
    LangValues::new(values.lang.clone(), base)
}

/// The edges without some, both ways. O(edges).
pub(in crate::graph) fn edges_without(
    edges: &EdgeStore,
    def: &PredicateDef,
    removed: &Removed,
) -> EdgeStore {
    let forward = || {
        let mut singles = removed.edges.iter().copied().peekable();
        direction_without(&edges.forward, def.list, |node, target| {
            removed.set.contains(node) || passes(&mut singles, (node, target))
        })
    };
    let reverse = || {
        let mut inverted: Vec<_> =
            removed.edges.iter().map(|&(node, target)| (target, node)).collect();
        inverted.sort_unstable();
        let mut singles = inverted.into_iter().peekable();
        Some(direction_without(edges.reverse.as_ref()?, true, |target, node| {
            removed.set.contains(node) || passes(&mut singles, (target, node))
        }))
    };
    let (forward, reverse) = parallel::join(forward, reverse);
    EdgeStore { forward, reverse }
}

/// True if `edge` is one of those in `come`. Both these and the edges of successive calls ascend.
fn passes(
    singles: &mut std::iter::Peekable<impl Iterator<Item = (u32, u32)>>,
    edge: (u32, u32),
) -> bool {
    while singles.next_if(|single| *single < edge).is_some() {}
    singles.peek() == Some(&edge)
}

/// One direction without the edges for which `is_removed` is true. Called for each edge in
/// ascending order.
fn direction_without(
    direction: &Direction,
    list: bool,
    mut is_removed: impl FnMut(u32, u32) -> bool,
) -> Direction {
    let EdgePart { nodes, targets, facets } = EdgePart::of(direction);
    let rows = nodes.iter().zip(&targets).enumerate();
    let retained = rows.filter(|(_, (node, target))| !is_removed(**node, **target));
    let retained: Vec<u32> = retained.map(|(row, _)| row as u32).collect();
    let part = EdgePart {
        nodes: retained.iter().map(|&row| nodes[row as usize]).collect(),
        targets: retained.iter().map(|&row| targets[row as usize]).collect(),
        facets: retained_facets(facets, &retained),
    };
    Direction::new(build_edges(vec![part], list))
}

/// The rows of nodes that are not removed. Both lists ascend.
fn retained_rows(nodes: &[u32], removed: &[u32]) -> Vec<u32> {
    let mut removed = removed.iter().copied().peekable();
    let mut retained = Vec::with_capacity(nodes.len());
    for (row, &node) in nodes.iter().enumerate() {
        while removed.next_if(|other| *other < node).is_some() {}
        if removed.peek() != Some(&node) {
            retained.push(row as u32);
        }
    }
    retained
}

/// The facets of the rows that stay, which ascend, by their new numbers.
fn retained_facets(facets: Vec<FacetPart>, retained: &[u32]) -> Vec<FacetPart> {
    let of_retained = |part: FacetPart| {
        let (mut rows, mut positions, mut at) = (Vec::new(), Vec::new(), 0);
        for (position, row) in part.rows.iter().enumerate() {
            while retained.get(at).is_some_and(|other| *other < row) {
                at += 1;
            }
            if retained.get(at) == Some(&row) {
                rows.push(at as u32);
                positions.push(position as u32);
            }
        }
        let values = part.values.gather(&positions);
        FacetPart { key: part.key, rows: FacetRows::new(rows), values }
    };
    facets.into_iter().map(of_retained).filter(|part| !part.values.is_empty()).collect()
}

/// An index without some nodes. Tokens without nodes go with them.
fn index_without(index: &TokenIndex, removed: &RoaringBitmap) -> TokenIndex {
    let mut postings = Vec::with_capacity(index.postings.len());
    let (mut retained, mut lens) = (Vec::new(), Vec::new());
    for token in 0..index.len() {
        let before = postings.len();
        let nodes = index.postings.slice(index.offsets.range(token));
        postings.extend(nodes.iter().copied().filter(|node| !removed.contains(*node)));
        if before < postings.len() {
            retained.push(token as u32);
            lens.push(postings.len() - before);
        }
    }
    let keys = match retained.len() == index.len() {
        true => index.keys.clone(),
        false => index.keys.gather(&retained),
    };
    TokenIndex::new(keys, Offsets::from_lens(lens.into_iter()), Array::from_vec(postings))
}
