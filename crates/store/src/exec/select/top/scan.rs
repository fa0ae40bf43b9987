//! One pass over the numbers of many nodes for the first few of them.
//!
//! If all nodes with a value are candidates, the column is read from end to end, and a node is
//! named only if its value would be retained. Other nodes are listed, a batch at a time, and their
//! rows looked up. The first part of the nodes gives a bound; of what is left, threads take
//! morsels, each with a [`Top`] of its own that begins with that bound. Where many are requested, a
//! bound that a few more than these are likely not to pass comes from a sample, and threads list
//! what does not pass it.
//!
//! A filter tests only those nodes that would be among the first ones: of a million about as many
//! as are requested for each one in so many that passes, times the logarithm. Until there is a
//! bound it is evaluated before.

use super::first::{ToLast, Top};
use super::ranks::{Ids, Ranks};
use crate::exec::columns::batches::{BATCH, Members, RowFinder, Rows};
use crate::exec::columns::number_columns::{NumberChanges, NumberSlice};
use crate::exec::columns::rank::{is_far, rank_of, rank_of_int};
use crate::exec::control::column_var::ColumnVar;
use crate::exec::control::stop::RequestContext;
use crate::exec::control::tree::{Column, ValueMap};
use crate::exec::cost::{self, Cost};
use crate::graph::{LangValues, NumberRun};
use crate::storage::NodeSet;
use hexgraph_base::types::{Result, ValueRef, ValueType, ordered_bits};
use std::ops::Range;

/// The most rows of a batch whose nodes are searched for one by one, where others than these are
/// listed.
const FEW_NAMED: usize = 16;

/// The rows that are read at a time until there is a bound. All of them are selected, looked up
/// among the changes, and put in order with these.
const UNBOUNDED: usize = cost::SETUP.per(cost::GATHER);

/// One in so many nodes is in the sample that bounds a search for many of them, in runs of so many.
const SAMPLE_RATIO: usize = 16;
const SAMPLE_RUN: usize = 64;

/// Retains those of some nodes that pass a filter. The nodes ascend.
pub(in crate::exec) type Prefilter<'s> = dyn Fn(Vec<u32>) -> Result<Vec<u32>> + 's;

/// Makes a filter for each thread that uses it.
pub(in crate::exec) type Sieves<'s> = dyn Fn() -> Box<Prefilter<'s>> + Sync + 's;

/// Nodes whose first ones are requested in the order of their numbers or instants.
pub(in crate::exec) struct Scan<'a> {
    part: &'a LangValues,
    value_type: ValueType,
    ranks: Ranks<'a>,
    nodes: &'a NodeSet,
    /// Whether all nodes that have a value are candidates.
    is_complete: bool,
    /// The first stored node, where stored ones have no gaps between them.
    first: Option<u32>,
    /// All changes, if all nodes that have a value are candidates and these are numbers.
    changes: Option<NumberChanges>,
    filter: Option<&'a Sieves<'a>>,
    control: &'a RequestContext,
}

