//! A condition that compares a property of a hop's other node, or of its relationship, with a value
//! that is there before the hop restricts the hop to a range of relationships, though it is tested
//! later: behind other hops, or behind projections.

use super::resolver::Resolver;
use crate::ast::CompareOp;
use crate::execute::plan::{
    Expression, Hop, HopRange, MatchPlan, MatchStep, Operation, SlotIndex, Stage,
};
use crate::execute::rewrite::{Items, inlined};
use crate::execute::seeks::property_read;
use crate::execute::slots::Uses;
use crate::execute::sorted::mirrored;
use hexgraph_base::types::{Result, stack};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The most variables that an expression reads that replaces a slot: each projection may multiply
/// them.
const READS_MAX: usize = 64;

/// `property op value` for a slot.
#[derive(Debug, Clone)]
struct BoundedProperty {
    property: Arc<str>,
    op: CompareOp,
    value: Expression,
}

/// Stages of one query without a group, a limit or a subquery between them: a condition that a row
/// does not meet is one that no row meets that is made of it.
#[derive(Debug, Default)]
struct Segment {
    /// What projections assign.
    items: Items,
    reads: FxHashMap<SlotIndex, usize>,
    /// The comparisons of each slot.
    comparisons: FxHashMap<SlotIndex, Vec<BoundedProperty>>,
}

