//! The matches at the end of a query become a join where all their rows are read.

use super::resolver::Resolver;
use crate::execute::join::Lowered;
use crate::execute::plan::{
    BranchPlan, Expression, HopRange, MatchStep, NodeAccess, Operation, SeekTest, SlotIndex, Stage,
};
use crate::execute::slots::Uses;
use hexgraph_base::types::Result;

impl Resolver<'_> {
    /// Replaces the matches before the last projection and order by a join. What comes after that
    /// has to read all rows: a join has candidates of all variables before its first row, so that a
    /// limit without an order costs more.
    pub(super) fn join_rows(&mut self, branch: &mut BranchPlan) -> Result<()> {
        let (before, sort) = match &branch.stages[..] {
            [before @ .., sort @ Stage::Sort { .. }] => (before, Some(sort)),
            before => (before, None),
        };
        let (before, items) = match before {
            [before @ .., Stage::Project(items)] => (before, &items[..]),
            before => (before, &[][..]),
        };
        if !pays(before) {
            return Ok(());
        }
        let mut keys: Vec<(SlotIndex, Expression)> = items.to_vec();
        let mut read = branch.columns.clone();
        read.extend(sort.iter().flat_map(|it| Uses::of_stage(it).outer()));
        for slot in read {
            if keys.iter().all(|(it, _)| *it != slot) {
                keys.push((slot, Operation::Slot(slot).at(Default::default())));
            }
        }
        let Some(lowered) = self.lowered((&keys, &[]), before, true)? else { return Ok(()) };
        let Lowered { stages: mut joined, keys, count, .. } = lowered;
        joined.push(Stage::Repeat(count));
        let is_copied = |(slot, it): &(SlotIndex, Expression)| match it.operation {
            Operation::Slot(other) => *slot == other,
            _ => false,
        };
        let items: Vec<_> = keys.into_iter().filter(|it| !is_copied(it)).collect();
        if !items.is_empty() {
            joined.push(Stage::Project(items));
        }
        joined.extend(sort.cloned());
        branch.stages = joined;
        Ok(())
    }
}

/// Whether matches have relationships, begin not at few nodes, and have no ranges of lists that
/// differ from row to row.
fn pays(stages: &[Stage]) -> bool {
    let steps = || {
        stages.iter().flat_map(|stage| match stage {
            Stage::Match { plan, optional: false } => &plan.steps[..],
            _ => &[],
        })
    };
    let is_few = match steps().next() {
        Some(MatchStep::Scan { access: NodeAccess::Index { seeks, .. }, .. }) => {
            seeks.iter().any(|it| matches!(it.test, SeekTest::Equal(_)))
        }
        Some(MatchStep::Scan { access, .. }) => matches!(access, NodeAccess::Uids(_)),
        _ => return false,
    };
    let reads_row =
        |it: &HopRange| it.bounds.iter().any(|(_, it)| !Uses::of(it).outer().is_empty());
    let is_range = |it: &MatchStep| match it {
        MatchStep::Expand(hop) => hop.range.as_deref().is_some_and(reads_row),
        _ => false,
    };
    !is_few && steps().any(|it| matches!(it, MatchStep::Expand(_))) && !steps().any(is_range)
}
