//! Groups of `@groupby` whose keys are read as columns: one pass over the members, without a list
//! for each group.
//!
//! A batch of members is read as codes, one for each key ([`super::key_codes`]). The codes of a
//! member make the number of its cell, a number with one digit for each key. Few cells are the
//! groups themselves ([`super::dense`]). Else a table leads from the cell to the group: an array
//! where there are at most twice as many cells as members, else a hash table. Groups are numbered
//! as they appear. Sums, least and greatest numbers are arrays by group, to which each batch adds;
//! so floats are added up in the order of the members, as they are in a list. Group 0 is that of
//! members that lack a key: it is filled like the others and not shown, which saves a question for
//! each member.
//!
//! O(members · (keys + aggregated predicates)) and O(groups) memory, plus a number of 4 bytes for
//! each member where something else than numbers is aggregated: then the members are partitioned
//! into lists by counting.

use super::accumulators::{Accumulators, NumberAccumulators, accumulator_bytes};
use super::dense::{CELLS_MIN, Dense, Distinct};
use super::group_columns::GroupKey;
use super::key_codes::{KeyCodes, MISSING};
use super::partition::{GROUP_BYTES, KEY_BYTES, result_bytes};
use crate::exec::access_path::GroupPath;
use crate::exec::columns::batches::{BATCH, Members};
use crate::exec::columns::number_columns::NumberColumn;
use crate::exec::columns::read::first_value;
use crate::exec::control::context::Context;
use crate::exec::control::group_cells::{GroupColumns, KeyCells, ResultCells};
use crate::exec::control::morsels::joined;
use crate::exec::control::pending::Pending;
use crate::exec::control::tree::{Group, GroupValue};
use crate::exec::cost::{self, Cost};
use crate::graph::Predicate;
use hexgraph_base::plan::{Aggregate, Field, FieldKind, GroupBy};
use hexgraph_base::types::{Error, Result, Value};
use rustc_hash::FxHashMap;
use std::mem;
use std::ops::Range;
use std::sync::Arc;

/// Fewer members are grouped one by one.
pub(crate) const MEMBERS_MIN: usize = cost::SETUP.per(cost::WRITE);

/// The bytes that are charged for an entry of a hash table of cells, which is half empty.
const SLOT_BYTES: usize = 32;

/// The bytes of a result in its column.
const CELL_BYTES: usize = size_of::<i64>() + 1;

