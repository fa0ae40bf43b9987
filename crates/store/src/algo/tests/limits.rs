//! Results and costs of algorithms for very great and small numbers, very long graphs, and invalid
//! arguments.

use super::case::{Counted, assert_near, call, floats, ints, nodes, simply};
use crate::algo::{Alone, EdgeArrays, Graph, Outcome, Output, Run, Task, Work, compute};
use fastrand::Rng;
use hexgraph_base::plan::{AlgorithmCall, ArgumentValue};
use hexgraph_base::types::Result;
use std::sync::atomic::Ordering::Relaxed;

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

/// A chain: each node has an edge to the next one.
fn path(count: u32) -> Graph {
    let edges: Vec<(u32, u32)> = (1..count).map(|to| (to - 1, to)).collect();
    graph(count as usize, &edges, None, false)
}

/// What an algorithm finds, and how.
fn reported(graph: &Graph, call: &AlgorithmCall, work: &dyn Work) -> Result<Outcome> {
    let list = |name: &str| {
        let list = call.nodes(name)?;
        Some(list.uids.iter().map(|uid| *uid as u32).collect::<Vec<u32>>())
    };
    let lists = call.algorithm.arguments.iter().map(|argument| list(argument.name)).collect();
    compute(&Run { graph, call, lists, weights: "`w`", task: Task::new(work, None) })
}

fn ranks(output: Output) -> Vec<(u32, f64)> {
    match output {
        Output::Some(ranks) => ranks,
        output => (0..).zip(floats(output)).collect(),
    }
}

#[test]
fn katz_refuses_scores_that_do_not_settle() {
    // The greatest eigenvalue is 2.
    let triangle = graph(3, &[(0, 1), (0, 2), (1, 2)], None, true);
    let run_with = |alpha: f64, iterations: i64| {
        let arguments = [
            ("alpha", ArgumentValue::Float(alpha)),
            ("iterations", ArgumentValue::Int(iterations)),
            ("normalized", ArgumentValue::Bool(false)),
        ];
        Ok::<_, hexgraph_base::types::Error>(floats(
            reported(&triangle, &call("katz", &arguments), &Alone)?.output,
        ))
    };
    for alpha in [0.5, 0.6, 7.0] {
        let error = run_with(alpha, 1000).unwrap_err().to_string();
        assert!(error.contains("is too great for this graph"), "{alpha}: {error}");
    }
    assert!(run_with(0.4, 1000).unwrap().iter().all(|score| (score - 5.0).abs() < 1e-5));
    // Few rounds of scores that would settle have a rough answer.
    assert_near(&run_with(0.4, 3).unwrap(), &[1.0 + 0.8 + 0.64; 3], "three rounds");
    assert_near(&run_with(0.6, 1).unwrap(), &[1.0; 3], "one round");
    // Scores that no round changes any more have converged, even if the bound is 0.
    let exact = [("tolerance", ArgumentValue::Float(0.0)), ("beta", ArgumentValue::Float(0.0))];
    assert!(reported(&triangle, &call("katz", &exact), &Alone).is_ok());
}

/// Users with edges to some items each, mostly the first ones; items have no edges.
fn shop(users: u32, rng: &mut Rng) -> Graph {
    let mut edges = Vec::new();
    for user in 0..users {
        let mut item = || users + (f64::from(users) * rng.f64().powi(2)) as u32;
        edges.extend((0..10).map(|_| (user, item())));
    }
    graph(2 * users as usize, &edges, None, false)
}

