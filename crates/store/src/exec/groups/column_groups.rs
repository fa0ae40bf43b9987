//! Groups of `@groupby` whose keys are read as columns: one pass over the members, without a list for each group.
//!
//! A batch of members is read as codes, one for each key ([`super::key_codes`]). The codes of a member make the number of its
//! cell, a number with one digit for each key. A table leads from the cell to the group: an array where there are at most twice as
//! many cells as members, else a hash table. Groups are numbered as they appear. Sums, least and greatest numbers are arrays by group, to
//! which each batch adds; so floats are added up in the order of the members, as they are in a list. Group 0 is that of members
//! that lack a key: it is filled like the others and not shown, which saves a question for each member.
//!
//! O(members · (keys + aggregated predicates)) and O(groups) memory, beside a number of 4 bytes for each member where something
//! else than numbers is aggregated: then the members are dealt out to lists by counting.

use super::key_codes::{KeyCodes, MISSING};
use super::partition::{GROUP_BYTES, KEY_BYTES};
use crate::exec::control::context::Context;
use crate::exec::control::group_cells::{GroupColumns, ResultCells};
use crate::exec::control::morsels::{Spread, joined};
use crate::exec::control::tree::{Group, GroupValue};
use crate::exec::math::sums::{Sum, clamp};
use crate::exec::physical::path::GroupPath;
use crate::exec::select::batches::{BATCH, Members, NumberColumn};
use crate::exec::select::read::first_value;
use crate::graph::Predicate;
use hexgraph_base::plan::{Aggregate, Field, FieldKind, GroupBy};
use hexgraph_base::types::{Result, Value};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::Arc;

/// Fewer members are grouped one by one.
pub(crate) const MEMBERS_MIN: usize = 16;

/// An array of cells always may have this many.
const CELLS_MIN: usize = 1024;

/// The bytes that are charged for an entry of a hash table of cells, which is half empty.
const CELL_BYTES: usize = 32;

impl Context<'_> {
    /// The groups of members, with their numbers of members, in the order in which they appear: those of
    /// [`Context::groups`] of members that ascend, before they are sorted. `None` where the keys are not read as columns: those of lists, edges,
    /// languages and types without codes; and where a sum is refused, so that the error is that of the slow way.
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
        let Some((grouping, plans)) = self.grouping(group_by, body, members, false)? else {
            return Ok(None);
        };
        grouping.finish(body, &plans, members)
    }

    /// As [`Context::column_groups`], as columns in the order of the answer. `None` also where a field needs the list of the members of
    /// each group.
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
        match self.grouping(group_by, body, members, true)? {
            Some((grouping, plans)) => grouping.finish_columns(body, &plans),
            None => Ok(None),
        }
    }

    /// The members grouped by their codes, and how each field of the body is found; `None` as
    /// [`Context::column_groups`], and where lists of members are needed and not wanted.
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
        let mut keys = Vec::with_capacity(group_by.keys.len());
        for key in &group_by.keys {
            let Some(key) = self.key_column(&key.predicate, &key.langs, members) else {
                return Ok(None);
            };
            keys.push(key);
        }
        let Some(cells) = keys.iter().try_fold(1, |all: u64, it| all.checked_mul(it.codes.limit()))
        else {
            return Ok(None);
        };
        let mut table = Cells::new(cells, members.len());
        if self.pick(false, members.len(), || vec![true, false]) {
            table = Cells::Hash(FxHashMap::default());
        }
        self.took_for_groups(match table {
            Cells::Array(_) => GroupPath::CodeArray,
            Cells::Hash(_) => GroupPath::CodeTable,
        });
        let mut grouping = Grouping {
            context: self,
            keys,
            cell_count: cells,
            cells: table,
            groups: Groups { firsts: vec![0], counts: vec![0] },
            columns: Vec::new(),
            lists: None,
            charged: 0,
        };
        let plans: Vec<Plan> = body.iter().map(|field| grouping.plan(field, members)).collect();
        if without_lists && grouping.lists.is_some() {
            return Ok(None);
        }
        let _while_grouping = self.control.charge_while(grouping.byte_len(members))?;
        match self.control.spread(members.len(), grouping.nanos())? {
            Some(spread) => grouping.run_shared(spread, members)?,
            None => grouping.run(members)?,
        }
        Ok(Some((grouping, plans)))
    }

    /// A key without languages of values that are no lists.
    fn key_column(&self, name: &str, langs: &[String], members: Members<'_>) -> Option<Key<'_>> {
        let predicate: &Predicate = self.predicate(name).filter(|it| !it.def.list)?;
        let part = predicate.only_untagged().filter(|_| langs.is_empty())?;
        let codes = KeyCodes::new(part, predicate.def.value_type, members)?;
        Some(Key { predicate, codes, batch: Vec::with_capacity(BATCH) })
    }
}