impl Context<'_> {
    /// The groups of members, with their numbers of members, in the order in which they appear, or
    /// of their texts off an index: those of [`Context::groups`] of members that ascend, before
    /// they are sorted. `None` where the keys are not read as columns: those of lists, edges,
    /// languages and types without codes; and where a sum is refused, so that the error is that of
    /// the slow path.
    ///
    /// # Errors
    ///
    /// [`hexgraph_base::types::Error::Limit`] when the request has to stop or is out of memory.
    pub(crate) fn column_groups(
        &self,
        group_by: &GroupBy,
        body: &[Arc<Field>],
        members: Members<'_>,
    ) -> Result<Option<Vec<(usize, Group)>>> {
        if let Some((result, plans)) = self.posting_groups(group_by, body, members)? {
            return result.finish(body, &plans, members);
        }
        match self.grouping(group_by, body, members, false)? {
            Some((grouping, plans)) => grouping.result()?.finish(body, &plans, members),
            None => Ok(None),
        }
    }

    /// As [`Context::column_groups`], as columns in the order of the answer. `None` also where a
    /// field needs the list of the members of each group.
    ///
    /// # Errors
    ///
    /// As [`Context::column_groups`].
    pub(crate) fn groups_as_columns(
        &self,
        group_by: &GroupBy,
        body: &[Arc<Field>],
        members: Members<'_>,
    ) -> Result<Option<GroupColumns>> {
        if let Some((result, plans)) = self.posting_groups(group_by, body, members)? {
            return result.finish_columns(body, &plans);
        }
        match self.grouping(group_by, body, members, true)? {
            Some((grouping, plans)) => grouping.result()?.finish_columns(body, &plans),
            None => Ok(None),
        }
    }

    /// The members grouped by their codes, and how each field of the body is computed; `None` as
    /// [`Context::column_groups`], and where lists of members are needed and not allowed.
    fn grouping<'s>(
        &'s self,
        group_by: &'s GroupBy,
        body: &'s [Arc<Field>],
        members: Members<'s>,
        without_lists: bool,
    ) -> Result<Option<(Grouping<'s, 's>, Vec<Plan>)>> {
        let is_usual = members.len() >= MEMBERS_MIN
            && !group_by.keys.is_empty()
            && body.iter().all(|field| is_known(&field.kind));
        if !is_usual {
            return Ok(None);
        }
        if let [key] = group_by.keys.as_slice()
            && body.iter().all(|field| field.kind == FieldKind::CountUid)
            && let Members::List(members) = members
            && self.is_counted_by_index(key, members)
        {
            return Ok(None);
        }
        let (mut keys, mut cells) = (Vec::new(), 1_u64);
        let mut while_grouping = self.control.charge_while(0)?;
        for key in &group_by.keys {
            let Some(key) = self.key_column(&key.predicate, &key.langs, members) else {
                return Ok(None);
            };
            while_grouping.grow(key.codes.byte_len() + size_of::<u32>() * BATCH)?;
            let Some(more) = cells.checked_mul(key.codes.limit()) else { return Ok(None) };
            cells = more;
            keys.push(key);
        }
        let mut columns = Vec::new();
        let plans = self.plans(body, members, &mut columns);
        let lists = plans.iter().any(|plan| matches!(plan, Plan::List)).then(Vec::new);
        if without_lists && lists.is_some() {
            return Ok(None);
        }
        let needs_firsts = !without_lists || !keys.iter().all(|key| key.codes.are_ints());
        let table = self.cells(&keys, cells, members.len(), (lists.is_some(), needs_firsts));
        let mut grouping = Grouping {
            context: self,
            keys,
            cell_count: cells,
            cells: table,
            groups: Groups::new(false),
            columns,
            lists,
            charged: 0,
        };
        while_grouping.grow(grouping.byte_len(members))?;
        self.charge_values(&grouping.columns, members)?;
        match self.control.spread(members.len(), grouping.cost())? {
            Some(spread) => grouping.run_shared(spread, members)?,
            None => grouping.run(members)?,
        }
        Ok(Some((grouping, plans)))
    }

    /// Charges lists of the values of members, until the end of the request.
    pub(super) fn charge_values(
        &self,
        columns: &[NumberAccumulators<'_>],
        members: Members<'_>,
    ) -> Result<()> {
        self.control.charge(columns.iter().map(|it| it.value_bytes(members.len())).sum())
    }

    /// What leads from so many cells to groups, or in tests anything that does. Members are listed
    /// or not, and the first one of each group is needed or not.
    fn cells(
        &self,
        keys: &[Key<'_>],
        cells: u64,
        members: usize,
        (has_lists, needs_firsts): (bool, bool),
    ) -> GroupTable {
        // Values that are numbered as they come have other numbers on each thread.
        let can_be_dense = !has_lists && keys.iter().all(|key| !key.codes.numbers_values());
        let is_dense = can_be_dense && Dense::suits(cells, members);
        let is_array = GroupTable::suit_array(cells, members);
        let cheapest = match (is_dense, is_array) {
            (true, _) => GroupPath::CodeCells,
            (false, true) => GroupPath::CodeArray,
            (false, false) => GroupPath::CodeTable,
        };
        let path = self.pick(cheapest, members, || {
            let dense = is_dense.then_some(GroupPath::CodeCells);
            let array = is_array.then_some(GroupPath::CodeArray);
            [GroupPath::CodeTable].into_iter().chain(dense).chain(array).collect()
        });
        self.record_group_path(path);
        match path {
            GroupPath::CodeCells => {
                let invalid: Vec<bool> = keys.iter().map(|key| key.codes.has_invalid()).collect();
                GroupTable::Dense(Dense::new(&limits_of(keys), &invalid, needs_firsts))
            }
            GroupPath::CodeArray => GroupTable::new(cells, members),
            GroupPath::CodeTable
            | GroupPath::Postings
            | GroupPath::PostingSums
            | GroupPath::TargetArray
            | GroupPath::TargetTable
            | GroupPath::Lists => GroupTable::Hash(FxHashMap::default()),
        }
    }

    /// Decides how the fields of the body are computed; the numbers that are aggregated are put
    /// after `columns`. Reads nothing but changes.
    pub(super) fn plans<'s>(
        &'s self,
        body: &'s [Arc<Field>],
        members: Members<'_>,
        columns: &mut Vec<NumberAccumulators<'s>>,
    ) -> Vec<Plan> {
        let mut plan = |field: &'s Arc<Field>| {
            let FieldKind::AggregatePredicate { op, name, langs } = &field.kind else {
                return Plan::Count;
            };
            match self.column_of(name, langs, members, columns) {
                Some(position) => {
                    Plan::Accumulator(position, columns[position].position_of(*op), *op)
                }
                None => Plan::List,
            }
        };
        body.iter().map(&mut plan).collect()
    }

    /// The position of the numbers of a predicate among the columns, which they are put after where
    /// they are not there; `None` where its values are no numbers.
    fn column_of<'s>(
        &'s self,
        name: &'s str,
        langs: &[String],
        members: Members<'_>,
        columns: &mut Vec<NumberAccumulators<'s>>,
    ) -> Option<usize> {
        if !langs.is_empty() {
            return None;
        }
        if let Some(existing) = columns.iter().position(|column| column.name == name) {
            return Some(existing);
        }
        let predicate = self.predicate(name)?;
        let part = predicate.only_untagged()?;
        let numbers = NumberColumn::new(part, predicate.def.value_type, members)?;
        columns.push(NumberAccumulators::new(name, numbers));
        Some(columns.len() - 1)
    }

    /// A key without languages of values that are no lists.
    fn key_column(&self, name: &str, langs: &[String], members: Members<'_>) -> Option<Key<'_>> {
        let predicate: &Predicate = self.predicate(name).filter(|it| !it.def.list)?;
        let part = predicate.only_untagged().filter(|_| langs.is_empty())?;
        let codes = KeyCodes::new(part, predicate.def.value_type, members)?;
        Some(Key { predicate, codes, batch: Vec::with_capacity(BATCH) })
    }
}

