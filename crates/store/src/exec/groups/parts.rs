//! Groups of many members, found by several threads: each groups a part of the members, and the groups of the parts are put together.
//!
//! Where codes mean the same to all threads, the parts are ranges of members. A part tells the cell of each of its groups, and by these they are found
//! among those of the parts before; so groups get the numbers that one thread would have given them. Floats are kept, and added one behind the
//! other when the parts are put together, or added up in a second pass: see [`super::float_parts`].
//!
//! Where values are numbered as they come, members are first dealt out by the value of a key. Then no value is in two parts, nothing is looked up
//! again, and all members of a group are added by one thread, floats, too, in their order.

use super::column_groups::{Cells, Grouping, Groups, Room};
use super::folds::each;
use crate::exec::control::morsels::Spread;
use crate::exec::select::batches::{BATCH, Members};
use hexgraph_base::types::Result;
use std::ops::Range;

/// The parts for each thread, where they are ranges of members that have many groups, and where there are so many cells that it takes a while to add
/// up their counters.
const RANGES: usize = 3;
const RANGES_OF_MANY_CELLS: usize = 2;

/// Cells are many where there are fewer members than this for each.
const CELLS_SHARE: usize = 64;

/// The parts for each thread that members are dealt out to, so that the values of one lie in the nearer caches.
const DEALT: usize = 4;

/// Members are dealt out where grouping takes this many times as long as work that is shared at all: for less the lists cost more than is won.
const DEALT_MIN: usize = 8;

/// The nanoseconds that it takes to deal out a member, about.
const DEAL_NANOS: usize = 15;

impl<'a, 'c> Grouping<'a, 'c> {
    /// As [`Grouping::run`], with other threads.
    pub(super) fn run_shared(&mut self, spread: Spread<'_>, members: Members<'_>) -> Result<()> {
        let dealt_by = self.keys.iter().position(|key| key.codes.numbers_values());
        let is_long =
            DEALT_MIN * self.context.control.costs().spread <= self.nanos() * members.len();
        match dealt_by.filter(|_| is_long && self.lists.is_none()) {
            Some(key) => self.run_dealt(key, members),
            None => self.run_ranges(spread, members),
        }
    }