/// True for a field that a group has.
fn is_known(kind: &FieldKind) -> bool {
    matches!(kind, FieldKind::CountUid | FieldKind::AggregatePredicate { .. })
}

/// A key of the groups.
struct Key<'a> {
    predicate: &'a Predicate,
    codes: KeyCodes<'a>,
    /// The codes of a batch.
    batch: Vec<u32>,
}

/// How the result of a field of the body is found.
#[derive(Clone, Copy)]
enum Plan {
    /// The number of members.
    Count,
    /// A fold of numbers: the place of the column, that of the fold, and what is made of it.
    Fold(usize, usize, Aggregate),
    /// From the list of the members.
    List,
}

/// The groups found so far; the first is no group.
struct Groups {
    /// The first member of each.
    firsts: Vec<u32>,
    /// The number of members of each.
    counts: Vec<u32>,
}

/// Leads from cells to groups: to the number of the group plus 1; 0 for a cell that nobody was in.
enum Cells {
    Array(Vec<u32>),
    Hash(FxHashMap<u64, u32>),
}

impl Cells {
    fn new(count: u64, members: usize) -> Cells {
        match usize::try_from(count) {
            Ok(count) if count <= (2 * members).max(CELLS_MIN) => Cells::Array(vec![0; count]),
            _ => Cells::Hash(FxHashMap::default()),
        }
    }

    /// The group of each cell; `begin` makes the group of a cell that is met for the first time, from the place of its member.
    fn look_up(&mut self, cells: &[u64], out: &mut Vec<u32>, mut begin: impl FnMut(usize) -> u32) {
        out.clear();
        let mut known = |place: usize, slot: &mut u32| {
            if *slot == 0 {
                *slot = begin(place) + 1;
            }
            *slot - 1
        };
        match self {
            Cells::Array(slots) => {
                let places = cells.iter().enumerate();
                out.extend(places.map(|(place, &cell)| known(place, &mut slots[cell as usize])));
            }
            Cells::Hash(slots) => {
                let places = cells.iter().enumerate();
                out.extend(
                    places.map(|(place, &cell)| known(place, slots.entry(cell).or_default())),
                );
            }
        }
    }
}

/// The numbers of a predicate, and what is made of them.
struct NumberFolds<'a> {
    name: &'a str,
    numbers: NumberColumn<'a>,
    /// The number of members of each group that have no number.
    lacking: Vec<u32>,
    folds: Vec<Fold>,
    /// The groups of a batch, with those of members without a number taken out.
    counted: Vec<u32>,
    /// In a part of the members, the floats of all of them.
    kept: Option<KeptFloats>,
}

/// The floats of some members in their order, and their groups.
#[derive(Default)]
struct KeptFloats {
    groups: Vec<u32>,
    floats: Vec<f64>,
}

/// One number for each group.
enum Fold {
    IntSum(Vec<i128>),
    IntMin(Vec<i64>),
    IntMax(Vec<i64>),
    FloatSum(Vec<f64>),
    FloatMin(Vec<f64>),
    FloatMax(Vec<f64>),
}