/// The numbers of codes of some keys.
pub(super) fn limits_of(keys: &[Key<'_>]) -> Vec<u32> {
    keys.iter().map(|key| key.codes.limit() as u32).collect()
}

/// True for a field that a group has.
pub(super) fn is_known(kind: &FieldKind) -> bool {
    matches!(kind, FieldKind::CountUid | FieldKind::AggregatePredicate { .. })
}

/// A key of the groups.
pub(super) struct Key<'a> {
    pub(super) predicate: &'a Predicate,
    pub(super) codes: KeyCodes<'a>,
    /// The codes of a batch.
    pub(super) batch: Vec<u32>,
}

/// How the result of a field of the body is computed.
#[derive(Clone, Copy)]
pub(super) enum Plan {
    /// The number of members.
    Count,
    /// An accumulator of numbers: the position of the column, that of the accumulator, and what is
    /// made of it.
    Accumulator(usize, usize, Aggregate),
    /// From the list of the members.
    List,
}

/// The groups so far; the first is no group.
pub(super) struct Groups {
    /// The first member of each.
    pub(super) firsts: Vec<u32>,
    /// The number of members of each.
    pub(super) counts: Vec<u32>,
    /// The cell of each, where it is needed later.
    pub(super) cells: Option<Vec<u64>>,
}

impl Groups {
    pub(super) fn new(keeps_cells: bool) -> Groups {
        Groups { firsts: vec![0], counts: vec![0], cells: keeps_cells.then(|| vec![0]) }
    }

    /// Begins a group, and returns its number.
    pub(super) fn begin(&mut self, first: u32, cell: u64) -> u32 {
        self.firsts.push(first);
        if let Some(cells) = &mut self.cells {
            cells.push(cell);
        }
        self.firsts.len() as u32 - 1
    }
}

/// Leads from cells to groups: to the number of the group plus 1; 0 for a cell that nobody was in.
pub(super) enum GroupTable {
    /// The cells are the groups.
    Dense(Dense),
    Array(Vec<u32>),
    Hash(FxHashMap<u64, u32>),
}