impl<'a> Scan<'a> {
    /// A scan of some nodes; `None` where their values have no order as 64-bit numbers, and of
    /// texts no first eight bytes in place. `filter` says which of them are candidates.
    pub(in crate::exec) fn new(
        control: &'a RequestContext,
        part: &'a LangValues,
        value_type: ValueType,
        nodes: &'a NodeSet,
        filter: Option<&'a Sieves<'a>>,
    ) -> Option<Scan<'a>> {
        let column = part.stored();
        if column.rows.is_some() {
            return None;
        }
        let ranks = Ranks::of(&column.values, value_type)?;
        let subjects = &column.subjects;
        let ends = subjects.min().zip(subjects.max());
        let first = ends.filter(|(first, last)| (last - first) as usize + 1 == subjects.len());
        let first = first.map(|(first, _)| first);
        let is_complete = ends.is_some() && nodes.is_sure_superset(&part.subjects());
        // Of few nodes the changes are looked up.
        let changes = if is_complete { NumberChanges::of_all(part, value_type) } else { None };
        Some(Scan { part, value_type, ranks, nodes, is_complete, first, changes, filter, control })
    }

    /// Whether ranks distinguish all values; else [`Scan::leading`] returns which nodes may be the
    /// first.
    pub(in crate::exec::select) fn distinguishes(&self) -> bool {
        self.ranks.tell_apart()
    }

    /// Returns the first `expected` of the nodes, equal ones by node, of values that ranks
    /// [distinguish](Scan::distinguishes). `None` if this strategy does not apply: none is
    /// requested, fewer have a value, or few pass the filter. O(nodes), when few of them are
    /// requested.
    ///
    /// # Errors
    ///
    /// Those of the filter and of [`RequestContext::check`].
    pub(in crate::exec::select) fn first(
        &self,
        expected: usize,
        descending: bool,
    ) -> Result<Option<Vec<u32>>> {
        Ok(self.offered(Top::new(expected, descending))?.and_then(Top::finish))
    }

    /// Returns the first `expected` of the nodes, with all whose number equals that of the last of
    /// them, ascending by node: with several sort keys, of which this is the first, no other node
    /// can be on the page. `None` as [`Scan::first`]. One pass over the column, or two where very
    /// many are equal.
    ///
    /// # Errors
    ///
    /// As [`Scan::first`].
    pub(in crate::exec) fn leading(
        &self,
        expected: usize,
        descending: bool,
    ) -> Result<Option<Vec<u32>>> {
        let Some(top) = self.offered(Top::with_equals(expected, descending))? else {
            return Ok(None);
        };
        Ok(match top.finish_to_last() {
            None => None,
            Some(ToLast::Nodes(nodes)) => Some(nodes),
            Some(ToLast::Again(mut all)) => self.run(&mut all)?.then(|| all.finish_all()),
        })
    }

    /// The candidates for the first nodes. `None` as [`Scan::first`], but for too few that have a
    /// value.
    fn offered(&self, mut top: Top) -> Result<Option<Top>> {
        if top.expected() == 0 {
            return Ok(None);
        }
        Ok(self.run(&mut top)?.then_some(top))
    }

    /// Offers all of the nodes. `false` when a changed value has no rank of its own, and when few
    /// pass the filter.
    fn run(&self, top: &mut Top) -> Result<bool> {
        let (len, each) = match self.is_complete {
            true if self.distinguishes() => (self.ranks.len(), cost::SCAN),
            true => (self.ranks.len(), cost::TEXT),
            false => (self.nodes.len(), cost::GATHER),
        };
        let can_give_up = self.filter.is_some();
        let sieves = || self.filter.map(|filter| filter());
        let look = |range: Range<usize>, top: &mut Top| {
            let prefilter = sieves();
            let (result, finder) = (Vec::new(), RowFinder::default());
            let mut look = Look { scan: self, prefilter: prefilter.as_deref(), result, finder };
            match self.is_complete {
                true => look.at_rows(range, top),
                false => look.at_members(range, top),
            }
        };
        fraction(self.control, (len, each), can_give_up, top, look)
    }

    /// The rank of a value that changed since the column was built; `None` for one that is not of
    /// the predicate's type, or is not distinguished from all others by its rank.
    fn rank_of_changed(&self, value: ValueRef<'_>) -> Option<u64> {
        let is_plain = match (value, self.value_type) {
            (ValueRef::Int(_), ValueType::Int) | (ValueRef::Float(_), ValueType::Float) => true,
            (ValueRef::DateTime(time), ValueType::DateTime) => !is_far(time),
            // Its first bytes are those of others, too, as are those that are stored.
            (
                ValueRef::String(_) | ValueRef::Default(_),
                ValueType::String | ValueType::Default,
            ) => !self.distinguishes(),
            _ => false,
        };
        rank_of(value).filter(|_| is_plain)
    }
}

/// Has `look` offer `len` items, each with about the cost `each`: the first ones here, and the
/// others in morsels. `false` where a look says so, and, if requested, where the first ones were
/// too few.
fn fraction(
    control: &RequestContext,
    (len, each): (usize, Cost),
    can_give_up: bool,
    top: &mut Top,
    look: impl Fn(Range<usize>, &mut Top) -> Result<bool> + Sync,
) -> Result<bool> {
    let is_bounded = top.expected() == usize::MAX;
    if !can_give_up
        && !is_bounded
        && let Some(mut bounded) = bounded_by_sample(control, len, top, &look)?
    {
        if !share_rest(control, (0..len, each), &mut bounded, true, &look)? {
            return Ok(false);
        }
        if bounded.is_enough() {
            *top = bounded;
            return Ok(true);
        }
    }
    let part = if is_bounded { 0 } else { len / control.costs().top_ratio };
    let first = part.next_multiple_of(BATCH).min(len);
    if !look(0..first, top)? || !top.sort_out() && can_give_up && first < len {
        return Ok(false);
    }
    share_rest(control, (first..len, each), top, is_bounded, &look)
}

