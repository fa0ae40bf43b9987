//! Which slots an expression reads, and which it assigns itself.

use crate::execute::plan::{
    Expression, Hop, IndexSeek, MatchPlan, MatchStep, NodeAccess, Operation, PathElement,
    QueryPlan, SlotIndex, Stage, UidSeek, ValueStep,
};
use rustc_hash::FxHashSet;

/// Whether an expression has another value each time that it is evaluated.
pub(super) fn is_random(expression: &Expression) -> bool {
    Uses::of(expression).is_random
}

/// The slots that the value of a subquery depends on, in ascending order; `None` for one that has
/// another value each time.
pub(super) fn outer_slots(plan: &QueryPlan) -> Option<Vec<SlotIndex>> {
    let mut uses = Uses::default();
    uses.query(plan);
    (!uses.is_random).then(|| uses.outer())
}

/// The slots of an expression.
#[derive(Debug, Default)]
pub(super) struct Uses {
    read: FxHashSet<SlotIndex>,
    assigned: FxHashSet<SlotIndex>,
    /// How often slots are read.
    pub(super) slot_reads: usize,
    /// Whether it has another value each time that it is evaluated.
    pub(super) is_random: bool,
}

impl Uses {
    pub(super) fn of(expression: &Expression) -> Uses {
        let mut uses = Uses::default();
        uses.expression(expression);
        uses
    }

    pub(super) fn of_stage(stage: &Stage) -> Uses {
        let mut uses = Uses::default();
        uses.stage(stage);
        uses
    }

    /// The slots that it assigns itself.
    pub(super) fn assigned(&self) -> &FxHashSet<SlotIndex> {
        &self.assigned
    }

    /// The slots that have their values from elsewhere, in ascending order.
    pub(super) fn outer(&self) -> Vec<SlotIndex> {
        let mut slots: Vec<SlotIndex> = self.read.difference(&self.assigned).copied().collect();
        slots.sort_unstable();
        slots
    }

    /// Whether it has variables of its own, as subqueries and comprehensions do.
    pub(super) fn has_variables(&self) -> bool {
        !self.assigned.is_empty()
    }

    fn expression(&mut self, expression: &Expression) {
        match &expression.operation {
            Operation::Constant(_) => {}
            Operation::Slot(slot) => {
                self.read.insert(*slot);
                self.slot_reads += 1;
            }
            Operation::List(list)
            | Operation::Or(list)
            | Operation::Xor(list)
            | Operation::And(list) => self.expressions(list),
            Operation::Map(entries) => entries.iter().for_each(|(_, it)| self.expression(it)),
            Operation::Not(inside) | Operation::Negative(inside) => self.expression(inside),
            Operation::Compare(first, rest) => {
                self.expression(first);
                rest.iter().for_each(|(_, it)| self.expression(it));
            }
            Operation::Arithmetic(first, rest) => {
                self.expression(first);
                rest.iter().for_each(|(_, it)| self.expression(it));
            }
            Operation::Steps(first, steps) => {
                self.expression(first);
                steps.iter().for_each(|it| self.value_step(it));
            }
            Operation::Call(callee, arguments) => {
                self.is_random |= callee.function.name.starts_with("rand");
                self.expressions(arguments);
            }
            Operation::Case { subject, branches, otherwise } => {
                subject.iter().for_each(|it| self.expression(it));
                branches.iter().for_each(|(one, other)| {
                    self.expression(one);
                    self.expression(other);
                });
                self.expression(otherwise);
            }
            Operation::Comprehension { loops, result } => {
                self.list_loop(loops);
                result.iter().for_each(|it| self.expression(it));
            }
            Operation::Quantifier(_, loops) => self.list_loop(loops),
            Operation::Reduce { accumulator, start, loops, step } => {
                self.assigned.insert(*accumulator);
                self.expression(start);
                self.list_loop(loops);
                self.expression(step);
            }
            Operation::Subquery { plan, .. } => self.query(plan),
            Operation::Matches { plan, result } => {
                self.match_plan(plan);
                self.expression(result);
            }
            Operation::Projection { base, entries, .. } => {
                self.expression(base);
                entries.iter().for_each(|(_, it)| self.expression(it));
            }
        }
    }

    fn expressions(&mut self, list: &[Expression]) {
        list.iter().for_each(|it| self.expression(it));
    }

