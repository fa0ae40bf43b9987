//! Notes the steps of a request while it is executed.

use super::context::Context;
use super::trace::{Step, Trace};
use crate::exec::access_path::{AccessPath, GroupPath};
use hexgraph_base::types::Position;
use std::time::{Duration, Instant};

/// A step that was begun; without a trace, nothing.
pub(crate) struct Begun(Option<usize>);

impl Context<'_> {
    /// Begins a step of the trace. Costs one test when nothing is traced.
    #[inline]
    pub(crate) fn begin(
        &self,
        action: &'static str,
        name: &str,
        at: Option<Position>,
        estimate: Option<usize>,
    ) -> Begun {
        match self.control.trace() {
            Some(trace) => Begun(Some(begun(trace, action, name, at, estimate))),
            None => Begun(None),
        }
    }

    /// Notes the access path of the innermost step.
    #[inline]
    pub(crate) fn record_path(&self, path: impl Into<AccessPath>) {
        if let Some(trace) = self.control.trace() {
            trace.note(|step| step.path = Some(path.into()));
        }
    }

    /// Notes a strategy by which groups of the innermost step are made. Lists of a level may have
    /// several strategies, on several threads: of those the last in the order of [`GroupPath`] is
    /// reported, whichever thread is the last.
    #[inline]
    pub(crate) fn record_group_path(&self, path: GroupPath) {
        let Some(trace) = self.control.trace() else { return };
        trace.note(|step| {
            let reported = match step.path {
                Some(AccessPath::Group(existing)) => existing.max(path),
                _ => path,
            };
            step.path = Some(reported.into());
        });
    }

    /// Notes the access path of a step, which may have ended.
    #[inline]
    pub(crate) fn record_path_of(&self, begun: &Begun, path: impl Into<AccessPath>) {
        if let (Some(trace), Some(position)) = (self.control.trace(), begun.0) {
            trace.lock().steps[position].path = Some(path.into());
        }
    }

    /// Says more about a step.
    pub(crate) fn describe(&self, begun: &Begun, text: &str) {
        if let (Some(trace), Some(position)) = (self.control.trace(), begun.0) {
            text.clone_into(&mut trace.lock().steps[position].name);
        }
    }

    /// Adds to the rows of a step, which may have ended.
    #[inline]
    pub(crate) fn add_rows(&self, begun: &Begun, rows: usize) {
        if let (Some(trace), Some(position)) = (self.control.trace(), begun.0) {
            trace.lock().steps[position].rows += rows as u64;
        }
    }

    /// Ends a step, and those inside it that an error left open.
    #[inline]
    pub(crate) fn end(&self, begun: &Begun, rows: usize) {
        if let (Some(trace), Some(position)) = (self.control.trace(), begun.0) {
            ended(trace, position, rows);
        }
    }
}

/// Puts a step after those of a trace, and returns its index.
#[cold]
fn begun(
    trace: &Trace,
    action: &'static str,
    name: &str,
    at: Option<Position>,
    estimate: Option<usize>,
) -> usize {
    let mut inner = trace.lock();
    let step = Step {
        depth: inner.open.len(),
        action,
        name: name.to_owned(),
        at,
        path: None,
        estimate: estimate.map(|rows| rows as u64),
        rows: 0,
        threads: 1,
        time: Duration::ZERO,
    };
    let position = inner.steps.len();
    inner.steps.push(step);
    inner.open.push((position, Instant::now()));
    position
}

#[cold]
fn ended(trace: &Trace, position: usize, rows: usize) {
    let mut inner = trace.lock();
    while let Some((last, since)) = inner.open.pop() {
        inner.steps[last].time = since.elapsed();
        if last == position {
            inner.steps[position].rows = rows as u64;
            break;
        }
    }
}