impl Resolver<'_> {
    /// Adds ranges to the hops of the stages of a query.
    pub(super) fn add_ranges(&mut self, stages: &mut [Stage]) -> Result<()> {
        let is_end = |it: &Stage| match it {
            Stage::Sort { bounds, .. } => bounds.skip.is_some() || bounds.limit.is_some(),
            Stage::Join(_)
            | Stage::Aggregate { .. }
            | Stage::Slice(_)
            | Stage::Repeat(_)
            | Stage::Subquery(_)
            | Stage::Algorithm(_) => true,
            Stage::Match { .. }
            | Stage::Unwind { .. }
            | Stage::Project(_)
            | Stage::Filter(_)
            | Stage::Distinct(_) => false,
        };
        for (index, stages) in stages.split_mut(is_end).enumerate() {
            self.add_ranges_in(stages, index == 0)?;
        }
        Ok(())
    }

    fn add_ranges_in(&mut self, stages: &mut [Stage], is_first: bool) -> Result<()> {
        if !stages.iter().any(has_hop) {
            return Ok(());
        }
        self.graph.check()?;
        let mut segment = Segment::default();
        for stage in stages.iter() {
            match stage {
                Stage::Project(items) => segment.add_items(items),
                Stage::Filter(condition) => segment.add_condition(condition)?,
                Stage::Match { plan, optional: false } => segment.add_conditions(plan)?,
                _ => {}
            }
        }
        let mut later = FxHashSet::default();
        for (index, stage) in stages.iter_mut().enumerate().rev() {
            later.extend(Uses::of_stage(stage).assigned());
            match stage {
                Stage::Match { plan, optional: false } => {
                    let is_first = is_first && index == 0;
                    self.add_ranges_to(plan, is_first, &mut later, &[&segment]);
                }
                Stage::Match { plan, optional: true } => {
                    // Its own conditions are none of the rows before it. A comparison behind it
                    // fails for the row without a match, too.
                    let mut own = Segment::default();
                    own.add_conditions(plan)?;
                    self.add_ranges_to(plan, false, &mut later, &[&segment, &own]);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Adds ranges to the hops of a match, which may be the first stage of a query. `later` are the
    /// slots that it and later stages assign.
    fn add_ranges_to(
        &mut self,
        plan: &mut MatchPlan,
        is_first: bool,
        later: &mut FxHashSet<SlotIndex>,
        segments: &[&Segment],
    ) {
        // Each node of the first scan comes once.
        let mut once: Option<SlotIndex> = None;
        for (index, step) in plan.steps.iter_mut().enumerate() {
            if let MatchStep::Expand(hop) = step
                && !hop.to_bound
                && once != Some(hop.from)
                && let Some((slot, property, bounds)) = range_of(segments, hop, later)
            {
                let (own, is_of_node) = (self.new_slot(), slot == hop.to);
                hop.range = Some(Box::new(HopRange { is_of_node, property, bounds, own }));
            }
            match step {
                MatchStep::Scan { slot, .. } if is_first && index == 0 => once = Some(*slot),
                MatchStep::Filter(_) => {}
                _ => once = None,
            }
            for slot in assigned_by(step) {
                later.remove(&slot);
            }
        }
        later.extend(&plan.assigned);
    }
}

fn has_hop(stage: &Stage) -> bool {
    let is_hop = |it: &MatchStep| matches!(it, MatchStep::Expand(hop) if !hop.to_bound);
    matches!(stage, Stage::Match { plan, .. } if plan.steps.iter().any(is_hop))
}

/// The slots that a step assigns.
fn assigned_by(step: &MatchStep) -> Vec<SlotIndex> {
    match step {
        MatchStep::Scan { slot, .. } | MatchStep::Path { slot, .. } => vec![*slot],
        MatchStep::Filter(_) => Vec::new(),
        MatchStep::Expand(hop) | MatchStep::Bound { hop, .. } => {
            vec![hop.from, hop.to, hop.relationship]
        }
        MatchStep::Walk(walk) => vec![walk.hop.to, walk.hop.relationship],
        MatchStep::Shortest { selection, .. } => selection.retained.clone(),
    }
}

impl Segment {
    fn add_items(&mut self, items: &[(SlotIndex, Expression)]) {
        for (slot, item) in items {
            let uses = Uses::of(item);
            let reads_of = |it: &SlotIndex| self.reads.get(it).copied().unwrap_or(1);
            let most = uses.outer().iter().map(reads_of).max().unwrap_or(1);
            let reads = uses.slot_reads.saturating_mul(most);
            if READS_MAX < reads || uses.is_random {
                continue;
            }
            if let Some(item) = inlined(item, &self.items) {
                self.reads.insert(*slot, reads);
                self.items.insert(*slot, item);
            }
        }
    }

    fn add_conditions(&mut self, plan: &MatchPlan) -> Result<()> {
        plan.steps.iter().try_for_each(|step| match step {
            MatchStep::Filter(condition) => self.add_condition(condition),
            _ => Ok(()),
        })
    }

    /// Adds the comparisons of a condition that are true where it is.
    fn add_condition(&mut self, condition: &Expression) -> Result<()> {
        stack::check()?;
        match &condition.operation {
            Operation::And(list) => list.iter().try_for_each(|it| self.add_condition(it)),
            Operation::Compare(first, rest) => {
                let mut left = &**first;
                for (op, right) in rest {
                    if *op != CompareOp::Unequal {
                        self.add_comparison(left, *op, right);
                        self.add_comparison(right, mirrored(*op), left);
                    }
                    left = right;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn add_comparison(&mut self, read: &Expression, op: CompareOp, value: &Expression) {
        let read = match &read.operation {
            Operation::Slot(slot) => self.items.get(slot),
            _ => Some(read),
        };
        if let Some((slot, property)) = read.and_then(property_read) {
            let value = value.clone();
            let comparison = BoundedProperty { property, op, value };
            self.comparisons.entry(slot).or_default().push(comparison);
        }
    }

    /// A value in terms of slots that are not assigned later; `None` where it has no such form.
    fn before(&self, value: &Expression, later: &FxHashSet<SlotIndex>) -> Option<Expression> {
        let is_there = |it: &Expression| {
            let uses = Uses::of(it);
            // A subquery costs more than what it leaves out.
            !uses.is_random
                && uses.assigned().is_empty()
                && !uses.outer().iter().any(|it| later.contains(it))
        };
        if is_there(value) {
            return Some(value.clone());
        }
        inlined(value, &self.items).filter(is_there)
    }
}

/// The property of what a hop binds that has the most bounds in some segments.
fn range_of(
    segments: &[&Segment],
    hop: &Hop,
    later: &FxHashSet<SlotIndex>,
) -> Option<(SlotIndex, Arc<str>, Vec<(CompareOp, Expression)>)> {
    let mut ranges: Vec<(SlotIndex, Arc<str>, Vec<(CompareOp, Expression)>)> = Vec::new();
    for slot in [hop.to, hop.relationship] {
        for segment in segments {
            for it in segment.comparisons.get(&slot).into_iter().flatten() {
                let Some(value) = segment.before(&it.value, later) else { continue };
                let is_same = |range: &&mut (SlotIndex, Arc<str>, _)| {
                    range.0 == slot && range.1 == it.property
                };
                match ranges.iter_mut().find(is_same) {
                    Some((_, _, bounds)) => bounds.push((it.op, value)),
                    None => ranges.push((slot, it.property.clone(), vec![(it.op, value)])),
                }
            }
        }
    }
    // Of several the first one.
    ranges.into_iter().rev().max_by_key(|(_, _, bounds)| bounds.len())
}
