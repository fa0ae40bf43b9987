//! Transposes edges.
//!
//! Scattered directly to their positions, edges would be written to as many memory locations at
//! once as there are nodes. So they are first partitioned into buckets of adjacent targets, each so
//! small that its rows stay in a cache while they are filled.

use super::rows::{Rows, starts_of};
use super::weights::{WeightSlice, Weights};
use crate::algo::task::Task;
use hexgraph_base::types::Result;

/// The most buckets.
const BUCKETS_MAX: usize = 64;

/// The least number of targets of a bucket, as a power of two.
const SHIFT_MIN: u32 = 10;

/// The most threads that count, each with its own counts.
const STRANDS_MAX: usize = 4;

/// An edge in a partition: its target, its source, its weight.
type Item<W> = (u32, u32, W);

/// The edges of a block, by buckets.
struct Partitioned<W> {
    items: Vec<Item<W>>,
    /// Where the items of each bucket begin, and the last ones end.
    starts: Vec<usize>,
}

/// A weight as it is stored.
trait Weight: Copy + Default + Send + Sync {
    fn read(weights: WeightSlice<'_>, position: usize) -> Self;
}

impl Weight for () {
    #[inline]
    fn read(_: WeightSlice<'_>, _: usize) -> Self {}
}

impl Weight for f32 {
    #[inline]
    fn read(weights: WeightSlice<'_>, position: usize) -> Self {
        weights.at(position) as f32
    }
}

impl Weight for f64 {
    #[inline]
    fn read(weights: WeightSlice<'_>, position: usize) -> Self {
        weights.at(position)
    }
}

impl Rows {
    /// The same edges transposed. O(edges), with memory for another copy of them.
    pub(in crate::algo) fn transposed(&self, task: &Task<'_>) -> Result<Rows> {
        match self.are_narrow() {
            None => {
                let (starts, targets, _) = reversed::<()>(self, task)?;
                Ok(Rows::new(starts, targets, None))
            }
            Some(true) => {
                let (starts, targets, weights) = reversed::<f32>(self, task)?;
                Ok(Rows::new(starts, targets, Some(Weights::Narrow(weights))))
            }
            Some(false) => {
                let (starts, targets, weights) = reversed::<f64>(self, task)?;
                Ok(Rows::new(starts, targets, Some(Weights::Wide(weights))))
            }
        }
    }
}

fn reversed<W: Weight>(rows: &Rows, task: &Task<'_>) -> Result<(Vec<usize>, Vec<u32>, Vec<W>)> {
    let nodes = rows.nodes();
    let strands = task.threads().min(STRANDS_MAX);
    let _counts = task.capacity(nodes, strands * size_of::<u32>())?;
    let _items = task.capacity(rows.edges(), size_of::<Item<W>>())?;
    let counts = counted(rows, strands, task)?;
    let starts = starts_of(counts.iter().map(|count| *count as usize), nodes);
    drop(counts);
    let mut shift = SHIFT_MIN;
    // So there are at most `BUCKETS_MAX` buckets, each of 2^shift neighbouring targets.
    while BUCKETS_MAX <= nodes >> shift {
        shift += 1;
    }
    let buckets = (nodes >> shift) + 1;
    let partitioned = task
        .blocks(rows.blocks().len(), |number| Ok(partition::<W>(rows, number, shift, buckets)))?;
    let node_at = |bucket: usize| nodes.min(bucket << shift);
    let bounds: Vec<usize> = (0..buckets).map(|bucket| starts[node_at(bucket + 1)]).collect();
    let (mut targets, mut weights) = (vec![0; rows.edges()], vec![W::default(); rows.edges()]);
    task.fill_both((&mut targets, &mut weights), &bounds, |bucket, targets, weights| {
        let first = node_at(bucket);
        let rows = &starts[first..node_at(bucket + 1)];
        let mut next: Vec<usize> = rows.iter().map(|start| start - starts[first]).collect();
        // Blocks are read in order, and so the sources of each target ascend.
        for block in &partitioned {
            for (to, from, weight) in &block.items[block.starts[bucket]..block.starts[bucket + 1]] {
                let position = &mut next[*to as usize - first];
                targets[*position] = *from;
                weights[*position] = *weight;
                *position += 1;
            }
        }
        Ok(())
    })?;
    Ok((starts, targets, weights))
}

/// The number of incoming edges of each node. Each strand counts some blocks.
fn counted(rows: &Rows, strands: usize, task: &Task<'_>) -> Result<Vec<u32>> {
    let blocks = rows.blocks().len();
    let counts = task.blocks(strands, |strand| {
        // Rows are distinct, so a node is led to by each other at most once: 32 bits are enough.
        let mut counts = vec![0_u32; rows.nodes()];
        for block in (strand..blocks).step_by(strands) {
            task.check()?;
            for node in rows.block(block) {
                rows.of(node).iter().for_each(|to| counts[*to as usize] += 1);
            }
        }
        Ok(counts)
    })?;
    let mut counts = counts.into_iter();
    let mut sums = counts.next().unwrap_or_default();
    for more in counts {
        // Integers: the sums do not depend on which strand counted what.
        sums.iter_mut().zip(more).for_each(|(sum, count)| *sum += count);
    }
    Ok(sums)
}

/// Deals the edges of a block to buckets of targets.
fn partition<W: Weight>(rows: &Rows, number: usize, shift: u32, buckets: usize) -> Partitioned<W> {
    let mut starts = vec![0; buckets + 1];
    for node in rows.block(number) {
        rows.of(node).iter().for_each(|to| starts[(*to >> shift) as usize + 1] += 1);
    }
    for bucket in 0..buckets {
        starts[bucket + 1] += starts[bucket];
    }
    let mut next = starts.clone();
    let mut items = vec![(0, 0, W::default()); starts[buckets]];
    for node in rows.block(number) {
        let (targets, weights) = rows.row(node);
        for (position, &to) in targets.iter().enumerate() {
            let at = &mut next[(to >> shift) as usize];
            items[*at] = (to, node, W::read(weights, position));
            *at += 1;
        }
    }
    Partitioned { items, starts }
}
