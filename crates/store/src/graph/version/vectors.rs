//! The nearest vectors at one version: those of the base by its index, changed ones one by one.
//!
//! The base is built by the last load, change of the schema or compaction. The delta has the entire
//! rows of all nodes changed since, and overrides the base for them.

use super::delta::Row;
use super::predicate::Predicate;
use super::values::LangValues;
use crate::graph::change::apply::{Draft, ValueChange};
use crate::index::{Query, VectorIndex, as_vector, measure, vector_options};
use hexgraph_base::schema::{HnswOptions, Metric};
use hexgraph_base::types::pool::Pool;
use hexgraph_base::types::{Error, Result, Value};
use rustc_hash::FxHashSet;
use std::cmp::Ordering;

/// What is looked for.
#[derive(Debug, Clone, Copy)]
pub struct Nearest<'a> {
    /// The vector that others should be near to.
    pub vector: &'a [f32],
    /// How many nodes are requested.
    pub count: usize,
    /// The number of candidates of a search; `None` for as many as give high recall.
    pub width: Option<usize>,
    /// The greatest distance: the length of the difference, or one less the cosine. Inner
    /// products have none.
    pub distance_max: Option<f64>,
    /// The threads that help to compare many vectors.
    pub pool: Option<&'a Pool>,
}

impl Predicate {
    /// How the index of vectors measures.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] when the schema has none.
    pub fn vector_metric(&self) -> Result<Metric> {
        vector_options(&self.def).map(HnswOptions::metric).ok_or_else(|| {
            Error::query(format!(
                "predicate `{0}` has no vector index (add `@index(hnsw)` to the schema of `{0}`)",
                self.def.name
            ))
        })
    }

    /// The nearest nodes, nearest first, among the values without a language.
    ///
    /// Costs a search of the index, and a distance for each vector that changed since the base was
    /// built.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] when the schema has no index of vectors, and when all stored vectors have
    /// another length than the requested one.
    pub fn nearest(&self, expected: &Nearest<'_>) -> Result<Vec<u32>> {
        let metric = self.vector_metric()?;
        let Some(values) = self.values("") else { return Ok(Vec::new()) };
        let unequal = |other| unequal_lengths(&self.def.name, metric, expected.vector.len(), other);
        values.nearest(expected).map_err(unequal)
    }
}

impl LangValues {
    /// The nearest nodes, nearest first, or the length that all vectors have where it is another.
    fn nearest(&self, expected: &Nearest<'_>) -> std::result::Result<Vec<u32>, usize> {
        let Some(index) = &self.base.vectors else { return Ok(Vec::new()) };
        let in_base = index.dimension == expected.vector.len();
        // Distances are those of `measure`: squared for Euclidean ones, and negated products. So
        // the least is always the nearest. At equal distances the smaller node comes first.
        let mut hit: Vec<(f32, u32)> = Vec::new();
        let mut other = None;
        self.push_changed(index.metric, expected, &mut hit, &mut other);
        if in_base && index.dimension != 0 {
            self.push_base(index, expected, &mut hit);
        } else if 0 < index.dimension && self.has_unchanged() {
            other = Some(index.dimension);
        }
        if let (true, Some(length)) = (hit.is_empty(), other) {
            return Err(length);
        }
        hit.sort_unstable_by(in_order);
        let is_near = |&(distance, _): &(f32, u32)| !is_too_far(index.metric, distance, expected);
        let mut met = FxHashSet::default();
        let nodes = hit.into_iter().take_while(is_near).map(|(_, node)| node);
        let nodes = nodes.filter(|&node| met.insert(node)).take(expected.count);
        Ok(nodes.collect())
    }

    /// Adds the nearest of the changed nodes, unordered; `other` is the length of a vector with
    /// another length.
    fn push_changed(
        &self,
        metric: Metric,
        expected: &Nearest<'_>,
        result: &mut Vec<(f32, u32)>,
        other: &mut Option<usize>,
    ) {
        let query = Query::new(metric, expected.vector);
        for (&node, row) in &self.delta.rows {
            // A node of several vectors is as near as the nearest of them.
            let mut nearest: Option<f32> = None;
            for value in row.iter().flat_map(Row::iter) {
                let Some(changed) = as_vector(value).filter(|it| !it.is_empty()) else {
                    continue;
                };
                if changed.len() == expected.vector.len() {
                    let distance = measure(metric, &query, &changed);
                    let is_nearer = |best: f32| distance.total_cmp(&best).is_lt();
                    if nearest.is_none_or(is_nearer) {
                        nearest = Some(distance);
                    }
                } else {
                    *other = Some(changed.len());
                }
            }
            result.extend(nearest.map(|distance| (distance, node)));
        }
        // Each node occurs once, so the others cannot be among the nearest. A selection costs less
        // than sorting all.
        if 0 < expected.count && expected.count < result.len() {
            result.select_nth_unstable_by(expected.count - 1, in_order);
            result.truncate(expected.count);
        }
    }