/// The same with a bound that a few more than the first nodes are likely not to pass: the same part
/// of the nodes of a sample don't. `None` where few are requested, or so many have the rank of the
/// last of them that there is nothing to be gained.
fn bounded_by_sample(
    control: &RequestContext,
    len: usize,
    top: &Top,
    look: &impl Fn(Range<usize>, &mut Top) -> Result<bool>,
) -> Result<Option<Top>> {
    let expected = top.expected();
    if expected < control.costs().sampled_top {
        return Ok(None);
    }
    // Of as many again as the root of the number, four times, one in some ten thousand samples has
    // too few.
    let of_sample = expected / SAMPLE_RATIO;
    let of_sample = of_sample + 4 * of_sample.isqrt() + 4;
    let mut sample = top.sample(of_sample);
    for start in (0..len).step_by(SAMPLE_RATIO * SAMPLE_RUN) {
        if !look(start..len.min(start + SAMPLE_RUN), &mut sample)? {
            return Ok(None);
        }
    }
    let last = sample.last().filter(|(_, count)| *count < 2 * of_sample);
    Ok(last.and_then(|(last, _)| top.bounded(last)))
}

/// Has `look` offer a range of items as [`fraction`] does, in morsels. `is_bounded`: a part retains
/// few, or all are requested.
fn share_rest(
    control: &RequestContext,
    (range, each): (Range<usize>, Cost),
    top: &mut Top,
    is_bounded: bool,
    look: &(impl Fn(Range<usize>, &mut Top) -> Result<bool> + Sync),
) -> Result<bool> {
    let Range { start: first, end: len } = range;
    let batches = (len - first).div_ceil(BATCH);
    let Some(spread) = control.spread(batches, each.times(BATCH))? else {
        return look(first..len, top);
    };
    // Without a bound a part retains as many as all nodes, so it has to be much longer.
    let long = top.expected().saturating_mul(control.costs().top_ratio) / BATCH;
    let spread = if is_bounded { spread } else { spread.of_at_least(long) };
    let (begun, mut is_done) = (top.part(), true);
    let part = |range: Range<usize>| {
        let mut part = begun.part();
        let end = len.min(first + range.end * BATCH);
        let is_done = look(first + range.start * BATCH..end, &mut part)?;
        let bytes = part.byte_len();
        control.charge(bytes)?;
        Ok((part.done(), is_done, bytes))
    };
    spread.each(part, |(part, is_part_done, bytes)| {
        is_done &= is_part_done;
        top.absorb(&part);
        control.uncharge(bytes);
        Ok(())
    })?;
    Ok(is_done)
}

/// One thread's part in a pass.
struct Look<'s, 'a> {
    scan: &'s Scan<'a>,
    prefilter: Option<&'s Prefilter<'a>>,
    /// The nodes of a batch that would be retained, with their inverted ranks.
    result: Vec<(u64, u32)>,
    finder: RowFinder,
}

impl Look<'_, '_> {
    /// Offers the nodes of some rows, and those that changed between them.
    fn at_rows(&mut self, rows: Range<usize>, top: &mut Top) -> Result<bool> {
        let subjects = &self.scan.part.stored().subjects;
        let node_of = |row: usize| subjects.select(row).unwrap_or(u32::MAX);
        let mut is_ranked = true;
        let mut start = rows.start;
        while start < rows.end {
            self.scan.control.check()?;
            let len = if self.prefilter.is_some() || top.is_choosy() { BATCH } else { UNBOUNDED };
            let rows = start..rows.end.min(start + len);
            start = rows.end;
            // What is new before the first row and after the last one comes with them.
            let least = if rows.start == 0 { 0 } else { node_of(rows.start) };
            let last = if rows.end == subjects.len() { u32::MAX } else { node_of(rows.end) - 1 };
            if let Some(prefilter) = self.prefilter.filter(|_| !top.has_bound()) {
                let nodes = self.scan.nodes.iter_from(least).take_while(|node| *node <= last);
                let passed = prefilter(nodes.collect())?;
                is_ranked &= self.gather(&passed, top);
                top.retain(&self.result);
                continue;
            }
            is_ranked &= self.gather_rows(rows, (least, last), top);
            self.offer(top)?;
        }
        Ok(is_ranked)
    }