impl GroupTable {
    pub(super) fn new(count: u64, members: usize) -> GroupTable {
        match GroupTable::suit_array(count, members) {
            true => GroupTable::Array(vec![0; count as usize]),
            false => GroupTable::Hash(FxHashMap::default()),
        }
    }

    /// Whether so many cells have an array.
    fn suit_array(count: u64, members: usize) -> bool {
        count <= (2 * members as u64).max(CELLS_MIN)
    }

    /// The group of each cell; `begin` makes the group of a cell that is met for the first time,
    /// from the position of its member.
    pub(super) fn look_up(
        &mut self,
        cells: &[u64],
        out: &mut Vec<u32>,
        mut begin: impl FnMut(usize) -> u32,
    ) {
        out.clear();
        let mut existing = |position: usize, slot: &mut u32| {
            if *slot == 0 {
                *slot = begin(position) + 1;
            }
            *slot - 1
        };
        match self {
            GroupTable::Dense(_) => unreachable!("the cells are the groups"),
            GroupTable::Array(slots) => {
                let positions = cells.iter().enumerate();
                out.extend(
                    positions
                        .map(|(position, &cell)| existing(position, &mut slots[cell as usize])),
                );
            }
            GroupTable::Hash(slots) => {
                let positions = cells.iter().enumerate();
                out.extend(
                    positions.map(|(position, &cell)| {
                        existing(position, slots.entry(cell).or_default())
                    }),
                );
            }
        }
    }
}

/// A pass over members.
pub(super) struct Grouping<'a, 'c> {
    pub(super) context: &'a Context<'c>,
    pub(super) keys: Vec<Key<'a>>,
    /// A number that is greater than all cells.
    pub(super) cell_count: u64,
    pub(super) cells: GroupTable,
    pub(super) groups: Groups,
    pub(super) columns: Vec<NumberAccumulators<'a>>,
    /// The group of each member, where lists are made of them.
    pub(super) lists: Option<Vec<u32>>,
    /// The bytes that were charged for groups, and for what a partition retains.
    pub(super) charged: usize,
}

impl<'a, 'c> Grouping<'a, 'c> {
    /// The bytes that are used until the groups are complete, apart from what grows with them.
    fn byte_len(&self, members: Members<'_>) -> usize {
        let cells = match &self.cells {
            GroupTable::Dense(dense) => dense.byte_len(self.columns.len()),
            GroupTable::Array(slots) => 4 * slots.len(),
            GroupTable::Hash(_) => 0,
        };
        // The groups of the members, the members by group, and those of a set as a list.
        let each = if let Members::Set(_) = members { 12 } else { 8 };
        let lists = if self.lists.is_some() { each * members.len() } else { 0 };
        let columns: usize = self.columns.iter().map(|column| column.numbers.byte_len()).sum();
        cells + lists + columns
    }

    /// Reads the members batch by batch. After each batch the request may stop.
    pub(super) fn run(&mut self, members: Members<'_>) -> Result<()> {
        let mut capacity = Capacity::default();
        if let Some(lists) = &mut self.lists {
            lists.reserve_exact(members.len());
        }
        members.for_each_batch(|nodes| self.add(nodes, &mut capacity))?;
        self.settle();
        Ok(())
    }

    /// As [`Grouping::run`], of the members at some positions.
    pub(super) fn run_of(&mut self, members: Members<'_>, positions: Range<usize>) -> Result<()> {
        let mut capacity = Capacity::default();
        members.for_each_batch_of(positions, |nodes| self.add(nodes, &mut capacity))?;
        self.settle();
        Ok(())
    }

    /// Adds a batch of members after those before.
    pub(super) fn add(&mut self, nodes: &[u32], capacity: &mut Capacity) -> Result<()> {
        if let GroupTable::Dense(_) = self.cells {
            return self.add_dense(nodes, capacity);
        }
        let Capacity { cells, groups } = capacity;
        self.context.check()?;
        let before = self.groups.counts.len();
        self.read_cells(nodes, cells);
        self.group(nodes, cells, groups);
        self.charge(self.groups.counts.len() - before)?;
        let count = self.groups.counts.len();
        self.columns.iter_mut().for_each(|column| column.add(nodes, groups, count));
        if let Some(lists) = &mut self.lists {
            lists.extend_from_slice(groups);
        }
        Ok(())
    }

