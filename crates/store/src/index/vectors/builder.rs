//! Builds the graph of vectors on all cores, deterministically.
//!
//! Vectors come in batches of at most a thirty-second of the existing ones. The vectors of a batch
//! search the graph as it was before the batch, in parallel, for nobody writes to it. Then their
//! links are set, and the links back from their neighbours, grouped by neighbour, so that each list
//! is changed once and by one thread. There are no locks, and nothing depends on thread timing. A
//! list may grow to half more than its limit before it is pruned, since pruning compares all its
//! pairs.
//!
//! A hash of the position determines the order, and which vectors are in the layers above.

use super::links::{GrowingLinks, Layer, Linked, NearGraph};
use super::points::Points;
use super::search::{Aim, Candidate, Scratch, beam, candidate, descend, spread, vertex};
use crate::storage::Array;
use hexgraph_base::types::{Check, Result};
use rayon::prelude::*;

/// The number of links of a new vector, and the most that it retains in a layer above the lowest.
/// Random vectors need as many; vectors in clusters get fewer, since links in the same direction
/// are pruned.
pub(super) const LINKS: usize = 32;

/// A batch is this part of the vectors that came before.
const BATCH_RATIO: usize = 32;

/// The largest batch.
const BATCH_MAX: usize = 2048;

/// The parameters of a graph.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// The most layers.
    pub layers: usize,
    /// The number of candidates among which an added vector chooses its links.
    pub width: usize,
}

/// A vector that is still to come.
#[derive(Clone, Copy)]
pub(super) struct Arrival {
    /// Its position.
    pub position: u32,
    /// Its position among the members, if it stands above the lowest layer.
    pub slot: Option<u32>,
}

/// A graph that grows.
pub(super) struct HnswBuilder<'a> {
    pub points: &'a Points<'a>,
    pub width: usize,
    pub members: Array<u32>,
    pub lowest: GrowingLinks,
    /// The layers above.
    pub upper: Vec<GrowingLinks>,
    /// The least position among the members that came already.
    pub entry: u32,
    /// The number of vectors that were added already.
    pub present: usize,
    /// Called before each vector to see whether to go on.
    check: Check<'a>,
}

/// The graph of the vectors at `positions`, which ascend, among `count`.
///
/// # Errors
///
/// Those of `check`.
pub(super) fn build(
    points: &Points<'_>,
    positions: &[u32],
    count: usize,
    shape: Shape,
    check: Check<'_>,
) -> Result<NearGraph> {
    let mut sampled: Vec<(u64, u32)> =
        positions.iter().map(|&at| (random(u64::from(at)), at)).collect();
    sampled.sort_unstable();
    let Some(&(_, first)) = sampled.first() else { return Ok(NearGraph::default()) };
    let level = |hash: u64| level_of(hash, shape);
    let top = level(sampled[0].0);
    // The smaller the hash, the higher the layer, so the members of a layer come first.
    let sizes: Vec<usize> =
        (1..=top).map(|layer| sampled.partition_point(|&(hash, _)| layer <= level(hash))).collect();
    let member_count = sizes.first().copied().unwrap_or(1);
    let members: Vec<u32> = sampled[..member_count].iter().map(|&(_, at)| at).collect();
    let arrivals: Vec<Arrival> = sampled
        .iter()
        .enumerate()
        .skip(1)
        .map(|(slot, &(_, position))| {
            let slot = (slot < member_count).then_some(slot as u32);
            Arrival { position, slot }
        })
        .collect();
    debug_assert_eq!(members[0], first);
    let mut builder =
        HnswBuilder::new(points, Array::from_vec(members), &sizes, (count, shape.width), check);
    builder.present = 1;
    builder.add_all(&arrivals)?;
    Ok(builder.finish())
}

/// The layer up to which a hash leads: each has a part of one in [`LINKS`] of the one below.
pub(super) fn level_of(hash: u64, shape: Shape) -> usize {
    let mut bound = u64::MAX / LINKS as u64;
    let mut level = 0;
    while level + 1 < shape.layers && hash < bound {
        level += 1;
        bound /= LINKS as u64;
    }
    level
}