    /// Offers the nodes at some positions of the set.
    fn at_members(&mut self, positions: Range<usize>, top: &mut Top) -> Result<bool> {
        let mut is_ranked = true;
        Members::Set(self.scan.nodes).for_each_batch_of(positions, |nodes| {
            self.scan.control.check()?;
            if let Some(prefilter) = self.prefilter.filter(|_| !top.has_bound()) {
                let passed = prefilter(nodes.to_vec())?;
                is_ranked &= self.gather(&passed, top);
                top.retain(&self.result);
                return Ok(());
            }
            is_ranked &= self.gather(nodes, top);
            self.offer(top)
        })?;
        Ok(is_ranked)
    }

    /// Retains the selected nodes that pass the filter.
    fn offer(&mut self, top: &mut Top) -> Result<()> {
        if let Some(prefilter) = self.prefilter.filter(|_| !self.result.is_empty()) {
            let nodes: Vec<u32> = self.result.iter().map(|(_, node)| *node).collect();
            let passed = prefilter(nodes)?;
            let mut passed = passed.iter().peekable();
            self.result.retain(|(_, node)| passed.next_if_eq(&node).is_some());
        }
        top.retain(&self.result);
        Ok(())
    }

    /// Selects the nodes of some rows that would be retained, and those between two nodes that
    /// changed. `false` when a changed value has no rank.
    fn gather_rows(&mut self, rows: Range<usize>, (least, last): (u32, u32), top: &Top) -> bool {
        let Look { scan, result, .. } = self;
        result.clear();
        scan.gather_run(rows, top, result);
        if scan.part.is_clean() {
            return true;
        }
        // Few of the rows are selected, so those that changed are looked up among these, and the
        // rows are read without a halt.
        result.retain(|(_, node)| scan.part.changed(*node).is_none());
        let stored = result.len();
        let is_ranked = scan.gather_all_changed((least, last), top, result);
        if 0 < stored && stored < result.len() {
            result.sort_unstable_by_key(|(_, node)| *node);
        }
        is_ranked
    }

    /// Selects those of some ascending nodes that would be retained. `false` when a changed value
    /// has no rank.
    fn gather(&mut self, nodes: &[u32], top: &Top) -> bool {
        let Look { scan, result, finder, .. } = self;
        result.clear();
        let mut is_ranked = true;
        scan.part.by_changes(nodes, |run| match run {
            NumberRun::Stored(nodes) => scan.gather_stored(finder, nodes, top, result),
            NumberRun::Changed(node, row) => {
                is_ranked &= scan.gather_changed(node, row, top, result)
            }
        });
        is_ranked
    }
}