#[test]
fn ranks_by_push_hold_where_many_nodes_lead_nowhere() {
    let shop = shop(1000, &mut Rng::with_seed(1));
    for starts in [1, 10, 200, 1000] {
        let from: Vec<usize> = (0..starts).collect();
        let run_with = |more: &[(&str, ArgumentValue)]| {
            let mut arguments = vec![("from", nodes(&from))];
            arguments.extend_from_slice(more);
            ranks(simply(&shop, &call("pagerank", &arguments)))
        };
        let exact = run_with(&[
            ("tolerance", ArgumentValue::Float(1e-14)),
            ("iterations", ArgumentValue::Int(1000)),
        ]);
        for (tolerance, error) in [(1e-6, 0.02), (1e-9, 1e-5)] {
            let pushed = run_with(&[
                ("top", ArgumentValue::Int(10)),
                ("tolerance", ArgumentValue::Float(tolerance)),
            ]);
            assert_eq!(pushed.len(), 10);
            for (node, rank) in pushed {
                let expected = exact[node as usize].1;
                let off = (rank - expected).abs() / expected;
                assert!(off < error, "{starts} starts, {tolerance}: {node} is off by {off}");
            }
        }
    }
}

#[test]
fn what_leads_nowhere_costs_nothing_for_each_start() {
    let count = 5000;
    let edges: Vec<(u32, u32)> = (1..=count).map(|to| (0, to)).collect();
    let star = graph(count as usize + 1, &edges, None, false);
    let from: Vec<usize> = (1..=count as usize).collect();
    let arguments = [("from", nodes(&from)), ("top", ArgumentValue::Int(10))];
    let result = reported(&star, &call("pagerank", &arguments), &Alone).unwrap();
    assert!(result.report.edges <= count as usize, "{:?}", result.report);
    let result = ranks(result.output);
    assert!(result.iter().all(|(_, rank)| (rank * f64::from(count) - 1.0).abs() < 1e-9));
}

#[test]
fn rounds_that_are_counted_are_made() {
    let shop = shop(50, &mut Rng::with_seed(2));
    let run_with = |more: &[(&str, ArgumentValue)]| {
        let mut arguments = vec![("from", nodes(&[3, 4])), ("top", ArgumentValue::Int(5))];
        arguments.extend_from_slice(more);
        simply(&shop, &call("pagerank", &arguments))
    };
    for given in [
        ("iterations", ArgumentValue::Int(2)),
        ("variant", ArgumentValue::Word("graphalytics")),
        ("damping", ArgumentValue::Float(1.0)),
    ] {
        let by_rounds = run_with(&[given.clone(), ("method", ArgumentValue::Word("power"))]);
        assert_eq!(run_with(std::slice::from_ref(&given)), by_rounds, "{}", given.0);
    }
}

#[test]
fn one_node_of_a_long_path_costs_what_is_near_it() {
    let count = 20_000;
    let path = path(count);
    let work = Counted::default();
    let requested = call("harmonic", &[("source", nodes(&[count as usize - 1]))]);
    let result = floats(reported(&path, &requested, &work).unwrap().output);
    let expected: f64 = (1..count).map(|distance| 1.0 / f64::from(distance)).sum();
    assert!((result[count as usize - 1] - expected).abs() < 1e-9);
    // A look at the clock for each block of all nodes in each round would be as many as there are
    // nodes.
    assert!(work.checks.load(Relaxed) < 100, "{:?}", work.checks);
}

#[test]
fn nearness_is_the_same_by_lists_and_by_all_nodes() {
    for seed in 0..20 {
        let mut rng = Rng::with_seed(seed);
        // A thick part, a path to it, and a path from it: fronts grow and shrink.
        let count = 300;
        let mut edges: Vec<(u32, u32)> = (1..count).map(|to| (to - 1, to)).collect();
        edges.extend((0..600).map(|_| (rng.u32(100..200), rng.u32(100..200))));
        let graph = graph(count as usize, &edges, None, rng.bool());
        let requested: Vec<usize> =
            (0..70).map(|position| (position * 37) % count as usize).collect();
        let mut requested = requested;
        requested.sort_unstable();
        let result = floats(simply(&graph, &call("harmonic", &[("source", nodes(&requested))])));
        let is_undirected = graph.is_undirected();
        let transposed: Vec<(u32, u32)> = edges.iter().map(|(from, to)| (*to, *from)).collect();
        let transposed = self::graph(count as usize, &transposed, None, is_undirected);
        for node in requested {
            let steps = simply(&transposed, &call("bfs", &[("source", nodes(&[node]))]));
            let Output::Ints(steps) = steps else { panic!("no steps") };
            let near = steps.iter().filter(|it| 0 < **it).map(|it| 1.0 / *it as f64);
            let expected: f64 = near.sum();
            assert!((result[node] - expected).abs() < 1e-9, "seed {seed}: {node}");
        }
    }
}

