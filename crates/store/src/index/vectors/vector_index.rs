//! The index of the vectors of a column.
//!
//! Vectors are numbered by their position in the column and mostly read where they lie in it. When
//! they are few, or so many are requested that a walk would meet most of them, all are compared;
//! else the graph is walked, and what it finds is nearly always right (see [`super::tune`]).

use super::builder::{LINKS, Shape, build};
use super::column_vectors::vectors_of;
use super::links::NearGraph;
use super::points::{Points, Query, distance_of, scale_of};
use super::regrow::{Change, GONE, regrow};
use super::search::{Aim, Candidate, Scratch, candidate, key, vertex, walk};
use super::tune::tune;
use crate::storage::{Array, Column, FrozenBitmap};
use hexgraph_base::schema::{HnswOptions, Metric, PredicateDef, Tokenizer};
use hexgraph_base::types::pool::{Job, Pool};
use hexgraph_base::types::{Check, Result};
use rayon::prelude::*;
use std::collections::BinaryHeap;

/// The widest search when a vector is added.
const BUILD_WIDTH_MAX: usize = 1024;

/// Graphs need no more layers than this: each is a thirty-second part of the one below.
const LAYERS_MAX: usize = 7;

/// From this many numbers on, all vectors together, an exhaustive comparison runs on all threads.
const PARALLEL_MIN: usize = 1 << 20;

/// The number of vectors that a thread compares at a time.
const CHUNK: usize = 8192;

/// If fewer than one in this many vectors have changed since the width was tuned, the width is
/// retained.
const RETUNE_RATIO: usize = 8;

/// When vectors are walked over, and when they are all compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VectorThresholds {
    /// Up to this many vectors have no graph: every search compares them all, which costs as much
    /// as a graph search.
    pub compared_max: usize,
    /// A graph search of width w costs about as much as comparing this many times w vectors: it
    /// follows some forty links for each at random addresses, while an exhaustive comparison
    /// streams.
    pub walk_cost: usize,
}

impl Default for VectorThresholds {
    fn default() -> VectorThresholds {
        VectorThresholds { compared_max: 4096, walk_cost: 64 }
    }
}

/// The vectors of a column and how they are linked.
#[derive(Clone)]
pub struct VectorIndex {
    /// How distance is measured.
    pub metric: Metric,
    /// The length of the vectors; 0 when there is none.
    pub dimension: usize,
    /// True when `numbers` are the index's own, and not those of the column: some of its values
    /// are no vectors of the right length.
    pub has_own: bool,
    /// The vectors by position.
    pub numbers: Array<f32>,
    /// The positions without a vector of the right length.
    pub absent: FrozenBitmap,
    /// With [`Metric::Cosine`], one over the length of each vector.
    pub scales: Array<f32>,
    /// The links; none when there are few vectors.
    pub graph: NearGraph,
    /// The width of a search that does not say how wide it is.
    pub width: usize,
    /// How many vectors came or went since the width was tuned.
    pub untuned: usize,
    /// When it is walked. Not in files.
    pub thresholds: VectorThresholds,
}

/// A search result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    /// How far it is, as [`super::measure`] says.
    pub distance: f32,
    /// Its position in the column.
    pub position: u32,
}

/// The options of a predicate's vector index; the first one counts.
pub(crate) fn vector_options(def: &PredicateDef) -> Option<&HnswOptions> {
    def.indexes.iter().find_map(|tokenizer| match tokenizer {
        Tokenizer::Hnsw(options) => Some(options),
        _ => None,
    })
}

impl VectorIndex {
    /// Builds the index of a column. With the index of an older column, and that column, only
    /// what is new among the vectors is searched for.
    pub fn build(
        column: &Column,
        options: &HnswOptions,
        before: Option<(&VectorIndex, &Column)>,
        thresholds: VectorThresholds,
        check: Check<'_>,
    ) -> Result<VectorIndex> {
        let mut index = VectorIndex::unlinked(column, options.metric(), thresholds);
        let positions = index.positions();
        let shape = Shape {
            layers: (options.max_levels() as usize).min(LAYERS_MAX),
            width: (options.ef_construction() as usize).clamp(LINKS, BUILD_WIDTH_MAX),
        };
        index.width = options.ef_search() as usize;
        if positions.len() <= thresholds.compared_max {
            return Ok(index);
        }
        // From this width on a search would compare all vectors anyway, so there is nothing to
        // find out.
        let most = index.count() / thresholds.walk_cost + 1;
        let points = index.points().checked();
        let regrown = match before {
            Some((old, old_column)) => {
                let moved = moves(old, old_column, &index, column);
                index.regrown(&points, old, &moved, shape, check)?
            }
            None => None,
        };
        let (graph, width, untuned) = match regrown {
            Some((graph, old, changes)) if changes <= positions.len() / RETUNE_RATIO => {
                // Few vectors have changed since the width was tuned, and tuning compares a sample
                // with all vectors.
                (graph, old.width.max(index.width), changes)
            }
            other => {
                let graph = match other {
                    Some((graph, ..)) => graph,
                    None => build(&points, &positions, column.values.len(), shape, check)?,
                };
                let width = tune(&graph, &points, &positions, (index.width, most), check)?;
                (graph, width, 0)
            }
        };
        (index.graph, index.width, index.untuned) = (graph, width, untuned);
        Ok(index)
    }

