//! Aggregates of groups of rows. Groups are pushed in the order of their first rows; without keys
//! there is one group, even of no rows.

use super::cache::is_exact;
use super::execution::{DONE, Execution, Flow, MORE, Reservation, Row, Sink, weight};
use crate::execute::plan::{Aggregate, Expression, SlotIndex, Stage, filter_conditions};
use crate::execute::slots::Uses;
use hexgraph_base::types::Result;
use hexgraph_scalar::{Accumulator, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::{mem, slice};

/// What is accumulated for one aggregate of one group.
struct GroupCell {
    accumulator: Accumulator,
    /// With `DISTINCT`, the values that were added.
    seen: Option<Seen>,
}

/// Values, each once. Nodes are a number each: most values that are counted once are nodes.
#[derive(Default)]
struct Seen {
    nodes: FxHashSet<u64>,
    others: FxHashSet<Value>,
}

impl Seen {
    /// The bytes of a node in a table that is half full.
    const NODE_BYTES: usize = 2 * (mem::size_of::<u64>() + 1);

    /// Adds a value; false where it is there already.
    fn insert(&mut self, value: &Value, reserved: &mut Reservation<'_>) -> Result<bool> {
        if let Value::Node(node) = value {
            if self.nodes.contains(node) {
                return Ok(false);
            }
            reserved.grow(Seen::NODE_BYTES)?;
            return Ok(self.nodes.insert(*node));
        }
        if self.others.contains(value) {
            return Ok(false);
        }
        reserved.grow(weight(value))?;
        Ok(self.others.insert(value.clone()))
    }
}

/// The group of the last row. Rows that one match begins with often follow each other, and their
/// keys need not be computed again.
struct LastGroup {
    /// What the keys read; `None` where it does not determine them.
    slots: Option<Vec<SlotIndex>>,
    /// The values of these slots.
    values: Vec<Value>,
    group: Option<usize>,
}

impl LastGroup {
    fn new(keys: &[(SlotIndex, Expression)]) -> LastGroup {
        let mut slots = Vec::new();
        let is_determined = keys.iter().all(|(_, key)| {
            let uses = Uses::of(key);
            slots.extend(uses.outer());
            !uses.is_random
        });
        LastGroup { slots: is_determined.then_some(slots), values: Vec::new(), group: None }
    }

    /// The group of a row that has the same values as the last one.
    fn of(&self, row: &Row) -> Option<usize> {
        let mut pairs = self.slots.iter().flatten().zip(&self.values);
        let is_same = |(slot, value): (&SlotIndex, &Value)| {
            is_exact(value) && is_exact(&row[*slot]) && row[*slot] == *value
        };
        self.group.filter(|_| pairs.all(is_same))
    }

    fn set(&mut self, row: &Row, group: usize) {
        let Some(slots) = &self.slots else { return };
        self.values.clear();
        self.values.extend(slots.iter().map(|slot| row[*slot].clone()));
        self.group = Some(group);
    }
}

impl Execution<'_> {
    pub(super) fn groups(
        &self,
        before: &[Stage],
        keys: &[(SlotIndex, Expression)],
        (aggregates, count): (&[Aggregate], Option<SlotIndex>),
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Flow> {
        if let ([Stage::Join(plan), filters @ ..], Some(_)) = (before, count)
            && let Some(conditions) = filter_conditions(filters)
            // A profile has the rows of each filter.
            && (conditions.is_empty() || self.profile.is_none())
            && let Some(flow) =
                self.join_groups((plan, &conditions), (keys, aggregates), row, sink)?
        {
            return Ok(flow);
        }
        let cells = || -> Vec<GroupCell> {
            let cell = |it: &Aggregate| GroupCell {
                accumulator: it.function.start(false),
                seen: it.distinct.then(Seen::default),
            };
            aggregates.iter().map(cell).collect()
        };
        let (mut reserved, mut groups) = (self.reservation(), Vec::<Vec<GroupCell>>::new());
        let mut indexes: FxHashMap<Vec<Value>, usize> = FxHashMap::default();
        if keys.is_empty() {
            groups.push(cells());
        }
        let (mut last, mut key) = (LastGroup::new(keys), Vec::new());
        let _ = self.produce(before, row, &mut |row| {
            let group = match last.of(row) {
                Some(group) => group,
                None if keys.is_empty() => 0,
                None => {
                    key.clear();
                    for (_, it) in keys {
                        key.push(self.value(it, row)?);
                    }
                    let group = match indexes.get(&key[..]) {
                        Some(group) => *group,
                        None => {
                            reserved.grow_by_row(&key)?;
                            reserved.grow(aggregates.len() * mem::size_of::<GroupCell>())?;
                            groups.push(cells());
                            indexes.insert(mem::take(&mut key), groups.len() - 1);
                            groups.len() - 1
                        }
                    };
                    last.set(row, group);
                    group
                }
            };
            let times = match count.map(|slot| &row[slot]) {
                Some(Value::Int(times)) => times.unsigned_abs(),
                _ => 1,
            };
            for (aggregate, cell) in aggregates.iter().zip(&mut groups[group]) {
                self.accumulate((aggregate, times), cell, &mut reserved, row)?;
            }
            Ok(MORE)
        })?;
        let mut keys_of: Vec<Vec<Value>> = vec![Vec::new(); groups.len()];
        for (key, group) in indexes {
            keys_of[group] = key;
        }
        let accumulators = |cells: Vec<GroupCell>| cells.into_iter().map(|it| it.accumulator);
        let groups = groups.into_iter().map(|cells| accumulators(cells).collect());
        self.push_groups((keys, aggregates), keys_of.into_iter().zip(groups), row, sink)
    }

    /// Pushes a row for each group, from its keys and its accumulators.
    pub(in crate::execute) fn push_groups(
        &self,
        (keys, aggregates): (&[(SlotIndex, Expression)], &[Aggregate]),
        groups: impl Iterator<Item = (Vec<Value>, Vec<Accumulator>)>,
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Flow> {
        for (key, group) in groups {
            self.tick()?;
            for ((slot, _), value) in keys.iter().zip(key) {
                row[*slot] = value;
            }
            for (aggregate, cell) in aggregates.iter().zip(group) {
                row[aggregate.slot] = self.at(aggregate.span, cell.finish())?;
            }
            if sink(row)?.is_break() {
                return Ok(DONE);
            }
        }
        Ok(MORE)
    }

    /// Adds a row to a group so many times. Null counts for `count(*)` only.
    fn accumulate(
        &self,
        (aggregate, times): (&Aggregate, u64),
        cell: &mut GroupCell,
        reserved: &mut Reservation<'_>,
        row: &mut Row,
    ) -> Result<()> {
        let Some((first, others)) = aggregate.arguments.split_first() else {
            return self
                .at(aggregate.span, cell.accumulator.update_times(&[], times, self.context));
        };
        let value = self.value(first, row)?;
        if value.is_null() {
            return Ok(());
        }
        if let Some(seen) = &mut cell.seen
            && !seen.insert(&value, reserved)?
        {
            return Ok(());
        }
        let times = if cell.seen.is_some() { 1 } else { times };
        if aggregate.retains_values() {
            let times = usize::try_from(times).unwrap_or(usize::MAX);
            reserved.grow(weight(&value).saturating_mul(times))?;
        }
        let result = if others.is_empty() {
            cell.accumulator.update_times(slice::from_ref(&value), times, self.context)
        } else {
            let mut arguments = vec![value];
            for it in others {
                arguments.push(self.value(it, row)?);
            }
            cell.accumulator.update_times(&arguments, times, self.context)
        };
        self.at(aggregate.span, result)
    }
}