    /// Charges what new groups take.
    pub(super) fn charge(&mut self, groups: usize) -> Result<()> {
        let cell = if let GroupTable::Hash(_) = &self.cells { SLOT_BYTES } else { 0 };
        let each =
            GROUP_BYTES + cell + KEY_BYTES * self.keys.len() + accumulator_bytes(&self.columns);
        let grown: usize = self.keys.iter_mut().map(|key| key.codes.growth()).sum();
        match each * groups + grown {
            0 => Ok(()),
            bytes => {
                self.charged += bytes;
                self.context.control.charge(bytes)
            }
        }
    }

    /// The cell of each node of a batch.
    pub(super) fn read_cells(&mut self, nodes: &[u32], cells: &mut Vec<u64>) {
        cells.clear();
        for (position, Key { codes, batch, .. }) in self.keys.iter_mut().enumerate() {
            codes.read(nodes, batch);
            if position == 0 {
                cells.extend(batch.iter().map(|&code| u64::from(code)));
                continue;
            }
            let limit = codes.limit();
            let pairs = cells.iter_mut().zip(batch);
            pairs.for_each(|(cell, code)| *cell = *cell * limit + u64::from(*code));
        }
    }

    /// The group of each node of a batch; all are counted.
    fn group(&mut self, nodes: &[u32], cells: &[u64], out: &mut Vec<u32>) {
        self.find(nodes, cells, out);
        let groups = &mut self.groups;
        groups.counts.resize(groups.firsts.len(), 0);
        out.iter().for_each(|group| groups.counts[*group as usize] += 1);
    }

    /// The group of each node of a batch; a group that begins is put after the others.
    pub(super) fn find(&mut self, nodes: &[u32], cells: &[u64], out: &mut Vec<u32>) {
        let Grouping { keys, cells: table, groups, .. } = self;
        table.look_up(cells, out, |position| {
            if keys.iter().any(|key| key.batch[position] == MISSING) {
                return 0;
            }
            groups.begin(nodes[position], cells[position])
        });
    }

    /// What a member costs, about.
    pub(super) fn cost(&self) -> Cost {
        let (keys, columns) = (self.keys.len(), self.columns.len());
        if let GroupTable::Dense(_) = self.cells {
            return cost::ROW.times(keys + 1).and(cost::GATHER.times(columns));
        }
        let hashed = self.keys.iter().filter(|key| key.codes.numbers_values()).count();
        let codes = cost::CELL.times(hashed).and(cost::ENTRY.times(keys - hashed));
        codes.and(cost::ENTRY.times(1 + columns))
    }

    /// The same key columns for other batches: see [`KeyCodes::fork`].
    pub(super) fn fork_keys(&self, first: u32, count: usize) -> Vec<Key<'a>> {
        let key = |Key { predicate, codes, .. }: &Key<'a>| Key {
            predicate,
            codes: codes.fork(first, count),
            batch: Vec::with_capacity(BATCH),
        };
        self.keys.iter().map(key).collect()
    }

    /// The complete groups.
    ///
    /// # Errors
    ///
    /// [`hexgraph_base::types::Error::Limit`] when the request has to stop.
    fn result(self) -> Result<AggregatedGroups<'a, 'c>> {
        if let GroupTable::Dense(_) = self.cells {
            return self.result_dense();
        }
        let mut accumulators: Vec<Accumulators> =
            self.columns.into_iter().map(|column| column.accumulators).collect();
        let groups = self.groups.counts.len();
        accumulators.iter_mut().for_each(|accumulators| accumulators.sort_values(groups));
        Ok(AggregatedGroups {
            context: self.context,
            keys: self.keys.iter().map(|key| key.predicate).collect(),
            distinct: Vec::new(),
            coded: Vec::new(),
            ascends: false,
            firsts: self.groups.firsts,
            counts: self.groups.counts,
            accumulators,
            lists: self.lists,
        })
    }
}

/// A buffer for what is read of a batch.
#[derive(Default)]
pub(super) struct Capacity {
    cells: Vec<u64>,
    pub(super) groups: Vec<u32>,
}

