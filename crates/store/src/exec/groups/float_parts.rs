//! Parallel grouping with float sums, in two passes, if there are few groups (*cells*).
//!
//! The sum of a group is made of blocks of its floats (see
//! [`CountedSums`](crate::exec::math::float_sums::CountedSums)), so a thread can sum the blocks of
//! a partition of the members (the nodes to group) if it knows how many floats of each cell come
//! before. The first pass counts these in all partitions but the last. It reads the keys, and the
//! floats only if some are missing. In the second pass, each thread groups a partition, and sums
//! the blocks that begin in it. One thread then adds the floats of blocks that began in an earlier
//! partition: half a block for each cell and partition.

use super::column_groups::{GroupTable, Grouping};
use crate::exec::columns::batches::{BATCH, Members};
use crate::exec::control::morsels::Spread;
use crate::exec::cost;
use crate::exec::math::float_sums::BLOCK;
use hexgraph_base::types::Result;
use std::ops::Range;

/// The bytes to reserve for a float whose block began in an earlier partition, and for a sum of a
/// partition.
const HEAD_BYTES: usize = size_of::<u32>() + size_of::<f64>();
const SUM_BYTES: usize = 24;

/// Two passes pay if at most one in so many floats has a block that began in an earlier partition.
const HEADS_RATIO: usize = 4;

/// With two threads, the two passes take longer than one pass of a single thread.
const THREADS_MIN: usize = 3;

/// The number of floats of each cell, for each column of floats.
type Counts = Vec<Vec<u32>>;

impl<'a, 'c> Grouping<'a, 'c> {
    /// The positions of the float columns, if cells have dense counters and all aggregates of
    /// floats are sums; otherwise none.
    pub(super) fn float_sum_columns(&self) -> Vec<usize> {
        let are_sums = matches!(self.cells, GroupTable::Dense(_))
            && self.columns.iter().filter(|it| it.are_floats()).all(|it| it.has_only_sums());
        let is_float = |position: &usize| self.columns[*position].are_floats();
        (0..self.columns.len()).filter(|position| are_sums && is_float(position)).collect()
    }

    /// Whether two passes take less time than one on this thread: most floats have to be in blocks
    /// that begin in their own partition.
    pub(super) fn pays_to_group_twice(&self, spread: &Spread<'_>, members: Members<'_>) -> bool {
        let GroupTable::Dense(dense) = &self.cells else { return false };
        let heads = (BLOCK / 2) * dense.len() * (spread.count() - 1);
        // Two passes take about twice the work, so at least two other threads have to be idle.
        let are_helped = THREADS_MIN <= spread.threads() && spread.is_helped();
        let pays = heads.saturating_mul(HEADS_RATIO) < members.len() && are_helped;
        self.context.pick(pays, members.len() + 1, || vec![true, false])
    }

    /// Groups partitions of the members in two passes; `floats` are the positions of the float
    /// columns to sum.
    pub(super) fn run_twice(
        &mut self,
        spread: Spread<'_>,
        members: Members<'_>,
        floats: &[usize],
    ) -> Result<()> {
        let (context, len) = (self.context, spread.len());
        let GroupTable::Dense(dense) = &self.cells else { unreachable!("the cells have counters") };
        let cells = dense.len();
        let each = dense.byte_len(self.columns.len()) + SUM_BYTES * cells * floats.len();
        let heads = HEAD_BYTES * members.len() * floats.len();
        let _while_grouping = context.control.charge_while(each * spread.count() + heads)?;
        let before = self.floats_before(&spread, members, floats)?;
        let full = self.fork(0, members.len(), true);
        let part = |range: Range<usize>| {
            let before = &before[range.start / len];
            let mut part = full.fork(members.at(range.start), range.len(), true);
            for (position, before) in floats.iter().zip(before) {
                part.columns[*position].begin_behind(before);
            }
            part.run_of(members, range)?;
            Ok(part)
        };
        let parts = spread.collect(part)?;
        let mut full = self.fork(0, members.len(), true);
        full.columns.iter_mut().for_each(|column| column.retained = None);
        full.columns.iter_mut().for_each(|column| column.make_space(cells));
        parts.into_iter().for_each(|part| full.absorb_dense(part));
        *self = full;
        Ok(())
    }

    /// The number of floats of each cell before each partition. Partitions are counted in chunks,
    /// so that all threads help even with few partitions.
    fn floats_before(
        &self,
        spread: &Spread<'_>,
        members: Members<'_>,
        floats: &[usize],
    ) -> Result<Vec<Counts>> {
        let GroupTable::Dense(dense) = &self.cells else { unreachable!("the cells have counters") };
        let (len, parts) = (spread.len(), spread.count());
        let chunk = len.div_ceil(parts).next_multiple_of(BATCH);
        let ranges_of = |part: usize| {
            let end = (part + 1) * len;
            (part * len..end).step_by(chunk).map(move |start| (part, start..end.min(start + chunk)))
        };
        let chunks: Vec<(usize, Range<usize>)> = (0..parts - 1).flat_map(ranges_of).collect();
        let mut empty = self.fork(0, members.len(), true);
        let mut position = 0..;
        empty
            .columns
            .retain(|_| position.next().is_some_and(|position| floats.contains(&position)));
        empty.columns.iter_mut().for_each(|column| column.leave_floats());
        let count = |range: &Range<usize>| {
            let mut chunk = empty.fork(members.at(range.start), range.len(), true);
            chunk.columns.iter_mut().for_each(|column| column.leave_floats());
            chunk.run_of(members, range.clone())?;
            let mut counts = vec![vec![0; dense.len()]; floats.len()];
            let GroupTable::Dense(counted) = &chunk.cells else { return Ok(counts) };
            for (counts, column) in counts.iter_mut().zip(&chunk.columns) {
                column.add_float_counts(&counted.counts, counts);
            }
            Ok(counts)
        };
        let each = cost::ROW.times(self.keys.len() * chunk);
        let counted: Vec<Counts> = self.context.lists(chunks.len(), each, |range| {
            chunks[range].iter().map(|(_, range)| count(range)).collect()
        })?;
        let mut before = vec![vec![vec![0; dense.len()]; floats.len()]; parts];
        for ((part, _), counts) in chunks.iter().zip(&counted) {
            for behind in &mut before[part + 1..] {
                for (behind, counts) in behind.iter_mut().zip(counts) {
                    behind.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
                }
            }
        }
        Ok(before)
    }
}
