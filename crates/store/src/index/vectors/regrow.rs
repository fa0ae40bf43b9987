//! Rebuilds the graph after changes: only new vectors are searched for.
//!
//! Retained vectors have their old links under their new positions. If the target of a link is
//! gone, its links become candidates instead, so that the paths through it are not lost. New
//! vectors are added as to any growing graph.

use super::builder::{Arrival, HnswBuilder, Shape, level_of, links_max, random, thinned};
use super::links::{Linked, Links, NearGraph};
use super::points::Points;
use crate::storage::Array;
use hexgraph_base::types::{Check, Result};
use rayon::prelude::*;

/// The position of a vector, or the slot of a member, that is no longer there.
pub(super) const GONE: u32 = u32::MAX;

/// The difference between the vectors of an older graph and those of the new one.
pub(super) struct Change<'a> {
    /// The older graph.
    pub graph: &'a NearGraph,
    /// The position now of each position then, or [`GONE`].
    pub moved: &'a [u32],
    /// The positions that are new, ascending.
    pub added: &'a [u32],
}

/// The graph after a change, of positions below `count`; `None` when none of the vectors is left
/// by which searches enter.
///
/// # Errors
///
/// Those of `check`.
pub(super) fn regrow(
    points: &Points<'_>,
    change: &Change<'_>,
    count: usize,
    shape: Shape,
    check: Check<'_>,
) -> Result<Option<NearGraph>> {
    let members = Members::after(change, shape);
    let Some(&entry) = members.moved.iter().filter(|&&slot| slot != GONE).min() else {
        return Ok(None);
    };
    let positions = Array::from_vec(members.positions.clone());
    let mut builder =
        HnswBuilder::new(points, positions, &members.sizes, (count, shape.width), check);
    builder.entry = entry;
    builder.present = change.moved.iter().filter(|&&position| position != GONE).count();
    retain_links(&mut builder, 0, &change.graph.layers[0], change.moved);
    for (layer, links) in change.graph.layers.iter().enumerate().skip(1) {
        if layer <= members.sizes.len() {
            retain_links(&mut builder, layer, links, &members.moved);
        }
    }
    builder.add_all(&members.arrivals)?;
    Ok(Some(builder.finish()))
}

/// The vectors that stand above the lowest layer after a change, and the vectors to be added.
struct Members {
    positions: Vec<u32>,
    /// The sizes of the layers above the lowest, from below.
    sizes: Vec<usize>,
    /// The position now of each position then, or [`GONE`].
    moved: Vec<u32>,
    /// All that is to be added, members first.
    arrivals: Vec<Arrival>,
}

impl Members {
    fn after(change: &Change<'_>, shape: Shape) -> Members {
        let old = change.graph.members.as_slice();
        let salt = change.moved.len() as u64;
        let mut sampled: Vec<(u64, u32)> = change
            .added
            .iter()
            .map(|&position| (random(salt << 32 ^ u64::from(position)), position))
            .collect();
        sampled.sort_unstable();
        let old_level = |slot: usize| {
            let upper = change.graph.layers.iter().skip(1);
            upper.take_while(|layer| slot < layer.count()).count()
        };
        let top_reserved = sampled.first().map_or(0, |&(hash, _)| level_of(hash, shape));
        // Position 0 is in all layers of a graph, so its level is the number of those above the
        // lowest.
        let top = top_reserved.max(old_level(0));
        let mut all = Members {
            positions: Vec::new(),
            sizes: vec![0; top],
            moved: vec![GONE; old.len()],
            arrivals: Vec::new(),
        };
        // From the top down, so that those of a layer are a prefix again. Retained vectors stay in
        // their layer, whatever their new hash, so that their links can be retained.
        for level in (1..=top).rev() {
            for (slot, &position) in old.iter().enumerate() {
                let position = moved_to(change.moved, position);
                if old_level(slot) == level && position != GONE {
                    all.moved[slot] = all.positions.len() as u32;
                    all.positions.push(position);
                }
            }
            for &(_, position) in sampled.iter().filter(|(hash, _)| level_of(*hash, shape) == level)
            {
                let slot = Some(all.positions.len() as u32);
                all.arrivals.push(Arrival { position, slot });
                all.positions.push(position);
            }
            all.sizes[level - 1] = all.positions.len();
        }
        all.retain_entry(change, old);
        let low = sampled.iter().filter(|(hash, _)| level_of(*hash, shape) == 0);
        all.arrivals.extend(low.map(|&(_, position)| Arrival { position, slot: None }));
        // A layer has all of the one above, so the empty ones are the highest: those whose members
        // are all gone.
        all.sizes.retain(|&size| 0 < size);
        all
    }

    /// A graph of one layer has its entry as the only member.
    fn retain_entry(&mut self, change: &Change<'_>, old: &[u32]) {
        if let (true, Some(&entry)) = (self.positions.is_empty(), old.first()) {
            let position = moved_to(change.moved, entry);
            if position != GONE {
                self.moved[0] = 0;
                self.positions.push(position);
            }
        }
    }
}

fn moved_to(moved: &[u32], old: u32) -> u32 {
    moved.get(old as usize).copied().unwrap_or(GONE)
}

/// Copies the links of one layer to the new positions; links to vectors that are gone are replaced
/// by their links.
fn retain_links(builder: &mut HnswBuilder<'_>, layer: usize, old: &Links, moved: &[u32]) {
    let view = builder.layer(layer);
    let most = links_max(layer);
    let retained = |then: usize| {
        let own = moved_to(moved, then as u32);
        let links = old.of(then as u32);
        let mut list: Vec<u32> = Vec::with_capacity(links.len());
        let mut is_complete = true;
        // A file may claim longer lists than it should have, and links to what is not there.
        for &to in links.iter().take(most).filter(|&&to| (to as usize) < old.count()) {
            match moved_to(moved, to) {
                GONE => {
                    is_complete = false;
                    let beyond = old.of(to).iter().filter(|&&to| (to as usize) < old.count());
                    list.extend(beyond.map(|&to| moved_to(moved, to)));
                }
                now => list.push(now),
            }
        }
        if !is_complete {
            list.sort_unstable();
            list.dedup();
            list.retain(|&to| to != GONE && to != own);
            list = thinned(&view, own, &list, most, builder.points);
        }
        (own, list)
    };
    let there = |then: &usize| moved_to(moved, *then as u32) != GONE;
    let lists: Vec<(u32, Vec<u32>)> =
        (0..old.count()).into_par_iter().filter(there).map(retained).collect();
    let target = builder.lists_mut(layer);
    lists.iter().for_each(|(own, list)| target.set(*own, list));
}