/// A pseudorandom number (the last step of splitmix64).
pub(super) fn random(seed: u64) -> u64 {
    let mut bits = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

/// The most links in a layer, counted from the lowest.
pub(super) fn links_max(layer: usize) -> usize {
    if layer == 0 { 2 * LINKS } else { LINKS }
}

/// The capacity of a list while the graph grows.
fn capacity(layer: usize) -> usize {
    links_max(layer) + links_max(layer) / 2
}

impl<'a> HnswBuilder<'a> {
    /// A graph without links. `sizes` are those of the layers above the lowest, from below.
    pub(super) fn new(
        points: &'a Points<'a>,
        members: Array<u32>,
        sizes: &[usize],
        (count, width): (usize, usize),
        check: Check<'a>,
    ) -> HnswBuilder<'a> {
        let upper = sizes.iter().map(|&size| GrowingLinks::new(size, capacity(1))).collect();
        let lowest = GrowingLinks::new(count, capacity(0));
        HnswBuilder { points, width, members, lowest, upper, entry: 0, present: 0, check }
    }

    /// Adds vectors; those above the lowest layer come first, by position.
    ///
    /// # Errors
    ///
    /// Those of `check`, which is called for each of them.
    pub(super) fn add_all(&mut self, arrivals: &[Arrival]) -> Result<()> {
        let mut rest = arrivals;
        while let Some(next) = rest.first() {
            // One that stands higher than all that are there is where others enter: it goes first.
            let is_top = next.slot.is_some_and(|slot| slot < self.entry);
            // Of fewer than `BATCH_RATIO` this is 0, so the first ones
            // come one by one: nobody in a batch is linked to another.
            let expected = if is_top { 1 } else { self.present / BATCH_RATIO };
            let (batch, after) = rest.split_at(expected.clamp(1, BATCH_MAX.min(rest.len())));
            self.add(batch)?;
            rest = after;
        }
        Ok(())
    }

    fn add(&mut self, batch: &[Arrival]) -> Result<()> {
        let find = |scratch: &mut Scratch, arrival: &Arrival| {
            (self.check)().map(|()| self.links_for(arrival, scratch))
        };
        let result = batch.par_iter().map_init(Scratch::default, find);
        // For each of the batch, in its order whichever thread searched, a list for each of its
        // layers from the lowest.
        let result: Vec<Vec<Vec<u32>>> = result.collect::<Result<_>>()?;
        for layer in 0..=self.upper.len() {
            let mut back: Vec<u64> = Vec::new();
            for (arrival, lists) in batch.iter().zip(&result) {
                let Some(list) = lists.get(layer) else { continue };
                let own = if layer == 0 { arrival.position } else { arrival.slot.unwrap_or(0) };
                // Only now, when all of the batch have searched: nobody met a list that was half
                // written.
                self.lists_mut(layer).set(own, list);
                back.extend(list.iter().map(|&to| candidate(to, own)));
            }
            // By list, so that each is changed once; within it by new vector, so that the order is
            // deterministic.
            back.sort_unstable();
            self.link_back(layer, &back);
        }
        self.present += batch.len();
        let first = batch.iter().filter_map(|arrival| arrival.slot).min();
        self.entry = first.map_or(self.entry, |first| first.min(self.entry));
        Ok(())
    }

    /// The links that a new vector chooses, for each of its layers.
    fn links_for(&self, arrival: &Arrival, scratch: &mut Scratch) -> Vec<Vec<u32>> {
        let query = self.points.query(arrival.position);
        let level = arrival.slot.map_or(0, |slot| self.level(slot));
        let mut lists = vec![Vec::new(); level + 1];
        let mut entries = vec![self.entry];
        for layer in (1..=self.level(self.entry)).rev() {
            let above = self.layer(layer);
            // Above its own layers a new vector only needs the descent, for which one vertex is
            // enough.
            if level < layer {
                entries = vec![descend(&above, entries[0], self.points, &query, scratch)];
                continue;
            }
            let near = self.near(&above, &entries, query, scratch);
            lists[layer] = spread(&above, &near, LINKS, self.points);
            entries = near.into_iter().map(vertex).collect();
        }
        let entries: Vec<u32> =
            entries.into_iter().map(|slot| self.members.get(slot as usize)).collect();
        let lowest = self.layer(0);
        let near = self.near(&lowest, &entries, query, scratch);
        lists[0] = spread(&lowest, &near, LINKS, self.points);
        lists
    }

    fn near(
        &self,
        layer: &Layer<'_, GrowingLinks>,
        entries: &[u32],
        query: super::points::Query<'_>,
        scratch: &mut Scratch,
    ) -> Vec<Candidate> {
        let retains = |_| true;
        let aim = Aim { points: self.points, query, width: self.width, retains, hidden: None };
        beam(layer, entries.iter().copied(), &aim, scratch);
        scratch.drain()
    }

    /// Adds links, sorted pairs of a list and a new vector.
    fn link_back(&mut self, layer: usize, pairs: &[u64]) {
        let target = |pair: &u64| (pair >> 32) as u32;
        let groups: Vec<&[u64]> =
            pairs.chunk_by(|one, other| target(one) == target(other)).collect();
        let view = self.layer(layer);
        let grown = |group: &&[u64]| {
            let own = target(&group[0]);
            let mut list = view.links.of(own).to_vec();
            list.extend(group.iter().map(|&pair| pair as u32));
            // Half as many again fit before it is pruned, since pruning compares all pairs of a
            // list. A list that is set never exceeds its limit, which is the capacity in
            // `GrowingLinks`.
            if capacity(layer) < list.len() {
                list = thinned(&view, own, &list, links_max(layer), self.points);
            }
            (own, list)
        };
        let grown: Vec<(u32, Vec<u32>)> = groups.par_iter().map(grown).collect();
        let lists = self.lists_mut(layer);
        grown.iter().for_each(|(own, list)| lists.set(*own, list));
    }

    /// The highest layer of a member.
    fn level(&self, slot: u32) -> usize {
        self.upper.iter().take_while(|layer| (slot as usize) < layer.count()).count()
    }

    /// A layer, counted from the lowest.
    pub(super) fn layer(&self, number: usize) -> Layer<'_, GrowingLinks> {
        match number {
            0 => Layer { links: &self.lowest, members: None },
            _ => Layer { links: &self.upper[number - 1], members: Some(&self.members) },
        }
    }

    /// The lists of a layer, counted from the lowest.
    pub(super) fn lists_mut(&mut self, number: usize) -> &mut GrowingLinks {
        match number {
            0 => &mut self.lowest,
            _ => &mut self.upper[number - 1],
        }
    }

    /// The finished graph, with every list pruned to its limit.
    pub(super) fn finish(mut self) -> NearGraph {
        for layer in 0..=self.upper.len() {
            let view = self.layer(layer);
            let most = links_max(layer);
            // Chosen side by side and set afterwards: a thinning reads the vectors, not the
            // lists.
            let long = (0..view.links.count() as u32).into_par_iter();
            let thin: Vec<(u32, Vec<u32>)> = long
                .filter(|&own| most < view.links.of(own).len())
                .map(|own| (own, thinned(&view, own, view.links.of(own), most, self.points)))
                .collect();
            let lists = self.lists_mut(layer);
            thin.iter().for_each(|(own, list)| lists.set(*own, list));
        }
        let layers = std::iter::once(&self.lowest).chain(&self.upper);
        NearGraph { layers: layers.map(GrowingLinks::finish).collect(), members: self.members }
    }
}

/// Returns those links of a list that are retained, at most `most` of them, nearest first.
pub(super) fn thinned<L: Linked>(
    layer: &Layer<'_, L>,
    own: u32,
    list: &[u32],
    most: usize,
    points: &Points<'_>,
) -> Vec<u32> {
    let query = points.query(layer.position(own));
    let key = |to: u32| candidate(points.key(&query, layer.position(to)), to);
    let mut candidates: Vec<Candidate> = list.iter().map(|&to| key(to)).collect();
    candidates.sort_unstable();
    spread(layer, &candidates, most, points)
}
