//! Groups of many members on several threads: each groups a partition of the members, and the
//! groups of the partitions are merged.
//!
//! Where codes mean the same to all threads, the parts are ranges of members. A part returns the
//! cell of each of its groups, and by these they are looked up among those of the parts before; so
//! groups get the numbers that one thread would have given them. Floats are retained, and added one
//! after the other when the parts are put together, or added up in a second pass: see
//! [`super::float_parts`].
//!
//! Where values are numbered as they come, members are first partitioned by the value of a key.
//! Then no value is in two parts, nothing is looked up again, and all members of a group are added
//! by one thread, floats, too, in their order.

use super::accumulators::each;
use super::column_groups::{Capacity, GroupTable, Grouping, Groups};
use crate::exec::columns::batches::{BATCH, Members};
use crate::exec::control::group_cells::at;
use crate::exec::control::morsels::{FEW_MORSELS, Spread};
use crate::exec::cost;
use hexgraph_base::types::Result;
use std::ops::Range;

/// Cells are many where there are fewer members than this for each.
const CELLS_RATIO: usize = 64;

/// The parts for each thread that members are partitioned into, so that the values of one lie in
/// the nearer caches.
const PARTITIONED: usize = 4;

/// Members are partitioned where grouping takes this many times as long as work that is shared at
/// all: for less the lists cost more than is won.
const PARTITIONED_MIN: usize = 8;

impl<'a, 'c> Grouping<'a, 'c> {
    /// As [`Grouping::run`], with other threads.
    pub(super) fn run_shared(&mut self, spread: Spread<'_>, members: Members<'_>) -> Result<()> {
        let partitioned_by = self.keys.iter().position(|key| key.codes.numbers_values());
        let is_long = PARTITIONED_MIN * self.context.control.costs().spread
            <= self.cost().times(members.len()).as_nanos();
        match partitioned_by.filter(|_| is_long && self.lists.is_none()) {
            Some(key) => self.run_partitioned(key, members),
            None => self.run_ranges(spread, members),
        }
    }

    /// A grouping of the same kind that has seen no member, for `count` members from `first` on.
    pub(super) fn fork(&self, first: u32, count: usize, is_range: bool) -> Grouping<'a, 'c> {
        let keys = self.fork_keys(first, count);
        let cell_count = keys.iter().map(|key| key.codes.limit()).product();
        let cells = if let GroupTable::Dense(dense) = &self.cells {
            GroupTable::Dense(dense.fork())
        } else {
            GroupTable::new(cell_count, count)
        };
        Grouping {
            context: self.context,
            cells,
            cell_count,
            keys,
            groups: Groups::new(is_range),
            columns: self.columns.iter().map(|column| column.fork(first, is_range)).collect(),
            lists: self.lists.is_some().then(Vec::new),
            charged: 0,
        }
    }

    /// Groups ranges of the members.
    fn run_ranges(&mut self, spread: Spread<'_>, members: Members<'_>) -> Result<()> {
        // A part with as many groups as members is worth nothing: then there are few parts, of many
        // members each.
        let has_few_groups = self.cell_count <= (spread.len() / 8) as u64;
        // Values that are numbered as they come are numbered again where the parts are put
        // together. Where each cell has its counters, those of all parts are put together.
        let has_many_cells = matches!(&self.cells, GroupTable::Dense(dense) if members.len() / CELLS_RATIO < dense.len());
        let numbers_values = self.keys.iter().any(|key| key.codes.numbers_values());
        let few = match (numbers_values, has_many_cells) {
            (true, _) => 1,
            // It takes a while to add up the counters of all parts.
            (false, true) => FEW_MORSELS - 1,
            (false, false) => FEW_MORSELS,
        };
        let spread = if has_few_groups { spread } else { spread.with_few(few) }.in_units_of(BATCH);
        let floats = self.float_sum_columns();
        if !floats.is_empty() {
            // Each part has floats at its beginning that wait for the parts before, so there are
            // few parts.
            let spread = spread.with_few(1).in_units_of(BATCH);
            return match self.pays_to_group_twice(&spread, members) {
                true => self.run_twice(spread, members, &floats),
                false => self.run(members),
            };
        }
        let empty = self.fork(0, members.len(), true);
        let retained = empty.columns.iter().filter(|column| column.are_floats()).count();
        let part = |range: Range<usize>| {
            let count = range.len();
            let mut part = empty.fork(members.at(range.start), count, true);
            part.charged = (12 * retained + 4) * count;
            if let GroupTable::Dense(dense) = &part.cells {
                part.charged += dense.byte_len(part.columns.len());
            }
            self.context.control.charge(part.charged)?;
            part.run_of(members, range)?;
            Ok(part)
        };
        let (context, mut full) = (self.context, self.fork(0, members.len(), true));
        full.columns.iter_mut().for_each(|column| column.retained = None);
        spread.each(part, |part| {
            let charged = part.charged;
            full.absorb(part)?;
            context.control.uncharge(charged);
            Ok(())
        })?;
        *self = full;
        Ok(())
    }