    /// The nearest vectors of the base whose nodes have not changed.
    fn push_base(&self, index: &VectorIndex, expected: &Nearest<'_>, result: &mut Vec<(f32, u32)>) {
        let column = &self.base.column;
        let node_of = |position: u32| {
            let row = match &column.rows {
                Some(rows) => rows.row_of(position as usize),
                None => position as usize,
            };
            column.subjects.select(row)
        };
        let is_unchanged = |position: u32| {
            self.delta.rows.is_empty()
                || node_of(position).is_some_and(|node| self.delta.row(node).is_none())
        };
        // Several vectors of a list may belong to one node. Then the search repeats with twice the
        // count, until there are enough nodes or no more vectors. The last search costs as much as
        // all before it.
        let mut count = expected.count;
        loop {
            let near =
                index.nearest(expected.vector, count, expected.width, &is_unchanged, expected.pool);
            let (all, first) = (near.len() < count, result.len());
            result.extend(near.iter().filter_map(|it| Some((it.distance, node_of(it.position)?))));
            let mut nodes: Vec<u32> = result[first..].iter().map(|&(_, node)| node).collect();
            nodes.sort_unstable();
            nodes.dedup();
            if all || column.rows.is_none() || expected.count <= nodes.len() {
                return;
            }
            result.truncate(first);
            // It ends at the latest with all vectors, which are then fewer than `count`.
            count *= 2;
        }
    }

    /// Whether a node of the base is as it was.
    fn has_unchanged(&self) -> bool {
        let mut nodes = self.base.column.subjects.iter();
        nodes.any(|node| self.delta.row(node).is_none())
    }

    /// The length of a vector of a node outside of `nodes`, which ascend. Stored vectors agree, so
    /// the first one decides; vectors without numbers have no length. All nodes are read only if
    /// nobody has a vector.
    fn length_without(&self, nodes: &[u32]) -> Option<usize> {
        let subjects = self.subjects();
        let others = subjects.iter().filter(|node| nodes.binary_search(node).is_err());
        let mut lengths = others.filter_map(|node| {
            let values = self.values(node);
            let length = values.iter().filter_map(|value| Some(as_vector(value)?.len())).max();
            length.filter(|&length| 0 < length)
        });
        lengths.next()
    }
}

/// The order of nodes with their distances: the nearest first, and at equal distances the smaller
/// node.
fn in_order(one: &(f32, u32), next: &(f32, u32)) -> Ordering {
    one.0.total_cmp(&next.0).then(one.1.cmp(&next.1))
}

/// Whether a node is farther than requested. `distance` is that of `measure`, so a Euclidean one is
/// squared.
fn is_too_far(metric: Metric, distance: f32, expected: &Nearest<'_>) -> bool {
    let Some(most) = expected.distance_max else { return false };
    match metric {
        Metric::Euclidean => most < f64::from(distance.sqrt()),
        Metric::Cosine => most < f64::from(distance),
        Metric::DotProduct => false,
    }
}

impl Draft<'_> {
    /// Checks that new vectors have the length of the others in an index. Without a vector index
    /// lengths may differ. A change of all vectors at once may bring another length, since replaced
    /// ones are not compared.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] with the predicate and both lengths.
    pub(in crate::graph) fn check_vectors(&self, changes: &[ValueChange<'_>]) -> Result<()> {
        let lengths = changes.iter().filter_map(|change| match &change.value {
            Value::Vector(numbers) if !numbers.is_empty() => {
                Some((change.name, change.lang, change.node, numbers.len()))
            }
            _ => None,
        });
        let mut lengths: Vec<(&str, &str, u32, usize)> = lengths.collect();
        lengths.sort_unstable();
        for run in lengths.chunk_by(|one, next| (one.0, one.1) == (next.0, next.1)) {
            let (name, lang, _, length) = run[0];
            let def = self.definition(name);
            let Some(options) = def.as_deref().and_then(vector_options) else { continue };
            let nodes: Vec<u32> = run.iter().map(|&(_, _, node, _)| node).collect();
            let stored = self.current(name).and_then(|predicate| predicate.values(lang));
            let others_length = stored.and_then(|values| values.length_without(&nodes));
            let others = run.iter().map(|&(.., length)| length).chain(others_length);
            if let Some(other) = others.into_iter().find(|&other| other != length) {
                return Err(unequal_lengths(name, options.metric(), length, other));
            }
        }
        Ok(())
    }
}

/// The error for vectors that can't be compared.
fn unequal_lengths(name: &str, metric: Metric, one: usize, other: usize) -> Error {
    let what = match metric {
        Metric::Euclidean => "euclidean distance",
        Metric::Cosine => "cosine distance",
        Metric::DotProduct => "dot product",
    };
    Error::query(format!(
        "the {what} of vectors of different lengths, {one} and {other}, can't be computed: all vectors of `{name}` must have one length, since it has a vector index"
    ))
}
