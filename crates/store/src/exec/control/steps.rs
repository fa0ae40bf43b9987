//! Notes the steps of a request while it is carried out.

use super::context::Context;
use super::trace::Step;
use hexgraph_base::types::Position;
use std::time::{Duration, Instant};

/// A step that was begun; without a trace, nothing.
pub(crate) struct Begun(Option<usize>);

impl Context<'_> {
    /// Begins a step of the trace. Costs one test when nothing is traced.
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