/// Groups with the aggregates of their numbers, whatever the strategy. The first is no group: that
/// of members without a key.
pub(super) struct AggregatedGroups<'a, 'c> {
    pub(super) context: &'a Context<'c>,
    pub(super) keys: Vec<&'a Predicate>,
    /// Of keys with values that many groups have, each of the values; may be shorter than the keys.
    pub(super) distinct: Vec<Option<Distinct>>,
    /// The values of the keys, those of each group or the distinct ones, if no member has to be
    /// read for them; may be shorter than the keys.
    pub(super) coded: Vec<Option<KeyCells>>,
    /// Whether the groups are in the order of their only key.
    pub(super) ascends: bool,
    /// The first member of each.
    pub(super) firsts: Vec<u32>,
    /// The number of members of each.
    pub(super) counts: Vec<u32>,
    pub(super) accumulators: Vec<Accumulators>,
    /// The group of each member, where lists are made of them.
    pub(super) lists: Option<Vec<u32>>,
}

impl AggregatedGroups<'_, '_> {
    /// The groups with their results; `None` where one has none but an error.
    pub(super) fn finish(
        self,
        body: &[Arc<Field>],
        plans: &[Plan],
        members: Members<'_>,
    ) -> Result<Option<Vec<(usize, Group)>>> {
        let counts = &self.counts;
        let codes = match &self.lists {
            Some(_) => self.context.distinct_codes(body, members)?,
            None => Vec::new(),
        };
        let partitioned = self.lists.as_ref();
        let partitioned = partitioned.map(|groups| {
            let starts = starts_of(counts);
            let partitioned = partition(groups, starts.clone(), &members.as_list());
            (partitioned, starts)
        });
        let of_values = |plan: &Plan| match plan {
            Plan::Accumulator(column, accumulator, _) => {
                1 + self.accumulators[*column].values_of_each(*accumulator, counts.len())
            }
            Plan::Count | Plan::List => 1,
        };
        let values = plans.iter().map(of_values).sum::<usize>();
        let each = cost::FETCH.times(self.keys.len() + values);
        let made = self.context.morsels(counts.len() - 1, each, |range| {
            self.context.control.charge(result_bytes(body.len()) * range.len())?;
            let mut pending = Pending::new(self.context.control);
            let mut result = Vec::with_capacity(range.len());
            // The group before the first one is that of members without a key.
            for group in range.start + 1..range.end + 1 {
                if group.is_multiple_of(BATCH) {
                    self.context.check()?;
                }
                let list = partitioned.as_ref().map_or(&[][..], |(nodes, starts)| {
                    &nodes[starts[group]..starts[group] + counts[group] as usize]
                });
                let made = self.group_of(group, (body, plans, &codes), list, &mut pending)?;
                let Some(made) = made else { return Ok(None) };
                result.push(made);
            }
            pending.charge()?;
            Ok(Some(result))
        })?;
        Ok(made.into_iter().collect::<Option<Vec<_>>>().map(joined))
    }

    /// The groups as columns; `None` where one has no result but an error.
    pub(super) fn finish_columns(
        mut self,
        body: &[Arc<Field>],
        plans: &[Plan],
    ) -> Result<Option<GroupColumns>> {
        let mut coded = mem::take(&mut self.coded);
        let AggregatedGroups { context, firsts, counts, ascends, .. } = &self;
        let mut keys = Vec::with_capacity(self.keys.len());
        for (position, key) in self.keys.iter().enumerate() {
            // The group before the first one is that of members without a key.
            let distinct = self.distinct.get(position).and_then(Option::as_ref);
            let members = distinct.map_or(&firsts[1..], |distinct| distinct.members.as_slice());
            let cells = match coded.get_mut(position).and_then(Option::take) {
                Some(cells) => {
                    context.control.charge(cells.heap_size())?;
                    Some(cells)
                }
                None => context.key_cells(members, key)?,
            };
            let Some(cells) = cells else { return Ok(None) };
            keys.push(match distinct {
                Some(distinct) => GroupKey::shared(cells, distinct.positions.clone()),
                None => GroupKey::of_each(cells, *ascends),
            });
        }
        let mut results = Vec::with_capacity(body.len());
        for plan in plans {
            // The results as they are computed, and in their order.
            context.control.charge(2 * CELL_BYTES * counts.len())?;
            let cells = match *plan {
                Plan::Count => Some(ResultCells::of_counts(&counts[1..])),
                Plan::Accumulator(column, accumulator, op) => {
                    self.accumulator_cells(column, accumulator, op)?
                }
                Plan::List => None,
            };
            let Some(cells) = cells else { return Ok(None) };
            results.push(cells);
        }
        context.sorted_columns(&counts[1..], keys, results).map(Some)
    }

