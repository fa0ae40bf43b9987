//! `WITH` and `RETURN`. An item without an aggregate is a grouping key where another item has one;
//! the items with aggregates are computed of the values of keys and aggregates afterwards.

use super::distinct::{ignores_repeats, visit_once};
use super::resolver::{Names, Resolver};
use crate::ast::{Expr, ExprKind, Projection};
use crate::execute::join::{Lowered, lower};
use crate::execute::plan::{Aggregate, Bounds, Expression, Operation, SlotIndex, SortKey, Stage};
use hexgraph_base::types::Result;

/// An item that is resolved in the scope before the projection.
struct Output<'a> {
    name: Box<str>,
    expr: Option<&'a Expr>,
    expression: Expression,
    has_aggregate: bool,
}

impl<'a> Resolver<'a> {
    /// Adds the stages of a projection; returns its columns. What it names is visible afterwards,
    /// and nothing else.
    pub(super) fn projection(
        &mut self,
        projection: &'a Projection,
        filter: Option<&'a Expr>,
        stages: &mut Vec<Stage>,
    ) -> Result<Names> {
        let around = self.aggregates.replace(Vec::new());
        let computed = self.computed.clone();
        let result = self.stages_of(projection, filter, stages);
        self.aggregates = around;
        self.computed = computed;
        result
    }

    fn stages_of(
        &mut self,
        projection: &'a Projection,
        filter: Option<&'a Expr>,
        stages: &mut Vec<Stage>,
    ) -> Result<Names> {
        let outputs = self.outputs(projection)?;
        let is_grouped = outputs.iter().any(|it| it.has_aggregate);
        let before = self.names.clone();
        let (keys, items, columns) =
            if is_grouped { self.grouped(outputs)? } else { self.plain(outputs) };
        if is_grouped || projection.distinct {
            self.names = columns.clone();
        } else {
            for (name, slot) in &columns {
                self.bind_to(name, *slot);
            }
        }
        let order = self.sort_keys(projection)?;
        let aggregates = self.aggregates.take().unwrap_or_default();
        let bounds = Bounds {
            skip: projection.skip.as_ref().map(|it| self.expression(it)).transpose()?,
            limit: projection.limit.as_ref().map(|it| self.expression(it)).transpose()?,
        };
        let filter = filter.map(|it| self.expression(it)).transpose()?;
        let mut is_distinct = false;
        if is_grouped {
            self.push_groups(keys, aggregates, stages)?;
        } else if projection.distinct {
            // Without an order the rows up to a limit are pushed as they come.
            let is_streamed = order.is_empty() && bounds.limit.is_some();
            is_distinct = self.push_distinct(&items, &columns, is_streamed, stages)?;
        }
        if !items.is_empty() && !is_distinct {
            stages.push(Stage::Project(items));
        }
        let mut retained: Vec<SlotIndex> = columns.iter().map(|(_, slot)| *slot).collect();
        if projection.distinct {
            if !is_distinct {
                stages.push(Stage::Distinct(retained.clone()));
            }
        } else if filter.is_some() && !is_grouped {
            retained.extend(before.iter().map(|(_, slot)| *slot));
        }
        retained.sort_unstable();
        retained.dedup();
        if !order.is_empty() {
            stages.push(Stage::Sort { keys: order, retained, bounds });
        } else if bounds.skip.is_some() || bounds.limit.is_some() {
            stages.push(Stage::Slice(bounds));
        }
        stages.extend(filter.map(Stage::Filter));
        self.names = columns.clone();
        self.name_slots(&columns);
        Ok(columns)
    }

    /// Adds groups. Matches before them are counted where the graph can.
    fn push_groups(
        &mut self,
        keys: Vec<(SlotIndex, Expression)>,
        aggregates: Vec<Aggregate>,
        stages: &mut Vec<Stage>,
    ) -> Result<()> {
        if ignores_repeats(&aggregates) {
            visit_once(stages);
        }
        let stage = match self.lowered((&keys, &aggregates), stages, false)? {
            Some(Lowered { stages: before, keys, aggregates, count }) => {
                *stages = before;
                Stage::Aggregate { keys, aggregates, count: Some(count) }
            }
            None => Stage::Aggregate { keys, aggregates, count: None },
        };
        stages.push(stage);
        Ok(())
    }

    /// Distinct rows of matches are groups where the graph can join: how many matches have a row
    /// does not matter. False where it cannot, or where rows are pushed as they come: then the
    /// caller selects the distinct ones.
    fn push_distinct(
        &mut self,
        items: &[(SlotIndex, Expression)],
        columns: &Names,
        is_streamed: bool,
        stages: &mut Vec<Stage>,
    ) -> Result<bool> {
        visit_once(stages);
        let read = |slot: SlotIndex| (slot, Operation::Slot(slot).at(Default::default()));
        let is_item = |slot: SlotIndex| items.iter().any(|(it, _)| *it == slot);
        let variables = columns.iter().map(|(_, slot)| *slot).filter(|slot| !is_item(*slot));
        let keys: Vec<_> = items.iter().cloned().chain(variables.map(read)).collect();
        let Some(lowered) = self.lowered((&keys, &[]), stages, false)? else {
            return Ok(false);
        };
        let Lowered { stages: before, keys, aggregates, count } = lowered;
        if is_streamed {
            // Of projections before it the items are computed from rows again.
            if stages.iter().all(|it| !matches!(it, Stage::Project(_))) {
                *stages = before;
            }
            return Ok(false);
        }
        *stages = before;
        stages.push(Stage::Aggregate { keys, aggregates, count: Some(count) });
        Ok(true)
    }