impl Fold {
    fn new(op: Aggregate, is_int: bool) -> Fold {
        match (op, is_int) {
            (Aggregate::Sum | Aggregate::Avg, true) => Fold::IntSum(Vec::new()),
            (Aggregate::Min, true) => Fold::IntMin(Vec::new()),
            (Aggregate::Max, true) => Fold::IntMax(Vec::new()),
            (Aggregate::Sum | Aggregate::Avg, false) => Fold::FloatSum(Vec::new()),
            (Aggregate::Min, false) => Fold::FloatMin(Vec::new()),
            (Aggregate::Max, false) => Fold::FloatMax(Vec::new()),
        }
    }

    /// A fold of the same kind of no numbers.
    fn emptied(&self) -> Fold {
        match self {
            Fold::IntSum(_) => Fold::IntSum(Vec::new()),
            Fold::IntMin(_) => Fold::IntMin(Vec::new()),
            Fold::IntMax(_) => Fold::IntMax(Vec::new()),
            Fold::FloatSum(_) => Fold::FloatSum(Vec::new()),
            Fold::FloatMin(_) => Fold::FloatMin(Vec::new()),
            Fold::FloatMax(_) => Fold::FloatMax(Vec::new()),
        }
    }

    /// Adds what the ints of a part of the members come to, whose groups are at these places of the `count` groups.
    fn absorb(&mut self, part: &Fold, places: &[u32], count: usize) {
        match (self, part) {
            (Fold::IntSum(sums), Fold::IntSum(part)) => {
                each(sums, 0, places, count, part, |sum, it| sum + it);
            }
            (Fold::IntMin(least), Fold::IntMin(part)) => {
                each(least, i64::MAX, places, count, part, i64::min);
            }
            (Fold::IntMax(greatest), Fold::IntMax(part)) => {
                each(greatest, i64::MIN, places, count, part, i64::max);
            }
            // The floats of a part are kept, and added one by one.
            _ => {}
        }
    }

    fn is_like(&self, other: &Fold) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// Adds the ints of a batch, each to its group.
    fn add_ints(&mut self, groups: &[u32], count: usize, ints: &[i64]) {
        match self {
            Fold::IntSum(sums) => {
                each(sums, 0, groups, count, ints, |sum, int| sum + i128::from(int))
            }
            Fold::IntMin(least) => each(least, i64::MAX, groups, count, ints, i64::min),
            Fold::IntMax(greatest) => each(greatest, i64::MIN, groups, count, ints, i64::max),
            _ => {}
        }
    }

    /// Adds the floats of a batch, each to its group.
    fn add_floats(&mut self, groups: &[u32], count: usize, floats: &[f64]) {
        match self {
            Fold::FloatSum(sums) => {
                // What no floats add up to, which is the negative zero.
                let none = std::iter::empty::<f64>().sum();
                each(sums, none, groups, count, floats, |sum, float| sum + float);
            }
            Fold::FloatMin(least) => {
                each(least, f64::INFINITY, groups, count, floats, f64::min);
            }
            Fold::FloatMax(greatest) => {
                each(greatest, f64::NEG_INFINITY, groups, count, floats, f64::max);
            }
            _ => {}
        }
    }

    /// The aggregate of a group of which `count` members, one at least, have a number.
    fn result(&self, op: Aggregate, group: usize, count: usize) -> Result<Option<Value>> {
        let sum = match self {
            Fold::IntMin(ints) | Fold::IntMax(ints) => return Ok(Some(Value::Int(ints[group]))),
            Fold::FloatMin(floats) | Fold::FloatMax(floats) => {
                return Ok(Some(Value::Float(clamp(floats[group]))));
            }
            Fold::IntSum(sums) => Sum::of_int_total(sums[group], count),
            Fold::FloatSum(sums) => Sum::of_float_total(sums[group], count),
        };
        if op == Aggregate::Avg { Ok(sum.mean()) } else { sum.value().map(Some) }
    }
}