    /// A grouping of the same kind that has seen no member, for `count` members from `first` on.
    pub(super) fn fork(&self, first: u32, count: usize, is_range: bool) -> Grouping<'a, 'c> {
        let keys = self.fork_keys(first, count);
        let cell_count = keys.iter().map(|key| key.codes.limit()).product();
        let cells = match &self.cells {
            Cells::Dense(dense) => Cells::Dense(dense.fork()),
            _ => Cells::new(cell_count, count),
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
        // A part with as many groups as members is worth nothing: then there are few parts, of many members each.
        let has_few_groups = self.cell_count <= (spread.len() / 8) as u64;
        // Values that are numbered as they come are numbered again where the parts are put together.
        // Where each cell has its counters, those of all parts are put together.
        let has_many_cells =
            matches!(&self.cells, Cells::Dense(dense) if members.len() / CELLS_SHARE < dense.len());
        let numbers_values = self.keys.iter().any(|key| key.codes.numbers_values());
        let few = match (numbers_values, has_many_cells) {
            (true, _) => 1,
            (false, true) => RANGES_OF_MANY_CELLS,
            (false, false) => RANGES,
        };
        let spread = if has_few_groups { spread } else { spread.with_few(few) }.in_units_of(BATCH);
        let floats = self.float_sum_columns();
        if !floats.is_empty() {
            // Each part has floats at its beginning that wait for the parts before, so there are few parts.
            let spread = spread.with_few(1).in_units_of(BATCH);
            return match self.pays_to_group_twice(&spread, members) {
                true => self.run_twice(spread, members, &floats),
                false => self.run(members),
            };
        }
        let empty = self.fork(0, members.len(), true);
        let kept = empty.columns.iter().filter(|column| column.are_floats()).count();
        let part = |range: Range<usize>| {
            let count = range.len();
            let mut part = empty.fork(members.at(range.start), count, true);
            part.charged = (12 * kept + 4) * count;
            if let Cells::Dense(dense) = &part.cells {
                part.charged += dense.byte_len(part.columns.len());
            }
            self.context.control.charge(part.charged)?;
            part.run_of(members, range)?;
            Ok(part)
        };
        let (context, mut whole) = (self.context, self.fork(0, members.len(), true));
        whole.columns.iter_mut().for_each(|column| column.kept = None);
        spread.each(part, |part| {
            let charged = part.charged;
            whole.absorb(part)?;
            context.control.uncharge(charged);
            Ok(())
        })?;
        *self = whole;
        Ok(())
    }

    /// Puts the groups of a part behind those of the parts before it.
    fn absorb(&mut self, part: Grouping<'a, '_>) -> Result<()> {
        if let Cells::Dense(_) = self.cells {
            self.absorb_dense(part);
            return Ok(());
        }
        let places = self.places_of(&part.groups)?;
        let count = self.groups.firsts.len();
        each(&mut self.groups.counts, 0, &places, count, &part.groups.counts, |sum, it| sum + it);
        for (column, part) in self.columns.iter_mut().zip(part.columns) {
            column.absorb(part, &places, count);
        }
        if let (Some(lists), Some(part)) = (&mut self.lists, part.lists) {
            lists.extend(part.iter().map(|group| places[*group as usize]));
        }
        Ok(())
    }

    /// The numbers that groups of a part have among these; those that are new begin.
    fn places_of(&mut self, part: &Groups) -> Result<Vec<u32>> {
        let (mut cells, mut found, mut places) = (Vec::new(), Vec::new(), vec![0]);
        let numbers_values = self.keys.iter().any(|key| key.codes.numbers_values());
        let known = part.cells.as_deref().filter(|_| !numbers_values);
        for (chunk, firsts) in part.firsts[1..].chunks(BATCH).enumerate() {
            let before = self.groups.firsts.len();
            match known {
                Some(known) => {
                    let start = 1 + chunk * BATCH;
                    let known = &known[start..start + firsts.len()];
                    let Grouping { cells: table, groups, .. } = self;
                    table.look_up(known, &mut found, |place| {
                        groups.begin(firsts[place], known[place])
                    });
                }
                None => {
                    // The first members of its groups are grouped as members are.
                    self.read_cells(firsts, &mut cells);
                    self.find(firsts, &cells, &mut found);
                }
            }
            self.charge(self.groups.firsts.len() - before)?;
            places.extend_from_slice(&found);
        }
        Ok(places)
    }

    /// Groups members that are dealt out by the values of one of the keys.
    fn run_dealt(&mut self, key: usize, members: Members<'_>) -> Result<()> {
        let control = self.context.control;
        let threads = control.sharing_pool().map_or(1, |pool| pool.threads());
        let (count, key) = (DEALT * threads, &self.keys[key].codes);
        let _while_dealt = control.charge_while(size_of::<u32>() * members.len())?;
        let shares = key.shares(count);
        let deal = |range: Range<usize>| -> Result<Vec<Vec<u32>>> {
            let mut dealer = key.dealer(members.at(range.start), &shares);
            let room = range.len() / count * 5 / 4;
            let mut dealt: Vec<Vec<u32>> = (0..count).map(|_| Vec::with_capacity(room)).collect();
            members.for_each_batch_of(range, |nodes| {
                self.context.check()?;
                dealer.deal(nodes, &mut dealt);
                Ok(())
            })?;
            Ok(dealt)
        };
        let dealt: Vec<Vec<Vec<u32>>> = match control.spread(members.len(), DEAL_NANOS)? {
            Some(spread) => spread.with_few(RANGES).in_units_of(BATCH).collect(deal)?,
            None => vec![deal(0..members.len())?],
        };
        let nanos = self.nanos() * members.len() / count;
        let parts = self.context.lists(count, nanos, |shares| {
            let part = |share: usize| -> Result<Grouping<'a, 'c>> {
                let lists: Vec<&[u32]> =
                    dealt.iter().map(|dealt| dealt[share].as_slice()).collect();
                let first = lists.iter().find_map(|nodes| nodes.first()).copied().unwrap_or(0);
                let mut part = self.fork(first, lists.iter().map(|nodes| nodes.len()).sum(), false);
                let mut room = Room::default();
                for nodes in lists.iter().flat_map(|nodes| nodes.chunks(BATCH)) {
                    part.add(nodes, &mut room)?;
                }
                Ok(part)
            };
            shares.map(part).collect()
        })?;
        self.join(parts);
        Ok(())
    }

    /// Takes the groups of parts, of which no two have the same one, in the order in which they would have appeared.
    fn join(&mut self, parts: Vec<Grouping<'a, 'c>>) {
        let mut parts = parts.into_iter();
        let Some(mut whole) = parts.next() else { return };
        for part in parts {
            whole.groups.firsts.extend_from_slice(&part.groups.firsts[1..]);
            whole.groups.counts.extend_from_slice(&part.groups.counts[1..]);
            for (column, part) in whole.columns.iter_mut().zip(&part.columns) {
                column.folded.append(&part.folded);
            }
            whole.charged += part.charged;
        }
        if whole.groups.firsts.len() < 2 {
            // Nobody has a value, so there are no numbers of groups either.
            *self = whole;
            return;
        }
        // The first members of a part ascend: a sort that sees such runs merges them.
        let mut order: Vec<u64> = whole
            .groups
            .firsts
            .iter()
            .zip(0..)
            .map(|(first, at)| u64::from(*first) << 32 | at)
            .collect();
        order[1..].sort();
        let order: Vec<u32> = order.into_iter().map(|packed| packed as u32).collect();
        let at = |items: &[u32]| order.iter().map(|group| items[*group as usize]).collect();
        let (firsts, counts) = (at(&whole.groups.firsts), at(&whole.groups.counts));
        whole.groups = Groups { firsts, counts, cells: None };
        for column in &mut whole.columns {
            column.folded = column.folded.in_order(&order);
        }
        *self = whole;
    }
}