    /// The join that counts the matches before a group, or lists them; `None` where they are
    /// matched row by row.
    pub(super) fn lowered(
        &mut self,
        groups: (&[(SlotIndex, Expression)], &[Aggregate]),
        stages: &[Stage],
        is_listed: bool,
    ) -> Result<Option<Lowered>> {
        if self.graph.adjacency().is_none() {
            return Ok(None);
        }
        let (count, types) = (self.new_slot(), self.graph.relationship_types()?.len() as u32);
        Ok(lower(stages, groups, count, types, is_listed))
    }

    fn outputs(&mut self, projection: &'a Projection) -> Result<Vec<Output<'a>>> {
        let mut outputs = Vec::new();
        if projection.star {
            let mut names = self.names.clone();
            // `*` has no order of its own; that of names is the same for all texts.
            names.sort();
            for (name, slot) in names {
                let expression = Operation::Slot(slot).at(Default::default());
                outputs.push(Output { name, expr: None, expression, has_aggregate: false });
            }
        }
        for item in &projection.items {
            let before = self.aggregates.as_ref().map_or(0, Vec::len);
            let expression = self.expression(&item.expr)?;
            let has_aggregate = before < self.aggregates.as_ref().map_or(0, Vec::len);
            let (name, expr) = (item.column_name(self.text).into(), Some(&item.expr));
            outputs.push(Output { name, expr, expression, has_aggregate });
        }
        Ok(outputs)
    }

    /// Items of a projection without aggregates. A variable needs no slot of its own.
    #[allow(clippy::type_complexity, reason = "the three parts are the caller's own variables")]
    fn plain(
        &mut self,
        outputs: Vec<Output<'a>>,
    ) -> (Vec<(SlotIndex, Expression)>, Vec<(SlotIndex, Expression)>, Names) {
        let (mut items, mut columns) = (Vec::new(), Names::new());
        for Output { name, expr, expression, .. } in outputs {
            let slot = match expression.operation {
                Operation::Slot(slot) => slot,
                _ => {
                    let slot = self.new_slot();
                    items.push((slot, expression));
                    slot
                }
            };
            self.remember(expr, slot);
            columns.push((name, slot));
        }
        (Vec::new(), items, columns)
    }

    /// Keys, the items that are computed of groups, and all columns.
    #[allow(clippy::type_complexity, reason = "the three parts are the caller's own variables")]
    fn grouped(
        &mut self,
        outputs: Vec<Output<'a>>,
    ) -> Result<(Vec<(SlotIndex, Expression)>, Vec<(SlotIndex, Expression)>, Names)> {
        self.aggregates = Some(Vec::new());
        let slots: Vec<SlotIndex> = outputs.iter().map(|_| self.new_slot()).collect();
        let (mut keys, mut items, mut columns) = (Vec::new(), Vec::new(), Names::new());
        let mut grouped = Vec::new();
        for (Output { name, expr, expression, has_aggregate }, slot) in
            outputs.into_iter().zip(slots)
        {
            columns.push((name.clone(), slot));
            if has_aggregate {
                grouped.push((expr.expect("`*` has no aggregate"), slot));
                continue;
            }
            if expr.is_none() {
                // What `*` lists is a variable, which the other items name by its old slot.
                self.bind_to(&name, slot);
            }
            keys.push((slot, expression));
            self.remember(expr, slot);
        }
        for (expr, slot) in grouped {
            items.push((slot, self.expression(expr)?));
            self.remember(Some(expr), slot);
        }
        Ok((keys, items, columns))
    }

    /// Later expressions that equal this one read its slot. Literals need not.
    fn remember(&mut self, expr: Option<&'a Expr>, slot: SlotIndex) {
        let is_constant = |expr: &Expr| {
            matches!(
                expr.kind,
                ExprKind::Null
                    | ExprKind::Boolean(_)
                    | ExprKind::Integer(_)
                    | ExprKind::Float(_)
                    | ExprKind::String(_)
                    | ExprKind::Parameter(_)
            )
        };
        if let Some(expr) = expr.filter(|it| !is_constant(it)) {
            self.computed.push((expr, slot));
        }
    }

    fn sort_keys(&mut self, projection: &'a Projection) -> Result<Vec<SortKey>> {
        let mut keys = Vec::with_capacity(projection.order.len());
        for item in &projection.order {
            let key = match &item.expr.kind {
                // A column hides a variable of its name.
                ExprKind::Variable(name) => self.variable(name, item.expr.span)?.at(item.expr.span),
                _ => self.expression(&item.expr)?,
            };
            let nulls_first = item.nulls_first.unwrap_or(item.descending);
            keys.push(SortKey { key, descending: item.descending, nulls_first });
        }
        Ok(keys)
    }
}
