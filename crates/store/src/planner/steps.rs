//! The steps of a plan, and the list that they are collected in.

use super::cardinality::{Cardinality, Decision};
use crate::exec::AccessPath;
use hexgraph_base::types::Position;

/// One step of a plan. A deeper one is part of the last one before it that is less deep.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedStep {
    /// The number of steps that it is a part of.
    pub depth: usize,
    /// The name of the step, as in a [`Step`](crate::exec::Step) of the trace; `refuse` for an
    /// error.
    pub action: &'static str,
    /// The object of the step: the name of a block, or the key of a field.
    pub name: String,
    /// The position in the request's text that requests it.
    pub at: Option<Position>,
    /// The access paths that may be chosen, the expected one first; empty if the step has none.
    pub paths: Vec<PlannedPath>,
    /// The expected rows.
    pub estimate: Option<u64>,
    /// True where a number of rows decides that is an estimate before the query runs.
    pub is_estimated: bool,
    /// True where it runs only after another step was abandoned, or instead of another one.
    pub is_fallback: bool,
}

/// An access path that may be chosen for a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedPath {
    /// The access path.
    pub path: AccessPath,
    /// The least number for which it is chosen; `None` where none is too small.
    pub from: Option<u64>,
    /// The first number for which it is no longer chosen; `None` where none is too great.
    pub below: Option<u64>,
    /// What these are numbers of, or else the condition under which it is chosen.
    pub when: &'static str,
}

impl PlannedPath {
    /// In words when the path is chosen: `from 500 rows`. Empty where nothing else may be.
    pub fn condition(&self) -> String {
        match (self.from, self.below) {
            (None, None) if self.when == ROWS => String::new(),
            (None, None) => self.when.to_owned(),
            (Some(from), None) => format!("from {from} {}", self.when),
            (None, Some(below)) => format!("below {below} {}", self.when),
            (Some(from), Some(below)) => format!("from {from} to below {below} {}", self.when),
        }
    }
}

/// The unit of most numbers that decide.
pub(super) const ROWS: &str = "rows";

/// Under which condition the next path is executed.
pub(super) const ABANDONED: &str = "if abandoned";

/// The access paths of one step.
#[derive(Debug, Clone, Default)]
pub(super) struct StepPaths(Vec<PlannedPath>);

impl StepPaths {
    pub(super) fn one(path: impl Into<AccessPath>) -> StepPaths {
        StepPaths::default().or(path, "")
    }

    /// Those that a function of the number of rows chooses.
    pub(super) fn by_rows<P: PartialEq + Into<AccessPath>>(
        rows: Cardinality,
        decide: impl Fn(usize) -> P,
    ) -> StepPaths {
        let mut choices = StepPaths::default();
        for Decision { value, from, below } in rows.decide(decide) {
            let (from, below) = (from.map(|it| it as u64), below.map(|it| it as u64));
            choices.add(PlannedPath { path: value.into(), from, below, when: ROWS });
        }
        choices
    }

    /// With one that is chosen under a condition, unless it is there.
    pub(super) fn or(mut self, path: impl Into<AccessPath>, when: &'static str) -> StepPaths {
        self.add(PlannedPath { path: path.into(), from: None, below: None, when });
        self
    }

    /// With one that is chosen from `from` on.
    pub(super) fn or_from(
        mut self,
        path: impl Into<AccessPath>,
        from: usize,
        when: &'static str,
    ) -> StepPaths {
        self.add(PlannedPath { path: path.into(), from: Some(from as u64), below: None, when });
        self
    }

    /// With one that is chosen below `below`.
    pub(super) fn or_below(
        mut self,
        path: impl Into<AccessPath>,
        below: usize,
        when: &'static str,
    ) -> StepPaths {
        self.add(PlannedPath { path: path.into(), from: None, below: Some(below as u64), when });
        self
    }

    /// Whether there is one.
    pub(super) fn is_any(&self) -> bool {
        !self.0.is_empty()
    }

    pub(super) fn and(mut self, others: StepPaths) -> StepPaths {
        others.0.into_iter().for_each(|other| self.add(other));
        self
    }

    /// Whether a path may be chosen.
    pub(super) fn has(&self, path: impl Into<AccessPath>) -> bool {
        let path = path.into();
        self.0.iter().any(|it| it.path == path)
    }