impl Scan<'_> {
    fn gather_run(&self, rows: Range<usize>, top: &Top, result: &mut Vec<(u64, u32)>) {
        let before = result.len();
        self.ranks.gather(rows.clone(), Ids::From(rows.start as u32), top, result);
        let result = &mut result[before..];
        let subjects = &self.part.stored().subjects;
        match self.first {
            Some(first) => result.iter_mut().for_each(|(_, row)| *row += first),
            None if result.len() <= FEW_NAMED => {
                for (_, row) in result {
                    *row = subjects.select(*row as usize).expect("it is a row of the subjects");
                }
            }
            None => {
                let nodes = subjects.page(rows.start, rows.len());
                result.iter_mut().for_each(|(_, row)| *row = nodes[*row as usize - rows.start]);
            }
        }
    }

    fn gather_stored(
        &self,
        finder: &mut RowFinder,
        nodes: &[u32],
        top: &Top,
        result: &mut Vec<(u64, u32)>,
    ) {
        let mut rest = nodes;
        finder.for_each_chunk(&self.part.stored().subjects, nodes, |rows| {
            let (nodes, behind) = rest.split_at(rows.len());
            rest = behind;
            match rows {
                Rows::Run(rows) => self.ranks.gather(rows, Ids::Each(nodes), top, result),
                Rows::Missing(_) => {}
                Rows::Each(rows) => self.ranks.gather_rows(rows, nodes, top, result),
            }
        });
    }

    /// Selects those between two nodes that changed and would be retained. `false` when a changed
    /// value has no rank.
    fn gather_all_changed(
        &self,
        (least, last): (u32, u32),
        top: &Top,
        result: &mut Vec<(u64, u32)>,
    ) -> bool {
        fn each<T: Copy>(
            changes: &[(u32, Option<T>)],
            (least, last): (u32, u32),
            mut take: impl FnMut(u32, T),
        ) {
            let start = changes.partition_point(|(node, _)| *node < least);
            let between = changes[start..].iter().take_while(|(node, _)| *node <= last);
            between.for_each(|(node, now)| {
                if let Some(now) = now {
                    take(*node, *now);
                }
            });
        }
        let ends = (least, last);
        match &self.changes {
            Some(NumberChanges::Int(ints)) => each(ints, ends, |node, int| {
                result.extend(top.taken(rank_of_int(int)).map(|rank| (rank, node)));
            }),
            Some(NumberChanges::Float(floats)) => each(floats, ends, |node, float| {
                result.extend(top.taken(ordered_bits(float)).map(|rank| (rank, node)));
            }),
            None => {
                let changed = self.part.changed_between(least, last);
                return changed.fold(true, |all, (node, row)| {
                    all & self.gather_changed(node, row, top, result)
                });
            }
        }
        true
    }

    /// False for a value that has no rank.
    fn gather_changed(
        &self,
        node: u32,
        row: Option<&crate::graph::Row>,
        top: &Top,
        result: &mut Vec<(u64, u32)>,
    ) -> bool {
        let Some(row) = row else { return true };
        let Some(rank) = self.rank_of_changed(row.first()) else { return false };
        result.extend(top.taken(rank).map(|rank| (rank, node)));
        true
    }
}

/// Returns the first `expected` of those nodes of a set that have a value of a variable, in the
/// order of the values. `None` as [`Scan::first`].
pub(in crate::exec::select) fn by_variable(
    map: &ValueMap,
    nodes: &NodeSet,
    descending: bool,
    expected: usize,
) -> Option<Vec<u32>> {
    if expected == 0 {
        return None;
    }
    let ranks = match &map.values {
        Column::Int(ints) => Ranks::Ints(ints),
        Column::Float(floats) => Ranks::Floats(floats),
        Column::Any(_) => return None,
    };
    let (mut top, mut result) = (Top::new(expected, descending), Vec::new());
    let is_all = nodes.is_exactly(&map.nodes);
    for (batch, some) in map.nodes.chunks(BATCH).enumerate() {
        let start = batch * BATCH;
        ranks.gather(start..start + some.len(), Ids::Each(some), &top, &mut result);
        result.retain(|(_, node)| is_all || nodes.contains(*node));
        top.retain(&result);
        result.clear();
    }
    top.finish()
}

/// As [`by_variable`], of a variable that nobody has read: one pass over where its numbers come
/// from.
///
/// # Errors
///
/// Those of [`RequestContext::check`].
pub(in crate::exec::select) fn by_column_var(
    control: &RequestContext,
    column: &ColumnVar,
    nodes: &NodeSet,
    descending: bool,
    expected: usize,
) -> Result<Option<Vec<u32>>> {
    if expected == 0 {
        return Ok(None);
    }
    let mut top = Top::new(expected, descending);
    let is_all = nodes.is_surely_equal(&column.subjects());
    let finders = column.finders();
    let look = |positions: Range<usize>, top: &mut Top| {
        let mut result = Vec::new();
        let take = |batch: &[u32], numbers: NumberSlice<'_>, has: &[bool]| {
            result.clear();
            Ranks::from(numbers).gather(0..batch.len(), Ids::Each(batch), top, &mut result);
            if !has.is_empty() {
                // Most of a batch is not selected, and what was selected ascends.
                let mut position = 0;
                result.retain(|(_, node)| {
                    position += crate::storage::gallop(&batch[position..], |other| other < node);
                    has[position]
                });
            }
            result.retain(|(_, node)| is_all || nodes.contains(*node));
            top.retain(&result);
        };
        column.for_each_batch_of(positions, &finders, || control.check(), take)?;
        Ok(true)
    };
    fraction(control, (column.len(), cost::GATHER.times(2)), false, &mut top, look)?;
    Ok(top.finish())
}
