//! What algorithms say, and what they cost, where numbers are very great or small, graphs very long, and arguments ask for what cannot be.

use super::case::{assert_near, call, floats, nodes, simply};
use crate::algo::{Alone, EdgeArrays, Found, Graph, Output, Run, Task, Work, compute};
use hexgraph_base::plan::{AlgorithmCall, ArgumentValue};
use hexgraph_base::types::Result;

fn graph(count: usize, edges: &[(u32, u32)], weights: Option<&[f64]>, both: bool) -> Graph {
    let (sources, targets): (Vec<u32>, Vec<u32>) = edges.iter().copied().unzip();
    let arrays = EdgeArrays {
        nodes: count,
        sources: &sources,
        targets: &targets,
        weights,
        is_undirected: both,
    };
    Graph::of_arrays(&arrays, &Task::new(&Alone, None)).unwrap()
}

/// What an algorithm finds, and how.
fn told(graph: &Graph, call: &AlgorithmCall, work: &dyn Work) -> Result<Found> {
    let list = |name: &str| {
        let list = call.nodes(name)?;
        Some(list.uids.iter().map(|uid| *uid as u32).collect::<Vec<u32>>())
    };
    let lists = call.algorithm.arguments.iter().map(|argument| list(argument.name)).collect();
    compute(&Run { graph, call, lists, task: Task::new(work, None) })
}

#[test]
fn katz_refuses_scores_that_do_not_settle() {
    // The greatest eigenvalue is 2.
    let triangle = graph(3, &[(0, 1), (0, 2), (1, 2)], None, true);
    let ask = |alpha: f64, iterations: i64| {
        let arguments = [
            ("alpha", ArgumentValue::Float(alpha)),
            ("iterations", ArgumentValue::Int(iterations)),
            ("normalized", ArgumentValue::Bool(false)),
        ];
        Ok::<_, hexgraph_base::types::Error>(floats(
            told(&triangle, &call("katz", &arguments), &Alone)?.output,
        ))
    };
    for alpha in [0.5, 0.6, 7.0] {
        let error = ask(alpha, 1000).unwrap_err().to_string();
        assert!(error.contains("is too great for this graph"), "{alpha}: {error}");
    }
    assert!(ask(0.4, 1000).unwrap().iter().all(|score| (score - 5.0).abs() < 1e-5));
    // Few rounds of scores that would settle have a rough answer.
    assert_near(&ask(0.4, 3).unwrap(), &[1.0 + 0.8 + 0.64; 3], "three rounds");
    assert_near(&ask(0.6, 1).unwrap(), &[1.0; 3], "one round");
    // Scores that no round changes any more have settled, if the bound is 0.
    let exact = [("tolerance", ArgumentValue::Float(0.0)), ("beta", ArgumentValue::Float(0.0))];
    assert!(told(&triangle, &call("katz", &exact), &Alone).is_ok());
}