/// Combines each item of a batch with the number of its group. There are `count` groups now; new ones begin with `start`.
fn each<T: Copy, N: Copy>(
    folded: &mut Vec<T>,
    start: T,
    groups: &[u32],
    count: usize,
    items: &[N],
    combine: impl Fn(T, N) -> T,
) {
    folded.resize(count, start);
    for (group, item) in groups.iter().zip(items) {
        let folded = &mut folded[*group as usize];
        *folded = combine(*folded, *item);
    }
}

impl NumberFolds<'_> {
    /// The place of a fold among the folds, which is made where there is none like it.
    fn place_of(&mut self, op: Aggregate) -> usize {
        let fold = Fold::new(op, matches!(self.numbers, NumberColumn::Int(_)));
        let known = self.folds.iter().position(|other| other.is_like(&fold));
        known.unwrap_or_else(|| {
            self.folds.push(fold);
            self.folds.len() - 1
        })
    }

    /// Adds the numbers of a batch to the groups of its nodes.
    fn add(&mut self, nodes: &[u32], groups: &[u32], count: usize) {
        let NumberFolds { numbers, lacking, folds, counted, kept, .. } = self;
        lacking.resize(count, 0);
        match numbers {
            NumberColumn::Int(numbers) => {
                let (ints, has) = numbers.read(nodes);
                let groups = counted_groups(groups, has, lacking, counted);
                folds.iter_mut().for_each(|fold| fold.add_ints(groups, count, ints));
            }
            NumberColumn::Float(numbers) => {
                let (floats, has) = numbers.read(nodes);
                let groups = counted_groups(groups, has, lacking, counted);
                match kept {
                    Some(kept) => {
                        kept.groups.extend_from_slice(groups);
                        kept.floats.extend_from_slice(floats);
                    }
                    None => {
                        folds.iter_mut().for_each(|fold| fold.add_floats(groups, count, floats))
                    }
                }
            }
        }
    }

    /// Adds the numbers of the next part of the members, whose groups are at these places of the `count` groups.
    fn absorb(&mut self, part: NumberFolds<'_>, places: &[u32], count: usize) {
        each(&mut self.lacking, 0, places, count, &part.lacking, |sum, it| sum + it);
        for (fold, part) in self.folds.iter_mut().zip(&part.folds) {
            fold.absorb(part, places, count);
        }
        let Some(KeptFloats { groups, floats }) = part.kept else { return };
        for (groups, floats) in groups.chunks(BATCH).zip(floats.chunks(BATCH)) {
            self.counted.clear();
            self.counted.extend(groups.iter().map(|group| places[*group as usize]));
            let groups = &self.counted;
            self.folds.iter_mut().for_each(|fold| fold.add_floats(groups, count, floats));
        }
    }
}

/// The groups of nodes with those that have no number in group 0; they are counted in `lacking`. An empty list `has` says that
/// all have one.
fn counted_groups<'g>(
    groups: &'g [u32],
    has: &[bool],
    lacking: &mut [u32],
    counted: &'g mut Vec<u32>,
) -> &'g [u32] {
    if has.is_empty() {
        return groups;
    }
    counted.clear();
    counted.extend(groups.iter().zip(has).map(|(&group, &has)| {
        lacking[group as usize] += u32::from(!has);
        if has { group } else { 0 }
    }));
    counted
}

/// A pass over members.
struct Grouping<'a, 'c> {
    context: &'a Context<'c>,
    keys: Vec<Key<'a>>,
    /// A number that is greater than all cells.
    cell_count: u64,
    cells: Cells,
    groups: Groups,
    columns: Vec<NumberFolds<'a>>,
    /// The group of each member, where lists are made of them.
    lists: Option<Vec<u32>>,
    /// The bytes that were charged for groups, and for what a part keeps.
    charged: usize,
}