#[test]
fn likeness_of_one_node_looks_at_the_clock() {
    let mut rng = Rng::with_seed(3);
    let count = 1500;
    let edges: Vec<(u32, u32)> = (0..count)
        .flat_map(|from| (0..500).map(move |_| from))
        .zip(std::iter::repeat_with(|| rng.u32(..count)))
        .collect();
    let graph = graph(count as usize, &edges, None, false);
    let all: Vec<usize> = (0..count as usize).collect();
    let work = Counted::default();
    let arguments = [("source", nodes(&[0])), ("target", nodes(&all))];
    // Nearly 1.3 million steps, by one source.
    reported(&graph, &call("similarity", &arguments), &work).unwrap();
    assert!(3 <= work.checks.load(Relaxed), "{:?}", work.checks);
}

#[test]
fn paths_along_a_long_chain_cost_less_than_its_square() {
    // A chain with an alternative to its last edge: each node is a spur node.
    let count = 30_000;
    let mut edges: Vec<(u32, u32)> = (1..count).map(|to| (to - 1, to)).collect();
    edges.push((count - 3, count - 1));
    let graph = graph(count as usize, &edges, None, false);
    let arguments = [("source", nodes(&[0])), ("target", nodes(&[count as usize - 1]))];
    let Output::Paths(paths) = simply(&graph, &call("k_shortest", &arguments)) else {
        panic!("no paths")
    };
    assert_eq!(paths.bounds, [count as usize - 1, 2 * count as usize - 1]);
}

#[test]
fn memory_is_counted_for_what_can_be_there() {
    let count = 2000;
    let (path, most) = (path(count), 1_000_000);
    let work = Counted::default();
    let requested = call("similar_nodes", &[("k", ArgumentValue::Int(most))]);
    reported(&path, &requested, &work).unwrap();
    assert!(work.most.load(Relaxed) < 200 << 20, "{:?}", work.most);
    let work = Counted::default();
    let requested = call("walks", &[("length", ArgumentValue::Int(most))]);
    let Output::Paths(walks) = reported(&path, &requested, &work).unwrap().output else {
        panic!("no walks")
    };
    let steps = (count as usize) * (count as usize + 1) / 2;
    assert_eq!(walks.nodes.len(), steps);
    // Walks of chunks, whose capacity doubles, and the list that they are joined to.
    assert!(work.most.load(Relaxed) < 4 * steps * size_of::<u32>(), "{:?}", work.most);
    assert_eq!(work.bytes.load(Relaxed), 0);
}

/// Scores, ranks and vectors that depend only on relative weights.
#[test]
fn very_great_and_very_small_weights_are_as_good_as_others() {
    let mut rng = Rng::with_seed(4);
    let edges: Vec<(u32, u32)> = (0..120).map(|_| (rng.u32(..30), rng.u32(..30))).collect();
    let mut edges = edges;
    edges.sort_unstable();
    edges.dedup();
    let plain: Vec<f64> = edges.iter().map(|_| f64::from(rng.u8(1..9)) / 8.0).collect();
    let exact = ("tolerance", ArgumentValue::Float(1e-13));
    let from = ("from", nodes(&[0, 1]));
    let calls = [
        call("pagerank", std::slice::from_ref(&exact)),
        call("pagerank", &[from, ("method", ArgumentValue::Word("push")), exact.clone()]),
        call("eigenvector", &[exact.clone(), ("iterations", ArgumentValue::Int(10_000))]),
        call("hits", &[exact, ("iterations", ArgumentValue::Int(10_000))]),
        call("fastrp", &[("dimensions", ArgumentValue::Int(8))]),
    ];
    for both in [false, true] {
        let expected = graph(30, &edges, Some(&plain), both);
        for scale in [1e-310, 1e-170, 1e160, 4e307] {
            let weights: Vec<f64> = plain.iter().map(|weight| weight * scale).collect();
            let scaled = graph(30, &edges, Some(&weights), both);
            for requested in &calls {
                let numbers = |graph: &Graph| match simply(graph, requested) {
                    Output::Vectors(vectors) => vectors.values.into_iter().map(f64::from).collect(),
                    Output::Some(ranks) => ranks.into_iter().map(|(_, rank)| rank).collect(),
                    output => floats(output),
                };
                let (one, other) = (numbers(&scaled), numbers(&expected));
                let near = |(one, other): (&f64, &f64)| (one - other).abs() < 1e-5;
                let is_same = one.len() == other.len() && one.iter().zip(&other).all(near);
                let name = requested.algorithm.name;
                assert!(is_same, "{name} of weights by {scale}: {one:?}, not {other:?}");
            }
        }
    }
}