    /// The graph that an older one becomes, and how many vectors came or went since it was tuned;
    /// `None` when more than half are others.
    fn regrown<'o>(
        &self,
        points: &Points<'_>,
        old: &'o VectorIndex,
        moved: &[u32],
        shape: Shape,
        check: Check<'_>,
    ) -> Result<Option<(NearGraph, &'o VectorIndex, usize)>> {
        if old.graph.is_empty() {
            return Ok(None);
        }
        let count = self.count();
        let mut is_old = vec![false; count];
        // No two of them moved to one position: each old value is compared with the one at its own
        // position of its node.
        let retained = moved.iter().filter(|&&position| position != GONE);
        let retained = retained.map(|&position| is_old[position as usize] = true).count();
        let added: Vec<u32> =
            self.positions().into_iter().filter(|&at| !is_old[at as usize]).collect();
        let gone = moved.len() - old.absent.len() - retained;
        if retained < gone + added.len() {
            return Ok(None);
        }
        let change = Change { graph: &old.graph, moved, added: &added };
        let graph = regrow(points, &change, count, shape, check)?;
        Ok(graph.map(|graph| (graph, old, old.untuned.saturating_add(gone + added.len()))))
    }

    /// The index without links.
    fn unlinked(column: &Column, metric: Metric, thresholds: VectorThresholds) -> VectorIndex {
        let (dimension, has_own, numbers, absent) = vectors_of(&column.values);
        let scales = match metric {
            Metric::Cosine if 0 < dimension => {
                let vectors = numbers.as_slice().par_chunks_exact(dimension);
                Array::from_vec(vectors.map(scale_of).collect())
            }
            _ => Array::empty(),
        };
        VectorIndex {
            metric,
            dimension,
            has_own,
            numbers,
            absent,
            scales,
            graph: NearGraph::default(),
            width: 0,
            untuned: 0,
            thresholds,
        }
    }

    /// The number of positions.
    pub fn count(&self) -> usize {
        self.numbers.len().checked_div(self.dimension).unwrap_or(0)
    }

    /// The bytes of the index apart from the column.
    pub fn byte_len(&self) -> usize {
        let own = if self.has_own { self.numbers.byte_len() } else { 0 };
        own + self.absent.byte_len() + self.scales.byte_len() + self.graph.byte_len()
    }

    /// The `count` nearest vectors, nearest first, of those that `retains` accepts. There are fewer
    /// only if no more exist. `width` is the number of candidates during the search, `None` for
    /// high recall. O(width · log n) distances; a large exhaustive comparison uses the threads of
    /// `pool`.
    ///
    /// # Panics
    ///
    /// When the query has another length than the vectors.
    pub fn nearest(
        &self,
        query: &[f32],
        count: usize,
        width: Option<usize>,
        retains: &(dyn Fn(u32) -> bool + Sync),
        pool: Option<&Pool>,
    ) -> Vec<Near> {
        assert_eq!(query.len(), self.dimension, "vectors of one length are compared");
        let query = Query::new(self.metric, query);
        let width = match width {
            Some(width) => width.max(count),
            None => self.width.max(count.saturating_mul(2)),
        };
        let cost = width.saturating_mul(self.thresholds.walk_cost);
        let is_walk = !self.graph.is_empty() && cost < self.count();
        let mut result = Vec::new();
        if is_walk {
            let aim = Aim { points: &self.points(), query, width, retains, hidden: None };
            result = walk(&self.graph, &aim, &mut Scratch::default());
        }
        // A search with too few results was in a disconnected part.
        if result.len() < count {
            result = self.compare_all(&query, count, retains, pool);
        }
        result.truncate(count);
        let near = |result: Candidate| Near {
            distance: distance_of(key(result)),
            position: vertex(result),
        };
        result.into_iter().map(near).collect()
    }

    fn compare_all(
        &self,
        query: &Query<'_>,
        count: usize,
        retains: &(dyn Fn(u32) -> bool + Sync),
        pool: Option<&Pool>,
    ) -> Vec<Candidate> {
        let points = self.points();
        let all = self.count();
        // Each part finds its own nearest ones, among which the nearest of all are.
        let part = |number: usize| {
            let start = number * CHUNK;
            let positions = start as u32..all.min(start + CHUNK) as u32;
            Ok(self.compare(&points, query, count, positions, retains))
        };
        let mut result: Vec<Candidate> = Vec::new();
        let mut merge = |part: Vec<Candidate>| {
            result.extend(part);
            Ok(())
        };
        let parts = all.div_ceil(CHUNK);
        let job = Job { count: parts, prefetch: parts, nests: false, work: &part };
        let done = match pool.filter(|_| PARALLEL_MIN <= self.numbers.len()) {
            Some(pool) => pool.run_on_all(&job, &|| (), merge),
            None => (0..parts).try_for_each(|number| merge(part(number)?)),
        };
        done.expect("a part has no error");
        result.sort_unstable();
        result.truncate(count);
        result
    }

    fn compare(
        &self,
        points: &Points<'_>,
        query: &Query<'_>,
        count: usize,
        positions: std::ops::Range<u32>,
        retains: &(dyn Fn(u32) -> bool + Sync),
    ) -> Vec<Candidate> {
        let mut nearest: BinaryHeap<Candidate> = BinaryHeap::new();
        let any_absent = !self.absent.is_empty();
        for position in positions {
            if any_absent && self.absent.contains(position) {
                continue;
            }
            let result = candidate(points.key(query, position), position);
            // With `count` 0 the heap stays empty, and nothing is retained.
            if count <= nearest.len() && nearest.peek().is_none_or(|&worst| worst < result) {
                continue;
            }
            // Evaluated last, only for those near enough: it may have to look up the node and its
            // changes.
            if retains(position) {
                nearest.push(result);
                if count < nearest.len() {
                    nearest.pop();
                }
            }
        }
        nearest.into_vec()
    }

    /// Whether the parts of an index fit each other and a column of `count` values, by their sizes.
    /// Their contents are checked when read.
    pub fn fits(&self, count: usize) -> bool {
        let scales = if self.metric == Metric::Cosine { self.count() } else { 0 };
        let counted = self.dimension.checked_mul(self.count()) == Some(self.numbers.len());
        let is_complete =
            if self.dimension == 0 { self.numbers.is_empty() } else { self.count() == count };
        counted && is_complete && self.scales.len() == scales && self.graph.fits(self.count())
    }

    /// The vectors as points.
    pub fn points(&self) -> Points<'_> {
        Points::new(self.metric, self.dimension, &self.numbers, &self.scales)
    }

    /// The positions that have a vector.
    fn positions(&self) -> Vec<u32> {
        (0..self.count() as u32).filter(|&position| !self.absent.contains(position)).collect()
    }
}

/// The position now of each vector of an older index, [`GONE`] for those that are there no more
/// or have changed. Values of a node are compared one by one, in their order.
fn moves(old: &VectorIndex, old_column: &Column, new: &VectorIndex, column: &Column) -> Vec<u32> {
    let mut moved = vec![GONE; old.count()];
    if old.dimension != new.dimension || old.metric != new.metric {
        return moved;
    }
    let (old_points, new_points) = (old.points(), new.points());
    let same = |then: usize, now: usize| {
        let absent = old.absent.contains(then as u32) || new.absent.contains(now as u32);
        // As bits, since what is no number is not equal to itself.
        // So 0 and -0 count as a change, which only costs a search.
        let bits = |number: &f32| number.to_bits();
        let (one, other) = (old_points.get(then as u32), new_points.get(now as u32));
        !absent && one.iter().map(bits).eq(other.iter().map(bits))
    };
    for (row, node) in old_column.subjects.iter().enumerate() {
        let Some(now) = column.positions(node) else { continue };
        for (then, now) in old_column.row_positions(row).zip(now) {
            if let Some(slot) = moved.get_mut(then)
                && same(then, now)
            {
                *slot = now as u32;
            }
        }
    }
    moved
}