impl<'a, 'c> Grouping<'a, 'c> {
    /// Decides how a field is found; reads nothing but changes.
    fn plan(&mut self, field: &'a Field, members: Members<'_>) -> Plan {
        let FieldKind::AggregatePredicate { op, name, langs } = &field.kind else {
            return Plan::Count;
        };
        if let Some(place) = self.column_of(name, langs, members) {
            return Plan::Fold(place, self.columns[place].place_of(*op), *op);
        }
        self.lists.get_or_insert_with(Vec::new);
        Plan::List
    }

    /// The place of the numbers of a predicate among the columns.
    fn column_of(
        &mut self,
        name: &'a str,
        langs: &[String],
        members: Members<'_>,
    ) -> Option<usize> {
        if !langs.is_empty() {
            return None;
        }
        if let Some(known) = self.columns.iter().position(|column| column.name == name) {
            return Some(known);
        }
        let predicate = self.context.predicate(name)?;
        let part = predicate.only_untagged()?;
        let numbers = NumberColumn::new(part, predicate.def.value_type, members)?;
        let (lacking, folds, counted) = Default::default();
        self.columns.push(NumberFolds { name, numbers, lacking, folds, counted, kept: None });
        Some(self.columns.len() - 1)
    }

    /// The bytes that are used until the groups are found, beside what grows with them.
    fn byte_len(&self, members: Members<'_>) -> usize {
        let cells = if let Cells::Array(slots) = &self.cells { 4 * slots.len() } else { 0 };
        // The groups of the members, the members by group, and those of a set as a list.
        let each = if let Members::Set(_) = members { 12 } else { 8 };
        let lists = if self.lists.is_some() { each * members.len() } else { 0 };
        let keys: usize = self.keys.iter().map(|key| key.codes.byte_len()).sum();
        let columns: usize = self.columns.iter().map(|column| column.numbers.byte_len()).sum();
        cells + lists + keys + columns
    }

    /// Reads the members batch by batch. After each batch the request may stop.
    fn run(&mut self, members: Members<'_>) -> Result<()> {
        let (mut cells, mut groups) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
        if let Some(lists) = &mut self.lists {
            lists.reserve_exact(members.len());
        }
        members.for_each_batch(|nodes| {
            self.context.check()?;
            let before = self.groups.counts.len();
            self.read_cells(nodes, &mut cells);
            self.group(nodes, &cells, &mut groups);
            self.charge(self.groups.counts.len() - before)?;
            let count = self.groups.counts.len();
            self.columns.iter_mut().for_each(|column| column.add(nodes, &groups, count));
            if let Some(lists) = &mut self.lists {
                lists.extend_from_slice(&groups);
            }
            Ok(())
        })
    }

