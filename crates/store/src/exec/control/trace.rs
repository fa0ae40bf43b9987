//! Records the steps of a request, for `explain`, and what is likely a mistake in it, for its warnings.

use crate::exec::physical::path::AccessPath;
use hexgraph_base::types::Position;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// One step of a request. Steps stand in the order in which they began; a deeper one is part of
/// the last one before it that is less deep.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The number of steps that it is a part of.
    pub depth: usize,
    /// The name of the step, such as `filter` or `order`.
    pub action: &'static str,
    /// The object of the step: the name of a block, or the key of a field.
    pub name: String,
    /// The place in the request's text that asks for it.
    pub at: Option<Position>,
    /// The way that was taken, where there are several.
    pub path: Option<AccessPath>,
    /// The rows that were expected, where the indexes tell.
    pub estimate: Option<u64>,
    /// The nodes, edges or values that came out.
    pub rows: u64,
    /// The threads that the work of the step was shared with, this one included; 1 where it was not.
    pub threads: usize,
    /// The time that it took, with the steps that are parts of it.
    pub time: Duration,
}

/// A use of a variable that has no value at any of the nodes where it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmet {
    /// The name of the variable.
    pub name: String,
    /// The place in the request's text that asks for it.
    pub at: Position,
    /// True in a filter, which no node passes then; in `math` it counts as 0.
    pub is_filter: bool,
}

/// Collects such uses.
#[derive(Debug, Default)]
pub(super) struct Unmets {
    found: Mutex<Vec<Unmet>>,
}

impl Unmets {
    /// Adds one.
    pub(super) fn add(&self, unmet: Unmet) {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).push(unmet);
    }

    /// Takes those that were added so far.
    pub(super) fn take(&self) -> Vec<Unmet> {
        std::mem::take(&mut *self.found.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Collects the steps of one request.
#[derive(Debug, Default)]
pub struct Trace {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
pub(super) struct Inner {
    /// The steps, in the order in which they began.
    pub(super) steps: Vec<Step>,
    /// The places of those that have not ended, and when they began.
    pub(super) open: Vec<(usize, Instant)>,
}

impl Trace {
    /// The steps so far.
    pub fn steps(&self) -> Vec<Step> {
        self.lock().steps.clone()
    }

    /// Changes the innermost of the steps that have not ended.
    pub(super) fn note(&self, change: impl FnOnce(&mut Step)) {
        let mut inner = self.lock();
        if let Some(&(place, _)) = inner.open.last() {
            change(&mut inner.steps[place]);
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