    fn list_loop(&mut self, it: &crate::execute::plan::ListLoop) {
        self.assigned.insert(it.slot);
        self.expression(&it.list);
        it.filter.iter().for_each(|it| self.expression(it));
    }

    fn value_step(&mut self, step: &ValueStep) {
        match step {
            ValueStep::Text(_, it)
            | ValueStep::Matches(it)
            | ValueStep::In(it)
            | ValueStep::Index(it) => self.expression(it),
            ValueStep::Slice(from, to) => {
                from.iter().chain(to).for_each(|it| self.expression(it));
            }
            ValueStep::IsNull(_)
            | ValueStep::IsType(..)
            | ValueStep::Property(_)
            | ValueStep::HasLabels(_) => {}
        }
    }

    fn query(&mut self, plan: &QueryPlan) {
        for branch in &plan.branches {
            branch.stages.iter().for_each(|it| self.stage(it));
            self.read.extend(&branch.columns);
        }
        // The columns of one query are its own slots, or outer ones that it returns.
        if plan.branches.len() != 1 {
            self.assigned.extend(&plan.columns);
        }
    }

    fn stage(&mut self, stage: &Stage) {
        match stage {
            Stage::Match { plan, .. } => self.match_plan(plan),
            Stage::Join(plan) => plan.rows.iter().for_each(|it| self.stage(it)),
            Stage::Unwind { list, slot } => {
                self.expression(list);
                self.assigned.insert(*slot);
            }
            Stage::Project(items) => self.items(items),
            Stage::Filter(condition) => self.expression(condition),
            Stage::Distinct(slots) => self.read.extend(slots),
            Stage::Aggregate { keys, aggregates, count } => {
                self.items(keys);
                self.assigned.extend(count);
                for it in aggregates {
                    self.assigned.insert(it.slot);
                    self.expressions(&it.arguments);
                }
            }
            Stage::Sort { keys, retained, bounds } => {
                keys.iter().for_each(|it| self.expression(&it.key));
                self.read.extend(retained);
                bounds.skip.iter().chain(&bounds.limit).for_each(|it| self.expression(it));
            }
            Stage::Slice(bounds) => {
                bounds.skip.iter().chain(&bounds.limit).for_each(|it| self.expression(it));
            }
            Stage::Repeat(slot) => {
                self.read.insert(*slot);
            }
            Stage::Subquery(plan) => self.query(plan),
            Stage::Algorithm(plan) => {
                self.expression(&plan.types);
                plan.options.iter().for_each(|it| self.expression(it));
                self.assigned.extend(plan.columns.iter().map(|(_, slot)| *slot));
            }
        }
    }

    fn items(&mut self, items: &[(SlotIndex, Expression)]) {
        for (slot, it) in items {
            self.assigned.insert(*slot);
            self.expression(it);
        }
    }

    fn match_plan(&mut self, plan: &MatchPlan) {
        self.assigned.extend(&plan.assigned);
        plan.steps.iter().for_each(|it| self.match_step(it));
    }

    fn match_step(&mut self, step: &MatchStep) {
        match step {
            MatchStep::Scan { access, .. } => match access {
                NodeAccess::All | NodeAccess::Label(_) => {}
                NodeAccess::Index { seeks, .. } => {
                    seeks
                        .iter()
                        .flat_map(IndexSeek::expressions)
                        .for_each(|it| self.expression(it));
                }
                NodeAccess::Uids(UidSeek { value, .. }) => self.expression(value),
            },
            MatchStep::Filter(condition) => self.expression(condition),
            MatchStep::Expand(hop) | MatchStep::Bound { hop, .. } => self.hop(hop),
            MatchStep::Walk(walk) => {
                self.hop(&walk.hop);
                self.assigned.insert(walk.each);
                self.expressions(&walk.conditions);
            }
            MatchStep::Path { start, elements, .. } => {
                self.read.insert(*start);
                self.read.extend(elements.iter().map(|it| match it {
                    PathElement::One(slot) | PathElement::List(slot) => *slot,
                }));
            }
            MatchStep::Shortest { steps, .. } => steps.iter().for_each(|it| self.match_step(it)),
        }
    }

    fn hop(&mut self, hop: &Hop) {
        self.read.extend([hop.from, hop.to, hop.relationship]);
        if let Some(range) = &hop.range {
            range.bounds.iter().for_each(|(_, it)| self.expression(it));
        }
    }
}
