//! What the steps of a plan cost when they run: the rows of each, and its time.

use super::plan::{JoinStep, Pattern, Stage};
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::ptr;
use std::time::{Duration, Instant};

/// Identifies a stage, or a step of a match, of a plan that does not move: its address.
pub(super) type StepId = usize;

/// The rows that a step gave, and its time without that of the steps before and after it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Measured {
    pub(super) rows: u64,
    pub(super) time: Duration,
}

/// The measures of one run.
#[derive(Debug)]
pub(super) struct Profile {
    measured: RefCell<FxHashMap<StepId, Measured>>,
    /// For patterns that were joined by lists the steps of that.
    joins: RefCell<FxHashMap<StepId, Vec<JoinStep>>>,
    /// The step whose time runs, and since when.
    current: Cell<Option<StepId>>,
    since: Cell<Instant>,
}

impl Profile {
    pub(super) fn new() -> Profile {
        Profile {
            measured: RefCell::default(),
            joins: RefCell::default(),
            current: Cell::new(None),
            since: Cell::new(Instant::now()),
        }
    }

    /// Returns the id of a part of a plan.
    pub(super) fn id_of<T>(part: &T) -> StepId {
        ptr::from_ref(part).addr()
    }

    /// Returns the id of a stage.
    pub(super) fn id_of_stage(stage: &Stage) -> StepId {
        match stage {
            // A group reads the bindings of a join without its stage.
            Stage::Join(plan) => Profile::id_of(&**plan),
            stage => Profile::id_of(stage),
        }
    }

    /// The time of another step runs from now on. Returns the step before, which is entered again
    /// afterwards.
    pub(super) fn enter(&self, step: Option<StepId>) -> Option<StepId> {
        let now = Instant::now();
        let before = self.current.replace(step);
        if let Some(before) = before {
            let mut measured = self.measured.borrow_mut();
            measured.entry(before).or_default().time += now - self.since.get();
        }
        self.since.set(now);
        before
    }

    /// A step gives some rows.
    pub(super) fn add_rows(&self, step: StepId, rows: usize) {
        self.measured.borrow_mut().entry(step).or_default().rows += rows as u64;
    }

    /// The step whose time runs gives a row.
    pub(super) fn add_row_of_current(&self) {
        self.add_rows_of_current(1);
    }

    /// The step whose time runs gives some rows.
    pub(super) fn add_rows_of_current(&self, rows: usize) {
        if let Some(step) = self.current.get() {
            self.add_rows(step, rows);
        }
    }

    /// A pattern is joined in these steps; none for one that runs as another pattern, or as
    /// several.
    pub(super) fn set_join(&self, pattern: &Pattern, steps: Vec<JoinStep>) {
        self.joins.borrow_mut().entry(Profile::id_of(pattern)).or_insert(steps);
    }

    /// The steps in which a pattern was joined; `None` where its matches were listed.
    pub(super) fn join_of(&self, pattern: &Pattern) -> Option<Vec<JoinStep>> {
        self.joins.borrow().get(&Profile::id_of(pattern)).cloned()
    }

    pub(super) fn measured(&self, step: StepId) -> Measured {
        self.measured.borrow().get(&step).copied().unwrap_or_default()
    }
}
