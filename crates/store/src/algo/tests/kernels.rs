//! Each algorithm against its definition.

use super::case::{Case, PlainGraph, assert_near, call, floats, ints, nodes, simply};
use crate::algo::{Alone, Graph, Output, Task};
use fastrand::Rng;
use hexgraph_base::plan::{AlgorithmCall, ArgumentValue, Direction};
use std::sync::Arc;

/// Checks random graphs. Those for undirected algorithms have no direction.
pub(super) fn on_random(
    cases: u64,
    is_undirected: bool,
    check: impl Fn(&Graph, &PlainGraph, &mut Rng, &str),
) {
    for seed in 0..cases {
        let mut rng = Rng::with_seed(seed);
        let mut case = Case::random(14, &mut rng);
        if is_undirected {
            case.direction = Direction::Both;
        }
        let (graph, _) = case.graph(None, &Task::new(&Alone, None)).unwrap();
        check(&graph, &case.plain(), &mut rng, &format!("seed {seed}"));
    }
}

/// Some positions below `count`, at least one where there are any.
pub(super) fn some_positions(count: usize, rng: &mut Rng) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..count.min(3)).map(|_| rng.usize(..count)).collect();
    positions.sort_unstable();
    positions.dedup();
    positions
}

/// Numbers as they are given to the parts of a graph: in the order of their first nodes.
pub(super) fn in_order(labels: &[usize]) -> Vec<i64> {
    let mut seen: Vec<usize> = Vec::new();
    let mut number = |label: &usize| {
        let position = seen.iter().position(|other| other == label).unwrap_or_else(|| {
            seen.push(*label);
            seen.len() - 1
        });
        position as i64
    };
    labels.iter().map(&mut number).collect()
}

/// Which node reaches which.
pub(super) fn reachability(plain: &PlainGraph) -> Vec<Vec<bool>> {
    let count = plain.len();
    let mut reaches: Vec<Vec<bool>> = (0..count)
        .map(|one| (0..count).map(|other| one == other || plain.has(one, other)).collect())
        .collect();
    for middle in 0..count {
        for one in 0..count {
            for other in 0..count {
                reaches[one][other] |= reaches[one][middle] && reaches[middle][other];
            }
        }
    }
    reaches
}

fn plain_pagerank(plain: &PlainGraph, call: &AlgorithmCall, from: Option<&[usize]>) -> Vec<f64> {
    let count = plain.len();
    let start: Vec<f64> = (0..count)
        .map(|node| match from {
            Some(from) if !from.is_empty() => {
                f64::from(u8::from(from.contains(&node))) / from.len() as f64
            }
            _ => 1.0 / count as f64,
        })
        .collect();
    let damping = call.float("damping");
    let mut ranks = start.clone();
    let rows = plain.rows();
    for _ in 0..call.int("iterations").unwrap() {
        let mut next = vec![0.0; count];
        let mut left = 0.0;
        for (node, row) in rows.iter().enumerate() {
            let all: f64 = row.iter().map(|(_, weight)| weight).sum();
            if all == 0.0 {
                left += ranks[node];
            } else {
                row.iter().for_each(|(to, weight)| next[*to] += ranks[node] * weight / all);
            }
        }
        let next: Vec<f64> = (0..count)
            .map(|node| damping * (next[node] + left * start[node]) + (1.0 - damping) * start[node])
            .collect();
        let change: f64 = next.iter().zip(&ranks).map(|(one, other)| (one - other).abs()).sum();
        ranks = next;
        if change < call.float("tolerance") {
            break;
        }
    }
    ranks
}

#[test]
fn pagerank() {
    on_random(300, false, |graph, plain, rng, what| {
        let from = (rng.bool() && plain.len() != 0).then(|| some_positions(plain.len(), rng));
        let mut arguments = vec![
            ("damping", ArgumentValue::Float(*rng.choice(&[0.85, 0.5, 1.0, 0.0]).unwrap())),
            ("tolerance", ArgumentValue::Float(*rng.choice(&[0.0, 1e-3, 1e-12]).unwrap())),
            ("iterations", ArgumentValue::Int(rng.i64(1..60))),
        ];
        arguments.extend(from.as_ref().map(|from| ("from", nodes(from))));
        let call = call("pagerank", &arguments);
        let ranks = floats(simply(graph, &call));
        assert_near(&ranks, &plain_pagerank(plain, &call, from.as_deref()), what);
        let sum: f64 = ranks.iter().sum();
        assert!(ranks.is_empty() || (sum - 1.0).abs() < 1e-12, "{what}: the sum is {sum}");
    });
}

