//! What a request did, step by step: for `explain`.

use super::context::Context;
use hexgraph_base::types::Position;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// One step of a request. Steps stand in the order in which they began; a deeper one is part of
/// the last one before it that is less deep.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// How many steps it is part of.
    pub depth: usize,
    /// What was done.
    pub action: &'static str,
    /// What it was done with: the name of a block, the key of a field.
    pub name: String,
    /// Where the text asks for it.
    pub at: Option<Position>,
    /// The way that was taken, where there are several.
    pub way: &'static str,
    /// The rows that were expected, where the indexes tell.
    pub estimate: Option<u64>,
    /// The nodes, edges or values that came out.
    pub rows: u64,
    /// How long it took, with the steps that are part of it.
    pub time: Duration,
}

/// Collects the steps of one request.
#[derive(Debug, Default)]
pub struct Trace {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    steps: Vec<Step>,
    open: Vec<(usize, Instant)>,
}

/// A step that was begun; without a trace, nothing.
pub(crate) struct Begun(Option<usize>);

impl Trace {
    /// The steps so far.
    pub fn steps(&self) -> Vec<Step> {
        self.lock().steps.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Context<'_> {
    /// Begins a step. Costs a test where nobody traces.
    pub(crate) fn begin(
        &self,
        action: &'static str,
        name: &str,
        at: Option<Position>,
        estimate: Option<usize>,
    ) -> Begun {
        let Some(trace) = self.control.trace() else { return Begun(None) };
        let mut inner = trace.lock();
        let step = Step {
            depth: inner.open.len(),
            action,
            name: name.to_owned(),
            at,
            way: "",
            estimate: estimate.map(|rows| rows as u64),
            rows: 0,
            time: Duration::ZERO,
        };
        let place = inner.steps.len();
        inner.steps.push(step);
        inner.open.push((place, Instant::now()));
        Begun(Some(place))
    }

    /// Notes the way that the innermost step takes.
    pub(crate) fn took(&self, way: &'static str) {
        let Some(trace) = self.control.trace() else { return };
        let mut inner = trace.lock();
        if let Some(&(place, _)) = inner.open.last() {
            inner.steps[place].way = way;
        }
    }

    /// Ends a step, and those inside it that an error left open.
    pub(crate) fn end(&self, begun: &Begun, rows: usize) {
        let (Some(trace), Some(place)) = (self.control.trace(), begun.0) else { return };
        let mut inner = trace.lock();
        while let Some((last, since)) = inner.open.pop() {
            inner.steps[last].time = since.elapsed();
            if last == place {
                inner.steps[place].rows = rows as u64;
                break;
            }
        }
    }
}