    /// The results of an accumulator for all groups; `None` where one is refused.
    fn accumulator_cells(
        &self,
        column: usize,
        accumulator: usize,
        op: Aggregate,
    ) -> Result<Option<ResultCells>> {
        let groups = self.counts.len() - 1;
        let values = self.accumulators[column].values_of_each(accumulator, groups);
        let each = cost::GATHER.and(cost::LOOKUP.times(values));
        let parts = self.context.morsels(groups, each, |range| {
            self.context.check()?;
            let groups = range.start + 1..range.end + 1;
            Ok(self.accumulators[column].results(accumulator, op, groups, &self.counts))
        })?;
        let mut all = ResultCells::default();
        for part in parts {
            if !part.is_some_and(|part| all.append(part)) {
                return Ok(None);
            }
        }
        Ok(Some(all))
    }

    /// A group with its number of members; `None` where a result is refused.
    fn group_of(
        &self,
        group: usize,
        (body, plans, codes): (&[Arc<Field>], &[Plan], &[Option<KeyCodes<'_>>]),
        list: &[u32],
        pending: &mut Pending<'_>,
    ) -> Result<Option<(usize, Group)>> {
        // The value of the first member represents all spellings of a time or a zero.
        let first = self.firsts[group];
        let value = |key: &&Predicate| first_value(key, &[], first);
        let keys = self.keys.iter().map(|key| value(key).map(GroupValue::Value));
        let keys: Vec<GroupValue> = keys.flatten().collect();
        pending.add(keys.iter().map(text_len).sum())?;
        let mut results = Vec::with_capacity(body.len());
        for (position, (field, plan)) in body.iter().zip(plans).enumerate() {
            let codes = codes.get(position).and_then(Option::as_ref);
            let result = match self.result(field, *plan, group, (list, codes)) {
                Ok(result) => result,
                Err(error @ Error::Limit { .. }) => return Err(error),
                Err(_) => return Ok(None),
            };
            if let (Plan::List, Some(value)) = (plan, &result) {
                pending.add(value.heap_size())?;
            }
            results.push(result);
        }
        Ok(Some((self.counts[group] as usize, Group { keys, results })))
    }

    fn result(
        &self,
        field: &Field,
        plan: Plan,
        group: usize,
        (list, codes): (&[u32], Option<&KeyCodes<'_>>),
    ) -> Result<Option<Value>> {
        let count = self.counts[group] as usize;
        match plan {
            Plan::Count => Ok(Some(Value::Int(count as i64))),
            Plan::List => match codes {
                Some(codes) => {
                    let count = self.context.count_distinct_codes(codes, list)?;
                    Ok(Some(Value::Int(count as i64)))
                }
                None => self.context.group_result(field, None, count, list),
            },
            Plan::Accumulator(column, accumulator, op) => {
                self.accumulators[column].result(accumulator, op, group, count)
            }
        }
    }
}

/// The bytes of a key's text.
fn text_len(key: &GroupValue) -> usize {
    if let GroupValue::Value(value) = key { value.heap_size() } else { 0 }
}

/// The positions at which the lists of groups start, one after the other.
fn starts_of(counts: &[u32]) -> Vec<usize> {
    let mut next = 0;
    let start = |count: &u32| {
        let start = next;
        next += *count as usize;
        start
    };
    counts.iter().map(start).collect()
}

/// Deals members out to their groups: the lists of all groups, one after the other, each in the
/// order of the members.
fn partition(groups: &[u32], mut starts: Vec<usize>, members: &[u32]) -> Vec<u32> {
    let mut partitioned = vec![0; members.len()];
    for (group, member) in groups.iter().zip(members) {
        let start = &mut starts[*group as usize];
        partitioned[*start] = *member;
        *start += 1;
    }
    partitioned
}
