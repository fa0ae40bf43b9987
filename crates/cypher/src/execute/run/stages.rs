//! Rows pass through stages: each stage pulls the rows of the stage before and pushes its own into
//! a callback.

use super::execution::{DONE, Execution, Flow, MORE, Reservation, Row, Sink};
use super::rows::cut;
use crate::execute::plan::{Bounds, BranchPlan, Expression, QueryPlan, SlotIndex, Stage};
use crate::execute::profile::Profile;
use hexgraph_base::types::{Result, stack};
use hexgraph_scalar::Value;
use rustc_hash::FxHashSet;

impl Execution<'_> {
    /// Runs a query; its columns are in the slots of the plan when the callback is called.
    pub(in crate::execute) fn query(
        &self,
        plan: &QueryPlan,
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Flow> {
        stack::check()?;
        let mut seen = SeenRows::new(self);
        for (index, BranchPlan { stages, columns }) in plan.branches.iter().enumerate() {
            let flow = self.produce(stages, row, &mut |row| {
                for (to, from) in plan.columns.iter().zip(columns) {
                    if to != from {
                        row[*to] = row[*from].clone();
                    }
                }
                if index < plan.distinct && !seen.insert(cut(row, &plan.columns))? {
                    return Ok(MORE);
                }
                sink(row)
            })?;
            if flow.is_break() {
                return Ok(DONE);
            }
        }
        Ok(MORE)
    }

    /// Pushes the rows after all these stages.
    pub(in crate::execute) fn produce(
        &self,
        stages: &[Stage],
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Flow> {
        stack::check()?;
        let Some((stage, before)) = stages.split_last() else { return sink(row) };
        let Some(profile) = &self.profile else { return self.stage(stage, before, row, sink) };
        let id = Profile::id_of_stage(stage);
        let consumer = profile.enter(Some(id));
        let result = self.stage(stage, before, row, &mut |row| {
            profile.add_rows(id, 1);
            let producer = profile.enter(consumer);
            let flow = sink(row);
            profile.enter(producer);
            flow
        });
        profile.enter(consumer);
        result
    }

    /// Pushes the rows of one stage.
    fn stage(
        &self,
        stage: &Stage,
        before: &[Stage],
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Flow> {
        match stage {
            Stage::Match { plan, optional } => self.produce(before, row, &mut |row| {
                let mut has_match = false;
                let flow = self.matches(plan, row, &mut |row| {
                    has_match = true;
                    sink(row)
                })?;
                if has_match || !optional {
                    return Ok(flow);
                }
                for slot in &plan.assigned {
                    row[*slot] = Value::Null;
                }
                sink(row)
            }),
            Stage::Join(plan) => self.join(plan, row, sink),
            Stage::Unwind { list, slot } => {
                self.produce(before, row, &mut |row| self.unwind(list, *slot, row, sink))
            }
            Stage::Project(items) => {
                if let [Stage::Match { plan, optional: false }] = before
                    && let Some(flow) = self.project_scan(plan, items, row, sink)?
                {
                    return Ok(flow);
                }
                if let Some(flow) = self.project_join((before, items), None, row, sink)? {
                    return Ok(flow);
                }
                self.produce(before, row, &mut |row| {
                    for (slot, item) in items {
                        row[*slot] = self.value(item, row)?;
                    }
                    sink(row)
                })
            }
            Stage::Filter(condition) => self.produce(before, row, &mut |row| {
                if self.holds(condition, row)? { sink(row) } else { Ok(MORE) }
            }),
            Stage::Distinct(slots) => {
                let mut seen = SeenRows::new(self);
                self.produce(before, row, &mut |row| {
                    if seen.insert(cut(row, slots))? { sink(row) } else { Ok(MORE) }
                })
            }
            Stage::Aggregate { keys, aggregates, count } => {
                self.groups(before, keys, (aggregates, *count), row, sink)
            }
            Stage::Sort { keys, retained, bounds } => {
                self.sorted(before, keys, retained, bounds, row, sink)
            }
            Stage::Slice(bounds) => self.sliced(before, bounds, row, sink),
            Stage::Repeat(count) => {
                self.produce(before, row, &mut |row| self.repeat(*count, row, sink))
            }
            Stage::Subquery(plan) => {
                self.produce(before, row, &mut |row| self.query(plan, row, sink))
            }
            Stage::Algorithm(plan) => {
                self.produce(before, row, &mut |row| self.algorithm(plan, row, sink))
            }
        }
    }

    /// A row so many times as a slot says.
    fn repeat(&self, count: SlotIndex, row: &mut Row, sink: Sink<'_>) -> Result<Flow> {
        let Value::Int(times) = row[count] else { return sink(row) };
        for _ in 0..times {
            self.tick()?;
            if sink(row)?.is_break() {
                return Ok(DONE);
            }
        }
        Ok(MORE)
    }

    /// `SKIP` and `LIMIT` without an order.
    fn sliced(
        &self,
        before: &[Stage],
        bounds: &Bounds,
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Flow> {
        let (skip, limit) = self.bounds(bounds, row)?;
        if limit == 0 {
            return Ok(MORE);
        }
        let end = skip.saturating_add(limit);
        let (mut count, mut flow) = (0_u64, MORE);
        let _ = self.produce(before, row, &mut |row| {
            count += 1;
            if count <= skip {
                return Ok(MORE);
            }
            flow = sink(row)?;
            Ok(if count == end { DONE } else { flow })
        })?;
        Ok(flow)
    }

    /// A row for each element; a value that is no list is one element, null is none.
    fn unwind(
        &self,
        list: &Expression,
        slot: SlotIndex,
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Flow> {
        match self.value(list, row)? {
            Value::Null => Ok(MORE),
            Value::List(list) => {
                for item in list.iter() {
                    self.tick()?;
                    row[slot] = item.clone();
                    if sink(row)?.is_break() {
                        return Ok(DONE);
                    }
                }
                Ok(MORE)
            }
            value => {
                row[slot] = value;
                sink(row)
            }
        }
    }
}

/// The rows that came so far, each once. Their memory is reserved.
struct SeenRows<'a> {
    rows: FxHashSet<Vec<Value>>,
    reserved: Reservation<'a>,
}

impl<'a> SeenRows<'a> {
    fn new(execution: &Execution<'a>) -> SeenRows<'a> {
        SeenRows { rows: FxHashSet::default(), reserved: execution.reservation() }
    }

    /// Adds a row, and says whether it is new.
    fn insert(&mut self, row: Vec<Value>) -> Result<bool> {
        if self.rows.contains(&row) {
            return Ok(false);
        }
        self.reserved.grow_by_row(&row)?;
        Ok(self.rows.insert(row))
    }
}