    /// Whether a path is the only one.
    pub(super) fn is_only(&self, path: impl Into<AccessPath>) -> bool {
        self.0.len() == 1 && self.has(path)
    }

    fn add(&mut self, path: PlannedPath) {
        // One that is chosen in two ranges is chosen in the first, and elsewhere too.
        match self.0.iter_mut().find(|it| it.path == path.path) {
            None => self.0.push(path),
            Some(_) if path.when != ROWS => {}
            Some(existing) => {
                existing.from = existing.from.min(path.from);
                existing.below = existing.below.zip(path.below).map(|(one, other)| one.max(other));
            }
        }
    }
}

/// Collects the steps of a plan.
#[derive(Debug, Default)]
pub(super) struct StepList {
    steps: Vec<PlannedStep>,
    depth: usize,
    /// True while steps are planned that run only instead of others.
    pub(super) is_fallback: bool,
}

/// The position of a step that was opened.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opened(usize);

/// A position between steps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    steps: usize,
    depth: usize,
    is_fallback: bool,
}

impl StepList {
    /// Begins a step, whose parts follow until it is closed.
    pub(super) fn open(
        &mut self,
        action: &'static str,
        name: &str,
        at: Option<Position>,
    ) -> Opened {
        let is_fallback = self.is_fallback;
        self.steps.push(PlannedStep {
            depth: self.depth,
            action,
            name: name.to_owned(),
            at,
            paths: Vec::new(),
            estimate: None,
            is_estimated: false,
            is_fallback,
        });
        self.depth += 1;
        Opened(self.steps.len() - 1)
    }

    /// Notes the expected rows of a step, and whether they are an estimate.
    pub(super) fn expect(&mut self, Opened(at): Opened, rows: Option<usize>, is_exact: bool) {
        self.steps[at].estimate = rows.map(|rows| rows as u64);
        self.steps[at].is_estimated = !is_exact;
    }

    /// Closes a step.
    pub(super) fn close(&mut self, Opened(at): Opened, choices: StepPaths) {
        self.depth -= 1;
        self.steps[at].paths = choices.0;
    }

    /// Adds access paths to a step that was closed.
    pub(super) fn add(&mut self, Opened(at): Opened, more: StepPaths) {
        let existing = self.steps[at].paths.clone();
        self.steps[at].paths = StepPaths(existing).and(more).0;
    }

    /// The number of access paths of a step that was closed.
    pub(super) fn path_count(&self, Opened(at): Opened) -> usize {
        self.steps[at].paths.len()
    }

    /// Adds an access path to the last step with another one.
    pub(super) fn add_to_last(
        &mut self,
        existing: impl Into<AccessPath>,
        path: impl Into<AccessPath>,
        when: &'static str,
    ) {
        let existing = existing.into();
        let has_it = |step: &PlannedStep| step.paths.iter().any(|it| it.path == existing);
        if let Some(at) = self.steps.iter().rposition(has_it) {
            self.add(Opened(at), StepPaths::default().or(path, when));
        }
    }

    /// Replaces the access paths of a step that was closed.
    pub(super) fn replace(&mut self, Opened(at): Opened, choices: StepPaths) {
        self.steps[at].paths = choices.0;
    }

    /// Where the next step will be.
    pub(super) fn mark(&self) -> Mark {
        Mark { steps: self.steps.len(), depth: self.depth, is_fallback: self.is_fallback }
    }

    /// The access paths of the steps since a mark.
    pub(super) fn paths_since(&self, mark: Mark) -> Vec<Vec<AccessPath>> {
        let steps = self.steps[mark.steps..].iter();
        steps.map(|step| step.paths.iter().map(|path| path.path).collect()).collect()
    }

    /// Leaves out the steps since a mark, also those that are open.
    pub(super) fn rewind(&mut self, mark: Mark) {
        self.steps.truncate(mark.steps);
        self.depth = mark.depth;
        self.is_fallback = mark.is_fallback;
    }

    /// A step without parts.
    pub(super) fn leaf(&mut self, action: &'static str, name: &str, at: Option<Position>) {
        let step = self.open(action, name, at);
        self.close(step, StepPaths::default());
    }

    pub(super) fn finish(self) -> Vec<PlannedStep> {
        self.steps
    }
}
