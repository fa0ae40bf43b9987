//! Algorithms about what holds a graph together, its orders and distances, and scores by powers of
//! its matrix; against their definitions.

use super::case::{PlainGraph, assert_near, call, floats, ints, nodes, simply};
use super::kernels::{on_random, plain_distances, reachability, some_positions};
use crate::algo::{Graph, Output};
use hexgraph_base::plan::ArgumentValue;
use std::collections::BTreeSet;

fn pairs(
    graph: &Graph,
    name: &str,
    arguments: &[(&str, ArgumentValue)],
) -> Vec<(usize, usize, f64)> {
    let Output::Pairs(pairs) = simply(graph, &call(name, arguments)) else { panic!("no pairs") };
    pairs.into_iter().map(|(one, other, number)| (one as usize, other as usize, number)).collect()
}

/// The nodes that a node reaches over `neighbours`, without some node.
fn reachable(
    start: usize,
    neighbours: &[BTreeSet<usize>],
    without: Option<usize>,
) -> BTreeSet<usize> {
    let (mut seen, mut open) = (BTreeSet::from([start]), vec![start]);
    while let Some(node) = open.pop() {
        let more = neighbours[node].iter().filter(|to| Some(**to) != without);
        open.extend(more.filter(|to| seen.insert(**to)));
    }
    seen
}

#[test]
fn articulation_points_and_bridges() {
    on_random(300, true, |graph, plain, _, what| {
        let neighbours = plain.neighbours();
        let parts = (0..plain.len()).filter(|node| {
            let others: Vec<usize> = neighbours[*node].iter().copied().collect();
            let first = others.first().map(|first| reachable(*first, &neighbours, Some(*node)));
            first.is_some_and(|part| others.iter().any(|other| !part.contains(other)))
        });
        let Output::Nodes(result) = simply(graph, &call("articulation_points", &[])) else {
            panic!("no nodes")
        };
        assert_eq!(result, parts.map(|node| node as u32).collect::<Vec<_>>(), "{what}");
        let mut expected = Vec::new();
        for one in 0..plain.len() {
            for &other in neighbours[one].iter().filter(|other| one < **other) {
                let mut without = neighbours.clone();
                without[one].remove(&other);
                without[other].remove(&one);
                let (left, right) =
                    (reachable(one, &without, None), reachable(other, &without, None));
                if !left.contains(&other) {
                    expected.push((one, other, left.len().min(right.len()) as f64));
                }
            }
        }
        assert_eq!(pairs(graph, "bridges", &[]), expected, "{what}");
    });
}

#[test]
fn topological_order() {
    on_random(300, false, |graph, plain, _, what| {
        if graph.is_undirected() {
            return;
        }
        let positions = ints(simply(graph, &call("topological_order", &[])));
        let reaches = reachability(plain);
        let is_in_cycle =
            |node: usize| plain.edges.keys().any(|(from, to)| *from == node && reaches[*to][node]);
        for node in 0..plain.len() {
            let is_behind = (0..plain.len()).any(|from| is_in_cycle(from) && reaches[from][node]);
            assert_eq!(Output::is_missing(positions[node]), is_behind, "{what}: {node}");
        }
        for &(from, to) in plain.edges.keys().filter(|(_, to)| !Output::is_missing(positions[*to]))
        {
            assert!(positions[from] < positions[to], "{what}: {from} {to}");
        }
        let there: BTreeSet<i64> =
            positions.iter().copied().filter(|position| !Output::is_missing(*position)).collect();
        assert!(there.iter().copied().eq(0..there.len() as i64), "{what}: {positions:?}");
    });
}

#[test]
fn spanning_forest() {
    on_random(300, true, |graph, plain, _, what| {
        let result = pairs(graph, "spanning_forest", &[]);
        let mut joined = vec![BTreeSet::new(); plain.len()];
        for &(one, other, weight) in &result {
            assert!(!reachable(one, &joined, None).contains(&other), "{what}: a cycle");
            assert_eq!(plain.edges[&(one, other)], weight, "{what}");
            joined[one].insert(other);
            joined[other].insert(one);
        }
        let neighbours = plain.neighbours();
        for node in 0..plain.len() {
            assert_eq!(
                reachable(node, &joined, None),
                reachable(node, &neighbours, None),
                "{what}"
            );
        }
        // By Prim: the lightest edge from what is joined to what is not.
        let (mut inside, mut sum) = (vec![false; plain.len()], 0.0);
        for start in 0..plain.len() {
            inside[start] = true;
            let next = |inside: &[bool]| {
                let edges =
                    plain.edges.iter().filter(|((from, to), _)| inside[*from] && !inside[*to]);
                edges.min_by(|one, other| one.1.total_cmp(other.1)).map(|(edge, it)| (edge.1, *it))
            };
            while let Some((to, weight)) = next(&inside) {
                inside[to] = true;
                sum += weight;
            }
        }
        assert_near(&[result.iter().map(|(.., weight)| weight).sum()], &[sum], what);
    });
}

#[test]
fn distances_among() {
    on_random(300, false, |graph, plain, rng, what| {
        let positions = some_positions(plain.len(), rng);
        let mut expected = Vec::new();
        for &from in &positions {
            let distances = plain_distances(plain, &[from], |weight| weight);
            let others = positions.iter().filter(|to| **to != from && distances[**to].is_finite());
            expected.extend(others.map(|to| (from, *to, distances[*to])));
        }
        let result = pairs(graph, "distances_among", &[("source", nodes(&positions))]);
        let endpoints = |pairs: &[(usize, usize, f64)]| -> Vec<(usize, usize)> {
            pairs.iter().map(|(from, to, _)| (*from, *to)).collect()
        };
        let numbers = |pairs: &[(usize, usize, f64)]| -> Vec<f64> {
            pairs.iter().map(|(.., number)| *number).collect()
        };
        assert_eq!(endpoints(&result), endpoints(&expected), "{what}");
        assert_near(&numbers(&result), &numbers(&expected), what);
    });
}