    /// Puts the groups of a part after those of the parts before it.
    fn absorb(&mut self, part: Grouping<'a, '_>) -> Result<()> {
        if let GroupTable::Dense(_) = self.cells {
            self.absorb_dense(part);
            return Ok(());
        }
        let positions = self.positions_of(&part.groups)?;
        let count = self.groups.firsts.len();
        each(&mut self.groups.counts, 0, &positions, count, &part.groups.counts, |sum, it| {
            sum + it
        });
        for (column, part) in self.columns.iter_mut().zip(part.columns) {
            column.absorb(part, &positions, count);
        }
        if let (Some(lists), Some(part)) = (&mut self.lists, part.lists) {
            lists.extend(part.iter().map(|group| positions[*group as usize]));
        }
        Ok(())
    }

    /// The numbers that groups of a part have among these; those that are new begin.
    fn positions_of(&mut self, part: &Groups) -> Result<Vec<u32>> {
        let (mut cells, mut result, mut positions) = (Vec::new(), Vec::new(), vec![0]);
        let numbers_values = self.keys.iter().any(|key| key.codes.numbers_values());
        let existing = part.cells.as_deref().filter(|_| !numbers_values);
        for (chunk, firsts) in part.firsts[1..].chunks(BATCH).enumerate() {
            let before = self.groups.firsts.len();
            match existing {
                Some(existing) => {
                    let start = 1 + chunk * BATCH;
                    let existing = &existing[start..start + firsts.len()];
                    let Grouping { cells: table, groups, .. } = self;
                    table.look_up(existing, &mut result, |position| {
                        groups.begin(firsts[position], existing[position])
                    });
                }
                None => {
                    // The first members of its groups are grouped as members are.
                    self.read_cells(firsts, &mut cells);
                    self.find(firsts, &cells, &mut result);
                }
            }
            self.charge(self.groups.firsts.len() - before)?;
            positions.extend_from_slice(&result);
        }
        Ok(positions)
    }

    /// Groups members that are partitioned by the values of one of the keys.
    fn run_partitioned(&mut self, key: usize, members: Members<'_>) -> Result<()> {
        let control = self.context.control;
        let threads = control.sharing_pool().map_or(1, |pool| pool.threads());
        let (count, key) = (PARTITIONED * threads, &self.keys[key].codes);
        let _while_partitioned = control.charge_while(size_of::<u32>() * members.len())?;
        let buckets = key.buckets(count);
        let partition = |range: Range<usize>| -> Result<Vec<Vec<u32>>> {
            let mut partitioner = key.partitioner(members.at(range.start), &buckets);
            let capacity = range.len() / count * 5 / 4;
            let mut partitioned: Vec<Vec<u32>> =
                (0..count).map(|_| Vec::with_capacity(capacity)).collect();
            members.for_each_batch_of(range, |nodes| {
                self.context.check()?;
                partitioner.partition(nodes, &mut partitioned);
                Ok(())
            })?;
            Ok(partitioned)
        };
        let partitioned: Vec<Vec<Vec<u32>>> = match control.spread(members.len(), cost::PROBE)? {
            Some(spread) => spread.with_few(FEW_MORSELS).in_units_of(BATCH).collect(partition)?,
            None => vec![partition(0..members.len())?],
        };
        let each = self.cost().times(members.len()).part(count);
        let parts = self.context.lists(count, each, |buckets| {
            let part = |bucket: usize| -> Result<Grouping<'a, 'c>> {
                let lists: Vec<&[u32]> =
                    partitioned.iter().map(|partitioned| partitioned[bucket].as_slice()).collect();
                let first = lists.iter().find_map(|nodes| nodes.first()).copied().unwrap_or(0);
                let mut part = self.fork(first, lists.iter().map(|nodes| nodes.len()).sum(), false);
                let mut capacity = Capacity::default();
                for nodes in lists.iter().flat_map(|nodes| nodes.chunks(BATCH)) {
                    part.add(nodes, &mut capacity)?;
                }
                Ok(part)
            };
            buckets.map(part).collect()
        })?;
        self.join(parts);
        Ok(())
    }

    /// Merges the groups of parts, no two of which have the same one, in the order in which they
    /// would have appeared.
    fn join(&mut self, parts: Vec<Grouping<'a, 'c>>) {
        let mut parts = parts.into_iter();
        let Some(mut full) = parts.next() else { return };
        for part in parts {
            full.groups.firsts.extend_from_slice(&part.groups.firsts[1..]);
            full.groups.counts.extend_from_slice(&part.groups.counts[1..]);
            for (column, part) in full.columns.iter_mut().zip(&part.columns) {
                column.accumulators.append(&part.accumulators);
            }
            full.charged += part.charged;
        }
        if full.groups.firsts.len() < 2 {
            // Nobody has a value, so there are no numbers of groups either.
            *self = full;
            return;
        }
        // The first members of a part ascend: a sort that sees such runs merges them.
        let mut order: Vec<u64> = full
            .groups
            .firsts
            .iter()
            .zip(0..)
            .map(|(first, at)| u64::from(*first) << 32 | at)
            .collect();
        order[1..].sort();
        let order: Vec<u32> = order.into_iter().map(|packed| packed as u32).collect();
        let firsts = at(&full.groups.firsts, &order);
        let counts = at(&full.groups.counts, &order);
        full.groups = Groups { firsts, counts, cells: None };
        for column in &mut full.columns {
            column.accumulators.reorder(&order);
        }
        *self = full;
    }
}
