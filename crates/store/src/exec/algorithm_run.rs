//! Runs an algorithm under the limits of a request, whichever language calls it.

use crate::algo::{
    CallGraph, Estimate, GraphCache, Outcome, Requested, Run, Task, compute, estimate,
};
use crate::exec::control::stop::RequestContext;
use hexgraph_base::plan::AlgorithmCall;
use hexgraph_base::types::{Error, Result};

/// Returns the compact graph that is requested: one that was made before, or a new one.
///
/// # Errors
///
/// `Query` for a weight that is negative or no number, and for a facet that no edge has;
/// `Limit`, with the memory that the entire call takes.
pub fn call_graph(
    control: &RequestContext,
    call: &AlgorithmCall,
    expected: &Requested<'_>,
) -> Result<CallGraph> {
    let (task, name) = (Task::new(control, call.threads), call.algorithm.name);
    let (graph, lookup) = GraphCache::get(control.graphs(), expected, &task)
        .map_err(|error| with_estimate(control, error, name, || estimate(name, expected, None)))?;
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
pub fn run_algorithm(
    control: &RequestContext,
    call: &AlgorithmCall,
    graph: CallGraph,
    lists: Vec<Option<Vec<u32>>>,
) -> Result<Outcome> {
    let CallGraph { graph, weights, estimate, .. } = graph;
    let task = Task::new(control, call.threads);
    compute(&Run { graph: &graph, call, lists, weights: &weights, task })
        .map_err(|error| with_estimate(control, error, call.algorithm.name, || estimate))
}

/// Adds to the error of a request without memory the memory of the entire call.
fn with_estimate(
    control: &RequestContext,
    error: Error,
    name: &str,
    estimate: impl FnOnce() -> Option<Estimate>,
) -> Error {
    let Error::Limit { message } = error else { return error };
    let estimate = if control.is_out_of_memory() { estimate() } else { None };
    let needed = estimate.map_or_else(String::new, |Estimate { nodes, edges, bytes }| {
        let mebibytes = bytes.div_ceil(1 << 20);
        format!("; `{name}` on {nodes} nodes and {edges} edges takes about {mebibytes}MiB")
    });
    Error::Limit { message: format!("{message}{needed}") }
}
