//! Runs an algorithm under the limits of a request, whichever language calls it.

use crate::algo::{
    Estimate, Graph, GraphCache, Lookup, Outcome, Requested, Run, Task, compute, estimate,
};
use crate::exec::control::stop::RequestContext;
use hexgraph_base::plan::AlgorithmCall;
use hexgraph_base::types::{Error, Result};
use std::sync::Arc;

/// A call of an algorithm in a request.
#[derive(Clone, Copy)]
pub struct AlgorithmRun<'r> {
    /// The limits, the threads and the cached graphs.
    pub control: &'r RequestContext,
    /// The algorithm and its arguments.
    pub call: &'r AlgorithmCall,
}

/// The compact graph of a call.
pub struct CallGraph {
    /// The graph.
    pub graph: Arc<Graph>,
    /// Where it comes from.
    pub lookup: Lookup,
    /// What its weights are called.
    weights: String,
    /// The memory that the call takes.
    estimate: Option<Estimate>,
}

impl AlgorithmRun<'_> {
    /// Returns the compact graph that is requested: one that was made before, or a new one.
    ///
    /// # Errors
    ///
    /// `Query` for a weight that is negative or no number, and for a facet that no edge has;
    /// `Limit`, with the memory that the entire call takes.
    pub fn graph(self, expected: &Requested<'_>) -> Result<CallGraph> {
        let task = Task::new(self.control, self.call.threads);
        let name = self.call.algorithm.name;
        let (graph, lookup) = GraphCache::get(self.control.graphs(), expected, &task)
            .map_err(|error| self.with_estimate(error, || estimate(name, expected, None)))?;
        let estimate = estimate(name, expected, Some(&graph));
        Ok(CallGraph { graph, lookup, weights: expected.weights(), estimate })
    }

    /// Runs the algorithm. `lists` are the nodes and groups of its arguments, as those of a
    /// [`Run`].
    ///
    /// # Errors
    ///
    /// `Query` for arguments that do not fit the graph; `Limit`, with the memory that the entire
    /// call takes.
    pub fn outcome(self, graph: CallGraph, lists: Vec<Option<Vec<u32>>>) -> Result<Outcome> {
        let CallGraph { graph, weights, estimate, .. } = graph;
        let task = Task::new(self.control, self.call.threads);
        compute(&Run { graph: &graph, call: self.call, lists, weights: &weights, task })
            .map_err(|error| self.with_estimate(error, || estimate))
    }

    /// Adds to the error of a request without memory the memory of the entire call.
    fn with_estimate(self, error: Error, estimate: impl FnOnce() -> Option<Estimate>) -> Error {
        let Error::Limit { message } = error else { return error };
        let estimate = if self.control.is_out_of_memory() { estimate() } else { None };
        let needed = estimate.map_or_else(String::new, |Estimate { nodes, edges, bytes }| {
            let (name, mebibytes) = (self.call.algorithm.name, bytes.div_ceil(1 << 20));
            format!("; `{name}` on {nodes} nodes and {edges} edges takes about {mebibytes}MiB")
        });
        Error::Limit { message: format!("{message}{needed}") }
    }
}
