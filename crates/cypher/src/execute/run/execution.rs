//! What all parts of a run have in common.

use super::memo::Memos;
use crate::execute::failure::{failure, located};
use crate::execute::graph::Graph;
use crate::execute::profile::{Profile, StepId};
use crate::span::Span;
use hexgraph_base::types::{Error, Result};
use hexgraph_scalar::{Context, ScalarError, Value};
use std::cell::Cell;
use std::mem;
use std::ops::ControlFlow;

/// A row: the values of all slots.
pub(in crate::execute) type Row = Vec<Value>;

/// Whether more rows are requested.
pub(in crate::execute) type Flow = ControlFlow<()>;

/// What is called with each row.
pub(in crate::execute) type Sink<'s> = &'s mut dyn FnMut(&mut Row) -> Result<Flow>;

/// More rows are requested.
pub(in crate::execute) const MORE: Flow = ControlFlow::Continue(());
/// No more rows are requested.
pub(in crate::execute) const DONE: Flow = ControlFlow::Break(());

/// One run of a query.
pub(in crate::execute) struct Execution<'a> {
    pub(in crate::execute) graph: &'a dyn Graph,
    pub(in crate::execute) text: &'a str,
    pub(super) context: &'a Context,
    ticks: Cell<u32>,
    pub(super) memos: Memos<'a>,
    /// What the steps cost, where that is measured.
    pub(in crate::execute) profile: Option<Profile>,
}

impl<'a> Execution<'a> {
    /// Begins a run.
    pub(in crate::execute) fn new(
        graph: &'a dyn Graph,
        text: &'a str,
        context: &'a Context,
    ) -> Result<Execution<'a>> {
        graph.check()?;
        Ok(Execution {
            graph,
            text,
            context,
            ticks: Cell::new(0),
            memos: Memos::default(),
            profile: None,
        })
    }

    /// Measures what each step costs.
    pub(in crate::execute) fn profiled(self) -> Execution<'a> {
        Execution { profile: Some(Profile::new()), ..self }
    }

    /// The time of another step runs from now on, where it is measured. Returns the step before.
    pub(in crate::execute) fn enter(&self, step: Option<StepId>) -> Option<StepId> {
        self.profile.as_ref().and_then(|it| it.enter(step))
    }

    /// Every loop calls it; each 64th call checks with the graph that the query may go on.
    #[inline]
    pub(in crate::execute) fn tick(&self) -> Result<()> {
        let ticks = self.ticks.get().wrapping_add(1);
        self.ticks.set(ticks);
        if ticks.is_multiple_of(64) { self.graph.check() } else { Ok(()) }
    }

    /// An error at a position.
    pub(super) fn failure(&self, span: Span, message: impl Into<String>, hint: &str) -> Error {
        failure(self.text, span, message, hint)
    }

    /// Adds the position to an error of an operator or function.
    pub(in crate::execute) fn at<T>(
        &self,
        span: Span,
        result: hexgraph_scalar::Result<T>,
    ) -> Result<T> {
        result.map_err(|error: Box<ScalarError>| located(self.text, span, error))
    }

    /// The moment of the query and its limits.
    pub(in crate::execute) fn context(&self) -> &Context {
        self.context
    }

    /// Memory that is reserved until the result is dropped.
    pub(in crate::execute) fn reservation(&self) -> Reservation<'a> {
        Reservation { graph: self.graph, bytes: 0 }
    }
}

/// Memory that is reserved as it grows, and returned when this is dropped.
pub(in crate::execute) struct Reservation<'a> {
    graph: &'a dyn Graph,
    bytes: usize,
}

impl Reservation<'_> {
    /// Reserves more.
    pub(super) fn grow(&mut self, bytes: usize) -> Result<()> {
        self.graph.reserve(bytes)?;
        self.bytes += bytes;
        Ok(())
    }

    /// Reserves the memory of a row of values.
    pub(in crate::execute) fn grow_by_row(&mut self, values: &[Value]) -> Result<()> {
        const ROW: usize = 2 * mem::size_of::<Vec<Value>>();
        self.grow(ROW + values.iter().map(weight).sum::<usize>())
    }

    /// Returns memory that is not used any more.
    pub(super) fn shrink(&mut self, bytes: usize) {
        let bytes = bytes.min(self.bytes);
        self.graph.release(bytes);
        self.bytes -= bytes;
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.graph.release(self.bytes);
    }
}

/// The bytes of a value: those of lists without what is inside of their elements.
pub(in crate::execute) fn weight(value: &Value) -> usize {
    const VALUE: usize = mem::size_of::<Value>();
    VALUE
        + match value {
            Value::String(text) => 16 + text.len(),
            Value::List(list) => 32 + VALUE * list.len(),
            Value::Map(map) => 32 + 3 * VALUE * map.entries().len(),
            Value::Path(path) => 64 + 28 * path.nodes.len(),
            Value::DateTime(_) => 64,
            _ => 0,
        }
}