/// An overflow is an error, and not an infinity, a NaN, or an unreachable node.
#[test]
fn sums_that_no_float_holds_are_errors() {
    let from = |node: usize, more: &[(&'static str, ArgumentValue)]| {
        let mut arguments = vec![("source", nodes(&[node]))];
        arguments.extend_from_slice(more);
        arguments
    };
    let to = |count: i64| [("target", nodes(&[2])), ("k", ArgumentValue::Int(count))];
    let edges = [(0, 1), (0, 2), (1, 2)];
    let sum = "their sum along a path";
    // Each row: the algorithm, the weights of 0 to 1, 0 to 2 and 1 to 2, and which sum is too
    // large; "" where none is.
    let alpha = [("alpha", ArgumentValue::Float(1e-309))];
    let cases = [
        (call("degree", &[]), [1e308, 1e308, 1.0], "their sum at a node"),
        (call("degree", &[]), [8e307, 8e307, 1.0], ""),
        (call("katz", &alpha), [1.0, 1e308, 1e308], "their sum at a node"),
        (call("katz", &alpha), [1e308, 1e306, 1e307], ""),
        (call("distances", &from(0, &[])), [1e308, 1e308, 1e308], ""),
        (call("distances", &from(0, &[])), [1e308, 1.7e308, 1e308], ""),
        (call("distances", &from(1, &[])), [1.7e308, 1.7e308, 1.7e308], ""),
        (call("distances_among", &[("source", nodes(&[0, 2]))]), [1e308, 1.7e308, 1e308], ""),
        (call("k_shortest", &from(0, &to(1))), [1e308, 1.7e308, 1e308], ""),
        (call("k_shortest", &from(0, &to(2))), [1e308, 1.7e308, 1e308], sum),
        (call("k_shortest", &from(0, &to(2))), [8e307, 1.7e308, 8e307], ""),
    ];
    let check = |graph: &Graph, requested: &AlgorithmCall, sum: &str| {
        let result = reported(graph, requested, &Alone);
        let name = requested.algorithm.name;
        match (sum, result) {
            ("", result) => drop(result.unwrap_or_else(|error| panic!("{name}: {error}"))),
            (sum, Ok(result)) => panic!("{name}: {result:?}, though {sum} is too large"),
            (sum, Err(error)) => {
                let expected =
                    format!("the weights `w` are too large: {sum} is more than a float holds");
                assert!(error.to_string().starts_with(&expected), "{name}: {error}");
            }
        }
    };
    for (requested, weights, sum) in &cases {
        check(&graph(3, &edges, Some(weights), false), requested, sum);
    }
    let path = graph(3, &[(0, 1), (1, 2)], Some(&[1e308, 1e308]), false);
    for requested in [
        call("distances", &from(0, &[])),
        call("distances_among", &[("source", nodes(&[0, 2]))]),
        call("k_shortest", &from(0, &to(1))),
    ] {
        check(&path, &requested, sum);
    }
    // An unreachable target has no path at all.
    check(&path, &call("distances", &from(2, &[])), "");
    let cycle = graph(3, &[(0, 1), (1, 2), (2, 0)], Some(&[1e200, 1e200, 1e200]), false);
    let error = reported(&cycle, &call("katz", &[]), &Alone).unwrap_err().to_string();
    assert!(error.starts_with("`alpha: 0.1` is too great"), "{error}");
}

/// Communities and modularity depend only on relative weights.
#[test]
fn communities_do_not_depend_on_the_unit_of_weights() {
    let ring = |from: u32, to: u32| (from..to).flat_map(move |a| (a + 1..to).map(move |b| (a, b)));
    let mut edges: Vec<(u32, u32)> = ring(0, 5).chain(ring(5, 9)).chain(ring(9, 14)).collect();
    edges.extend([(4, 5), (8, 9), (0, 13)]);
    for scale in [1e-320, 1e-200, 1e-150, 1.0, 1e150, 1e200, 1e307, 1.7e308] {
        let weights = vec![scale; edges.len()];
        let graph = graph(14, &edges, Some(&weights), true);
        for name in ["louvain", "leiden"] {
            let groups = ints(simply(&graph, &call(name, &[])));
            assert_eq!(groups, [0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2], "{name}, {scale:e}");
        }
        for is_undirected in [true, false] {
            let graph = self::graph(14, &edges, Some(&weights), is_undirected);
            // By node modulo 7, as `simply` groups nodes.
            let Output::Float(result) = simply(&graph, &call("modularity", &[])) else { panic!() };
            let plain = self::graph(14, &edges, None, is_undirected);
            let Output::Float(expected) = simply(&plain, &call("modularity", &[])) else {
                panic!()
            };
            assert!((result - expected).abs() < 1e-12, "{scale:e}: {result}, not {expected}");
        }
    }
}

#[test]
fn samples_of_betweenness_are_scaled_by_their_sources() {
    // All paths go through the centre of a star. One sample gives it for all nodes but the sampled
    // one.
    let star = graph(5, &[(0, 1), (0, 2), (0, 3), (0, 4)], None, true);
    for samples in 1..5 {
        let of =
            [("samples", ArgumentValue::Int(samples)), ("normalized", ArgumentValue::Bool(true))];
        let mut unknown = 0;
        for seed in 0..20 {
            let call = AlgorithmCall { seed, ..call("betweenness", &of) };
            let fractions = floats(simply(&star, &call));
            let is_unknown = fractions[0].is_nan();
            unknown += usize::from(is_unknown);
            assert!(is_unknown || (fractions[0] - 1.0).abs() < 1e-9, "{samples}: {fractions:?}");
            let sampled_leaves = usize::from(samples == 1 && !is_unknown);
            let zeros = fractions[1..].iter().filter(|fraction| **fraction == 0.0).count();
            assert_eq!(zeros, 4 - sampled_leaves, "{samples}: {fractions:?}");
        }
        assert_eq!(0 < unknown && unknown < 20, samples == 1);
    }
}

#[test]
fn rounds_report_whether_they_converged() {
    let graph = graph(4, &[(0, 1), (1, 2), (2, 0), (2, 3)], None, true);
    let converged = |name: &str, rounds: i64, tolerance: f64| {
        let arguments = [
            ("iterations", ArgumentValue::Int(rounds)),
            ("tolerance", ArgumentValue::Float(tolerance)),
        ];
        reported(&graph, &call(name, &arguments), &Alone).unwrap().report.converged
    };
    for name in ["pagerank", "hits", "eigenvector", "katz"] {
        assert_eq!(converged(name, 2, 1e-6), Some(false), "{name}");
        assert_eq!(converged(name, 1000, 1e-6), Some(true), "{name}");
        assert_eq!(converged(name, 2, 0.0), None, "{name}");
    }
    let result = reported(&graph, &call("label_propagation", &[]), &Alone).unwrap();
    assert_eq!(result.report.converged, None);
}