#[test]
fn components() {
    on_random(300, false, |graph, plain, _, what| {
        let mut labels: Vec<usize> = (0..plain.len()).collect();
        for _ in 0..plain.len() {
            for &(from, to) in plain.edges.keys() {
                let least = labels[from].min(labels[to]);
                (labels[from], labels[to]) = (least, least);
            }
        }
        assert_eq!(ints(simply(graph, &call("components", &[]))), in_order(&labels), "{what}");
    });
}

#[test]
fn strong_components() {
    on_random(300, false, |graph, plain, _, what| {
        let result = ints(simply(graph, &call("strong_components", &[])));
        let reaches = reachability(plain);
        for one in 0..plain.len() {
            for other in 0..plain.len() {
                let is_same = reaches[one][other] && reaches[other][one];
                assert_eq!(result[one] == result[other], is_same, "{what}: {one} {other}");
            }
        }
        for &(from, to) in plain.edges.keys() {
            assert!(result[from] <= result[to], "{what}: an edge leads back in the order");
        }
        let greatest = result.iter().max().map_or(0, |most| most + 1);
        assert!((0..greatest).all(|number| result.contains(&number)), "{what}: {result:?}");
    });
}

/// The least sums of weights from some nodes, by as many rounds as there are nodes.
pub(super) fn plain_distances(
    plain: &PlainGraph,
    sources: &[usize],
    weigh: impl Fn(f64) -> f64,
) -> Vec<f64> {
    let mut distances = vec![f64::INFINITY; plain.len()];
    sources.iter().for_each(|source| distances[*source] = 0.0);
    for _ in 0..plain.len() {
        for (&(from, to), &weight) in &plain.edges {
            distances[to] = distances[to].min(distances[from] + weigh(weight));
        }
    }
    distances
}

#[test]
fn bfs() {
    on_random(300, false, |graph, plain, rng, what| {
        let sources = some_positions(plain.len(), rng);
        let depth = rng.bool().then(|| rng.i64(0..4));
        let mut arguments = vec![("source", nodes(&sources))];
        arguments.extend(depth.map(|depth| ("depth", ArgumentValue::Int(depth))));
        let result = ints(simply(graph, &call("bfs", &arguments)));
        for (level, hops) in result.iter().zip(plain_distances(plain, &sources, |_| 1.0)) {
            let is_within = depth.is_none_or(|depth| hops <= depth as f64) && hops.is_finite();
            assert_eq!(Output::is_missing(*level), !is_within, "{what}: {result:?}");
            assert!(!is_within || *level as f64 == hops, "{what}: {result:?}");
        }
    });
}

#[test]
fn distances() {
    on_random(300, false, |graph, plain, rng, what| {
        let sources = some_positions(plain.len(), rng);
        let result = floats(simply(graph, &call("distances", &[("source", nodes(&sources))])));
        let expected = plain_distances(plain, &sources, |weight| weight);
        let expected: Vec<f64> =
            expected.iter().map(|it| if it.is_finite() { *it } else { f64::NAN }).collect();
        assert_near(&result, &expected, what);
    });
}

/// Weights that are very far apart, or close to the limits of a float.
#[test]
fn distances_of_extreme_weights() {
    let weights = [0.0, 5e-324, 1e-300, 1e-9, 1.0, 3.0, 1e9, 1e17, 1e300];
    for seed in 0..100 {
        let mut rng = Rng::with_seed(seed);
        let mut edges = super::case::Edges::new();
        for _ in 0..rng.usize(1..40) {
            let key = (0, rng.u32(1..=10), rng.u32(1..=10));
            edges.insert(key, Some(*rng.choice(&weights).unwrap()));
        }
        let case = Case {
            version: super::case::loaded(super::case::quads(&edges)),
            edges,
            direction: Direction::Out,
            is_weighted: true,
            has_second: false,
            nodes: None,
            far: None,
        };
        let graph: Arc<Graph> = case.graph(None, &Task::new(&Alone, None)).unwrap().0;
        let result = floats(simply(&graph, &call("distances", &[("source", nodes(&[0]))])));
        let expected = plain_distances(&case.plain(), &[0], |weight| weight);
        for (one, other) in result.iter().zip(&expected) {
            assert!(one == other || one.is_nan() && other.is_infinite(), "{result:?} {expected:?}");
        }
    }
}
