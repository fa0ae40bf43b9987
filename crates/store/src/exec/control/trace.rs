//! Records the steps of a request, for `explain`, and what is likely a mistake in it, for its
//! warnings.

use crate::exec::access_path::AccessPath;
use hexgraph_base::plan::{Aggregate, MathFunction, VarId};
use hexgraph_base::types::{Position, Uid, ValueType};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// One step of a request. Steps are in the order in which they began; a deeper one is part of
/// the last one before it that is less deep.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The number of steps that it is a part of.
    pub depth: usize,
    /// The name of the step, such as `filter` or `order`.
    pub action: &'static str,
    /// The object of the step: the name of a block, or the key of a field.
    pub name: String,
    /// The position in the request's text that requests it.
    pub at: Option<Position>,
    /// The chosen access path, if there are several.
    pub path: Option<AccessPath>,
    /// The rows that were expected, if the indexes have an estimate.
    pub estimate: Option<u64>,
    /// The nodes, edges or values that came out.
    pub rows: u64,
    /// The threads that the work of the step was shared with, this one included; 1 where it was
    /// not.
    pub threads: usize,
    /// The time that it took, with the steps that are parts of it.
    pub time: Duration,
}

/// A use of variables that is answered, and likely means something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    /// The position in the request's text that requests it.
    pub at: Position,
    /// What is doubtful.
    pub what: Doubtful,
}

/// What is doubtful in a use of variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Doubtful {
    /// A variable has no value at any of the nodes that a filter tests: none passes.
    NoneToFilter(VarId),
    /// A variable has no value at any of the nodes of an expression: it counts as 0.
    NoneToCompute(VarId),
    /// A variable has no value at some of the nodes of an expression, and counts as 0 there.
    SomeMissing {
        /// The variable.
        var: VarId,
        /// The nodes where it has none and another variable has one.
        lacking: usize,
        /// The nodes that have a value of any variable of the expression.
        nodes: usize,
    },
    /// Values are added up some of them sums over all paths to a node, also from elsewhere.
    SharedBelow {
        /// The variable of the level below.
        var: VarId,
        /// How it is aggregated.
        op: Aggregate,
        /// A node that is the target of several nodes.
        uid: Uid,
    },
    /// A variable of a level above is computed with as the sum over all source nodes of a node.
    SharedAbove {
        /// The variable of the level above.
        var: VarId,
        /// A node that is the target of several nodes.
        uid: Uid,
    },
    /// The rounds of an algorithm ended before its numbers stood still.
    NotConverged {
        /// The algorithm.
        name: &'static str,
        /// The rounds that were made.
        rounds: usize,
        /// By how much the last one changed all numbers together, as text.
        residual: String,
    },
    /// An operator has no result for the types of its operands.
    NoResult {
        /// The operator.
        function: MathFunction,
        /// The operands that are values of nodes or constants: their types, and their variables
        /// where they are nothing else.
        operands: Vec<(ValueType, Option<VarId>)>,
    },
}

/// The most doubts that are retained of a request: nobody reads more.
const DOUBTS_MAX: usize = 100;

/// Collects doubts, each once.
#[derive(Debug, Default)]
pub(super) struct Doubts {
    result: Mutex<Vec<Doubt>>,
}

impl Doubts {
    /// Adds one, unless it is there or there are many already.
    pub(super) fn add(&self, doubt: Doubt) {
        let mut result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        if result.len() < DOUBTS_MAX && !result.contains(&doubt) {
            result.push(doubt);
        }
    }

    /// Takes those that were added so far.
    pub(super) fn take(&self) -> Vec<Doubt> {
        std::mem::take(&mut *self.result.lock().unwrap_or_else(PoisonError::into_inner))
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
    /// The positions of those that have not ended, and when they began.
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
        if let Some(&(position, _)) = inner.open.last() {
            change(&mut inner.steps[position]);
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