    /// Charges what new groups take.
    fn charge(&mut self, groups: usize) -> Result<()> {
        let cell = if let Cells::Hash(_) = &self.cells { CELL_BYTES } else { 0 };
        let each = GROUP_BYTES + cell + KEY_BYTES * self.keys.len();
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
    fn read_cells(&mut self, nodes: &[u32], cells: &mut Vec<u64>) {
        cells.clear();
        for (place, Key { codes, batch, .. }) in self.keys.iter_mut().enumerate() {
            codes.read(nodes, batch);
            if place == 0 {
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

    /// The group of each node of a batch; a group that begins is put behind the others.
    fn find(&mut self, nodes: &[u32], cells: &[u64], out: &mut Vec<u32>) {
        let Grouping { keys, cells: table, groups, .. } = self;
        table.look_up(cells, out, |place| {
            if keys.iter().any(|key| key.batch[place] == MISSING) {
                return 0;
            }
            groups.firsts.push(nodes[place]);
            groups.firsts.len() as u32 - 1
        });
    }

    /// The nanoseconds that a member takes, about.
    fn nanos(&self) -> usize {
        let key = |key: &Key<'_>| if key.codes.numbers_values() { 40 } else { 4 };
        self.keys.iter().map(key).sum::<usize>() + 3 + 4 * self.columns.len()
    }

    /// A grouping of the same kind that has seen no member, for `count` members from `first` on. It keeps floats and does not add
    /// them up.
    fn fork(&self, first: u32, count: usize) -> Grouping<'a, 'c> {
        let key = |Key { predicate, codes, .. }: &Key<'a>| Key {
            predicate,
            codes: codes.fork(first, count),
            batch: Vec::with_capacity(BATCH),
        };
        let column = |column: &NumberFolds<'a>| NumberFolds {
            name: column.name,
            numbers: column.numbers.fork(first),
            lacking: Vec::new(),
            folds: column.folds.iter().map(Fold::emptied).collect(),
            counted: Vec::new(),
            kept: matches!(column.numbers, NumberColumn::Float(_)).then(KeptFloats::default),
        };
        let keys: Vec<Key<'a>> = self.keys.iter().map(key).collect();
        let cell_count = keys.iter().map(|key| key.codes.limit()).product();
        Grouping {
            context: self.context,
            cells: Cells::new(cell_count, count),
            cell_count,
            keys,
            groups: Groups { firsts: vec![0], counts: vec![0] },
            columns: self.columns.iter().map(column).collect(),
            lists: self.lists.is_some().then(Vec::new),
            charged: 0,
        }
    }

    /// As [`Grouping::run`], with other threads: each groups a part of the members by itself, and the groups of the parts are put
    /// together in the order of the parts. Floats are added up then, one behind the other.
    fn run_shared(&mut self, spread: Spread<'_>, members: Members<'_>) -> Result<()> {
        // A part with as many groups as members is worth nothing: then there are few parts, of many members each.
        let has_few_groups = self.cell_count <= (spread.len() / 8) as u64;
        // Values that are numbered as they come are numbered again where the parts are put together.
        let few = if self.keys.iter().any(|key| key.codes.numbers_values()) { 1 } else { 2 };
        let spread = if has_few_groups { spread } else { spread.with_few(few) }.in_units_of(BATCH);
        let empty = self.fork(0, members.len());
        let kept = empty.columns.iter().filter(|column| column.kept.is_some()).count();
        let part = |range: Range<usize>| {
            let nodes = members.range(range);
            let mut part = empty.fork(nodes.first().copied().unwrap_or(0), nodes.len());
            part.charged = (12 * kept + 4) * nodes.len();
            self.context.control.charge(part.charged)?;
            part.run(Members::List(&nodes))?;
            Ok(part)
        };
        let (context, mut whole) = (self.context, self.fork(0, members.len()));
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
        // The first members of its groups are grouped as members are; so the groups have the numbers that all members would
        // have given them.
        let (mut cells, mut found) = (Vec::new(), Vec::new());
        let mut places = vec![0];
        for nodes in part.groups.firsts[1..].chunks(BATCH) {
            let before = self.groups.firsts.len();
            self.read_cells(nodes, &mut cells);
            self.find(nodes, &cells, &mut found);
            self.charge(self.groups.firsts.len() - before)?;
            places.extend_from_slice(&found);
        }
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

    /// The groups with their results; `None` where one has none but an error.
    fn finish(
        self,
        body: &[Arc<Field>],
        plans: &[Plan],
        members: Members<'_>,
    ) -> Result<Option<Vec<(usize, Group)>>> {
        let counts = &self.groups.counts;
        let dealt = self.lists.as_ref();
        let dealt = dealt.map(|groups| {
            let starts = starts_of(counts);
            let dealt = deal(groups, starts.clone(), &members.as_list());
            (dealt, starts)
        });
        let nanos = 100 * (self.keys.len() + body.len());
        let made = self.context.morsels(counts.len() - 1, nanos, |range| {
            let mut found = Vec::with_capacity(range.len());
            // The group before the first one is that of members without a key.
            for group in range.start + 1..range.end + 1 {
                if group.is_multiple_of(BATCH) {
                    self.context.check()?;
                }
                let list = dealt.as_ref().map_or(&[][..], |(nodes, starts)| {
                    &nodes[starts[group]..starts[group] + counts[group] as usize]
                });
                let Some(made) = self.group_of(group, body, plans, list)? else { return Ok(None) };
                found.push(made);
            }
            Ok(Some(found))
        })?;
        Ok(made.into_iter().collect::<Option<Vec<_>>>().map(joined))
    }

    /// The groups as columns; `None` where one has no result but an error.
    fn finish_columns(self, body: &[Arc<Field>], plans: &[Plan]) -> Result<Option<GroupColumns>> {
        let Groups { firsts, counts } = &self.groups;
        let mut keys = Vec::with_capacity(self.keys.len());
        for key in &self.keys {
            // The group before the first one is that of members without a key.
            match self.context.key_cells(&firsts[1..], key.predicate)? {
                Some(cells) => keys.push(cells),
                None => return Ok(None),
            }
        }
        let mut results = Vec::with_capacity(body.len());
        for (field, plan) in body.iter().zip(plans) {
            self.context.check()?;
            let mut cells = ResultCells::default();
            for group in 1..counts.len() {
                let Ok(result) = self.result(field, *plan, group, &[]) else { return Ok(None) };
                if !cells.push(result) {
                    return Ok(None);
                }
            }
            results.push(cells);
        }
        self.context.sorted_columns(&counts[1..], keys, results).map(Some)
    }

    /// A group with its number of members; `None` where a result is refused.
    fn group_of(
        &self,
        group: usize,
        body: &[Arc<Field>],
        plans: &[Plan],
        list: &[u32],
    ) -> Result<Option<(usize, Group)>> {
        // The value of the first member stands for all ways of writing a time or a zero.
        let first = self.groups.firsts[group];
        let value = |key: &Key<'_>| first_value(key.predicate, &[], first);
        let keys = self.keys.iter().map(|key| value(key).map(GroupValue::Value));
        let keys: Vec<GroupValue> = keys.flatten().collect();
        let texts: usize = keys.iter().map(text_len).sum();
        if texts > 0 {
            self.context.control.charge(texts)?;
        }
        let mut results = Vec::with_capacity(body.len());
        for (field, plan) in body.iter().zip(plans) {
            let Ok(result) = self.result(field, *plan, group, list) else { return Ok(None) };
            results.push(result);
        }
        Ok(Some((self.groups.counts[group] as usize, Group { keys, results })))
    }

    fn result(
        &self,
        field: &Field,
        plan: Plan,
        group: usize,
        list: &[u32],
    ) -> Result<Option<Value>> {
        let count = self.groups.counts[group] as usize;
        match plan {
            Plan::Count => Ok(Some(Value::Int(count as i64))),
            Plan::List => self.context.group_result(field, None, count, list),
            Plan::Fold(column, fold, op) => {
                let column = &self.columns[column];
                match count - column.lacking[group] as usize {
                    0 => Ok(None),
                    count => column.folds[fold].result(op, group, count),
                }
            }
        }
    }
}

/// The bytes of a key's text.
fn text_len(key: &GroupValue) -> usize {
    if let GroupValue::Value(value) = key { value.heap_size() } else { 0 }
}

/// The places at which the lists of groups start, one behind the other.
fn starts_of(counts: &[u32]) -> Vec<usize> {
    let mut next = 0;
    let start = |count: &u32| {
        let start = next;
        next += *count as usize;
        start
    };
    counts.iter().map(start).collect()
}

/// Deals members out to their groups: the lists of all groups, one behind the other, each in the order of the members.
fn deal(groups: &[u32], mut starts: Vec<usize>, members: &[u32]) -> Vec<u32> {
    let mut dealt = vec![0; members.len()];
    for (group, member) in groups.iter().zip(members) {
        let start = &mut starts[*group as usize];
        dealt[*start] = *member;
        *start += 1;
    }
    dealt
}
