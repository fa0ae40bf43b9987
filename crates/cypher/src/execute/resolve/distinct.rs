//! Where the result has each row once, the number of walks to a node does not matter.

use crate::ast::Direction;
use crate::execute::plan::{Aggregate, MatchPlan, MatchStep, Stage, Walk};
use crate::execute::slots::is_random;

/// Whether a group has the same result when some of its rows come several times.
pub(super) fn ignores_repeats(aggregates: &[Aggregate]) -> bool {
    aggregates.iter().all(|it| it.distinct || matches!(it.function.name, "min" | "max"))
}

/// Lets walks visit each node once, in the last stages up to the first whose rows are counted.
pub(super) fn visit_once(stages: &mut [Stage]) {
    for stage in stages.iter_mut().rev() {
        match stage {
            Stage::Match { plan, .. } => visit_once_in(plan),
            Stage::Filter(it) | Stage::Unwind { list: it, .. } if !is_random(it) => {}
            Stage::Project(items) if !items.iter().any(|(_, it)| is_random(it)) => {}
            Stage::Filter(_) | Stage::Unwind { .. } | Stage::Project(_) => return,
            Stage::Join(_)
            | Stage::Distinct(_)
            | Stage::Aggregate { .. }
            | Stage::Sort { .. }
            | Stage::Slice(_)
            | Stage::Repeat(_)
            | Stage::Subquery(_)
            | Stage::Algorithm(_) => return,
        }
    }
}

fn visit_once_in(plan: &mut MatchPlan) {
    // Relationships of one match differ: those of another hop would be missing in a walk.
    let is_hop = |it: &&MatchStep| {
        matches!(
            it,
            MatchStep::Expand(_)
                | MatchStep::Walk(_)
                | MatchStep::Bound { .. }
                | MatchStep::Shortest { .. }
        )
    };
    let hops: Vec<&MatchStep> = plan.steps.iter().filter(is_hop).collect();
    let others = |walk: &Walk| {
        hops.iter().all(|it| match it {
            MatchStep::Walk(other) if other.hop.relationship == walk.hop.relationship => true,
            MatchStep::Expand(hop) | MatchStep::Walk(Walk { hop, .. }) => {
                match (&hop.types, &walk.hop.types) {
                    (Some(types), Some(own)) => types.iter().all(|it| !own.contains(it)),
                    _ => false,
                }
            }
            _ => false,
        })
    };
    let walks: Vec<bool> = plan
        .steps
        .iter()
        .map(|step| match step {
            MatchStep::Walk(walk) => {
                walk.min <= 1
                    && !walk.is_listed
                    && walk.shortest.is_none()
                    && walk.hop.direction != Direction::Either
                    && others(walk)
            }
            _ => false,
        })
        .collect();
    for (step, is_distinct) in plan.steps.iter_mut().zip(walks) {
        if let MatchStep::Walk(walk) = step {
            walk.is_distinct |= is_distinct;
        }
    }
}
