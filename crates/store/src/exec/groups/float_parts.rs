//! Groups of few cells whose floats are added up, found by several threads in two passes.
//!
//! The sum of a group is made of blocks of its floats (see [`PartSums`]), so a thread can add up the blocks of a part of the members when it knows how many
//! floats of each cell come before. The first pass counts; it looks at the keys, and at the floats only where some are lacking. In the second one each thread adds up
//! the blocks that begin in its part. What is left for one thread are the floats of blocks that began before a part: half a block for each cell and part.

use super::column_groups::{Cells, Grouping};
use super::dense_groups::read_cells;
use crate::exec::control::morsels::Spread;
use crate::exec::math::float_sums::PartSums;
use crate::exec::select::batches::{BATCH, Members};
use crate::exec::select::number_columns::{NumberColumn, NumberSlice};
use hexgraph_base::types::Result;
use std::ops::Range;

/// The bytes that are charged for a float that may wait for the end of its block, and for a sum of a part.
const HEAD_BYTES: usize = size_of::<u32>() + size_of::<f64>();
const SUM_BYTES: usize = 16;

/// The members of a part.
struct Part {
    range: Range<usize>,
    /// For each column of floats the number of floats of each cell before the part.
    before: Vec<Vec<u32>>,
}

impl<'a, 'c> Grouping<'a, 'c> {
    /// The places of the columns of floats, where each cell has its counters and nothing but sums is made of floats; else none.
    pub(super) fn float_sum_columns(&self) -> Vec<usize> {
        let is_float =
            |place: &usize| matches!(self.columns[*place].numbers, NumberColumn::Float(_));
        let floats: Vec<usize> = (0..self.columns.len()).filter(is_float).collect();
        let are_sums = matches!(self.cells, Cells::Dense(_))
            && floats.iter().all(|place| self.columns[*place].has_only_sums());
        if are_sums { floats } else { Vec::new() }
    }

    /// Groups parts of the members in two passes; `floats` are the places of the columns of floats, which are added up.
    pub(super) fn run_twice(
        &mut self,
        spread: Spread<'_>,
        members: Members<'_>,
        floats: &[usize],
    ) -> Result<()> {
        let (context, len) = (self.context, spread.len());
        let count = |range: Range<usize>| {
            let nodes = members.range(range);
            let mut part = self.fork(nodes.first().copied().unwrap_or(0), nodes.len(), true);
            floats.iter().for_each(|place| part.columns[*place].leave_floats());
            part.run(Members::List(&nodes))?;
            Ok(part)
        };
        let Cells::Dense(dense) = &self.cells else { unreachable!("the cells have counters") };
        let cells = dense.len();
        let each = dense.byte_len(self.columns.len()) + SUM_BYTES * cells * floats.len();
        let heads = HEAD_BYTES * members.len() * floats.len();
        let _while_grouping = context.control.charge_while(each * spread.count() + heads)?;
        let counted = spread.collect(count)?;
        let mut before = vec![vec![0; cells]; floats.len()];
        let mut parts = Vec::with_capacity(counted.len());
        for (at, part) in counted.iter().enumerate() {
            let range = at * len..members.len().min((at + 1) * len);
            parts.push(Part { range, before: before.clone() });
            let Cells::Dense(dense) = &part.cells else { continue };
            for (before, place) in before.iter_mut().zip(floats) {
                part.columns[*place].add_float_counts(&dense.counts, before);
            }
        }
        let sums: Vec<Vec<PartSums>> = context.lists(parts.len(), self.nanos() * len, |range| {
            parts[range].iter().map(|part| self.part_sums(members, part, floats)).collect()
        })?;
        let mut whole = self.fork(0, members.len(), true);
        whole.columns.iter_mut().for_each(|column| column.kept = None);
        for (part, sums) in counted.into_iter().zip(sums) {
            whole.absorb_dense(part);
            for (place, sums) in floats.iter().zip(&sums) {
                whole.columns[*place].float_sums(cells).absorb(sums);
            }
        }
        *self = whole;
        Ok(())
    }

    /// The sums of the floats of a part.
    fn part_sums(
        &self,
        members: Members<'_>,
        part: &Part,
        floats: &[usize],
    ) -> Result<Vec<PartSums>> {
        let nodes = members.range(part.range.clone());
        let first = nodes.first().copied().unwrap_or(0);
        let mut keys = self.fork_keys(first, nodes.len());
        let column = |place: &usize| self.columns[*place].numbers.fork(first);
        let mut columns: Vec<NumberColumn<'_>> = floats.iter().map(column).collect();
        let mut sums: Vec<PartSums> =
            part.before.iter().map(|before| PartSums::behind(before)).collect();
        let (mut cells, mut some) = (Vec::new(), (Vec::new(), Vec::new()));
        for nodes in nodes.chunks(BATCH) {
            self.context.check()?;
            read_cells(&mut keys, nodes, &mut cells);
            for (column, sums) in columns.iter_mut().zip(&mut sums) {
                let (NumberSlice::Floats(floats), has) = column.read(nodes) else { continue };
                if has.is_empty() {
                    sums.add(&cells, floats);
                    continue;
                }
                some.0.clear();
                some.1.clear();
                for ((cell, float), _) in cells.iter().zip(floats).zip(has).filter(|it| *it.1) {
                    some.0.push(*cell);
                    some.1.push(*float);
                }
                sums.add(&some.0, &some.1);
            }
        }
        Ok(sums)
    }
}
