//! The shadow: what a query executes is compared with what it was planned to execute.

use hexgraph::db::{Database, QueryRequest, RequestContext};
use hexgraph::internals::exec::{AccessPath, BlockPath, Step, Trace};
use hexgraph::internals::planner::{PlannedPath, PlannedStep};

/// How often a query is planned and run at most until nothing happens in between: there are fewer
/// compactions behind a step of a test.
const ATTEMPTS: usize = 100;

/// Runs a query, and says which step of it the plan does not have; `None` where it has all of them,
/// or the query is refused.
///
/// A compaction in between may change what is chosen, so that a step counts only if the plan is the
/// same before and after it. While others keep the machine busy, that may take several attempts.
pub fn unplanned(
    db: &Database,
    request: &QueryRequest,
    control: &RequestContext,
) -> Option<String> {
    for _ in 0..ATTEMPTS {
        let planned = db.planned_steps(request, control);
        control.start_trace();
        db.query_with(request, control).ok()?;
        let executed = control.trace().map(Trace::steps).unwrap_or_default();
        let missing = match &planned {
            Ok(planned) => unplanned_step(planned, &executed),
            Err(error) => Some(format!("the plan is refused: {error}")),
        };
        missing.as_ref()?;
        let after = db.planned_steps(request, control);
        if format!("{planned:?}") == format!("{after:?}") {
            return missing;
        }
    }
    panic!("a plan changes {ATTEMPTS} times although nothing is written")
}

/// The first step that was executed and not planned. Where nothing is estimated, all steps are the
/// same, in the same order.
pub fn unplanned_step(planned: &[PlannedStep], executed: &[Step]) -> Option<String> {
    // How many batches there are is seen when they are read.
    let has_batches = |step: &PlannedStep| {
        step.paths.iter().any(|it| it.path == AccessPath::Block(BlockPath::WalkBatches))
    };
    let is_open = |step: &PlannedStep| {
        step.is_estimated || step.is_fallback || 1 < step.paths.len() || has_batches(step)
    };
    let all: Vec<usize> = (0..planned.len()).filter(|at| planned[*at].depth == 0).collect();
    let missing = uncovered(planned, &all, executed).or_else(|| {
        if planned.iter().any(is_open) {
            return None;
        }
        let other = executed.iter().zip(planned).find(|(step, planned)| !is_same(planned, step));
        let other = other.map(|(step, _)| step);
        let rest = planned.len() != executed.len();
        other.cloned().or_else(|| executed.last().filter(|_| rest).cloned())
    })?;
    let lines = planned.iter().map(|step| {
        let indent = "  ".repeat(step.depth);
        let paths: Vec<_> = step.paths.iter().map(|path| path.path).collect();
        format!("  {indent}{} {} {:?} {paths:?}\n", step.action, step.name, step.at)
    });
    Some(format!("{missing:?}\n  is not planned by\n{}", lines.collect::<String>()))
}

/// The first of some executed steps, which are parts of one, that is not among the planned ones.
fn uncovered(planned: &[PlannedStep], siblings: &[usize], executed: &[Step]) -> Option<Step> {
    let mut at = 0;
    while at < executed.len() {
        let step = &executed[at];
        let len = 1 + executed[at + 1..].iter().take_while(|it| step.depth < it.depth).count();
        let matching = || siblings.iter().copied().filter(|it| is_same(&planned[*it], step));
        if matching().next().is_none() {
            return Some(step.clone());
        }
        let parts: Vec<usize> = matching().flat_map(|it| parts_of(planned, it)).collect();
        if let Some(part) = uncovered(planned, &parts, &executed[at + 1..at + len]) {
            return Some(part);
        }
        at += len;
    }
    None
}

/// The positions of the steps that are parts of one, but for those that are parts of its parts.
fn parts_of(planned: &[PlannedStep], at: usize) -> Vec<usize> {
    let depth = planned[at].depth;
    let below = (at + 1..planned.len()).take_while(|it| depth < planned[*it].depth);
    below.filter(|it| planned[*it].depth == depth + 1).collect()
}

/// Whether a step is the planned one, by one of its access paths.
fn is_same(planned: &PlannedStep, step: &Step) -> bool {
    // A field that `expand` brings stands where `expand` does; the steps of an algorithm say how it
    // ended.
    let has_name = step.at.is_some() || step.action == "compute" || planned.name == step.name;
    let chooses = |path: &PlannedPath| Some(path.path) == step.path;
    planned.action == step.action
        && planned.at == step.at
        && has_name
        && (step.path.is_none() || planned.paths.iter().any(chooses))
}
