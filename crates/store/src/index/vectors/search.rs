//! Beam search in one layer: from vertex to vertex towards the query, along the links of the
//! nearest ones so far.
//!
//! A search of width w retains the w nearest vertices so far and expands the nearest one not yet
//! expanded; it stops when that one is farther than all retained ones. A distance and a vertex make
//! one number, so that the heaps compare integers, and equal distances are ordered by vertex:
//! results are deterministic.

use super::links::{Layer, Linked, NearGraph};
use super::points::{Points, Query};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A distance key above a vertex.
pub(super) type Candidate = u64;

/// Packs a distance key and a vertex, so that candidates compare by distance and then by vertex.
#[inline]
pub(super) fn candidate(key: u32, vertex: u32) -> Candidate {
    u64::from(key) << 32 | u64::from(vertex)
}

/// The vertex of a candidate.
#[inline]
pub(super) fn vertex(candidate: Candidate) -> u32 {
    candidate as u32
}

/// The distance key of a candidate.
#[inline]
pub(super) fn key(candidate: Candidate) -> u32 {
    (candidate >> 32) as u32
}

/// The buffers of a search. Used again for the next search, they need no allocation.
#[derive(Default)]
pub(super) struct Scratch {
    /// The vertices that were met.
    seen: Vec<u64>,
    /// The number of vertices that there are.
    count: usize,
    met: Vec<u32>,
    open: BinaryHeap<Reverse<Candidate>>,
    nearest: BinaryHeap<Candidate>,
}

impl Scratch {
    /// Resets the last search, at most at its own cost.
    fn reset(&mut self, count: usize) {
        for vertex in self.met.drain(..) {
            // The entire word is cleared: all visited vertices of it are in `met`, too.
            self.seen[vertex as usize / 64] = 0;
        }
        if self.seen.len() < count.div_ceil(64) {
            self.seen.resize(count.div_ceil(64), 0);
        }
        self.count = count;
        self.open.clear();
        self.nearest.clear();
    }

    /// Notes that a vertex was met; false when it was before, and for one that there is not, as
    /// a file may claim.
    #[inline]
    fn meet(&mut self, vertex: u32) -> bool {
        if self.count <= vertex as usize {
            return false;
        }
        let (word, bit) = (&mut self.seen[vertex as usize / 64], 1 << (vertex % 64));
        let is_new = *word & bit == 0;
        if is_new {
            *word |= bit;
            self.met.push(vertex);
        }
        is_new
    }

    /// The candidates of the last search, nearest first.
    pub(super) fn drain(&mut self) -> Vec<Candidate> {
        std::mem::take(&mut self.nearest).into_sorted_vec()
    }

    /// The nearest vertex of a search of width one.
    fn only(&self) -> Option<u32> {
        self.nearest.peek().map(|&nearest| vertex(nearest))
    }
}

/// The query of a search of one layer, and which vectors it may return.
pub(super) struct Aim<'a, K: Fn(u32) -> bool> {
    /// The vectors.
    pub points: &'a Points<'a>,
    /// The vector that the others are compared with.
    pub query: Query<'a>,
    /// The number of nearest candidates that are retained during the search.
    pub width: usize,
    /// True for the positions whose vectors may be returned; the search passes through the others
    /// all the same.
    pub retains: K,
    /// A vertex that is excluded, even from paths.
    pub hidden: Option<u32>,
}

/// Searches a layer from some of its vertices; the result is in [`Scratch::drain`].
pub(super) fn beam<L: Linked, K: Fn(u32) -> bool>(
    layer: &Layer<'_, L>,
    entries: impl Iterator<Item = u32>,
    aim: &Aim<'_, K>,
    scratch: &mut Scratch,
) {
    let Aim { points, query, width, retains, hidden } = aim;
    scratch.reset(layer.links.count());
    if let Some(hidden) = hidden {
        scratch.meet(*hidden);
    }
    // Algorithm 2 of Malkov and Yashunin, "Efficient and robust approximate nearest neighbor
    // search using hierarchical navigable small world graphs" (arXiv:1603.09320).
    let mut fresh: Vec<u32> = entries.filter(|&entry| scratch.meet(entry)).collect();
    loop {
        for &vertex in &fresh {
            let position = layer.position(vertex);
            let result = candidate(points.key(query, position), vertex);
            // Excluded vertices are expanded all the same: a selective filter must not disconnect
            // the graph.
            if scratch.nearest.len() < *width {
                // Each vertex is visited once, so the heap is no larger than the layer, even if a
                // filter excludes everything.
                scratch.open.push(Reverse(result));
                if retains(position) {
                    scratch.nearest.push(result);
                }
            } else if scratch.nearest.peek().is_some_and(|&worst| result < worst) {
                scratch.open.push(Reverse(result));
                if retains(position) {
                    scratch.nearest.pop();
                    scratch.nearest.push(result);
                }
            }
        }
        let Some(Reverse(next)) = scratch.open.pop() else { return };
        let is_full = *width <= scratch.nearest.len();
        if is_full && scratch.nearest.peek().is_some_and(|&worst| worst < next) {
            return;
        }
        // Collected first, so that the vectors are read in sequence and the processor can prefetch
        // the next one.
        fresh.clear();
        fresh.extend(layer.links.of(vertex(next)).iter().filter(|&&to| scratch.meet(to)));
    }
}

/// Walks from `entry` to a vertex that has none nearer among its links.
pub(super) fn descend<L: Linked>(
    layer: &Layer<'_, L>,
    entry: u32,
    points: &Points<'_>,
    query: &Query<'_>,
    scratch: &mut Scratch,
) -> u32 {
    let aim = Aim { points, query: *query, width: 1, retains: |_| true, hidden: None };
    beam(layer, std::iter::once(entry), &aim, scratch);
    scratch.only().unwrap_or(entry)
}

/// Searches a graph from its top: the vectors that are retained, as positions, nearest first.
pub(super) fn walk<K: Fn(u32) -> bool>(
    graph: &NearGraph,
    aim: &Aim<'_, K>,
    scratch: &mut Scratch,
) -> Vec<Candidate> {
    let mut slot = 0;
    for number in (1..graph.layers.len()).rev() {
        slot = descend(&graph.layer(number), slot, aim.points, &aim.query, scratch);
    }
    // Above the lowest layer a vertex is a slot among the members; there it is a position.
    let entry = graph.members.get(slot as usize);
    beam(&graph.layer(0), std::iter::once(entry), aim, scratch);
    scratch.drain()
}

/// Chooses from candidates, nearest first, at most `count` in different directions. A candidate is
/// skipped if it is nearer to a chosen one than to the vertex itself, since it is reachable through
/// the chosen one.
pub(super) fn spread<L: Linked>(
    layer: &Layer<'_, L>,
    candidates: &[Candidate],
    count: usize,
    points: &Points<'_>,
) -> Vec<u32> {
    let mut chosen: Vec<u32> = Vec::with_capacity(count);
    for &next in candidates {
        if chosen.len() == count {
            break;
        }
        let query = points.query(layer.position(vertex(next)));
        // Algorithm 4 of the same paper, without filling up with what was left out.
        let apart = |&other: &u32| key(next) < points.key(&query, layer.position(other));
        if chosen.iter().all(apart) {
            chosen.push(vertex(next));
        }
    }
    chosen
}