#[test]
fn diameter_is_a_distance_of_the_graph_and_half_of_the_greatest_at_least() {
    let exact = std::cell::Cell::new(0);
    on_random(300, true, |graph, plain, _, what| {
        let Output::Float(result) = simply(graph, &call("diameter", &[])) else { panic!() };
        let mut all: Vec<f64> = vec![0.0];
        for node in 0..plain.len() {
            all.extend(plain_distances(plain, &[node], |_| 1.0));
        }
        all.retain(|distance| distance.is_finite());
        assert!(all.contains(&result), "{what}: {result}");
        // In the part of the node that has most edges; other parts are not looked at.
        let start = (0..plain.len()).rev().max_by_key(|node| graph.outgoing().degree(*node as u32));
        let from = start.map(|start| plain_distances(plain, &[start], |_| 1.0)).unwrap_or_default();
        let part = |node: &usize| from[*node].is_finite();
        let of_part =
            (0..plain.len()).filter(part).flat_map(|node| plain_distances(plain, &[node], |_| 1.0));
        let most = of_part.filter(|distance| distance.is_finite()).fold(0.0, f64::max);
        assert!(result <= most && most <= 2.0 * result, "{what}: {result} of {most}");
        exact.set(exact.get() + usize::from(result == most));
    });
    assert!(270 < exact.get(), "mostly it is the diameter: {} of 300", exact.get());
}

#[test]
fn truss_numbers() {
    on_random(200, true, |graph, plain, _, what| {
        let neighbours = plain.neighbours();
        let all =
            (0..plain.len()).flat_map(|one| neighbours[one].iter().map(move |other| (one, *other)));
        let all: BTreeSet<(usize, usize)> = all.collect();
        let mut expected: Vec<(usize, usize, f64)> = Vec::new();
        expected.extend(all.iter().filter(|(one, other)| one < other).map(|(a, b)| (*a, *b, 2.0)));
        for k in 3..=plain.len() {
            let mut truss = all.clone();
            loop {
                let before = truss.clone();
                truss.retain(|(one, other)| {
                    let thirds = (0..plain.len()).filter(|it| {
                        before.contains(&(*one, *it)) && before.contains(&(*other, *it))
                    });
                    k <= thirds.count() + 2
                });
                if truss.len() == before.len() {
                    break;
                }
            }
            let inside =
                expected.iter_mut().filter(|(one, other, _)| truss.contains(&(*one, *other)));
            inside.for_each(|(.., number)| *number = k as f64);
        }
        assert_eq!(pairs(graph, "truss_numbers", &[]), expected, "{what}");
    });
}

/// One round of adding up along edges.
fn gathered(plain: &PlainGraph, scores: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; plain.len()];
    plain.edges.iter().for_each(|((from, to), weight)| sums[*to] += weight * scores[*from]);
    sums
}

fn scaled(scores: Vec<f64>) -> Vec<f64> {
    let norm = scores.iter().map(|score| score * score).sum::<f64>().sqrt();
    let unit = if 0.0 < norm { norm } else { 1.0 };
    scores.into_iter().map(|score| score / unit).collect()
}

#[test]
fn eigenvector_and_katz() {
    on_random(200, false, |graph, plain, rng, what| {
        let rounds = rng.i64(1..30);
        let arguments =
            [("iterations", ArgumentValue::Int(rounds)), ("tolerance", ArgumentValue::Float(0.0))];
        let mut expected = vec![1.0 / plain.len() as f64; plain.len()];
        for _ in 0..rounds {
            let next = gathered(plain, &expected).into_iter().zip(&expected);
            expected = scaled(next.map(|(one, other)| one + other).collect());
        }
        let result = floats(simply(graph, &call("eigenvector", &arguments)));
        assert_near(&result, &expected, what);
        let mut expected = vec![0.0; plain.len()];
        for _ in 0..rounds {
            expected = gathered(plain, &expected).into_iter().map(|it| 0.01 * it + 2.0).collect();
        }
        for is_normalized in [false, true] {
            let mut arguments = arguments.to_vec();
            arguments.push(("alpha", ArgumentValue::Float(0.01)));
            arguments.push(("beta", ArgumentValue::Float(2.0)));
            arguments.push(("normalized", ArgumentValue::Bool(is_normalized)));
            let result = floats(simply(graph, &call("katz", &arguments)));
            let expected = if is_normalized { scaled(expected.clone()) } else { expected.clone() };
            assert_near(&result, &expected, what);
        }
    });
}

#[test]
fn katz_says_when_a_step_is_worth_too_much() {
    on_random(20, false, |graph, plain, _, _| {
        let reaches = reachability(plain);
        let has_cycle = plain
            .edges
            .iter()
            .any(|((from, to), weight)| reaches[*to][*from] && from != to && 0.1 < *weight)
            && plain.edges.values().all(|weight| 0.1 < *weight);
        let mut requested = call("katz", &[("alpha", ArgumentValue::Float(1e6))]);
        requested = requested.with("tolerance", ArgumentValue::Float(0.0));
        let result = super::case::result(graph, &requested, &crate::algo::Alone, None);
        match result {
            Ok(_) => assert!(!has_cycle),
            Err(error) => assert!(error.to_string().contains("too great"), "{error}"),
        }
    });
}
