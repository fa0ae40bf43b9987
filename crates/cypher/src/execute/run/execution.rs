//! What all parts of a run have in common.

use super::cache::{CallCache, LabelSet, LabelSets, Memos, RangeCache, VisitedNodes};
pub(in crate::execute) use super::rows::{Reservation, Row, weight};
use crate::execute::adjacency::Adjacency;
use crate::execute::failure::{failure, located};
use crate::execute::graph::Graph;
use crate::execute::profile::{Profile, StepId};
use crate::span::Span;
use hexgraph_base::types::{Error, Result};
use hexgraph_scalar::{Context, ScalarError};
use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::sync::Arc;

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
    /// The results of algorithms.
    pub(super) calls: CallCache<'a>,
    /// The sorted relationships of nodes.
    pub(super) ranges: RangeCache<'a>,
    label_sets: LabelSets<'a>,
    /// The memory of the nodes that a walk visits, while none does.
    pub(super) visited: RefCell<VisitedNodes>,
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
            calls: CallCache::default(),
            ranges: RangeCache::new(graph),
            label_sets: LabelSets::new(graph),
            visited: RefCell::default(),
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

    /// The nodes with a label. O(nodes) for the first call.
    pub(in crate::execute) fn label_set(
        &self,
        label: &Arc<str>,
        graph: &dyn Adjacency,
    ) -> Result<Arc<LabelSet>> {
        self.label_sets.get(label, graph)
    }

    /// The moment of the query and its limits.
    pub(in crate::execute) fn context(&self) -> &Context {
        self.context
    }

    /// Memory that is reserved until the result is dropped.
    pub(in crate::execute) fn reservation(&self) -> Reservation<'a> {
        Reservation::new(self.graph)
    }
}
